package federation

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

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
		return remote.Refuse("reaction has no emoji")
	}
	_, err = r.social.ReceiveFavourite(ctx, in.Actor, st, in.URI, "")
	return err
}

// legacyReactions are former names of reactions (federation 4.7).
var legacyReactions = map[string]string{
	"like": "👍", "love": "❤️", "laugh": "😆", "hmm": "🤔", "surprise": "😮", "congrats": "🎉", "angry": "💢", "confused": "😥",
	"rip": "😇", "pudding": "🍮", "star": "⭐",
}

// maxReaction is how many bytes the emoji of a reaction has at most: a shortcode with the host of its server.
const maxReaction = 512

// reactionEmoji returns the emoji of a reaction; ok is false if there is none, or a custom one without picture.
func (r *Receiver) reactionEmoji(o activity.Object) (e social.Emoji, ok bool) {
	content := strings.TrimSpace(o.Text("content"))
	if content == "" {
		content = strings.TrimSpace(o.Text("_misskey_reaction"))
	}
	if len(content) > maxReaction {
		return social.Emoji{}, false
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

// maxVote is how many bytes of the title of an option are compared. Local options are shorter.
const maxVote = 100_000

// receiveVote stores a vote in a local poll, by the text of the option. Its addressing does not matter, because votes are not shown.
func (r *Receiver) receiveVote(ctx context.Context, in *inbox.Activity, note activity.Object) error {
	if by := note.Ref("attributedTo"); by != "" && by != in.Actor.URI {
		return remote.Refuse("vote is attributed to %s", by)
	}
	st, err := r.db.StatusByURI(ctx, note.Ref("inReplyTo"))
	if err != nil {
		return err
	}
	if st == nil || !st.Local() {
		return nil // votes in remote polls are counted by their server
	}
	p, err := r.db.PollOf(ctx, st.ID)
	if err != nil {
		return err
	}
	if p == nil {
		return remote.Refuse("status has no poll")
	}
	if len(note.Text("name")) > maxVote {
		return remote.Refuse("poll does not have this option")
	}
	name := normalizeOption(note.Text("name"))
	choice := slices.IndexFunc(p.Titles(), func(title string) bool { return normalizeOption(title) == name })
	if choice < 0 {
		return remote.Refuse("poll does not have this option")
	}
	_, err = r.social.Vote(ctx, in.Actor, p.ID, []int{choice})
	return err
}

// normalizeOption returns the form in which options are compared.
func normalizeOption(title string) string { return norm.NFC.String(strings.TrimSpace(title)) }
