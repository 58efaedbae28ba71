package federation

import (
	"context"
	"strings"

	"svc/emoji"
	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/social"
)

// handleLike stores a favourite or reaction of a known status. A Like with an emoji is a reaction, any other Like a favourite; an
// EmojiReact without an emoji is ignored (federation 4.7).
func (r *Receiver) handleLike(ctx context.Context, in *inbox.Activity) error {
	ref, err := objectRef(in)
	if err != nil {
		return err
	}
	st, err := r.local.statusIDByURI(ctx, ref)
	if err != nil || st == 0 {
		return err // a Like does not cause a fetch
	}
	if e, ok := r.reactionEmoji(in.Object); ok {
		if _, ok := r.social.ReactionName(e); ok {
			_, err := r.social.React(ctx, in.Actor, st, e, in.URI)
			return err
		}
	}
	if !in.Is("Like") {
		return remote.Refuse("it reacts with no emoji")
	}
	_, err = r.social.ReceiveFavourite(ctx, in.Actor, st, in.URI)
	return err
}

// legacyReactions are former names of reactions (federation 4.7).
var legacyReactions = map[string]string{
	"like": "👍", "love": "❤️", "laugh": "😆", "hmm": "🤔", "surprise": "😮", "congrats": "🎉", "angry": "💢", "confused": "😥",
	"rip": "😇", "pudding": "🍮", "star": "⭐",
}

// reactionEmoji returns the emoji of a reaction; ok is false if there is none, or a custom one without picture.
func (r *Receiver) reactionEmoji(o activity.Object) (e social.Emoji, ok bool) {
	content := strings.TrimSpace(o.Text("content"))
	if content == "" {
		content = strings.TrimSpace(o.Text("_misskey_reaction"))
	}
	if unicode := legacyReactions[content]; unicode != "" {
		content = unicode
	}
	if name, ok := emoji.Canonical(content); ok {
		return social.Emoji{Name: name}, true
	}
	code, ok := strings.CutPrefix(content, ":")
	if ok {
		code, ok = strings.CutSuffix(code, ":")
	}
	if !ok {
		return social.Emoji{}, false
	}
	code, _, _ = strings.Cut(code, "@") // emoji of a third server have its domain
	for _, known := range r.reader.ParseEmojis(o) {
		if known.Shortcode == code {
			return social.Emoji{Name: code, URL: known.URL}, true
		}
	}
	return social.Emoji{}, false
}
