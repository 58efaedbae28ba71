package admin

import (
	"context"
	"slices"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/store"
)

// HostAllow is a host of the list of the only accepted hosts (mrf_simple.accept). While the list is empty, all are accepted.
type HostAllow struct {
	ID        store.BlockID
	Host      string
	CreatedAt time.Time
}

func newHostAllow(row *store.HostBlock) *HostAllow {
	return &HostAllow{row.ID, row.Host, row.ID.Time()}
}

// HostAllowPage returns a page of accepted hosts, newest first.
func (s *Service) HostAllowPage(ctx context.Context, p store.Page) ([]*HostAllow, error) {
	rows, err := s.db.HostBlockPage(ctx, true, p)
	list := make([]*HostAllow, 0, len(rows))
	for _, row := range rows {
		list = append(list, newHostAllow(row))
	}
	return list, err
}

// HostAllow returns an accepted host by its id, and errs.ErrRecordNotFound if there is none.
func (s *Service) HostAllow(ctx context.Context, id store.BlockID) (*HostAllow, error) {
	row, err := s.db.HostBlock(ctx, true, id)
	if err != nil {
		return nil, err
	}
	return newHostAllow(row), nil
}

// AllowHost adds a host with its subdomains to the accepted ones. The first one makes this server reject all others. A host that is on the
// list already stays as it is.
func (s *Service) AllowHost(ctx context.Context, name string) (*HostAllow, error) {
	host, _, err := s.blockedHost(name, true)
	if err != nil {
		return nil, err
	}
	var allow *HostAllow
	err = s.editHosts(ctx, func(_ *store.Tx, next *config.Config) error {
		list := next.HostList(config.AcceptOnlyHosts)
		if !slices.ContainsFunc(list, func(h config.HostReason) bool { name, _ := hostPattern(h.Host); return name == host }) {
			next.SetHostList(config.AcceptOnlyHosts, append(slices.Clone(list), config.HostReason{Host: "*." + host}))
		}
		return nil
	}, func(tx *store.Tx) error {
		rows, err := tx.HostBlocks(ctx, true)
		if err != nil {
			return err
		}
		allow = newHostAllow(rows[host])
		return s.recordHosts(ctx, tx, "host_allow", "accepted host "+host, host)
	})
	return allow, err
}

// DisallowHost removes a host from the accepted ones. After the last one all hosts are accepted.
func (s *Service) DisallowHost(ctx context.Context, id store.BlockID) (*HostAllow, error) {
	var allow *HostAllow
	err := s.editHosts(ctx, func(tx *store.Tx, next *config.Config) error {
		row, err := tx.HostBlock(ctx, true, id)
		if err != nil {
			return err
		}
		allow = newHostAllow(row)
		kept := slices.DeleteFunc(slices.Clone(next.HostList(config.AcceptOnlyHosts)), func(h config.HostReason) bool {
			name, _ := hostPattern(h.Host)
			return name == row.Host
		})
		next.SetHostList(config.AcceptOnlyHosts, kept)
		return nil
	}, func(tx *store.Tx) error {
		return s.recordHosts(ctx, tx, "host_disallow", "removed host "+allow.Host+" from the accepted ones", allow.Host)
	})
	if errs.IsNotFound(err) {
		err = errs.ErrRecordNotFound
	}
	return allow, err
}
