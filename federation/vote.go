package federation

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"svc/federation/inbox"
	"svc/internal/activity"
)

// IsVote tells whether a Note is a vote in a poll: it has a name, answers something, and says nothing else (federation 4.3).
func IsVote(note activity.Object) bool {
	content, _ := note.TextAndLanguage("content")
	return note.Is("Note", "Answer") && note.Text("name") != "" && content == "" && note.Ref("inReplyTo") != "" && len(note.Values("attachment")) == 0
}

// receiveVote has an actor choose an option of a poll of this server, by the text of the option. Whom it is addressed to does not matter: what
// others get of it is nothing.
func (s *Service) receiveVote(ctx context.Context, in *inbox.Activity, note activity.Object) error {
	if by := note.Ref("attributedTo"); by != "" && by != in.Actor.URI {
		return Refuse("it is the vote of %s", by)
	}
	st, err := s.db.StatusByURI(ctx, note.Ref("inReplyTo"))
	if err != nil {
		return err
	}
	if st == nil || !st.Local() {
		return nil // the votes in polls elsewhere are counted there
	}
	p, err := s.db.PollOf(ctx, st.ID)
	if err != nil {
		return err
	}
	if p == nil {
		return Refuse("there is no poll to vote in")
	}
	name := normalizeOption(note.Text("name"))
	choice := slices.IndexFunc(p.Titles(), func(title string) bool { return normalizeOption(title) == name })
	if choice < 0 {
		return Refuse("the poll has no such option")
	}
	_, err = s.social.Vote(ctx, in.Actor, p.ID, []int{choice})
	return err
}

// normalizeOption is what the same options have in common, whoever has typed them.
func normalizeOption(title string) string { return norm.NFC.String(strings.TrimSpace(title)) }
