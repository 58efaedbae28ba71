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
	return b.toAuthorAndGroup(ctx, e, a, store.ReplaceNothing)
}

func (b *Outbox) buildFavouriteDeleted(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	f := &store.Favourite{ID: store.FavouriteID(e.RowID), AccountID: actor.ID, StatusID: e.StatusID}
	a, err := b.documents.likeActivity(ctx, f)
	if err != nil {
		return nil, err
	}
	return b.toAuthorAndGroup(ctx, e, b.newUndo(e, actor, a), store.ReplaceAll)
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

// toAuthorAndGroup addresses an activity about a status also to the group in whose thread it is, which counts for its members. If both are on one
// server, it gets one copy.
func (b *Outbox) toAuthorAndGroup(ctx context.Context, e store.OutboxEntry, a activity.Object, replaces store.Replacement) ([]*outgoing, error) {
	list, err := b.toAuthor(ctx, e, a, replaces)
	if err != nil {
		return nil, err
	}
	group, err := b.documents.groupOf(ctx, e.StatusID)
	if group == nil || err != nil {
		return list, err
	}
	author, err := b.db.Account(ctx, e.TargetID)
	if err != nil || author.Domain == group.Domain {
		return list, err
	}
	recipients, err := b.db.RemoteRecipients(ctx, e.ActorID, []store.AccountID{group.ID})
	list[0].inboxes = append(list[0].inboxes, deliveryInboxes(recipients)...)
	return list, err
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
			"id": fmt.Sprintf("%s/%d", store.NewObjectURI(b.Settings.BaseURL, e.ID), choice), "type": "Note", "attributedTo": actor.URI,
			"name": poll.Options.V[choice].Title, "inReplyTo": st.URI, "to": stringValues(to), "cc": stringValues(nil), "published": now,
		}
		a := b.newActivity(e, "Create", actor, note, to, nil)
		a["id"], a["published"] = fmt.Sprintf("%s/%d", a.ID(), choice), now
		list = append(list, &outgoing{activity: a, priority: store.HighPriority, inboxes: inboxes})
	}
	return list, nil
}

// buildScrobbleCreated sends a Listen to followers. Few servers know it.
func (b *Outbox) buildScrobbleCreated(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	p, err := b.db.Scrobble(ctx, store.ScrobbleID(e.RowID))
	if err != nil {
		return nil, err
	}
	to, cc := b.addressing(actor, p.Visibility, nil)
	track := jsonMap{
		"id": store.NewObjectURI(b.Settings.BaseURL, p.ID), "type": "Audio", "attributedTo": actor.URI, "actor": actor.URI,
		"title": p.Title, "artist": p.Artist, "album": p.Album, "to": stringValues(to), "cc": stringValues(cc), "published": p.CreatedAt.String(),
	}
	if p.Length > 0 {
		track["length"] = p.Length
	}
	if p.ExternalLink != "" {
		track["externalLink"] = p.ExternalLink
	}
	inboxes, err := b.db.FollowerInboxes(ctx, actor.ID)
	a := b.newActivity(e, "Listen", actor, track, to, cc)
	return []*outgoing{{activity: a, priority: store.UpdatePriority, inboxes: inboxes}}, err
}

// buildQuoteRequested asks the quoted author for consent to a quote, which it embeds (FEP-044f).
func (b *Outbox) buildQuoteRequested(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	quote, err := b.db.Status(ctx, e.StatusID)
	if err != nil || quote.QuoteOfID == nil {
		return nil, err
	}
	quoted, err := b.db.Status(ctx, *quote.QuoteOfID)
	if err != nil {
		return nil, err
	}
	to, err := b.db.Account(ctx, e.TargetID)
	if err != nil {
		return nil, err
	}
	o, err := b.documents.statusDocument(ctx, quote, b.documents.buildObject)
	if err != nil {
		return nil, err
	}
	a := b.newActivity(e, "QuoteRequest", actor, quoted.URI, []string{to.URI}, nil)
	a["id"], a["instrument"] = b.Settings.BaseURL+quoteRequestPath+quote.ID.String(), jsonMap(o)
	return b.toTarget(ctx, e, a, 0, store.ReplaceNothing)
}

// buildQuoteAccepted sends the Accept of a QuoteRequest, with the id of the authorization.
func (b *Outbox) buildQuoteAccepted(ctx context.Context, author *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	q, err := b.db.QuoteAuthorization(ctx, store.QuoteAuthorizationID(e.RowID))
	if err != nil {
		return nil, err
	}
	a, err := b.quoteAnswer(ctx, author, e, "Accept", q.StatusID, q.RequestURI, q.QuoteURI)
	if err != nil {
		return nil, err
	}
	a["result"] = b.documents.quoteAuthorizationURI(q.ID)
	return b.toTarget(ctx, e, a, 0, store.ReplaceNothing)
}

func (b *Outbox) buildQuoteRejected(ctx context.Context, author *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	a, err := b.quoteAnswer(ctx, author, e, "Reject", e.StatusID, e.URI, e.Object)
	if err != nil {
		return nil, err
	}
	return b.toTarget(ctx, e, a, 0, store.ReplaceNothing)
}

// quoteAnswer makes the Accept or Reject of a QuoteRequest, and embeds the request.
func (b *Outbox) quoteAnswer(ctx context.Context, author *store.Account, e store.OutboxEntry, activityType string, id store.StatusID, request, quote string) (activity.Object, error) {
	st, err := b.db.Status(ctx, id)
	if err != nil {
		return nil, err
	}
	to, err := b.db.Account(ctx, e.TargetID)
	if err != nil {
		return nil, err
	}
	asked := jsonMap{"id": request, "type": "QuoteRequest", "actor": to.URI, "object": st.URI, "instrument": quote}
	return b.newActivity(e, activityType, author, asked, []string{to.URI}, nil), nil
}

// buildQuoteRevoked sends the Delete of a quote authorization to the author of the quote.
func (b *Outbox) buildQuoteRevoked(ctx context.Context, author *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	to, err := b.db.Account(ctx, e.TargetID)
	if err != nil {
		return nil, err
	}
	gone := jsonMap{"id": b.documents.quoteAuthorizationURI(store.QuoteAuthorizationID(e.RowID)), "type": "Tombstone"}
	return b.toTarget(ctx, e, b.newActivity(e, "Delete", author, gone, []string{to.URI}, nil), 0, store.ReplaceNothing)
}
