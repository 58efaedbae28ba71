package federation

import (
	"context"
	"time"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
)

// maxLateCreateAge is the maximum age of an unknown status to be stored because of its Update (federation 4.4).
const maxLateCreateAge = 24 * time.Hour

// handleUpdate updates the actor itself or one of its statuses (federation 4.4).
func (r *Receiver) handleUpdate(ctx context.Context, in *inbox.Activity) error {
	ref, err := objectRef(in)
	if err != nil {
		return err
	}
	o := in.Object.Object("object")
	if remote.IsActor(o) || ref == in.Actor.URI {
		if ref != in.Actor.URI {
			return remote.Refuse("object is another actor")
		}
		if in.Forwarder != nil {
			o = nil
		}
		return r.actors.UpdateActor(ctx, in.Actor, o)
	}
	if remote.IsFeaturedCollection(o) && !in.Actor.Unavailable {
		return r.updateCollection(ctx, in, o)
	}
	if o != nil && !o.Is(remote.NoteTypes...) || in.Actor.Unavailable {
		return nil // not supported
	}
	if !activity.SameHost(ref, in.Actor.URI, r.Settings.AllowLoopback) {
		return remote.Refuse("object is on another host than the actor")
	}
	st, err := r.db.StatusByURI(ctx, ref)
	if err != nil {
		return err
	}
	switch {
	case st == nil && o == nil:
		return nil
	case st == nil:
		if published := o.Time("published"); r.db.Now().Sub(published) > maxLateCreateAge {
			return nil
		}
		_, err := r.receiveNote(ctx, in, o)
		return err
	case st.AccountID != in.Actor.ID:
		return remote.Refuse("object belongs to another actor")
	case o == nil:
		return r.statuses.RefreshStatus(ctx, st)
	}
	return r.statuses.EditStatus(ctx, in.Actor, st, o, in.Object)
}
