package policy

import (
	"context"

	"svc/internal/config"
	"svc/internal/pattern"
)

// subchain is SubchainPolicy: messages of some actors pass further policies.
type subchain struct{ entries []subchainEntry }

type subchainEntry struct {
	pattern *pattern.Pattern
	chain   *chain
}

func newSubchain(c *config.Config, d Deps) any {
	var s subchain
	for _, e := range c.MRFSubchain.MatchActor {
		s.entries = append(s.entries, subchainEntry{compile(e.Pattern), newChain(e.Policies, c, d)})
	}
	return s
}

// chainFor returns the policies for an actor, nil if there are none.
func (s subchain) chainFor(actor string) *chain {
	for _, e := range s.entries {
		if e.pattern.Matches(actor) {
			return e.chain
		}
	}
	return nil
}

func (s subchain) post(ctx context.Context, p *Post) error {
	if c := s.chainFor(p.ActorID); c != nil {
		return c.post(ctx, p)
	}
	return nil
}

func (s subchain) profile(ctx context.Context, p *Profile) error {
	if c := s.chainFor(p.ActorID); c != nil {
		return c.profile(ctx, p)
	}
	return nil
}

func (s subchain) activity(ctx context.Context, a *Activity) error {
	if c := s.chainFor(a.ActorID); c != nil {
		return c.activity(ctx, a)
	}
	return nil
}
