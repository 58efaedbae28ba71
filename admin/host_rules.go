package admin

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"svc/internal/config"
	"svc/internal/dbconfig"
	"svc/internal/errs"
	"svc/store"
)

// The lists of hosts in the settings (SimplePolicy, quarantine). Staff change them by host, in the database. They take effect even if
// instance.configurable_from_database is off: then those of the settings file are in effect, too, and can only be changed there.

// allHostRules are the rules of all lists of hosts.
var allHostRules = append(slices.Clone(config.HostRules), config.AcceptOnlyHosts, config.HideHost)

// overlay returns the settings of the file, overlaid with rows of the database. If settings may not be there, only the chosen front ends
// and the lists of hosts count; the latter are added to those of the file.
func (s *Settings) overlay(rows []dbconfig.Row) (*config.Config, error) {
	if s.file().Instance.ConfigurableFromDatabase {
		return dbconfig.Apply(s.file(), rows)
	}
	var lists []dbconfig.Row
	for _, row := range rows {
		switch row.RowKey {
		case dbconfig.RowKey{Group: ":svc", Key: ":mrf_simple"}:
			lists = append(lists, row)
		case dbconfig.RowKey{Group: ":svc", Key: ":instance"}:
			lists = append(lists, dbconfig.Row{RowKey: row.RowKey, Value: dbconfig.Only(row.Value, ":quarantined_instances", ":rejected_instances")})
		case frontendRow:
			lists = append(lists, dbconfig.Row{RowKey: row.RowKey, Value: onlyChosenFrontends(row.Value)})
		case dbconfig.RowKey{Group: ":svc", Key: ":mrf"}:
			lists = append(lists, dbconfig.Row{RowKey: row.RowKey, Value: dbconfig.Only(row.Value, ":transparency_exclusions")})
		}
	}
	if len(lists) == 0 {
		return s.file(), nil
	}
	next, err := dbconfig.Apply(s.file(), lists)
	stored := false // the database has hosts for SimplePolicy
	for _, rule := range allHostRules {
		union := slices.Clone(s.file().HostList(rule))
		for _, h := range next.HostList(rule) {
			if !listsHost(union, h.Host) {
				union = append(union, h)
				group, _ := rule.Setting()
				stored = stored || group == "mrf_simple"
			}
		}
		next.SetHostList(rule, union)
	}
	if stored {
		enableSimplePolicy(next)
	}
	return next, err
}

const simplePolicy = "SimplePolicy"

// enableSimplePolicy makes SimplePolicy the first policy, unless it is active.
func enableSimplePolicy(c *config.Config) {
	if !slices.Contains(c.MRF.Policies, simplePolicy) {
		c.MRF.Policies = append([]string{simplePolicy}, c.MRF.Policies...)
	}
}

func listsHost(list []config.HostReason, host string) bool {
	return slices.ContainsFunc(list, func(h config.HostReason) bool { return strings.EqualFold(h.Host, host) })
}

// sameHostRules returns true if two settings have the same rules for hosts.
func sameHostRules(a, b *config.Config) bool {
	return reflect.DeepEqual(a.MRFSimple, b.MRFSimple) && slices.Equal(a.MRF.Policies, b.MRF.Policies)
}

// editHosts changes the lists of hosts and makes them take effect. edit gets a copy of the settings; record adds the change to the
// moderation log, in the same transaction.
func (s *Service) editHosts(ctx context.Context, edit func(*store.Tx, *config.Config) error, record func(*store.Tx) error) error {
	st := s.stored
	st.mu.Lock()
	defer st.mu.Unlock()
	_, err := s.changeSettings(ctx, func(tx *store.Tx, u *settingUpdate) error {
		now, err := st.overlay(u.rows)
		if err != nil {
			return errs.BadRequest("%s", err.Error())
		}
		next := *now
		if err := edit(tx, &next); err != nil {
			return err
		}
		return st.putHosts(u, now, &next)
	}, func(_ context.Context, tx *store.Tx, _ *settingUpdate) error { return record(tx) })
	return err
}

