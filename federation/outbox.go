package federation

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// Outbox turns outbox entries into activities and queues their deliveries.
type Outbox struct {
	Config
	documents *Documents
	fetcher   *remote.Fetcher
	local     *LocalObjects
	db        *store.DB
	locks     [64]sync.Mutex // held while an entry is published, by actor id
}

// outgoing is an activity that is to be sent, and to whom.
type outgoing struct {
	activity activity.Object
	signer   store.AccountID // 0: who has done the deed
	priority int
	statusID *store.StatusID // the post that it hands over: if it is gone by then, nothing is sent
	subject  int64           // what it is about (store.Dispatch)
	replaces store.Replacement
	inboxes  []string
}

// outboxBuilder makes activities of a deed by an account here: one, as a rule. None, or errs.ErrRecordNotFound, is what nobody needs to
// hear of any more.
type outboxBuilder func(*Outbox, context.Context, *store.Account, store.OutboxEntry) ([]*outgoing, error)

// outboxBuilders are for each verb who tells of it.
var outboxBuilders = map[store.OutboxType]outboxBuilder{
	store.StatusCreated:      (*Outbox).buildStatusCreated,
	store.StatusUpdated:      (*Outbox).buildStatusUpdated,
	store.StatusDeleted:      (*Outbox).buildStatusDeleted,
	store.ReblogCreated:      (*Outbox).buildReblogCreated,
	store.ReblogDeleted:      (*Outbox).buildReblogDeleted,
	store.FavouriteCreated:   (*Outbox).buildFavouriteCreated,
	store.FavouriteDeleted:   (*Outbox).buildFavouriteDeleted,
	store.ReactionCreated:    (*Outbox).buildReactionCreated,
	store.ReactionDeleted:    (*Outbox).buildReactionDeleted,
	store.VoteCreated:        (*Outbox).buildVoteCreated,
	store.FollowCreated:      (*Outbox).buildFollowCreated,
	store.FollowDeleted:      (*Outbox).buildFollowDeleted,
	store.FollowAccepted:     (*Outbox).buildFollowAccepted,
	store.FollowRejected:     (*Outbox).buildFollowRejected,
	store.BlockCreated:       (*Outbox).buildBlockCreated,
	store.BlockDeleted:       (*Outbox).buildBlockDeleted,
	store.ReportCreated:      (*Outbox).buildReportCreated,
	store.PinCreated:         (*Outbox).buildPinCreated,
	store.PinDeleted:         (*Outbox).buildPinDeleted,
	store.ChatMessageCreated: (*Outbox).buildChatMessageCreated,
	store.ChatMessageDeleted: (*Outbox).buildChatMessageDeleted,
	store.ProfileUpdated:     (*Outbox).buildProfileUpdated,
	store.AccountMoved:       (*Outbox).buildAccountMoved,
	store.AccountDeleted:     (*Outbox).buildAccountDeleted,
	store.QuoteAccepted:      (*Outbox).buildQuoteAccepted,
	store.QuoteRejected:      (*Outbox).buildQuoteRejected,
	store.QuoteRevoked:       (*Outbox).buildQuoteRevoked,
	store.ScrobbleCreated:    (*Outbox).buildScrobbleCreated,
}

// withdrawals are what is told of those, too, who are out of service: others should not go on showing what is gone.
var withdrawals = []store.OutboxType{
	store.StatusDeleted, store.ReblogDeleted, store.FavouriteDeleted, store.ReactionDeleted, store.FollowDeleted, store.FollowRejected, store.BlockDeleted,
	store.PinDeleted, store.ChatMessageDeleted, store.AccountDeleted,
}

