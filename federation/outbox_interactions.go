package federation

import (
	"context"
	"fmt"

	"svc/internal/activity"
	"svc/store"
)

// What people here think of posts elsewhere: favourites, reactions, votes. It goes to the author only, in whose server's hands it is
// who else hears of it (federation 4.6).

func (b *Outbox) buildFavouriteCreated(ctx context.Context, _ *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	f, err := b.db.Favourite(ctx, store.FavouriteID(d.RowID))
	if f == nil || err != nil {
		return nil, err // taken back
	}
	a, err := b.documents.likeActivity(ctx, f)
	if err != nil {
		return nil, err
	}
	return b.toAuthor(ctx, d, a, store.ReplaceNothing)
}

func (b *Outbox) buildFavouriteDeleted(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	f := &store.Favourite{ID: store.FavouriteID(d.RowID), AccountID: actor.ID, StatusID: d.StatusID}
	a, err := b.documents.likeActivity(ctx, f)
	if err != nil {
		return nil, err
	}
	return b.toAuthor(ctx, d, b.newUndo(d, actor, a), store.ReplaceAll)
}

func (b *Outbox) buildReactionCreated(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	r, err := b.db.Reaction(ctx, actor.ID, d.StatusID, d.Emoji)
	if r == nil || err != nil || int64(r.ID) != d.RowID {
		return nil, err // taken back
	}
	a, err := b.documents.reactActivity(ctx, r)
	if err != nil {
		return nil, err
	}
	return b.toAuthor(ctx, d, a, store.ReplaceNothing)
}

func (b *Outbox) buildReactionDeleted(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	r := &store.Reaction{ID: store.ReactionID(d.RowID), AccountID: actor.ID, StatusID: d.StatusID, Emoji: d.Emoji, URL: d.EmojiURL}
	a, err := b.documents.reactActivity(ctx, r)
	if err != nil {
		return nil, err
	}
	return b.toAuthor(ctx, d, b.newUndo(d, actor, a), store.ReplaceAll)
}

// toAuthor sends what somebody thinks of a post to who wrote it.
func (b *Outbox) toAuthor(ctx context.Context, d store.OutboxEntry, a activity.Object, replaces store.Replacement) ([]*outgoing, error) {
	inboxes, err := b.inboxesOf(ctx, d.TargetID)
	return []*outgoing{{activity: a, subject: d.RowID, replaces: replaces, priority: store.UpdatePriority, inboxes: inboxes}}, err
}

// buildVoteCreated sends a vote: a note for each option, which says nothing but its name (federation 4.3). Nobody can fetch them.
func (b *Outbox) buildVoteCreated(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	st, err := b.db.Status(ctx, d.StatusID)
	if err != nil {
		return nil, err
	}
	poll, err := b.db.PollOf(ctx, st.ID)
	if poll == nil || err != nil {
		return nil, err
	}
	author, err := b.db.Account(ctx, st.AccountID)
	if err != nil {
		return nil, err
	}
	inboxes, err := b.inboxesOf(ctx, author.ID)
	if err != nil {
		return nil, err
	}
	var list []*outgoing
	to, now := []string{author.URI}, store.At(b.db.Now()).String()
	for _, choice := range d.Choices {
		if choice < 0 || choice >= len(poll.Options.V) {
			continue
		}
		note := jsonMap{
			"id": fmt.Sprintf("%s/objects/%s/%d", b.BaseURL, d.ID, choice), "type": "Note", "attributedTo": b.documents.actorURI(actor),
			"name": poll.Options.V[choice].Title, "inReplyTo": st.URI, "to": stringValues(to), "cc": stringValues(nil), "published": now,
		}
		a := b.newActivity(d, "Create", actor, note, to, nil)
		a["id"], a["published"] = fmt.Sprintf("%s/%d", a.ID(), choice), now
		list = append(list, &outgoing{activity: a, priority: store.HighPriority, inboxes: inboxes})
	}
	return list, nil
}
