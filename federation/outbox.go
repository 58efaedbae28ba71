package federation

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/proof"
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

// outgoing is an activity to deliver, and its inboxes.
type outgoing struct {
	activity activity.Object
	signer   store.AccountID // 0: the actor of the outbox entry
	priority int
	statusID *store.StatusID // a status that must be available when the activity is sent
	subject  int64           // see store.OutgoingActivity
	replaces store.Replacement
	inboxes  []string
}

// outboxBuilder makes the activities of an outbox entry of a local account, usually one. It returns none, or errs.ErrRecordNotFound, if the
// change was undone meanwhile.
type outboxBuilder func(*Outbox, context.Context, *store.Account, store.OutboxEntry) ([]*outgoing, error)

// outboxBuilders makes the activities of each type of outbox entry.
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
	store.BlockCreated:       (*Outbox).buildBlock,
	store.BlockDeleted:       (*Outbox).buildBlock,
	store.ReportCreated:      (*Outbox).buildReportCreated,
	store.PinCreated:         (*Outbox).buildPin,
	store.PinDeleted:         (*Outbox).buildPin,
	store.ChatMessageCreated: (*Outbox).buildChatMessageCreated,
	store.ChatMessageDeleted: (*Outbox).buildChatMessageDeleted,
	store.ProfileUpdated:     (*Outbox).buildProfileUpdated,
	store.KeyRotated:         (*Outbox).buildKeyRotated,
	store.AccountMoved:       (*Outbox).buildAccountMoved,
	store.AccountDeleted:     (*Outbox).buildAccountDeleted,
	store.QuoteRequested:     (*Outbox).buildQuoteRequested,
	store.QuoteAccepted:      (*Outbox).buildQuoteAccepted,
	store.QuoteRejected:      (*Outbox).buildQuoteRejected,
	store.QuoteRevoked:       (*Outbox).buildQuoteRevoked,
	store.FeatureAccepted:    (*Outbox).buildFeatureAccepted,
	store.FeatureRejected:    (*Outbox).buildFeatureRejected,
	store.FeatureRevoked:     (*Outbox).buildFeatureRevoked,
	store.ScrobbleCreated:    (*Outbox).buildScrobbleCreated,

	store.FeatureRequested:      (*Outbox).buildFeatureRequested,
	store.CollectionCreated:     (*Outbox).buildCollectionCreated,
	store.CollectionUpdated:     (*Outbox).buildCollectionUpdated,
	store.CollectionDeleted:     (*Outbox).buildCollectionDeleted,
	store.CollectionItemAdded:   (*Outbox).buildCollectionItemAdded,
	store.CollectionItemRemoved: (*Outbox).buildCollectionItemRemoved,

	store.InteractionAccepted: (*Outbox).buildInteractionAccepted,
	store.InteractionRejected: (*Outbox).buildInteractionRejected,
	store.InteractionRevoked:  (*Outbox).buildInteractionRevoked,
}

// Activities in withdrawals are also sent for unavailable accounts and by a closed server, so that other servers do not keep deleted posts.
var withdrawals = []store.OutboxType{
	store.StatusDeleted, store.ReblogDeleted, store.FavouriteDeleted, store.ReactionDeleted, store.FollowDeleted, store.FollowRejected, store.BlockDeleted,
	store.PinDeleted, store.ChatMessageDeleted, store.AccountDeleted, store.InteractionRejected, store.InteractionRevoked,
	store.FeatureRejected, store.FeatureRevoked, store.CollectionDeleted, store.CollectionItemRemoved,
}

// publish is the job that builds the activities of an outbox entry and queues their deliveries.
func (b *Outbox) publish(ctx context.Context, e store.OutboxEntry) error {
	// One entry of an actor at a time: otherwise a job that has read an old state could queue it after another has queued the new one.
	lock := &b.locks[uint64(e.ActorID>>10)%uint64(len(b.locks))] // the last bits of most ids are 0
	lock.Lock()
	defer lock.Unlock()
	out, err := b.outgoing(ctx, e)
	if err != nil {
		return err
	}
	queue := func() error { return b.enqueue(ctx, out) }
	if e.Type == store.KeyRotated {
		return b.documents.signers.AnnounceKey(ctx, e.ActorID, e.URI, queue)
	}
	return queue()
}

