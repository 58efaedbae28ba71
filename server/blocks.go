package server

import (
	"time"

	"svc/server/rest"
	"svc/store"
)

// blockRoutes are what people do not want to see.
func (s *Server) blockRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/accounts/:id/block":   {rest.User("write:blocks"), s.block},
		"POST /api/v1/accounts/:id/unblock": {rest.User("write:blocks"), s.unblock},
		"POST /api/v1/accounts/:id/mute":    {rest.User("write:mutes"), s.mute},
		"POST /api/v1/accounts/:id/unmute":  {rest.User("write:mutes"), s.unmute},
		"GET /api/v1/blocks":                {rest.User("read:blocks"), s.blocks},
		"GET /api/v1/mutes":                 {rest.User("read:mutes"), s.mutes},
		"GET /api/v1/domain_blocks":         {rest.User("read:blocks"), s.domainBlocks},
		"POST /api/v1/domain_blocks":        {rest.User("write:blocks"), s.blockDomain},
		"DELETE /api/v1/domain_blocks":      {rest.User("write:blocks"), s.unblockDomain},
	}
}

// block blocks an account.
func (s *Server) block(r *rest.Request) (any, error) {
	return s.relationshipAfter(r, s.social.Block(r.Context(), r.Viewer, accountParam(r)))
}

// unblock ends a block.
func (s *Server) unblock(r *rest.Request) (any, error) {
	return s.relationshipAfter(r, s.social.Unblock(r.Context(), r.Viewer, accountParam(r)))
}

// mute mutes an account, for some seconds or for good.
func (s *Server) mute(r *rest.Request) (any, error) {
	var p struct {
		Notifications *bool  `param:"notifications"`
		Duration      *int64 `param:"duration"`
		ExpiresIn     int64  `param:"expires_in"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	seconds := p.ExpiresIn
	if p.Duration != nil {
		seconds = *p.Duration
	}
	notifications := p.Notifications == nil || *p.Notifications
	return s.relationshipAfter(r, s.social.Mute(r.Context(), r.Viewer, accountParam(r), notifications, secondsOrZero(seconds)))
}

// secondsOrZero returns a duration, 0 if there is no room for it.
func secondsOrZero(n int64) time.Duration {
	if n < 0 || n > int64(1<<63-1)/int64(time.Second) {
		return 0
	}
	return time.Duration(n) * time.Second
}

// unmute ends a mute.
func (s *Server) unmute(r *rest.Request) (any, error) {
	return s.relationshipAfter(r, s.social.Unmute(r.Context(), r.Viewer, accountParam(r)))
}

// blocks returns whom the viewer blocks.
func (s *Server) blocks(r *rest.Request) (any, error) {
	page := r.Page(40, 80)
	ids, err := s.db.BlockedAccounts(r.Context(), r.Viewer.ID, page.Page)
	return s.accountPage(r, page, ids, err)
}

// mutes returns whom the viewer mutes, and for how long.
func (s *Server) mutes(r *rest.Request) (any, error) {
	page := r.Page(40, 80)
	rows, err := s.db.Mutes(r.Context(), r.Viewer.ID, page.Page)
	if err != nil {
		return nil, err
	}
	r.LinkPage(page, len(rows), func(i int) string { return rows[i].TargetID.String() })
	ids := make([]store.AccountID, 0, len(rows))
	until := make(map[store.AccountID]*store.Time, len(rows))
	for _, m := range rows {
		ids = append(ids, m.TargetID)
		until[m.TargetID] = m.ExpiresAt
	}
	accounts, err := s.renderAccounts(r, ids)
	for i, a := range accounts {
		accounts[i] = a.WithMuteExpiry(until[a.ID()])
	}
	return accounts, err
}

// domainBlocks returns the domains that the viewer blocks, all at once.
func (s *Server) domainBlocks(r *rest.Request) (any, error) {
	return s.db.DomainBlocks(r.Context(), r.Viewer.ID)
}

// blockDomain blocks a domain.
func (s *Server) blockDomain(r *rest.Request) (any, error) {
	domain, err := domainParam(r)
	if err != nil {
		return nil, err
	}
	return nil, s.social.BlockDomain(r.Context(), r.Viewer, domain)
}

// unblockDomain ends that.
func (s *Server) unblockDomain(r *rest.Request) (any, error) {
	domain, err := domainParam(r)
	if err != nil {
		return nil, err
	}
	return nil, s.social.UnblockDomain(r.Context(), r.Viewer, domain)
}

func domainParam(r *rest.Request) (string, error) {
	var p struct {
		Domain string `param:"domain"`
	}
	err := r.Bind(&p)
	return p.Domain, err
}
