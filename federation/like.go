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

// handleLike has an actor like a post that is known here, or react to it. A Like with an emoji is a reaction, with anything else a favourite;
// an EmojiReact with anything else is nothing (federation 4.7).
func (r *Receiver) handleLike(ctx context.Context, in *inbox.Activity) error {
	ref, err := objectRef(in)
	if err != nil {
		return err
	}
	st, err := r.local.statusIDByURI(ctx, ref)
	if err != nil || st == 0 {
		return err // nobody asks for a post because it is liked
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

// legacyReactions are what reactions were called by some servers once (federation 4.7).
var legacyReactions = map[string]string{
	"like": "👍", "love": "❤️", "laugh": "😆", "hmm": "🤔", "surprise": "😮", "congrats": "🎉", "angry": "💢", "confused": "😥",
	"rip": "😇", "pudding": "🍮", "star": "⭐",
}

// reactionEmoji returns the emoji of a reaction; ok is false if it names none, or a custom one without its picture.
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
	code, _, _ = strings.Cut(code, "@") // who passes on one of a third server says of which it is
	for _, known := range r.reader.ParseEmojis(o) {
		if known.Shortcode == code {
			return social.Emoji{Name: code, URL: known.URL}, true
		}
	}
	return social.Emoji{}, false
}
