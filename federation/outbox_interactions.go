package federation

import (
	"context"
	"fmt"

	"svc/internal/activity"
	"svc/store"
)

// Favourites, reactions and votes. They are sent to the author only, whose server distributes them (federation 4.6).

func (b *Outbox) buildFavouriteCreated(ctx context.Context, _ *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	f, err := b.db.Favourite(ctx, store.FavouriteID(e.RowID))
	if f == nil || err != nil {
		return nil, err // undone meanwhile
	}
	a, err := b.documents.likeActivity(ctx, f)
	if err != nil {
		return nil, err
	}
	return b.toAuthor(ctx, e, a, store.ReplaceNothing)
}

func (b *Outbox) buildFavouriteDeleted(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	f := &store.Favourite{ID: store.FavouriteID(e.RowID), AccountID: actor.ID, StatusID: e.StatusID}
	a, err := b.documents.likeActivity(ctx, f)
	if err != nil {
		return nil, err
	}
	return b.toAuthor(ctx, e, b.newUndo(e, actor, a), store.ReplaceAll)
}

func (b *Outbox) buildReactionCreated(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	r, err := b.db.Reaction(ctx, actor.ID, e.StatusID, e.Emoji)
	if r == nil || err != nil || int64(r.ID) != e.RowID {
		return nil, err // undone meanwhile
	}
	a, err := b.documents.reactActivity(ctx, r)
	if err != nil {
		return nil, err
	}
	return b.toAuthor(ctx, e, a, store.ReplaceNothing)
}

func (b *Outbox) buildReactionDeleted(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	r := &store.Reaction{ID: store.ReactionID(e.RowID), AccountID: actor.ID, StatusID: e.StatusID, Emoji: e.Emoji, URL: e.EmojiURL}
	a, err := b.documents.reactActivity(ctx, r)
	if err != nil {
		return nil, err
	}
	return b.toAuthor(ctx, e, b.newUndo(e, actor, a), store.ReplaceAll)
}

// toAuthor addresses an activity about a status to the inbox of its author.
func (b *Outbox) toAuthor(ctx context.Context, e store.OutboxEntry, a activity.Object, replaces store.Replacement) ([]*outgoing, error) {
	inboxes, err := b.inboxesOf(ctx, e.TargetID)
	return []*outgoing{{activity: a, subject: e.RowID, replaces: replaces, priority: store.UpdatePriority, inboxes: inboxes}}, err
}

// buildVoteCreated sends a Create for each choice, with a Note that has only a name (federation 4.3). These notes cannot be fetched.
func (b *Outbox) buildVoteCreated(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	st, err := b.db.Status(ctx, e.StatusID)
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
	for _, choice := range e.Choices {
		if choice < 0 || choice >= len(poll.Options.V) {
			continue
		}
		note := jsonMap{
			"id": fmt.Sprintf("%s/objects/%s/%d", b.BaseURL, e.ID, choice), "type": "Note", "attributedTo": actor.URI,
			"name": poll.Options.V[choice].Title, "inReplyTo": st.URI, "to": stringValues(to), "cc": stringValues(nil), "published": now,
		}
		a := b.newActivity(e, "Create", actor, note, to, nil)
		a["id"], a["published"] = fmt.Sprintf("%s/%d", a.ID(), choice), now
		list = append(list, &outgoing{activity: a, priority: store.HighPriority, inboxes: inboxes})
	}
	return list, nil
}