// publish is the job that makes activities of a deed and queues them for all who are to hear of it.
func (b *Outbox) publish(ctx context.Context, d store.OutboxEntry) error {
	make := outboxBuilders[d.Type]
	if make == nil {
		return fmt.Errorf("no activity for the deed %q", d.Type)
	}
	// What one does is told in turn: else a job that has read how things were could queue that after another has how they are.
	turn := &b.locks[uint64(d.ActorID>>10)%uint64(len(b.locks))] // the last bits of ids are 0 mostly
	turn.Lock()
	defer turn.Unlock()
	actor, err := b.db.Account(ctx, d.ActorID)
	if err != nil {
		return ignoreNotFound(err)
	}
	if actor.Unavailable && !slices.Contains(withdrawals, d.Type) {
		return nil
	}
	list, err := make(b, ctx, actor, d)
	if err != nil || len(list) == 0 {
		return ignoreNotFound(err)
	}
	var out []*store.OutgoingActivity
	for _, t := range list {
		to := b.destinations(t.inboxes)
		if carriesStatus(t.activity) && !isAddressedToPublic(t.activity) {
			to = slices.DeleteFunc(to, func(d store.DeliveryTarget) bool { return b.Policies.Quarantined(d.Domain) })
		}
		if len(to) == 0 {
			continue
		}
		body, err := b.encodeActivity(t.activity)
		if err != nil {
			return err
		}
		signer := t.signer
		if signer == 0 {
			signer = actor.ID
		}
		for some := range slices.Chunk(to, enqueueBatch) {
			out = append(out, &store.OutgoingActivity{
				Activity: store.Activity{AccountID: signer, StatusID: t.statusID, Body: string(body)},
				Priority: t.priority, Subject: t.subject, Replaces: t.replaces, Targets: some,
			})
		}
	}
	if len(out) == 0 {
		return nil
	}
	out[len(out)-1].ID = d.ID // by which it is known if this job runs again
	return b.enqueue(ctx, out)
}

// enqueueBatch is to how many inboxes something is queued in one transaction, so that others can write in between.
const enqueueBatch = 500

// enqueue queues activities, of which the last has an id: if that is there already, all are.
func (b *Outbox) enqueue(ctx context.Context, out []*store.OutgoingActivity) error {
	known, err := b.db.Activities(ctx, []store.ActivityID{out[len(out)-1].ID})
	if len(known) > 0 || err != nil {
		return err
	}
	for len(out) > 0 {
		n, inboxes := 1, len(out[0].Targets)
		for n < len(out) && inboxes+len(out[n].Targets) <= enqueueBatch {
			inboxes += len(out[n].Targets)
			n++
		}
		err := b.db.Update(ctx, func(tx *store.Tx) error {
			for _, d := range out[:n] {
				if err := tx.EnqueueDeliveries(ctx, d); err != nil {
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

// encodeActivity writes an activity as it is sent. Who is addressed without the others knowing is never named (ActivityPub 6).
func (b *Outbox) encodeActivity(a activity.Object) ([]byte, error) {
	if a["published"] == nil {
		a["published"] = store.At(b.db.Now()).String()
	}
	a = withContext(a)
	for _, part := range []activity.Object{a, a.Object("object")} {
		delete(part, "bto")
		delete(part, "bcc")
	}
	return a.Bytes()
}

// destinations returns inboxes with their hosts, each once, without those with which there are to be no dealings.
func (b *Outbox) destinations(inboxes []string) []store.DeliveryTarget {
	var to []store.DeliveryTarget
	seen := make(map[string]bool, len(inboxes))
	for _, inbox := range inboxes {
		if seen[inbox] {
			continue
		}
		seen[inbox] = true
		if host, err := b.fetcher.FetchableHost(inbox); err == nil {
			to = append(to, store.DeliveryTarget{Inbox: inbox, Domain: host})
		}
	}
	return to
}

// carriesStatus tells whether an activity lets others read something that somebody has written.
func carriesStatus(a activity.Object) bool { return a.Is("Create", "Update", "Announce", "Add") }

// isAddressedToPublic tells whether an activity is addressed to everybody. Other ones are not for servers in quarantine.
func isAddressedToPublic(a activity.Object) bool {
	return slices.ContainsFunc(append(a.Refs("to", remote.MaxAddressees), a.Refs("cc", remote.MaxAddressees)...), activity.IsPublic)
}

// newActivity makes the activity of a deed that has no id in the database but its own.
func (b *Outbox) newActivity(d store.OutboxEntry, verb string, actor *store.Account, about any, to, cc []string) activity.Object {
	return activity.Object{
		"id": b.documents.activityURI(int64(d.ID)), "type": verb, "actor": b.documents.actorURI(actor), "object": about, "to": stringValues(to), "cc": stringValues(cc),
	}
}

// newUndo takes an activity back. It has the whole of it, since many servers do not know it by its id (federation D5).
func (b *Outbox) newUndo(d store.OutboxEntry, actor *store.Account, what activity.Object) activity.Object {
	return b.newActivity(d, "Undo", actor, jsonMap(what), what.Refs("to", remote.MaxAddressees), what.Refs("cc", remote.MaxAddressees))
}

// subjectHash returns a number for what activities are about that no row stands for.
func subjectHash(kind string, a, b store.AccountID) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d %d", kind, a, b)
	return int64(h.Sum64()>>1) | 1
}

func ignoreNotFound(err error) error {
	if errs.IsNotFound(err) {
		return nil
	}
	return err
}
