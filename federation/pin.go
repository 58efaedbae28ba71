package federation

import (
	"context"
	"errors"
)

func init() {
	// They mostly have no id of their own, so that each is like an earlier one (federation 4.14).
	registerHandler("Add", handler{handle: (*Service).handlePin, repeatable: true})
	registerHandler("Remove", handler{handle: (*Service).handlePin, repeatable: true})
}

// handlePin puts a post on top of its author's profile, or takes it away from there. What is put anywhere else is of no interest.
func (s *Service) handlePin(ctx context.Context, in *incoming) error {
	actor, err := s.db.Actor(ctx, in.actor.ID)
	if err != nil {
		return ignoreNotFound(err)
	}
	target := in.Ref("target")
	if target == "" || target != actor.Featured {
		return nil
	}
	ref, err := in.objectRef()
	if err != nil {
		return err
	}
	if inner := in.Object.Object("object"); inner != nil && inner.Is("Hashtag") {
		return nil
	}
	st, err := s.db.StatusByURI(ctx, ref)
	if err != nil {
		return err
	}
	add := in.activityType == "Add"
	if st == nil {
		if !add {
			return nil
		}
		if st, err = s.Status(ctx, ref); err != nil {
			return err
		}
	}
	if st == nil {
		return errors.New("there is no such post")
	}
	return s.social.ReceivePin(ctx, in.actor, st.ID, add)
}
