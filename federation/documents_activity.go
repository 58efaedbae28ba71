package federation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// createActivity returns the Create of a local status, with its object in it.
func (s *Service) createActivity(ctx context.Context, st *store.Status) (activity.Object, error) {
	return s.statusDocument(ctx, st, s.buildCreate)
}

func (s *Service) buildCreate(st *store.Status, p *documentRows) (activity.Object, error) {
	o, err := s.buildObject(st, p)
	if err != nil {
		return nil, err
	}
	a := jsonMap{
		"id": s.activityURI(int64(st.ID)), "type": "Create", "actor": o["actor"], "published": o["published"],
		"to": o["to"], "cc": o["cc"], "context": o["context"], "conversation": o["conversation"], "object": jsonMap(o),
	}
	if st.Visibility == store.Direct {
		a["directMessage"] = true
	}
	return a, nil
}

// announceActivity returns the Announce of a boost by somebody here. It carries the post if that is a private one of the booster's
// (federation 4.8).
func (s *Service) announceActivity(ctx context.Context, boost *store.Status) (activity.Object, error) {
	return s.statusDocument(ctx, boost, s.buildAnnounce)
}

func (s *Service) buildAnnounce(boost *store.Status, p *documentRows) (activity.Object, error) {
	original := p.reblogged(boost)
	if original == nil || !original.Visibility.Federated() {
		return nil, errs.ErrRecordNotFound
	}
	to, cc, err := s.audienceOf(boost, p)
	if err != nil {
		return nil, err
	}
	a := jsonMap{
		"id": boost.URI, "type": "Announce", "actor": p.accounts[boost.AccountID].URI, "published": boost.CreatedAt.String(),
		"to": stringValues(to), "cc": stringValues(cc), "object": original.URI,
	}
	if embedsOriginal(boost, original) {
		whole, err := s.buildObject(original, p)
		if err != nil {
			return nil, err
		}
		a["object"] = jsonMap(whole)
	}
	return a, nil
}

// outboxItem is what an outbox shows of a status.
func (s *Service) outboxItem(st *store.Status, p *documentRows) (activity.Object, error) {
	if st.ReblogOfID != nil {
		return s.buildAnnounce(st, p)
	}
	return s.buildCreate(st, p)
}

// likeActivity returns the Like of a favourite by somebody here (federation 4.6).
func (s *Service) likeActivity(ctx context.Context, f *store.Favourite) (activity.Object, error) {
	return s.interactionActivity(ctx, "Like", f.AccountID, f.StatusID, int64(f.ID), f.URI)
}

// reactActivity returns the EmojiReact of a reaction by somebody here (federation 4.7).
func (s *Service) reactActivity(ctx context.Context, r *store.Reaction) (activity.Object, error) {
	a, err := s.interactionActivity(ctx, "EmojiReact", r.AccountID, r.StatusID, int64(r.ID), r.URI)
	if err != nil {
		return nil, err
	}
	a["content"] = store.ReactionText(r.Emoji)
	if !store.CustomEmoji(r.Emoji) {
		return a, nil
	}
	switch local := s.emojis.Find(r.Emoji); {
	case local != nil:
		a["tag"] = []any{s.emojiTag(*local)}
	case strings.Contains(r.URL, "://"):
		a["tag"] = []any{newEmojiTag(store.ReactionText(r.Emoji), r.URL)}
	default:
		a["tag"] = []any{newEmojiTag(store.ReactionText(r.Emoji), s.BaseURL+r.URL)}
	}
	return a, nil
}

// interactionActivity is an activity about a status. It is for the author of that; followers and whoever may read the status may know of it.
func (s *Service) interactionActivity(ctx context.Context, kind string, actor store.AccountID, about store.StatusID, id int64, uri *string) (activity.Object, error) {
	st, err := s.db.Status(ctx, about)
	if err != nil {
		return nil, err
	}
	if !st.Visibility.Federated() {
		return nil, errs.ErrRecordNotFound
	}
	of, err := s.accountsByID(ctx, actor, st.AccountID)
	if err != nil {
		return nil, err
	}
	who, author := of[actor], of[st.AccountID]
	to, cc := []string{author.URI}, []string{}
	if isPublicOrUnlisted(st.Visibility) {
		to, cc = append(to, s.followersURI(who)), append(cc, activity.Public)
	}
	a := jsonMap{"id": s.activityURI(id), "type": kind, "actor": who.URI, "object": st.URI, "to": stringValues(to), "cc": stringValues(cc)}
	if uri != nil {
		a["id"] = *uri
	}
	return a, nil
}

// followActivity returns the Follow of somebody here (federation 4.10).
func (s *Service) followActivity(ctx context.Context, f *store.Follow) (activity.Object, error) {
	of, err := s.accountsByID(ctx, f.FollowerID, f.TargetID)
	if err != nil {
		return nil, err
	}
	target := of[f.TargetID].URI
	a := jsonMap{
		"id": s.activityURI(int64(f.ID)), "type": "Follow", "actor": of[f.FollowerID].URI, "object": target,
		"to": []any{target}, "cc": []any{},
	}
	if f.URI != nil {
		a["id"] = *f.URI
	}
	return a, nil
}

var errNotLocal = errors.New("somebody who lives elsewhere")

// accountsByID returns the accounts of ids, of which the first lives here.
func (s *Service) accountsByID(ctx context.Context, ids ...store.AccountID) (map[store.AccountID]*store.Account, error) {
	rows, err := s.db.Accounts(ctx, ids)
	if err != nil {
		return nil, err
	}
	of := make(map[store.AccountID]*store.Account, len(rows))
	for _, a := range rows {
		of[a.ID] = a
	}
	for i, id := range ids {
		switch a := of[id]; {
		case a == nil:
			return nil, errs.ErrRecordNotFound
		case i == 0 && !a.Local():
			return nil, fmt.Errorf("activity of %s: %w", a.URI, errNotLocal)
		}
	}
	return of, nil
}
