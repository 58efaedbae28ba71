package federation

import (
	"context"
	"time"

	"svc/internal/activity"
	"svc/store"
)

func init() {
	handle("Update", handling{do: (*Service).receiveUpdate, suspended: true})
}

// lateCreate is how old a post that is not known can be for its edit to bring it here (federation 4.4).
const lateCreate = 24 * time.Hour

// receiveUpdate gives something of the actor's another form: the actor itself, or a post (federation 4.4).
func (s *Service) receiveUpdate(ctx context.Context, in *incoming) error {
	ref, err := in.objectRef()
	if err != nil {
		return err
	}
	o := in.Object.Object("object")
	if isActor(o) || ref == in.actor.URI {
		return s.updateActor(ctx, in)
	}
	if o != nil && !o.Is(noteTypes...) || in.actor.Withheld {
		return nil // of no interest
	}
	if !activity.SameHost(ref, in.actor.URI, s.Trial) {
		return refuse("its object is of another host than its actor")
	}
	st, err := s.db.StatusByURI(ctx, ref)
	if err != nil {
		return err
	}
	switch {
	case st == nil && o == nil:
		return nil
	case st == nil:
		if published := o.Time("published"); s.now().Sub(published) > lateCreate {
			return nil
		}
		_, err := s.receiveNote(ctx, in, o)
		return err
	case st.AccountID != in.actor.ID:
		return refuse("its object is somebody else's")
	case o == nil:
		return s.lookAnew(ctx, st)
	}
	return s.edit(ctx, in.actor, st, o, in.Object)
}

// edit gives a post the form that a document has, which must be its author's.
func (s *Service) edit(ctx context.Context, author *store.Account, st *store.Status, o, by activity.Object) error {
	n, err := s.readNote(o, by)
	if err != nil {
		return err
	}
	if n.author != author.URI || n.URI != st.URI {
		return refuse("its object is somebody else's")
	}
	if err := s.reviewNote(ctx, author, n, "Update"); err != nil {
		return err
	}
	_, err = s.social.ReceiveEdit(ctx, author, st.ID, n.Received)
	return err
}

// lookAnew gives a post from elsewhere the form that its origin has now. One of which that says that it is no more is deleted.
func (s *Service) lookAnew(ctx context.Context, st *store.Status) error {
	o, err := s.askAnew(ctx, st.URI)
	switch {
	case vanished(o, err):
		return s.social.Vanished(ctx, st.ID)
	case err != nil:
		return err
	}
	author, err := s.db.Account(ctx, st.AccountID)
	if err != nil {
		return ignoreMissing(err)
	}
	return s.edit(ctx, author, st, o, nil)
}
