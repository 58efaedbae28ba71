package federation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// process handles an activity from the inbox. It may be called again for one that it has handled.
func (r *Receiver) process(ctx context.Context, in *inbox.Activity, mayFetch bool) (err error) {
	if !mayFetch {
		ctx = remote.WithoutFetching(ctx)
	}
	if in.Signer, err = r.accounts.Get(ctx, in.Row.SignerID); err != nil {
		return errs.IgnoreNotFound(err)
	}
	in.Actor, in.Forwarder, in.Recipient = in.Signer, nil, nil
	in.Type, in.FetchBudget = supportedType(in.Object), remote.MaxFetches
	h := handlers[in.Type]
	if h == nil {
		return nil
	}
	if in.Signer.DeletedAt != nil || in.Signer.Unavailable && !h.suspendedActors {
		return remote.Refuse("sender is suspended or deleted")
	}
	if id := in.Row.RecipientID; id != nil {
		if in.Recipient, err = r.accounts.Get(ctx, *id); err != nil {
			return errs.IgnoreNotFound(err)
		}
	}
	if in.Signer.URI != in.Ref("actor") {
		return r.processForwarded(ctx, in)
	}
	return r.perform(ctx, in, h)
}

// perform handles an activity whose actor is verified.
func (r *Receiver) perform(ctx context.Context, in *inbox.Activity, h *handler) error {
	if err := r.identify(in); err != nil {
		return err
	}
	object, err := r.own.Resolve(ctx, in.Object)
	if err != nil {
		return err
	}
	in.Object = object
	if !h.repeatable {
		if seen, err := r.inbox.Seen.IsProcessed(ctx, in); seen || err != nil {
			return err
		}
	}
	if err := r.actors.RefreshIfStale(ctx, in.Actor); err != nil {
		return err
	}
	if undoableTypes[in.Type] {
		if undone, err := r.inbox.Seen.IsUndone(ctx, in, undoneKey(in.Actor.URI, in.URI), r.db.Now().Add(-undoneTTL)); err != nil {
			return err
		} else if undone {
			return remote.Refuse("activity was undone before it arrived")
		}
	}
	if err := r.applyPoliciesToActivity(ctx, in); err != nil {
		return err
	}
	return h.handle(r, ctx, in)
}

// identify verifies the id of an activity. If there is none, it derives one from the content.
func (r *Receiver) identify(in *inbox.Activity) error {
	if in.URI = in.ID(); in.URI == "" {
		in.URI = in.Actor.URI + "#" + contentHash(in.Row.Body)
		in.Key = store.NewSeenKey(in.URI)
		return nil
	}
	host, err := activity.Host(in.URI, r.Settings.AllowLoopback)
	if err != nil {
		return remote.Refuse("id is not a URL")
	}
	if host != r.reader.HostOf(in.Actor) {
		return remote.Refuse("id is on another host than the actor")
	}
	in.Key = seenKey(in)
	return nil
}

// seenKey returns the deduplication key of an activity with an id. It contains the content of some types, because some servers use one id
// for a status, its Create, each Update and the Delete, or for each Like of a status.
func seenKey(in *inbox.Activity) store.SeenKey {
	id := in.ID()
	switch {
	case in.Type == "Update", undoableTypes[in.Type]:
		id += " " + contentHash(in.Row.Body)
	case in.Type == "Delete":
		id += " deleted"
	}
	return store.NewSeenKey(id)
}

func contentHash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:16])
}

func objectRef(in *inbox.Activity) (string, error) {
	ref := in.Ref("object")
	if ref == "" {
		return "", remote.Refuse("activity has no object")
	}
	return ref, nil
}
