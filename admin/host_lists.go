package admin

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/policy"
	"svc/store"
)

const (
	maxListEntries  = 10_000
	maxPreviewHosts = 2000
)

// ListEntry is an entry of a list of blocks in the words of such lists.
type ListEntry struct {
	Line          int    `json:"line"` // in the file, or position in a JSON list, from 1 on
	Host          string `json:"host"`
	Severity      string `json:"severity"` // suspend, silence, noop
	RejectMedia   bool   `json:"reject_media"`
	RejectReports bool   `json:"reject_reports"`
	Comment       string `json:"public_comment"`
	Obfuscate     bool   `json:"obfuscate"`
}

// ParseBlockList reads a list of blocks: the CSV of other servers (#domain,#severity,…), JSON lists of objects with a domain, or plain hosts,
// one a line. Entries without a severity are suspended.
func ParseBlockList(file string) ([]ListEntry, error) {
	file = strings.TrimPrefix(file, "\ufeff")
	trimmed := strings.TrimSpace(file)
	var list []ListEntry
	var err error
	if strings.HasPrefix(trimmed, "[") || strings.HasPrefix(trimmed, "{") {
		list, err = parseJSONList(trimmed)
	} else {
		list, err = parseCSVList(file)
	}
	if err == nil && len(list) > maxListEntries {
		err = errs.BadRequest("The list has more than %d entries", maxListEntries)
	}
	return list, err
}

func parseJSONList(file string) ([]ListEntry, error) {
	var objects []map[string]any
	var names []string
	if json.Unmarshal([]byte(file), &names) == nil {
		for _, name := range names {
			objects = append(objects, map[string]any{"domain": name})
		}
	} else if err := json.Unmarshal([]byte(file), &objects); err != nil {
		var wrapped map[string]json.RawMessage
		if json.Unmarshal([]byte(file), &wrapped) != nil {
			return nil, errs.BadRequest("The list is not valid JSON: %v", err)
		}
		for _, key := range []string{"blocks", "domain_blocks", "instances", "domains"} {
			if wrapped[key] != nil {
				return parseJSONList(string(wrapped[key]))
			}
		}
		return nil, errs.BadRequest("The JSON has no list of blocks")
	}
	list := make([]ListEntry, len(objects))
	for i, o := range objects {
		first := func(keys ...string) string {
			for _, key := range keys {
				if s, ok := o[key].(string); ok && s != "" {
					return s
				}
			}
			return ""
		}
		flag := func(key string) bool { return !slices.Contains(falseWords, strings.ToLower(fmt.Sprint(o[key]))) }
		list[i] = ListEntry{i + 1, first("domain", "host", "instance", "name"), first("severity", "level"), flag("reject_media"), flag("reject_reports"),
			first("public_comment", "comment", "reason"), flag("obfuscate")}
	}
	return list, nil
}

// falseWords are what lists write for false. What is neither true nor false restricts a host.
var falseWords = []string{"", "0", "f", "false", "n", "no", "off", "<nil>"}

func parseCSVList(file string) ([]ListEntry, error) {
	r := csv.NewReader(strings.NewReader(file))
	r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = -1, true, true
	columns := map[string]int{"domain": 0}
	var list []ListEntry
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, errs.BadRequest("The list is not valid CSV: %v", err)
		}
		line, _ := r.FieldPos(0)
		first := strings.ToLower(strings.TrimSpace(record[0]))
		switch {
		case first == "#domain" || first == "domain":
			for i, name := range record {
				columns[strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "#")] = i
			}
			continue
		case first == "" || strings.HasPrefix(first, "#"): // a comment
			continue
		}
		at := func(name string) string {
			if i, ok := columns[name]; ok && i < len(record) {
				return strings.TrimSpace(record[i])
			}
			return ""
		}
		flag := func(name string) bool { return !slices.Contains(falseWords, strings.ToLower(at(name))) }
		list = append(list, ListEntry{line, at("domain"), at("severity"), flag("reject_media"), flag("reject_reports"), at("public_comment"), flag("obfuscate")})
		if len(list) > maxListEntries {
			return list, nil
		}
	}
}

// SkippedBlock is an entry of a list that was not imported.
type SkippedBlock struct {
	Line   int    `json:"line"`
	Host   string `json:"host"`
	Reason string `json:"reason"`
}

// BlockImport is a list of blocks to import. With Preview nothing is changed.
type BlockImport struct {
	File    string `json:"file"`
	Preview bool   `json:"preview"`
}

// BlockImportResult is what an import did, or would do.
type BlockImportResult struct {
	Imported int            `json:"imported"`
	Skipped  []SkippedBlock `json:"skipped"`
	Hit      []HostPreview  `json:"hit"` // known hosts that the list restricts; of a preview
}