// outgoing builds the activities of an outbox entry with their deliveries. The last one has the id of the entry.
func (b *Outbox) outgoing(ctx context.Context, e store.OutboxEntry) ([]*store.OutgoingActivity, error) {
	build := outboxBuilders[e.Type]
	if build == nil {
		return nil, fmt.Errorf("no activity for the outbox entry type %q", e.Type)
	}
	if b.db.ServerClosed() && !slices.Contains(withdrawals, e.Type) {
		return nil, nil
	}
	actor, err := b.db.Account(ctx, e.ActorID)
	if err != nil {
		return nil, errs.IgnoreNotFound(err)
	}
	if actor.Unavailable && !slices.Contains(withdrawals, e.Type) && !(e.Type == store.KeyRotated && b.documents.IsServerActor(actor)) {
		return nil, nil
	}
	list, err := build(b, ctx, actor, e)
	if err != nil || len(list) == 0 {
		return nil, errs.IgnoreNotFound(err)
	}
	var out []*store.OutgoingActivity
	for _, t := range list {
		to := b.destinations(t.inboxes)
		if carriesStatus(t.activity) && !isAddressedToPublic(t.activity) {
			to = slices.DeleteFunc(to, func(e store.DeliveryTarget) bool { return b.Policies.Quarantined(e.Domain) })
		}
		if len(to) == 0 {
			continue
		}
		signer := t.signer
		if signer == 0 {
			signer = actor.ID
		}
		body, err := b.encodeActivity(ctx, b.complete(t.activity), signer)
		if err != nil {
			return nil, err
		}
		for some := range slices.Chunk(to, enqueueBatch) {
			out = append(out, &store.OutgoingActivity{
				Activity: store.Activity{AccountID: signer, StatusID: t.statusID, Body: string(body)},
				Priority: t.priority, Subject: t.subject, Replaces: t.replaces, Targets: some,
			})
		}
	}
	if len(out) > 0 {
		out[len(out)-1].ID = e.ID // so that enqueue does nothing if this job runs again
	}
	return out, nil
}

// enqueueBatch is how many deliveries one transaction adds, so that other writers get their turn.
const enqueueBatch = 500

// enqueue queues the deliveries of activities. It does nothing if the last one, which has an id, is queued already.
func (b *Outbox) enqueue(ctx context.Context, out []*store.OutgoingActivity) error {
	if len(out) == 0 {
		return nil
	}
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

// complete returns a copy of an activity with all members that are sent. bto and bcc never are (ActivityPub 6).
func (b *Outbox) complete(a activity.Object) activity.Object {
	if a["published"] == nil {
		a["published"] = store.At(b.db.Now()).String()
	}
	a = withContext(a)
	for _, part := range []activity.Object{a, a.Object("object")} {
		delete(part, "bto")
		delete(part, "bcc")
	}
	return a
}

// encodeActivity returns an activity of an account as it is sent. Public replies have a proof, so that the server of the thread can pass them on
// (FEP-8b32).
func (b *Outbox) encodeActivity(ctx context.Context, a activity.Object, signer store.AccountID) ([]byte, error) {
	if isPublicReply(a) {
		if err := b.addProof(ctx, a, signer); err != nil {
			return nil, err
		}
	}
	return a.Bytes()
}

// isPublicReply returns true if an activity brings a public or unlisted reply, or a change of one.
func isPublicReply(a activity.Object) bool {
	return a.Is("Create", "Update") && a.Object("object").Ref("inReplyTo") != "" && isAddressedToPublic(a)
}

// addProof adds a proof by the Ed25519 key of an account, if it has one.
func (b *Outbox) addProof(ctx context.Context, a activity.Object, signer store.AccountID) error {
	key, err := b.documents.signers.Ed25519(ctx, signer)
	if key == nil || err != nil {
		return err
	}
	a["@context"] = proofContext
	return proof.Sign(a, key.Key.(ed25519.PrivateKey), key.KeyID, b.db.Now())
}

// destinations returns inboxes with their hosts, without duplicates and without blocked and malformed ones.
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

// carriesStatus returns true if an activity brings or names a status.
func carriesStatus(a activity.Object) bool { return a.Is("Create", "Update", "Announce", "Add") }

// isAddressedToPublic returns true if an activity is public or unlisted. Quarantined hosts get no statuses that are not.
func isAddressedToPublic(a activity.Object) bool {
	return slices.ContainsFunc(append(a.Refs("to", remote.MaxAddressees), a.Refs("cc", remote.MaxAddressees)...), activity.IsPublic)
}

// newActivity makes an activity whose id is that of the outbox entry.
func (b *Outbox) newActivity(e store.OutboxEntry, activityType string, actor *store.Account, object any, to, cc []string) activity.Object {
	return activity.Object{
		"id": b.documents.activityURI(int64(e.ID)), "type": activityType, "actor": actor.URI, "object": object, "to": stringValues(to), "cc": stringValues(cc),
	}
}

// newUndo makes the Undo of an activity. It embeds the whole activity, because many servers do not find it by its id (federation D5).
func (b *Outbox) newUndo(e store.OutboxEntry, actor *store.Account, undone activity.Object) activity.Object {
	return b.newActivity(e, "Undo", actor, jsonMap(undone), undone.Refs("to", remote.MaxAddressees), undone.Refs("cc", remote.MaxAddressees))
}

// subjectHash returns the subject of deliveries (store.OutgoingActivity) for relations of two accounts, which have no row.
func subjectHash(kind string, a, b store.AccountID) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d %d", kind, a, b)
	return int64(h.Sum64()>>1) | 1
}
