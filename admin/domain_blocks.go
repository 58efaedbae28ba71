package admin

import (
	"cmp"
	"context"
	"slices"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/store"
)

// Severities of blocks in the words of the reference API and of block lists.
const (
	Suspend = "suspend" // the host is rejected
	Silence = "silence" // its posts are unlisted
	Noop    = "noop"    // other rules only
)

// Severity returns the severity of the block.
func (b *HostBlock) Severity() string {
	switch {
	case b.Has(config.RejectHost):
		return Suspend
	case b.Has(config.Unlist):
		return Silence
	}
	return Noop
}

// PublicBlocks returns the hosts that settings reject or unlist, by host.
func PublicBlocks(c *config.Config) []*HostBlock {
	var list []*HostBlock
	for _, b := range blocksOf(c) {
		if b.Severity() != Noop {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, func(a, b *HostBlock) int { return cmp.Compare(a.Host, b.Host) })
	return list
}

// severityRules are the rules that a severity decides about.
var severityRules = map[string][]config.HostRule{
	Suspend: {config.RejectHost, config.RejectFetches},
	Silence: {config.Unlist},
	Noop:    nil,
}

// DomainBlock is a change of a block in the reference API's form. A nil member is unchanged.
type DomainBlock struct {
	Severity                   *string
	RejectMedia, RejectReports *bool
	Comment, PrivateComment    *string
	Obfuscate                  *bool
}

// rules returns the rules of a host after a change.
func (d *DomainBlock) rules(old []config.HostRule) ([]config.HostRule, error) {
	rules := slices.Clone(old)
	set := func(rule config.HostRule, on bool) {
		rules = slices.DeleteFunc(rules, func(r config.HostRule) bool { return r == rule })
		if on {
			rules = append(rules, rule)
		}
	}
	if d.Severity != nil {
		wanted, ok := severityRules[*d.Severity]
		if !ok {
			return nil, invalidField("Severity is not one of suspend, silence, noop")
		}
		for _, rule := range []config.HostRule{config.RejectHost, config.RejectFetches, config.Unlist} {
			set(rule, slices.Contains(wanted, rule))
		}
	}
	if d.RejectMedia != nil {
		set(config.RemoveMedia, *d.RejectMedia)
	}
	if d.RejectReports != nil {
		set(config.RejectReports, *d.RejectReports)
	}
	if len(rules) == 0 {
		return nil, invalidField("Severity noop needs reject_media or reject_reports")
	}
	return rules, nil
}

// AddDomainBlock restricts a host with its subdomains. If it is restricted already, existing is that block and nothing changes.
func (s *Service) AddDomainBlock(ctx context.Context, host string, d DomainBlock) (block, existing *HostBlock, err error) {
	rules, err := d.rules(nil)
	if err != nil {
		return nil, nil, err
	}
	c := BlockChange{Host: host, Subdomains: true, Rules: rules, Comment: d.Comment, PrivateComment: d.PrivateComment, Obfuscate: d.Obfuscate}
	block, err = s.changeBlock(ctx, c, func(old *HostBlock) error {
		if existing = old; old != nil {
			return errs.Invalid("You have already imposed limits on %s.", old.Host)
		}
		return nil
	})
	if existing != nil {
		if rows, err := s.db.HostBlocks(ctx, false); err == nil && rows[existing.Host] != nil {
			existing.describe(rows[existing.Host])
		}
	}
	return block, existing, err
}

// UpdateDomainBlock changes the restrictions of a host.
func (s *Service) UpdateDomainBlock(ctx context.Context, id store.BlockID, d DomainBlock) (*HostBlock, error) {
	old, err := s.HostBlock(ctx, id)
	if err != nil {
		return nil, err
	}
	rules, err := d.rules(old.Rules)
	if err != nil {
		return nil, err
	}
	c := BlockChange{
		Host: old.Host, Subdomains: old.Subdomains, Rules: rules, Replace: true,
		Comment: d.Comment, PrivateComment: d.PrivateComment, Obfuscate: d.Obfuscate,
	}
	return s.changeBlock(ctx, c, func(now *HostBlock) error {
		if now == nil {
			return errs.ErrRecordNotFound
		}
		return nil
	})
}

// RemoveDomainBlock removes the restrictions of a host, as UnblockHosts does. It returns the former restrictions.
func (s *Service) RemoveDomainBlock(ctx context.Context, id store.BlockID) (*HostBlock, error) {
	old, err := s.HostBlock(ctx, id)
	if err != nil {
		return nil, err
	}
	if _, err := s.UnblockHosts(ctx, []string{old.Host}); errs.IsNotFound(err) {
		return nil, errs.ErrRecordNotFound
	} else if err != nil {
		return nil, err
	}
	return old, nil
}
