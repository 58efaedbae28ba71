package social

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"svc/emoji"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// Bounds of the reactions to one post.
const (
	maxReactions     = 20  // by one account
	maxReactionEmoji = 100 // different emoji
	maxEmojiURL      = 2048
)

// The answers to reactions that are not possible (extension API 18). Whether it is the emoji or the status is not told.
var (
	ErrAddReaction      = errs.BadRequest("Could not add reaction emoji")
	ErrRemoveReaction   = errs.BadRequest("Could not remove reaction emoji")
	errTooManyReactions = errs.BadRequest("You have reacted with %d different emoji already", maxReactions)
	errTooManyEmoji     = errs.BadRequest("There are reactions with %d different emoji already", maxReactionEmoji)
)

// Emoji is what somebody reacts with: a unicode emoji, in any form, or a custom one. A custom one is the shortcode, without colons,
// and the address of its picture, by which it belongs to a server; or, without the address, what others have reacted with to the same
// post, by the name that is shown there: shortcode, or shortcode@host.
type Emoji struct {
	Name string
	URL  string
}

// React has actor react to a status that actor can see, and tells its author. Of a boost it is the original that is meant. Several
// emoji are possible, twice the same is no error. Whom the author blocks cannot react, even where the settings let them see the status.
// uri is the id of the activity, where it came from elsewhere; a second reaction of the same activity changes nothing.
func (s *Service) React(ctx context.Context, actor *store.Account, id store.StatusID, e Emoji, uri string) (*store.Status, error) {
	name, ok := s.reactionName(e)
	if !ok {
		return nil, ErrAddReaction
	}
	st, err := s.updateOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		blocked, err := tx.Blocks(ctx, st.AccountID, actor.ID)
		if err != nil {
			return err
		}
		if blocked {
			return ErrAddReaction
		}
		if err := checkNotBlocked(ctx, tx, actor, st); err != nil {
			return err
		}
		r := &store.Reaction{AccountID: actor.ID, StatusID: st.ID, Emoji: name, URL: e.URL}
		if uri != "" {
			r.URI = &uri
		}
		if err := checkReactionLimits(ctx, tx, r); err != nil {
			return err
		}
		added, err := tx.AddReaction(ctx, r)
		if err != nil || !added {
			return err
		}
		if err := tx.AddToOutbox(ctx, reactionEntry(store.ReactionCreated, st, r)); err != nil {
			return err
		}
		n := store.Notification{AccountID: st.AccountID, Type: store.NotifyEmojiReaction, FromID: actor.ID, Detail: name}
		return notify(ctx, tx, n, st)
	})
	if errs.IsNotFound(err) {
		err = ErrAddReaction
	}
	return st, err
}

// checkReactionLimits checks that a reaction is within the bounds, and finds the picture of one that others have reacted with.
func checkReactionLimits(ctx context.Context, tx *store.Tx, r *store.Reaction) error {
	counts, err := tx.ReactionCounts(ctx, []store.StatusID{r.StatusID})
	if err != nil {
		return err
	}
	own, err := tx.ReactionsTo(ctx, r.AccountID, []store.StatusID{r.StatusID})
	if err != nil {
		return err
	}
	at := slices.IndexFunc(counts, func(c store.ReactionCount) bool { return c.Emoji == r.Emoji })
	switch {
	case slices.ContainsFunc(own, func(o store.Reaction) bool { return o.Emoji == r.Emoji }):
		return nil
	case len(own) >= maxReactions:
		return errTooManyReactions
	case at >= 0:
		if r.URL == "" {
			r.URL = counts[at].URL
		}
	case store.CustomEmoji(r.Emoji) && r.URL == "":
		return ErrAddReaction
	case len(counts) >= maxReactionEmoji:
		return errTooManyEmoji
	}
	return nil
}

// Unreact takes a reaction back, and its notification. That there is none is an error.
func (s *Service) Unreact(ctx context.Context, actor *store.Account, id store.StatusID, e Emoji) (*store.Status, error) {
	name, ok := s.reactionName(e)
	if !ok {
		return nil, ErrRemoveReaction
	}
	st, err := s.undoOnOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		r, err := tx.Reaction(ctx, actor.ID, st.ID, name)
		if err != nil {
			return err
		}
		if r == nil {
			return ErrRemoveReaction
		}
		return unreact(ctx, tx, st, r)
	})
	if errs.IsNotFound(err) {
		err = ErrRemoveReaction
	}
	return st, err
}

// ReceiveUnreact takes back what somebody elsewhere has reacted with. One that is not there is no error.
func (s *Service) ReceiveUnreact(ctx context.Context, r *store.Reaction) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		st, err := tx.Status(ctx, r.StatusID)
		if err != nil {
			return ignoreNotFound(err)
		}
		return unreact(ctx, tx, st, r)
	})
}

func unreact(ctx context.Context, tx *store.Tx, st *store.Status, r *store.Reaction) error {
	if err := tx.RemoveReaction(ctx, r); err != nil {
		return err
	}
	if err := tx.AddToOutbox(ctx, reactionEntry(store.ReactionDeleted, st, r)); err != nil {
		return err
	}
	return tx.RemoveReactionNotification(ctx, st.AccountID, r)
}

// ReactionName returns the name that reactions with an emoji have here, and false if there can be none with it.
func (s *Service) ReactionName(e Emoji) (string, bool) { return s.reactionName(e) }

// reactionEntry is that somebody reacts to a status, or does so no longer.
func reactionEntry(verb store.OutboxType, st *store.Status, r *store.Reaction) store.OutboxEntry {
	return store.OutboxEntry{
		Type: verb, ActorID: r.AccountID, TargetID: st.AccountID, StatusID: st.ID, RowID: int64(r.ID), Emoji: r.Emoji, EmojiURL: r.URL,
	}
}

// reactionName returns the name that reactions with an emoji have, and false if there can be none with it.
func (s *Service) reactionName(e Emoji) (string, bool) {
	if e.URL == "" {
		if name, ok := emoji.Canonical(e.Name); ok {
			return name, true
		}
		code, host, away := strings.Cut(e.Name, "@")
		return e.Name, text.ValidShortcode(code) && (!away || text.NormalizeDomain(host) == host && host != "")
	}
	host := emojiHost(e.URL)
	switch {
	case host == "" || !text.ValidShortcode(e.Name):
		return "", false
	case host == s.Domain:
		return e.Name, true
	}
	return e.Name + "@" + host, true
}

// emojiHost returns the host that an address of a picture names, "" if it is none.
func emojiHost(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User != nil || len(address) > maxEmojiURL {
		return ""
	}
	switch u.Scheme {
	case "https":
		return text.NormalizeDomain(strings.TrimSuffix(u.Host, ":443"))
	case "http":
		return text.NormalizeDomain(strings.TrimSuffix(u.Host, ":80"))
	}
	return ""
}
