package federation

import (
	"context"
	"time"

	"svc/federation/inbox"
	"svc/internal/activity"
	"svc/store"
)

// maxLateCreateAge is how old a post that is not known can be for its edit to bring it here (federation 4.4).
const maxLateCreateAge = 24 * time.Hour

// handleUpdate gives something of the actor's another form: the actor itself, or a post (federation 4.4).
func (s *Service) handleUpdate(ctx context.Context, in *inbox.Activity) error {
	ref, err := objectRef(in)
	if err != nil {
		return err
	}
	o := in.Object.Object("object")
	if IsActor(o) || ref == in.Actor.URI {
		if ref != in.Actor.URI {
			return Refuse("it updates an actor that is not its own")
		}
		if in.Forwarder != nil {
			o = nil
		}
		return s.UpdateActor(ctx, in.Actor, o)
	}
	if o != nil && !o.Is(NoteTypes...) || in.Actor.Unavailable {
		return nil // of no interest
	}
	if !activity.SameHost(ref, in.Actor.URI, s.AllowLoopback) {
		return Refuse("its object is of another host than its actor")
	}
	st, err := s.db.StatusByURI(ctx, ref)
	if err != nil {
		return err
	}
	switch {
	case st == nil && o == nil:
		return nil
	case st == nil:
		if published := o.Time("published"); s.now().Sub(published) > maxLateCreateAge {
			return nil
		}
		_, err := s.receiveNote(ctx, in, o)
		return err
	case st.AccountID != in.Actor.ID:
		return Refuse("its object is somebody else's")
	case o == nil:
		return s.RefreshStatus(ctx, st)
	}
	return s.EditStatus(ctx, in.Actor, st, o, in.Object)
}

// EditStatus gives a post the form that a document has, which must be its author's.
func (s *Service) EditStatus(ctx context.Context, author *store.Account, st *store.Status, o, by activity.Object) error {
	n, err := s.ReadNote(o, by)
	if err != nil {
		return err
	}
	if n.AuthorURI != author.URI || n.URI != st.URI {
		return Refuse("its object is somebody else's")
	}
	if err := s.applyPoliciesToNote(ctx, author, n, "Update"); err != nil {
		return err
	}
	_, err = s.social.ReceiveStatusEdit(ctx, author, st.ID, n.IncomingStatus)
	return err
}

// RefreshStatus gives a post from elsewhere the form that its origin has now. One of which that says that it is no more is deleted.
func (s *Service) RefreshStatus(ctx context.Context, st *store.Status) error {
	o, err := s.refetchDocument(ctx, st.URI)
	switch {
	case isGoneAtOrigin(o, err):
		return s.social.RemoveRemoteStatus(ctx, st.ID)
	case err != nil:
		return err
	}
	author, err := s.db.Account(ctx, st.AccountID)
	if err != nil {
		return ignoreNotFound(err)
	}
	return s.EditStatus(ctx, author, st, o, nil)
}
