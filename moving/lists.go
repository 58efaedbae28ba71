package moving

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path"
	"strings"

	"svc/internal/errs"
	"svc/social"
	"svc/store"
)

const (
	listBatch   = 5000    // entries of an import
	maxListSize = 1 << 20 // bytes of the CSV files
	maxLists    = 20      // imports of each kind
	maxBatch    = 900_000 // bytes of an import
)

// lists are the files of an archive beside its posts, and the imports that take them. The first one of a kind counts.
var lists = []struct {
	pattern string
	kind    store.ImportKind
}{
	{"likes.json", store.ImportLikes},
	{"bookmarks.json", store.ImportBookmarks},
	{"following.json", store.ImportFollows},
	{"follows.csv", store.ImportFollows},
	{"following*.csv", store.ImportFollows},
	{"lists*.csv", store.ImportLists},
	{"user-lists*.csv", store.ImportLists},
	{"block*_accounts*.csv", store.ImportBlocks},
	{"blocks.csv", store.ImportBlocks},
	{"blocking*.csv", store.ImportBlocks},
	{"muted_accounts*.csv", store.ImportMutes},
	{"mutes.csv", store.ImportMutes},
	{"muting*.csv", store.ImportMutes},
	{"blocked_domains*.csv", store.ImportDomainBlocks},
	{"domain_blocks.csv", store.ImportDomainBlocks},
	{"bookmarks.csv", store.ImportBookmarks},
}

// startLists queues the imports of the lists of an archive. They can run twice, which changes nothing.
func (m *Importer) startLists(ctx context.Context, account *store.Account, a *Archive) error {
	done := make(map[store.ImportKind]bool)
	for _, l := range lists {
		for name := range a.files {
			if ok, _ := path.Match(l.pattern, name); !ok || done[l.kind] {
				continue
			}
			done[l.kind] = true
			err := m.startList(ctx, account, a, name, l.kind)
			if refusal := (*errs.Error)(nil); errors.As(err, &refusal) { // an empty list, or one that cannot be read
				m.log.Info("a list of an archive is not imported", "account", account.ID, "file", name, "err", err)
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *Importer) startList(ctx context.Context, account *store.Account, a *Archive, name string, kind store.ImportKind) error {
	if strings.HasSuffix(name, ".csv") {
		b, err := a.readAll(name, maxListSize)
		if err != nil {
			return err
		}
		_, err = m.social.StartImport(ctx, account, kind, string(b), true)
		return err
	}
	batch, entries, started := new(strings.Builder), 0, 0
	flush := func() error {
		if entries == 0 {
			return nil
		}
		_, err := m.social.StartImport(ctx, account, kind, batch.String(), true)
		batch.Reset()
		entries, started = 0, started+1
		if err == nil && started == maxLists {
			err = errStop
		}
		return err
	}
	err := a.eachEntry(name, func(entry json.RawMessage) error {
		if target := targetOf(entry); target != "" {
			io.WriteString(batch, target+"\n")
			entries++
		}
		if entries < listBatch && batch.Len() < maxBatch {
			return nil
		}
		return flush()
	})
	if err == nil && started < maxLists {
		err = flush()
	}
	if errors.Is(err, errStop) {
		err = nil
	}
	return err
}

const (
	filtersName = "filters.json"
	maxFilters  = 1000 // that are read
)

// importFilters adds the filters of an archive. One that is refused is left out.
func (m *Importer) importFilters(ctx context.Context, account *store.Account, a *Archive) error {
	if !a.Has(filtersName) {
		return nil
	}
	n := 0
	err := a.eachEntry(filtersName, func(entry json.RawMessage) error {
		if n++; n > maxFilters {
			return errStop
		}
		var f social.ArchivedFilter
		if err := json.Unmarshal(entry, &f); err != nil {
			m.log.Info("a filter of an archive cannot be read", "account", account.ID, "err", err)
			return nil
		}
		err := m.social.ImportFilter(ctx, account, f)
		if refusal := (*errs.Error)(nil); errors.As(err, &refusal) {
			m.log.Info("a filter of an archive is not imported", "account", account.ID, "filter", f.Title, "err", err)
			return nil
		}
		return err
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// targetOf returns the id that an entry of a collection names, "" if that cannot be a line of a list.
func targetOf(entry json.RawMessage) string {
	var id string
	if json.Unmarshal(entry, &id) != nil {
		var o struct {
			ID     string          `json:"id"`
			Object json.RawMessage `json:"object"`
		}
		if json.Unmarshal(entry, &o) != nil {
			return ""
		}
		if id = o.ID; json.Unmarshal(o.Object, &id) != nil && o.Object != nil {
			id = o.ID
		}
	}
	if id = address(id); strings.ContainsAny(id, ", \"\n\r") {
		return ""
	}
	return id
}