// putHosts puts the lists of hosts that differ between two settings into the rows.
func (s *Settings) putHosts(u *settingUpdate, now, next *config.Config) error {
	simple := false
	for _, rule := range allHostRules {
		group, key := rule.Setting()
		list := next.HostList(rule)
		simple = simple || group == "mrf_simple" && len(list) > 0
		if slices.Equal(now.HostList(rule), list) {
			continue
		}
		if !s.file().Instance.ConfigurableFromDatabase {
			for _, h := range s.file().HostList(rule) {
				if !listsHost(list, h.Host) {
					return errs.Invalid("%s is in the list %s.%s of the settings file: remove it there", h.Host, group, key)
				}
			}
		}
		u.set(next, group, key)
	}
	if simple && s.file().Instance.ConfigurableFromDatabase && !slices.Contains(next.MRF.Policies, simplePolicy) {
		enableSimplePolicy(next)
		u.set(next, "mrf", "policies")
	}
	return nil
}

// set puts a setting of c into its row.
func (u *settingUpdate) set(c *config.Config, group, key string) {
	row, value := dbconfig.Named(c, group, key)
	i := slices.IndexFunc(u.rows, func(r dbconfig.Row) bool { return r.RowKey == row })
	if i < 0 {
		u.rows, i = append(u.rows, dbconfig.Row{RowKey: row}), len(u.rows)
	} else {
		value = dbconfig.Merge(row, u.rows[i].Value, value)
	}
	u.rows[i].Value = value
	u.updated = append(u.updated, row)
}

// hostPattern is a host of a list, and whether its subdomains are included.
func hostPattern(entry string) (host string, subdomains bool) {
	return strings.CutPrefix(strings.ToLower(entry), "*.")
}

// syncHostBlocks makes the rows of blocks and of accepted hosts fit the lists of the settings.
func syncHostBlocks(ctx context.Context, tx *store.Tx, c *config.Config) error {
	var blocked, allowed []string
	for _, rule := range config.HostRules {
		for _, h := range c.HostList(rule) {
			host, _ := hostPattern(h.Host)
			blocked = append(blocked, host)
		}
	}
	for _, h := range c.HostList(config.AcceptOnlyHosts) {
		host, _ := hostPattern(h.Host)
		allowed = append(allowed, host)
	}
	if err := tx.SyncHostBlocks(ctx, false, unique(blocked)); err != nil {
		return err
	}
	return tx.SyncHostBlocks(ctx, true, unique(allowed))
}

// unique returns the texts, each once, in their order.
func unique(texts []string) []string {
	seen := make(map[string]bool, len(texts))
	return slices.DeleteFunc(texts, func(t string) bool {
		defer func() { seen[t] = true }()
		return seen[t]
	})
}

const (
	applyHostRulesKey = "apply host rules"
	hostAccountPage   = 500
)

// CheckHostRules applies the settings to stored accounts of other servers, because they may have changed while no server ran.
func (s *Service) CheckHostRules(ctx context.Context) error {
	s.stored.mu.Lock()
	defer s.stored.mu.Unlock()
	rejected, err := s.db.HasRejectedAccounts(ctx)
	if err != nil {
		return err
	}
	limited, err := s.db.HasLimitedAccounts(ctx)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		if err := syncHostBlocks(ctx, tx, s.stored.next); err != nil || !rejected && !limited && !s.social.Policies.Restricts() {
			return err
		}
		return tx.EnqueueUnique(ctx, s.db.Now(), applyHostRulesKey, store.ApplyHostRules{})
	})
}

// applyHostRules is the job that hides accounts of hosts that are rejected, and shows those of hosts that no longer are. Follows stay, so that
// they are in effect again afterwards. Posts whose audience changes are left to a job of their own, which takes longer.
func (s *Service) applyHostRules(ctx context.Context, _ store.ApplyHostRules) error {
	if err := s.db.Update(ctx, func(tx *store.Tx) error { // pictures and attachments are removed where they are rendered
		tx.InvalidateAll()
		return nil
	}); err != nil {
		return err
	}
	limits := false
	for after := store.AccountID(0); ; {
		page, err := s.db.HostAccounts(ctx, after, hostAccountPage)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		after = page[len(page)-1].ID
		changed := make(map[bool][]store.AccountID)
		for _, a := range page {
			rules := s.social.Policies.Restrictions(a.Domain, a.URI)
			if rules.Reject != a.Rejected {
				changed[rules.Reject] = append(changed[rules.Reject], a.ID)
			}
			limits = limits || mustLimit(a, maxVisibility(rules))
		}
		if len(changed) == 0 {
			continue
		}
		err = s.db.Update(ctx, func(tx *store.Tx) error {
			for reject, ids := range changed {
				if err := tx.SetRejected(ctx, ids, reject); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if !limits {
		return nil
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueUnique(ctx, s.db.Now(), limitHostPostsKey, store.LimitHostPosts{})
	})
}
