package social

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"svc/emoji"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// Limits of the reactions to one status.
const (
	maxReactions     = 20  // by one account
	maxReactionEmoji = 100 // different emoji
	maxEmojiURL      = 2048
)

// Errors of reactions (extension API 18). They do not reveal whether the emoji or the status is wrong.
var (
	ErrAddReaction      = errs.BadRequest("Could not add reaction emoji")
	ErrRemoveReaction   = errs.BadRequest("Could not remove reaction emoji")
	errTooManyReactions = errs.BadRequest("You have reacted with %d different emoji already", maxReactions)
	errTooManyEmoji     = errs.BadRequest("There are reactions with %d different emoji already", maxReactionEmoji)
)

// Emoji is the emoji of a reaction: a unicode emoji in any form, or a custom one. A custom emoji is a shortcode without colons with the
// URL of its image, or, without URL, an emoji that others used on the same status: shortcode or shortcode@host.
type Emoji struct {
	Name string
	URL  string
}

// React adds a reaction to a status that actor can see, or the original of a reblog, and notifies its author. An account can use several
// emoji; the same one twice is not an error. uri is the id of a remote activity, which counts once; "" for local actors.
func (s *Service) React(ctx context.Context, actor *store.Account, id store.StatusID, e Emoji, uri string) (*store.Status, error) {
	name, ok := s.ReactionName(e)
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
		// A reaction cannot wait for the approval of a local author.
		if a, err := checkInteraction(ctx, tx, actor, st, store.Favouriting); err != nil || a == forbidden || a == needsApproval && st.Local() {
			return cmp.Or(err, forbiddenInteractions[store.Favouriting])
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

// checkReactionLimits checks the limits of a status, and finds the image of a custom emoji that others used.
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

// Unreact removes a reaction and its notification. A missing reaction is an error.
func (s *Service) Unreact(ctx context.Context, actor *store.Account, id store.StatusID, e Emoji) (*store.Status, error) {
	name, ok := s.ReactionName(e)
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

// ReceiveUnreact removes a reaction of a remote account. A missing one is not an error.
func (s *Service) ReceiveUnreact(ctx context.Context, r *store.Reaction) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		st, err := tx.Status(ctx, r.StatusID)
		if err != nil {
			return errs.IgnoreNotFound(err)
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

// reactionEntry returns the outbox entry of a reaction.
func reactionEntry(t store.OutboxType, st *store.Status, r *store.Reaction) store.OutboxEntry {
	return store.OutboxEntry{
		Type: t, ActorID: r.AccountID, TargetID: st.AccountID, StatusID: st.ID, RowID: int64(r.ID), Emoji: r.Emoji, EmojiURL: r.URL,
	}
}

// ReactionName returns the name that reactions with an emoji have, or false if it is not a valid emoji.
func (s *Service) ReactionName(e Emoji) (string, bool) {
	if e.URL == "" {
		if name, ok := emoji.Canonical(e.Name); ok {
			return name, true
		}
		code, host, remote := strings.Cut(e.Name, "@")
		return e.Name, !remote && text.ValidShortcode(code) || remote && text.ValidRemoteShortcode(code) && text.NormalizeDomain(host) == host && host != ""
	}
	host := emojiHost(e.URL)
	switch {
	case host == "" || !text.ValidRemoteShortcode(e.Name):
		return "", false
	case s.Settings.IsOwnHost(host):
		return e.Name, true
	}
	return e.Name + "@" + host, true
}

// emojiHost returns the host of an image URL, "" if the URL is not valid.
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
