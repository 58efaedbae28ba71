package admin

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

const (
	maxBlockComment = 2000 // characters
	maxLoggedHosts  = 20
)

// HostBlock is what the settings do with a host.
type HostBlock struct {
	ID             store.BlockID     `json:"id"`
	Host           string            `json:"host"`
	Subdomains     bool              `json:"subdomains"` // the rules include them
	Rules          []config.HostRule `json:"rules"`
	Comment        string            `json:"comment"` // public
	PrivateComment string            `json:"private_comment"`
	Obfuscate      bool              `json:"obfuscate"` // its rules are not published (mrf.transparency_exclusions)
	CreatedAt      time.Time         `json:"created_at"`
}

// Has returns true if a rule is in force.
func (b *HostBlock) Has(rule config.HostRule) bool { return slices.Contains(b.Rules, rule) }

// blocksOf returns what settings do with hosts, by host.
func blocksOf(c *config.Config) map[string]*HostBlock {
	blocks := make(map[string]*HostBlock)
	for _, rule := range config.HostRules {
		for _, h := range c.HostList(rule) {
			host, subdomains := hostPattern(h.Host)
			b := blocks[host]
			if b == nil {
				b = &HostBlock{Host: host}
				blocks[host] = b
			}
			if !b.Has(rule) {
				b.Rules = append(b.Rules, rule)
			}
			b.Subdomains, b.Comment = b.Subdomains || subdomains, cmp.Or(b.Comment, h.Reason)
		}
	}
	for _, h := range c.HostList(config.HideHost) {
		if host, _ := hostPattern(h.Host); blocks[host] != nil {
			blocks[host].Obfuscate = true
		}
	}
	return blocks
}

// setBlock makes the lists of settings those of a block, which replaces all entries of its host. Without rules the host is not restricted.
func setBlock(c *config.Config, b *HostBlock) {
	entry := config.HostReason{Host: b.Host, Reason: b.Comment}
	if b.Subdomains {
		entry.Host = "*." + b.Host
	}
	for _, rule := range slices.Concat(config.HostRules, []config.HostRule{config.HideHost}) {
		list, at := c.HostList(rule), -1
		kept := make([]config.HostReason, 0, len(list)+1)
		for _, h := range list {
			if host, _ := hostPattern(h.Host); host != b.Host {
				kept = append(kept, h)
			} else if at < 0 {
				at = len(kept)
			}
		}
		if b.Has(rule) || rule == config.HideHost && b.Obfuscate && len(b.Rules) > 0 {
			if at < 0 {
				at = len(kept)
			}
			kept = slices.Insert(kept, at, entry)
		}
		if !slices.Equal(list, kept) {
			c.SetHostList(rule, kept)
		}
	}
}

// BlockChange changes the rules for a host.
type BlockChange struct {
	Host           string            `json:"host"`       // "*.x" includes subdomains
	Subdomains     bool              `json:"subdomains"` // the same for a host without "*."
	Rules          []config.HostRule `json:"rules"`
	Replace        bool              `json:"replace"` // no other rules stay
	Comment        *string           `json:"comment"` // public; nil: unchanged, as below
	PrivateComment *string           `json:"private_comment"`
	Obfuscate      *bool             `json:"obfuscate"`
}

// apply returns the block after a change; old is nil if there is none.
func (c *BlockChange) apply(old *HostBlock, host string) *HostBlock {
	b := &HostBlock{Host: host, Subdomains: c.Subdomains}
	if old != nil {
		b.Subdomains, b.Comment, b.Obfuscate = old.Subdomains || c.Subdomains, old.Comment, old.Obfuscate
		if !c.Replace {
			b.Rules = old.Rules
		}
	}
	for _, rule := range config.HostRules { // in their order
		if !b.Has(rule) && slices.Contains(c.Rules, rule) {
			b.Rules = append(slices.Clone(b.Rules), rule)
		}
	}
	if c.Comment != nil {
		b.Comment = text.OneLine(*c.Comment)
	}
	if c.Obfuscate != nil {
		b.Obfuscate = *c.Obfuscate
	}
	return b
}

// blockedHost returns the normalized host of a change, and whether it includes subdomains. A host that includes this server is an error.
func (s *Service) blockedHost(name string, subdomains bool) (string, bool, error) {
	name, all := hostPattern(strings.TrimSpace(name))
	host, err := s.remoteHost(name)
	if err != nil {
		return "", false, err
	}
	own := s.social.Settings
	if all = all || subdomains; all && (strings.HasSuffix(own.Host, "."+host) || strings.HasSuffix(own.WebHost, "."+host)) {
		return "", false, errs.Invalid("%s includes this server", host)
	}
	return host, all, nil
}

func checkComments(comments ...*string) error {
	for _, c := range comments {
		if c != nil && text.Length(*c, "") > maxBlockComment {
			return errs.Invalid("A comment has at most %d characters", maxBlockComment)
		}
	}
	return nil
}

// BlockHost adds rules for a host, or replaces them. It takes effect at once, also on stored accounts and posts. The result is the block
// after the change.
func (s *Service) BlockHost(ctx context.Context, c BlockChange) (*HostBlock, error) {
	return s.changeBlock(ctx, c, func(old *HostBlock) error {
		if len(c.Rules) == 0 && old == nil {
			return errs.Invalid("No rule is given for %s", c.Host)
		}
		return nil
	})
}

