package federation

import (
	"context"
	"slices"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/store"
)

// What is between somebody here and somebody elsewhere: follows and their answers, blocks, reports.

func (b *Outbox) buildFollowCreated(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	f, err := b.db.FollowOf(ctx, actor.ID, d.TargetID)
	if f == nil || err != nil || int64(f.ID) != d.RowID {
		return nil, err // taken back
	}
	a, err := b.documents.followActivity(ctx, f)
	if err != nil {
		return nil, err
	}
	return b.toTarget(ctx, d, a, subjectHash("follow", actor.ID, d.TargetID), store.ReplaceNothing)
}

func (b *Outbox) buildFollowDeleted(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	if f, err := b.db.FollowOf(ctx, actor.ID, d.TargetID); f != nil || err != nil {
		return nil, err // and followed again
	}
	f := &store.Follow{ID: store.FollowID(d.RowID), FollowerID: actor.ID, TargetID: d.TargetID}
	if d.URI != "" {
		f.URI = &d.URI
	}
	a, err := b.documents.followActivity(ctx, f)
	if err != nil {
		return nil, err
	}
	return b.toTarget(ctx, d, b.newUndo(d, actor, a), subjectHash("follow", actor.ID, d.TargetID), store.ReplaceAll)
}

func (b *Outbox) buildFollowAccepted(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	f, err := b.db.FollowOf(ctx, d.TargetID, actor.ID)
	if f == nil || err != nil || f.Pending || int64(f.ID) != d.RowID {
		return nil, err
	}
	return b.followAnswer(ctx, "Accept", actor, d)
}

func (b *Outbox) buildFollowRejected(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	f, err := b.db.FollowOf(ctx, d.TargetID, actor.ID)
	if err != nil || f != nil && int64(f.ID) != d.RowID {
		return nil, err // asked again: that has an answer of its own
	}
	return b.followAnswer(ctx, "Reject", actor, d)
}

// followAnswer says yes or no to the Follow by somebody elsewhere, with the whole of that in it (federation 4.10). One without an id, as
// after an import, gets one of ours.
func (b *Outbox) followAnswer(ctx context.Context, verb string, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	follower, err := b.db.Account(ctx, d.TargetID)
	if err != nil {
		return nil, err
	}
	follow := jsonMap{"id": d.URI, "type": "Follow", "actor": follower.URI, "object": b.documents.actorURI(actor)}
	if d.URI == "" {
		follow["id"] = b.documents.activityURI(d.RowID)
	}
	a := b.newActivity(d, verb, actor, follow, []string{follower.URI}, nil)
	return b.toTarget(ctx, d, a, subjectHash("answer", actor.ID, follower.ID), store.ReplaceAll)
}

// toTarget sends what is between two to the other one.
func (b *Outbox) toTarget(ctx context.Context, d store.OutboxEntry, a activity.Object, subject int64, replaces store.Replacement) ([]*outgoing, error) {
	inboxes, err := b.inboxesOf(ctx, d.TargetID)
	return []*outgoing{{activity: a, subject: subject, replaces: replaces, priority: store.HighPriority, inboxes: inboxes}}, err
}

func (b *Outbox) buildBlockCreated(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	return b.buildBlock(ctx, actor, d, true)
}

func (b *Outbox) buildBlockDeleted(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	return b.buildBlock(ctx, actor, d, false)
}

// buildBlock tells of a block or of its end, if the operator wants others to hear of blocks (federation 4.11). A block has no row with an
// id, so its end cannot name that of the Block: others go by the two accounts.
func (b *Outbox) buildBlock(ctx context.Context, actor *store.Account, d store.OutboxEntry, is bool) ([]*outgoing, error) {
	if !b.SendBlocks {
		return nil, nil
	}
	if blocked, err := b.db.Blocks(ctx, actor.ID, d.TargetID); blocked != is || err != nil {
		return nil, err // it has changed since
	}
	target, err := b.db.Account(ctx, d.TargetID)
	if err != nil {
		return nil, err
	}
	a := b.newActivity(d, "Block", actor, target.URI, []string{target.URI}, nil)
	if !is {
		a["id"] = a.ID() + "/block"
		a = b.newUndo(d, actor, a)
	}
	return b.toTarget(ctx, d, a, subjectHash("block", actor.ID, target.ID), store.ReplaceAll)
}

// buildReportCreated forwards a report to the staff of the server of whom it is about, in the name of this server (federation 4.12).
func (b *Outbox) buildReportCreated(ctx context.Context, _ *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	id := []store.ReportID{store.ReportID(d.RowID)}
	reports, err := b.db.Reports(ctx, id)
	if err != nil || len(reports) == 0 {
		return nil, err
	}
	about, err := b.db.ReportedStatuses(ctx, id)
	if err != nil {
		return nil, err
	}
	target, err := b.db.Account(ctx, d.TargetID)
	if err != nil {
		return nil, err
	}
	server, err := b.local.serverActor(ctx, remote.FetchActorPath)
	if err != nil {
		return nil, err
	}
	things := []string{target.URI}
	for _, st := range about {
		if !slices.Contains(things, st.URI) {
			things = append(things, st.URI)
		}
	}
	a := b.newActivity(d, "Flag", server, stringValues(things), []string{target.URI}, nil)
	a["content"] = reports[0].Comment
	inboxes, err := b.sharedInboxesOf(ctx, []store.AccountID{target.ID})
	return []*outgoing{{activity: a, signer: server.ID, priority: store.HighPriority, inboxes: inboxes}}, err
}
