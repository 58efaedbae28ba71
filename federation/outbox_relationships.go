package federation

import (
	"context"
	"slices"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/store"
)

// Follows and their answers, blocks, and reports.

func (b *Outbox) buildFollowCreated(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	f, err := b.db.FollowOf(ctx, actor.ID, e.TargetID)
	if f == nil || err != nil || int64(f.ID) != e.RowID {
		return nil, err // undone meanwhile
	}
	a, err := b.documents.followActivity(ctx, f)
	if err != nil {
		return nil, err
	}
	return b.toTarget(ctx, e, a, subjectHash("follow", actor.ID, e.TargetID), store.ReplaceNothing)
}

func (b *Outbox) buildFollowDeleted(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	if f, err := b.db.FollowOf(ctx, actor.ID, e.TargetID); f != nil || err != nil {
		return nil, err // followed again meanwhile
	}
	f := &store.Follow{ID: store.FollowID(e.RowID), FollowerID: actor.ID, TargetID: e.TargetID}
	if e.URI != "" {
		f.URI = &e.URI
	}
	a, err := b.documents.followActivity(ctx, f)
	if err != nil {
		return nil, err
	}
	return b.toTarget(ctx, e, b.newUndo(e, actor, a), subjectHash("follow", actor.ID, e.TargetID), store.ReplaceAll)
}

func (b *Outbox) buildFollowAccepted(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	f, err := b.db.FollowOf(ctx, e.TargetID, actor.ID)
	if f == nil || err != nil || f.Pending || int64(f.ID) != e.RowID {
		return nil, err
	}
	return b.followAnswer(ctx, "Accept", actor, e)
}

func (b *Outbox) buildFollowRejected(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	f, err := b.db.FollowOf(ctx, e.TargetID, actor.ID)
	if err != nil || f != nil && int64(f.ID) != e.RowID {
		return nil, err // a newer follow request has an answer of its own
	}
	return b.followAnswer(ctx, "Reject", actor, e)
}

// followAnswer makes the Accept or Reject of a remote Follow, and embeds the Follow (federation 4.10). A Follow without an id, as after an
// import, gets a local id.
func (b *Outbox) followAnswer(ctx context.Context, activityType string, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	follower, err := b.db.Account(ctx, e.TargetID)
	if err != nil {
		return nil, err
	}
	follow := jsonMap{"id": e.URI, "type": "Follow", "actor": follower.URI, "object": actor.URI}
	if e.URI == "" {
		follow["id"] = b.documents.activityURI(e.RowID)
	}
	a := b.newActivity(e, activityType, actor, follow, []string{follower.URI}, nil)
	return b.toTarget(ctx, e, a, subjectHash("answer", actor.ID, follower.ID), store.ReplaceAll)
}

// toTarget addresses an activity to the target account of the outbox entry.
func (b *Outbox) toTarget(ctx context.Context, e store.OutboxEntry, a activity.Object, subject int64, replaces store.Replacement) ([]*outgoing, error) {
	inboxes, err := b.inboxesOf(ctx, e.TargetID)
	return []*outgoing{{activity: a, subject: subject, replaces: replaces, priority: store.HighPriority, inboxes: inboxes}}, err
}

// buildBlock makes a Block or its Undo, if federation.send_blocks is on (federation 4.11). Both have the id of the Block, because some servers
// find what is undone by that alone.
func (b *Outbox) buildBlock(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	if !b.Settings.Load().Federation.SendBlocks {
		return nil, nil
	}
	is := e.Type == store.BlockCreated
	if blocked, err := b.db.Blocks(ctx, actor.ID, e.TargetID); blocked != is || err != nil {
		return nil, err // changed meanwhile
	}
	target, err := b.db.Account(ctx, e.TargetID)
	if err != nil {
		return nil, err
	}
	a := b.newActivity(e, "Block", actor, target.URI, []string{target.URI}, nil)
	if a["id"] = e.URI; !is {
		a = b.newUndo(e, actor, a)
	}
	return b.toTarget(ctx, e, a, subjectHash("block", actor.ID, target.ID), store.ReplaceAll)
}

// buildReportCreated sends a Flag to the server of the reported account, in the name of the server actor (federation 4.12).
func (b *Outbox) buildReportCreated(ctx context.Context, _ *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	id := []store.ReportID{store.ReportID(e.RowID)}
	reports, err := b.db.Reports(ctx, id)
	if err != nil || len(reports) == 0 {
		return nil, err
	}
	statuses, err := b.db.ReportedStatuses(ctx, id, store.MaxReportStatuses)
	if err != nil {
		return nil, err
	}
	target, err := b.db.Account(ctx, e.TargetID)
	if err != nil {
		return nil, err
	}
	server, err := b.local.serverActor(ctx, remote.FetchActorPath)
	if err != nil {
		return nil, err
	}
	uris := []string{target.URI}
	for _, st := range statuses {
		if !slices.Contains(uris, st.URI) {
			uris = append(uris, st.URI)
		}
	}
	for _, c := range reports[0].Collections.V {
		uris = append(uris, c.URI)
	}
	a := b.newActivity(e, "Flag", server, stringValues(uris), []string{target.URI}, nil)
	a["content"] = reports[0].Comment
	recipients, err := b.db.RemoteRecipients(ctx, 0, []store.AccountID{target.ID})
	return []*outgoing{{activity: a, signer: server.ID, priority: store.HighPriority, inboxes: deliveryInboxes(recipients)}}, err
}
