package federation

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
)

// receiveVote stores a vote in a local poll, by the text of the option. Its addressing does not matter, because votes are not shown.
func (r *Receiver) receiveVote(ctx context.Context, in *inbox.Activity, note activity.Object) error {
	if by := note.Ref("attributedTo"); by != "" && by != in.Actor.URI {
		return remote.Refuse("it is the vote of %s", by)
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
		return remote.Refuse("there is no poll to vote in")
	}
	name := normalizeOption(note.Text("name"))
	choice := slices.IndexFunc(p.Titles(), func(title string) bool { return normalizeOption(title) == name })
	if choice < 0 {
		return remote.Refuse("the poll has no such option")
	}
	_, err = r.social.Vote(ctx, in.Actor, p.ID, []int{choice})
	return err
}

// normalizeOption returns the form in which options are compared.
func normalizeOption(title string) string { return norm.NFC.String(strings.TrimSpace(title)) }