// ImportBlocks adds the blocks of a list, in one transaction. Rules that a host has already stay.
func (s *Service) ImportBlocks(ctx context.Context, in BlockImport) (*BlockImportResult, error) {
	entries, err := ParseBlockList(in.File)
	if err != nil {
		return nil, err
	}
	result := &BlockImportResult{Skipped: []SkippedBlock{}, Hit: []HostPreview{}}
	var hosts []string
	edit := func(next *config.Config) {
		blocks := blocksOf(next)
		for _, e := range entries {
			c, host, reason := s.importEntry(&e, blocks)
			if reason != "" {
				result.Skipped = append(result.Skipped, SkippedBlock{e.Line, e.Host, reason})
				continue
			}
			b := c.apply(blocks[host], host)
			blocks[host] = b
			setBlock(next, b)
			hosts = append(hosts, host)
		}
		result.Imported = len(hosts)
	}
	if in.Preview {
		next := *s.stored.current()
		edit(&next)
		patterns := make([]string, len(hosts))
		for i, host := range hosts {
			patterns[i] = "*." + host
		}
		result.Hit, err = s.PreviewHosts(ctx, patterns)
		return result, err
	}
	err = s.editHosts(ctx, func(_ *store.Tx, next *config.Config) error {
		edit(next)
		return nil
	}, func(tx *store.Tx) error {
		if len(hosts) == 0 {
			return nil
		}
		return s.recordHosts(ctx, tx, "host_block_import", "imported blocks of "+strconv.Itoa(len(hosts))+" hosts: "+shortList(hosts), hosts...)
	})
	return result, err
}

// importEntry returns the change that an entry makes, or the reason why it is skipped.
func (s *Service) importEntry(e *ListEntry, blocks map[string]*HostBlock) (c BlockChange, host, reason string) {
	if strings.ContainsAny(strings.TrimPrefix(e.Host, "*."), "*?") {
		return c, "", "the host is obfuscated"
	}
	host, _, err := s.blockedHost(e.Host, true)
	if err != nil {
		return c, "", err.Error()
	}
	severity := strings.ToLower(e.Severity)
	switch severity {
	case "", "block", "reject", "suspended":
		severity = Suspend
	case "limit", "limited", "silenced":
		severity = Silence
	}
	d := DomainBlock{Severity: &severity}
	if e.RejectMedia {
		d.RejectMedia = &e.RejectMedia
	}
	if e.RejectReports {
		d.RejectReports = &e.RejectReports
	}
	rules, err := d.rules(nil)
	if err != nil {
		return c, "", err.Error()
	}
	old := blocks[host]
	if old != nil && !slices.ContainsFunc(rules, func(r config.HostRule) bool { return !old.Has(r) }) {
		return c, "", "is restricted already"
	}
	if text.Length(e.Comment, "") > maxBlockComment {
		return c, "", "the comment is too long"
	}
	c = BlockChange{Host: host, Subdomains: true, Rules: rules}
	if e.Comment != "" {
		c.Comment = &e.Comment
	}
	if e.Obfuscate {
		c.Obfuscate = &e.Obfuscate
	}
	return c, host, ""
}

// HostPreview counts the stored rows of a known host.
type HostPreview struct {
	Host      string `json:"host"`
	Accounts  int    `json:"accounts"`
	Posts     int    `json:"posts"`
	Followers int    `json:"followers"` // accounts of the host that follow local ones
	Following int    `json:"following"` // the other way
}

// PreviewHosts returns the counts of the known hosts that hosts include; "*.x" includes subdomains.
func (s *Service) PreviewHosts(ctx context.Context, hosts []string) ([]HostPreview, error) {
	return s.previewHosts(ctx, hosts, maxPreviewHosts)
}

// maxBlockPreview bounds the hosts of PreviewBlock, because pages show them.
const maxBlockPreview = 50

// PreviewBlock is PreviewHosts for a host with its subdomains. It refuses a host that cannot be blocked.
func (s *Service) PreviewBlock(ctx context.Context, host string) ([]HostPreview, error) {
	host, _, err := s.blockedHost(host, true)
	if err != nil {
		return nil, err
	}
	return s.previewHosts(ctx, []string{"*." + host}, maxBlockPreview)
}

func (s *Service) previewHosts(ctx context.Context, hosts []string, limit int) ([]HostPreview, error) {
	known, err := s.db.KnownDomains(ctx)
	if err != nil {
		return nil, err
	}
	match, list := policy.NewHostMatcher(hosts...), []HostPreview{}
	for _, domain := range known {
		if !match.Match(domain, "") {
			continue
		}
		p := HostPreview{Host: domain}
		if p.Accounts, p.Posts, err = s.db.CountInstance(ctx, domain); err != nil {
			return nil, err
		}
		if p.Followers, p.Following, err = s.db.DomainFollows(ctx, domain); err != nil {
			return nil, err
		}
		if list = append(list, p); len(list) == limit {
			break
		}
	}
	return list, nil
}

// ExportBlocks returns all restricted hosts as the CSV that other servers read.
func (s *Service) ExportBlocks(ctx context.Context, _ struct{}) (string, error) {
	blocks, err := s.HostBlocks(ctx, struct{}{})
	if err != nil {
		return "", err
	}
	var out strings.Builder
	w := csv.NewWriter(&out)
	w.Write([]string{"#domain", "#severity", "#reject_media", "#reject_reports", "#public_comment", "#obfuscate"})
	for _, b := range blocks {
		w.Write([]string{b.Host, b.Severity(), title(b.Has(config.RemoveMedia)), title(b.Has(config.RejectReports)), b.Comment, title(b.Obfuscate)})
	}
	w.Flush()
	return out.String(), nil
}

// title formats a boolean as those lists do.
func title(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
