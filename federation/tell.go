package federation

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// telling is an activity that is to be sent, and to whom.
type telling struct {
	activity activity.Object
	signer   store.AccountID // 0: who has done the deed
	priority int
	status   *store.StatusID // the post that it hands over: if it is gone by then, nothing is sent
	subject  int64           // what it is about (store.Dispatch)
	replaces store.Replacement
	inboxes  []string
}

// teller makes activities of a deed by an account here: one, as a rule. None, or errs.ErrRecordNotFound, is what nobody needs to
// hear of any more.
type teller func(*Service, context.Context, *store.Account, store.Deed) ([]*telling, error)

// tellers are for each verb who tells of it.
var tellers = map[store.Verb]teller{
	store.Posted:           (*Service).tellPosted,
	store.Edited:           (*Service).tellEdited,
	store.Deleted:          (*Service).tellDeleted,
	store.Boosted:          (*Service).tellBoosted,
	store.Unboosted:        (*Service).tellUnboosted,
	store.Favourited:       (*Service).tellFavourited,
	store.Unfavourited:     (*Service).tellUnfavourited,
	store.Reacted:          (*Service).tellReacted,
	store.Unreacted:        (*Service).tellUnreacted,
	store.Voted:            (*Service).tellVoted,
	store.Followed:         (*Service).tellFollowed,
	store.Unfollowed:       (*Service).tellUnfollowed,
	store.AcceptedFollow:   (*Service).tellAccepted,
	store.RejectedFollow:   (*Service).tellRejected,
	store.Blocked:          (*Service).tellBlocked,
	store.Unblocked:        (*Service).tellUnblocked,
	store.Reported:         (*Service).tellReported,
	store.Pinned:           (*Service).tellPinned,
	store.Unpinned:         (*Service).tellUnpinned,
	store.Messaged:         (*Service).tellMessaged,
	store.RetractedMessage: (*Service).tellRetracted,
	store.ChangedProfile:   (*Service).tellProfile,
	store.Moved:            (*Service).tellMoved,
	store.Left:             (*Service).tellLeft,
	store.AcceptedQuote:    (*Service).tellAcceptedQuote,
	store.RejectedQuote:    (*Service).tellRejectedQuote,
	store.RevokedQuote:     (*Service).tellRevokedQuote,
	store.Listened:         (*Service).tellListened,
}

// withdrawals are what is told of those, too, who are out of service: others should not go on showing what is gone.
var withdrawals = []store.Verb{
	store.Deleted, store.Unboosted, store.Unfavourited, store.Unreacted, store.Unfollowed, store.RejectedFollow, store.Unblocked,
	store.Unpinned, store.RetractedMessage, store.Left,
}

// tell is the job that makes activities of a deed and queues them for all who are to hear of it.
func (s *Service) tell(ctx context.Context, d store.Deed) error {
	make := tellers[d.Verb]
	if make == nil {
		return fmt.Errorf("no activity for the deed %q", d.Verb)
	}
	// What one does is told in turn: else a job that has read how things were could queue that after another has how they are.
	turn := &s.telling[uint64(d.ActorID>>10)%uint64(len(s.telling))] // the last bits of ids are 0 mostly
	turn.Lock()
	defer turn.Unlock()
	actor, err := s.db.Account(ctx, d.ActorID)
	if err != nil {
		return ignoreMissing(err)
	}
	if actor.Withheld && !slices.Contains(withdrawals, d.Verb) {
		return nil
	}
	list, err := make(s, ctx, actor, d)
	if err != nil || len(list) == 0 {
		return ignoreMissing(err)
	}
	var out []*store.Dispatch
	for _, t := range list {
		to := s.destinations(t.inboxes)
		if carriesPost(t.activity) && !isForAll(t.activity) {
			to = slices.DeleteFunc(to, func(d store.Destination) bool { return s.Policies.Quarantined(d.Domain) })
		}
		if len(to) == 0 {
			continue
		}
		body, err := s.body(t.activity)
		if err != nil {
			return err
		}
		signer := t.signer
		if signer == 0 {
			signer = actor.ID
		}
		for some := range slices.Chunk(to, queuedAtOnce) {
			out = append(out, &store.Dispatch{
				Activity: store.Activity{AccountID: signer, StatusID: t.status, Body: string(body)},
				Priority: t.priority, Subject: t.subject, Replaces: t.replaces, To: some,
			})
		}
	}
	if len(out) == 0 {
		return nil
	}
	out[len(out)-1].ID = d.ID // by which it is known if this job runs again
	return s.queue(ctx, out)
}

