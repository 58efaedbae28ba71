package admin

import (
	"context"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// closurePoll is the pause between two looks at the closure of a command that waits.
const closurePoll = 500 * time.Millisecond

// ServerClosure is how far the permanent closing of this server is.
type ServerClosure struct {
	Domain     string     `json:"domain"`      // of this server
	State      string     `json:"state"`       // open, closing or closed
	BeganAt    *time.Time `json:"began_at"`    // null: it is open
	FinishedAt *time.Time `json:"finished_at"` // null: not yet
	Accounts   int        `json:"accounts"`    // whose Deletes are sent, with the actors of the server itself
	Servers    int        `json:"servers"`     // that receive them
	Reached    int        `json:"reached"`     // have answered all Deletes
	Unreached  int        `json:"unreached"`   // could not be reached for two days
	Waiting    int        `json:"waiting"`     // the others
	Deletes    int        `json:"deletes"`     // of all accounts to all inboxes
	Answered   int        `json:"answered"`    // of these
}

// Finished returns true if nothing is left to do.
func (c *ServerClosure) Finished() bool { return c.FinishedAt != nil }

// Closure returns how far the closing of this server is.
func (s *Service) Closure(ctx context.Context, _ struct{}) (*ServerClosure, error) {
	closure := &ServerClosure{Domain: s.social.Settings.Host, State: "open"}
	row, err := s.db.ServerClosure(ctx)
	if err != nil || row == nil {
		return closure, err
	}
	p, err := s.db.ClosureProgress(ctx, row)
	if err != nil {
		return nil, err
	}
	closure.State, closure.BeganAt = "closing", new(row.BeganAt.Time())
	if row.FinishedAt != nil {
		closure.State, closure.FinishedAt = "closed", new(row.FinishedAt.Time())
	}
	closure.Accounts, closure.Servers, closure.Reached, closure.Unreached, closure.Waiting = row.Accounts, p.Servers, p.Reached, p.Unreached, p.Waiting
	closure.Deletes, closure.Answered = p.Deletes, p.Queued-p.Live
	return closure, nil
}

// CloseServer closes this server permanently: nobody can use it any more, and a job sends the Deletes of its accounts to all known servers. domain is the
// server's, as the operator typed it. A server that is closed already is left as it is.
func (s *Service) CloseServer(ctx context.Context, domain string) (*ServerClosure, error) {
	switch settings := s.social.Settings; {
	case !settings.Load().Federation.Enabled:
		return nil, errs.BadRequest("federation is disabled (federation.enabled), so that no server can be informed: enable it and restart the server first")
	case !strings.EqualFold(strings.TrimSpace(domain), settings.Host) && text.NormalizeDomain(domain) != settings.Host:
		return nil, errs.BadRequest("the domain of this server is %s, not %q: nothing was changed", settings.Host, domain)
	}
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		row, err := tx.ServerClosure(ctx)
		if err != nil || row != nil {
			return err
		}
		if err := tx.BeginServerClosure(ctx); err != nil {
			return err
		}
		return s.record(ctx, tx, "server_close", "closed this server permanently", nil)
	})
	if err != nil {
		return nil, err
	}
	return s.Closure(ctx, struct{}{})
}

// CancelClosure opens the server again. It fails once the first Delete was queued, because other servers cannot take that back.
func (s *Service) CancelClosure(ctx context.Context, _ struct{}) (*ServerClosure, error) {
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		row, err := tx.ServerClosure(ctx)
		switch {
		case err != nil:
			return err
		case row == nil:
			return errs.NotFound("this server is not being closed")
		case row.ListedAt != nil:
			return errs.Conflict("Deletes of the accounts were already queued for other servers: this cannot be undone")
		}
		if err := tx.CancelServerClosure(ctx); err != nil {
			return err
		}
		return s.record(ctx, tx, "server_open", "canceled the closing of this server", nil)
	})
	if err != nil {
		return nil, err
	}
	return s.Closure(ctx, struct{}{})
}

// WaitForClosure waits up to d for the end of the closure.
func (s *Service) WaitForClosure(ctx context.Context, d time.Duration) (*ServerClosure, error) {
	for until := time.Now().Add(d); ; {
		closure, err := s.Closure(ctx, struct{}{})
		if err != nil || closure.BeganAt == nil || closure.Finished() || time.Now().After(until) {
			return closure, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(closurePoll):
		}
	}
}
