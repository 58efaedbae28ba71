package federation

import (
	"context"

	"svc/federation/policy"
	"svc/store"
)

// applyPoliciesToActor has an actor, of a domain by its handle, pass the policies, which may take something away from what is shown of it.
func (s *Service) applyPoliciesToActor(ctx context.Context, p *parsedActor, domain string) error {
	a := &p.account
	r := &policy.Profile{
		ActorID: a.URI, ActorType: a.ActorType, Host: p.host, Domain: domain, Nickname: a.Nickname, Name: a.DisplayName, Note: a.Note, Fields: a.Fields.V,
		Avatar: a.Avatar, Banner: a.Header,
	}
	for _, e := range a.Emojis.V {
		r.Emoji = append(r.Emoji, policy.Emoji(e))
	}
	if err := s.Policies.Profile(ctx, r); err != nil {
		return err
	}
	a.DisplayName, a.Note, a.Fields.V, a.Avatar, a.Header = r.Name, r.Note, r.Fields, r.Avatar, r.Banner
	a.Emojis.V = make([]store.RemoteEmoji, 0, len(r.Emoji))
	for _, e := range r.Emoji {
		a.Emojis.V = append(a.Emojis.V, store.RemoteEmoji(e))
	}
	return nil
}