// changeBlock is BlockHost, after check has seen the block that there is, nil if there is none.
func (s *Service) changeBlock(ctx context.Context, c BlockChange, check func(old *HostBlock) error) (*HostBlock, error) {
	host, subdomains, err := s.blockedHost(c.Host, c.Subdomains)
	if err != nil {
		return nil, err
	}
	c.Subdomains = subdomains
	if err := checkComments(c.Comment, c.PrivateComment); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(c.Rules, func(r config.HostRule) bool { return !slices.Contains(config.HostRules, r) }); i >= 0 {
		return nil, errs.Invalid("%q is not a rule for hosts", c.Rules[i])
	}
	var block *HostBlock
	edit := func(_ *store.Tx, next *config.Config) error {
		old := blocksOf(next)[host]
		if err := check(old); err != nil {
			return err
		}
		block = c.apply(old, host)
		setBlock(next, block)
		return nil
	}
	err = s.editHosts(ctx, edit, func(tx *store.Tx) error {
		row, err := describeBlock(ctx, tx, &c, host)
		if err != nil || row == nil {
			return err
		}
		block.describe(row)
		return s.recordHosts(ctx, tx, "host_block", "restricted host "+host+" ("+joinRules(block.Rules)+")", host)
	})
	return block, err
}

// describe adds what the row of a block has.
func (b *HostBlock) describe(row *store.HostBlock) {
	b.ID, b.PrivateComment, b.CreatedAt = row.ID, row.PrivateComment, row.ID.Time()
}

// describeBlock stores the private comment of a change, and returns the row.
func describeBlock(ctx context.Context, tx *store.Tx, c *BlockChange, host string) (*store.HostBlock, error) {
	rows, err := tx.HostBlocks(ctx, false)
	row := rows[host]
	if err != nil || row == nil || c.PrivateComment == nil {
		return row, err
	}
	row.PrivateComment = strings.TrimSpace(*c.PrivateComment)
	return row, tx.DescribeHostBlock(ctx, row)
}

func joinRules(rules []config.HostRule) string {
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

func (s *Service) recordHosts(ctx context.Context, tx *store.Tx, action, what string, hosts ...string) error {
	return s.record(ctx, tx, action, what, map[string]any{"hosts": hosts[:min(len(hosts), maxLoggedHosts)]})
}

// UnblockHosts removes all rules for hosts. Their accounts and posts that were hidden are shown again, and follows are in effect again.
// Attachments, pictures and posts that were rejected meanwhile do not come back. A host without rules is an error.
func (s *Service) UnblockHosts(ctx context.Context, names []string) ([]*HostBlock, error) {
	var list []*HostBlock
	var hosts []string
	err := s.editHosts(ctx, func(tx *store.Tx, next *config.Config) error {
		blocks := blocksOf(next)
		for _, name := range names {
			host, _ := hostPattern(strings.TrimSpace(name))
			b := blocks[cmp.Or(text.NormalizeDomain(host), host)]
			if b == nil {
				return errs.NotFound("%s is not blocked", name)
			}
			list, hosts = append(list, b), append(hosts, b.Host)
			setBlock(next, &HostBlock{Host: b.Host})
		}
		return nil
	}, func(tx *store.Tx) error {
		return s.recordHosts(ctx, tx, "host_unblock", "removed the restrictions of "+shortList(hosts), hosts...)
	})
	return list, err
}

// shortList joins names, and says how many more there are if they are many.
func shortList(names []string) string {
	if len(names) <= maxLoggedHosts {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:maxLoggedHosts], ", ") + " and others"
}

// HostBlocks returns all restricted hosts, by name.
func (s *Service) HostBlocks(ctx context.Context, _ struct{}) ([]*HostBlock, error) {
	rows, err := s.db.HostBlocks(ctx, false)
	if err != nil {
		return nil, err
	}
	blocks := blocksOf(s.stored.current())
	list := make([]*HostBlock, 0, len(blocks))
	for _, host := range slices.Sorted(maps.Keys(blocks)) {
		b := blocks[host]
		if row := rows[host]; row != nil {
			b.describe(row)
		}
		list = append(list, b)
	}
	return list, nil
}

// HostBlockPage returns a page of restricted hosts, newest first.
func (s *Service) HostBlockPage(ctx context.Context, p store.Page) ([]*HostBlock, error) {
	rows, err := s.db.HostBlockPage(ctx, false, p)
	if err != nil {
		return nil, err
	}
	blocks := blocksOf(s.stored.current())
	list := make([]*HostBlock, 0, len(rows))
	for _, row := range rows {
		if b := blocks[row.Host]; b != nil {
			b.describe(row)
			list = append(list, b)
		}
	}
	return list, nil
}

// HostBlock returns a restricted host by the id of its block, and errs.ErrRecordNotFound if there is none.
func (s *Service) HostBlock(ctx context.Context, id store.BlockID) (*HostBlock, error) {
	row, err := s.db.HostBlock(ctx, false, id)
	if err != nil {
		return nil, err
	}
	b := blocksOf(s.stored.current())[row.Host]
	if b == nil {
		return nil, errs.ErrRecordNotFound
	}
	b.describe(row)
	return b, nil
}

// current returns the settings as they are in effect, or will be after a restart.
func (s *Settings) current() *config.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}