// queuedAtOnce is to how many inboxes something is queued in one transaction, so that others can write in between.
const queuedAtOnce = 500

// queue queues activities, of which the last has an id: if that is there already, all are.
func (s *Service) queue(ctx context.Context, out []*store.Dispatch) error {
	known, err := s.db.Activities(ctx, []store.ActivityID{out[len(out)-1].ID})
	if len(known) > 0 || err != nil {
		return err
	}
	for len(out) > 0 {
		n, inboxes := 1, len(out[0].To)
		for n < len(out) && inboxes+len(out[n].To) <= queuedAtOnce {
			inboxes += len(out[n].To)
			n++
		}
		err := s.db.Update(ctx, func(tx *store.Tx) error {
			for _, d := range out[:n] {
				if err := tx.Dispatch(ctx, d); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		out = out[n:]
	}
	return nil
}

// body writes an activity as it is sent. Who is addressed without the others knowing is never named (ActivityPub 6).
func (s *Service) body(a activity.Object) ([]byte, error) {
	if a["published"] == nil {
		a["published"] = store.At(s.now()).String()
	}
	a = withContext(a)
	for _, part := range []activity.Object{a, a.Object("object")} {
		delete(part, "bto")
		delete(part, "bcc")
	}
	return a.Bytes()
}

// destinations returns inboxes with their hosts, each once, without those with which there are to be no dealings.
func (s *Service) destinations(inboxes []string) []store.Destination {
	var to []store.Destination
	seen := make(map[string]bool, len(inboxes))
	for _, inbox := range inboxes {
		if seen[inbox] {
			continue
		}
		seen[inbox] = true
		if host, err := s.hostToAsk(inbox); err == nil {
			to = append(to, store.Destination{Inbox: inbox, Domain: host})
		}
	}
	return to
}

// carriesPost tells whether an activity lets others read something that somebody has written.
func carriesPost(a activity.Object) bool { return a.Is("Create", "Update", "Announce", "Add") }

// isForAll tells whether an activity is addressed to everybody. Other ones are not for servers in quarantine.
func isForAll(a activity.Object) bool {
	return slices.ContainsFunc(append(a.Refs("to", maxAddressed), a.Refs("cc", maxAddressed)...), activity.IsPublic)
}

// newActivity makes the activity of a deed that has no id in the database but its own.
func (s *Service) newActivity(d store.Deed, verb string, actor *store.Account, about any, to, cc []string) activity.Object {
	return activity.Object{
		"id": s.activityURI(int64(d.ID)), "type": verb, "actor": s.actorURI(actor), "object": about, "to": texts(to), "cc": texts(cc),
	}
}

// undoing takes an activity back. It has the whole of it, since many servers do not know it by its id (federation D5).
func (s *Service) undoing(d store.Deed, actor *store.Account, what activity.Object) activity.Object {
	return s.newActivity(d, "Undo", actor, part(what), what.Refs("to", maxAddressed), what.Refs("cc", maxAddressed))
}

// subjectOf returns a number for what activities are about that no row stands for.
func subjectOf(kind string, a, b store.AccountID) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d %d", kind, a, b)
	return int64(h.Sum64()>>1) | 1
}

func ignoreMissing(err error) error {
	if errs.IsNotFound(err) {
		return nil
	}
	return err
}
