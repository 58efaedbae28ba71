package server

import (
	"context"
	"time"

	"svc/server/rest"
	"svc/store"
)

// blocks serves blocks, mutes and domain blocks.
type blocks struct{ *parts }

func (h *blocks) routes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/accounts/:id/block":   {rest.User("write:blocks").Answers("Relationship"), h.render.accountAction(h.Social.Block)},
		"POST /api/v1/accounts/:id/unblock": {rest.User("write:blocks").Deletes().Answers("Relationship"), h.render.accountAction(h.Social.Unblock)},
		"POST /api/v1/accounts/:id/mute":    {rest.User("write:mutes").Answers("Relationship"), h.mute},
		"POST /api/v1/accounts/:id/unmute":  {rest.User("write:mutes").Deletes().Answers("Relationship"), h.render.accountAction(h.Social.Unmute)},
		"GET /api/v1/blocks":                {rest.User("read:blocks").Answers("[]Account"), h.blocks},
		"GET /api/v1/mutes":                 {rest.User("read:mutes").Answers("[]Account"), h.mutes},
		"GET /api/v1/domain_blocks":         {rest.User("read:blocks").Answers("[]text"), h.domainBlocks},
		"POST /api/v1/domain_blocks":        {rest.User("write:blocks").Answers("empty"), domainAction(h.Social.BlockDomain)},
		"DELETE /api/v1/domain_blocks":      {rest.User("write:blocks").Answers("empty"), domainAction(h.Social.UnblockDomain)},
	}
}

// mute mutes an account, for expires_in seconds or without end.
func (h *blocks) mute(r *rest.Request) (any, error) {
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
	return h.render.relationshipAfter(r, h.Social.Mute(r.Context(), r.Viewer, accountParam(r), notifications, secondsOrZero(seconds)))
}

// secondsOrZero returns a duration, or 0 if it is negative or too long.
func secondsOrZero(n int64) time.Duration {
	if n < 0 || n > int64(1<<63-1)/int64(time.Second) {
		return 0
	}
	return time.Duration(n) * time.Second
}

// blocks lists the accounts that the viewer blocks.
func (h *blocks) blocks(r *rest.Request) (any, error) {
	page := r.Page(40, 80)
	part, err := h.DB.BlockedAccounts(r.Context(), r.Viewer.ID, page.Page)
	return h.render.accountPage(r, page, part, err)
}

// mutes lists the accounts that the viewer mutes, with the ends of the mutes.
func (h *blocks) mutes(r *rest.Request) (any, error) {
	page := r.Page(40, 80)
	part, err := h.DB.MutedAccounts(r.Context(), r.Viewer.ID, page.Page)
	accounts, err := h.render.accountPage(r, page, part, err)
	if err != nil {
		return nil, err
	}
	mutes, err := h.DB.MutesAmong(r.Context(), r.Viewer.ID, part.Rows)
	until := make(map[store.AccountID]*store.Time, len(mutes))
	for _, m := range mutes {
		until[m.TargetID] = m.ExpiresAt
	}
	for i, a := range accounts {
		accounts[i] = a.WithMuteExpiry(until[a.ID()])
	}
	return accounts, err
}

// domainBlocks lists the domains that the viewer blocks, without pages.
func (h *blocks) domainBlocks(r *rest.Request) (any, error) {
	return h.DB.DomainBlocks(r.Context(), r.Viewer.ID)
}

// domainAction returns a handler that blocks or unblocks a domain.
func domainAction(run func(context.Context, *store.Account, string) error) rest.Handler {
	return func(r *rest.Request) (any, error) {
		var p struct {
			Domain string `param:"domain"`
		}
		if err := r.Bind(&p); err != nil {
			return nil, err
		}
		return nil, run(r.Context(), r.Viewer, p.Domain)
	}
}
