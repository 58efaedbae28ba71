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

// receiveVote has an actor choose an option of a poll of this server, by the text of the option. Whom it is addressed to does not matter: what
// others get of it is nothing.
func (r *Receiver) receiveVote(ctx context.Context, in *inbox.Activity, note activity.Object) error {
	if by := note.Ref("attributedTo"); by != "" && by != in.Actor.URI {
		return remote.Refuse("it is the vote of %s", by)
	}
	st, err := r.db.StatusByURI(ctx, note.Ref("inReplyTo"))
	if err != nil {
		return err
	}
	if st == nil || !st.Local() {
		return nil // the votes in polls elsewhere are counted there
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

// normalizeOption is what the same options have in common, whoever has typed them.
func normalizeOption(title string) string { return norm.NFC.String(strings.TrimSpace(title)) }
