package federation

import "context"

func init() {
	handle("Block", handling{do: (*Service).block, strangers: true})
}

// block keeps an actor and somebody here apart. A Block with a target is about what somebody may do in a group elsewhere.
func (s *Service) block(ctx context.Context, in *incoming) error {
	ref, err := in.objectRef()
	if err != nil {
		return err
	}
	to, err := s.accountHere(ctx, ref)
	if err != nil || to == nil || in.Ref("target") != "" {
		return err
	}
	return s.social.ReceiveBlock(ctx, in.actor, to.ID, in.id)
}
