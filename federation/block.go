package federation

import "context"

func init() {
	registerHandler("Block", handler{handle: (*Service).handleBlock, unknownActors: true})
}

// handleBlock keeps an actor and somebody here apart. A Block with a target is about what somebody may do in a group elsewhere.
func (s *Service) handleBlock(ctx context.Context, in *incoming) error {
	ref, err := in.objectRef()
	if err != nil {
		return err
	}
	to, err := s.localAccount(ctx, ref)
	if err != nil || to == nil || in.Ref("target") != "" {
		return err
	}
	return s.social.ReceiveBlock(ctx, in.actor, to.ID, in.id)
}
