package social

import (
	"context"
	"slices"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// ArchivedFilter is a filter in an archive of its account.
type ArchivedFilter struct {
	Type      string                `json:"type"` // Filter
	Title     string                `json:"title"`
	Context   []store.FilterContext `json:"context"`
	Action    store.FilterAction    `json:"filter_action"`
	ExpiresAt *time.Time            `json:"expires_at"`
	Keywords  []ArchivedKeyword     `json:"keywords"`
	Statuses  []string              `json:"statuses"` // ids of posts
}

// ArchivedKeyword is a word or phrase of a filter in an archive.
type ArchivedKeyword struct {
	Keyword   string `json:"keyword"`
	WholeWord bool   `json:"whole_word"`
}

// ArchivedFilters returns the filters of an account for its archive.
func (s *Service) ArchivedFilters(ctx context.Context, account store.AccountID) ([]ArchivedFilter, error) {
	rows, err := s.db.UserFilters(ctx, account)
	if err != nil {
		return nil, err
	}
	out := make([]ArchivedFilter, 0, len(rows))
	for _, f := range rows {
		a := ArchivedFilter{Type: "Filter", Title: f.Title, Context: f.Context.V, Action: f.Action, Keywords: []ArchivedKeyword{}}
		if f.ExpiresAt != nil {
			a.ExpiresAt = new(f.ExpiresAt.Time())
		}
		for _, k := range f.Keywords {
			a.Keywords = append(a.Keywords, ArchivedKeyword{k.Keyword, k.WholeWord})
		}
		ids := make([]store.StatusID, 0, len(f.Statuses))
		for _, st := range f.Statuses {
			ids = append(ids, st.StatusID)
		}
		if a.Statuses, err = s.db.StatusURIs(ctx, ids); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// ImportFilter adds a filter of an archive, unless the account has the same one, or it has expired. Posts that are not known here are left out. One that
// is refused is an errs.Error.
func (s *Service) ImportFilter(ctx context.Context, owner *store.Account, a ArchivedFilter) error {
	d := FilterChange{Title: &a.Title, Context: a.Context, Action: &a.Action}
	if a.ExpiresAt != nil {
		left := a.ExpiresAt.Sub(s.db.Now())
		if left <= 0 {
			return nil
		}
		d.ExpiresIn = &left
	}
	if len(a.Keywords) > maxFilterKeywords || len(a.Statuses) > maxFilterStatuses {
		return errs.Invalid("The filter %q has too many entries", a.Title)
	}
	for _, k := range a.Keywords {
		d.Keywords = append(d.Keywords, KeywordChange{Keyword: &k.Keyword, WholeWord: &k.WholeWord})
	}
	return s.changeFilters(ctx, owner, func(tx *store.Tx, fs *filters) error {
		if slices.ContainsFunc(fs.list, a.equals) {
			return nil
		}
		f := &store.FilterWithTerms{UserFilter: store.UserFilter{AccountID: owner.ID}}
		if err := s.addFilter(ctx, tx, fs, f, d); err != nil {
			return err
		}
		if err := fs.changeKeywords(ctx, tx, f, d.Keywords); err != nil {
			return err
		}
		return fs.addArchivedStatuses(ctx, tx, f, a.Statuses)
	})
}

// equals returns true for a filter with the same title, contexts and keywords.
func (a ArchivedFilter) equals(f *store.FilterWithTerms) bool {
	return f.Title == a.Title && slices.Equal(f.Context.V, a.Context) &&
		slices.EqualFunc(f.Keywords, a.Keywords, func(k *store.FilterKeyword, b ArchivedKeyword) bool { return k.Keyword == b.Keyword })
}

// addArchivedStatuses adds the posts of a filter that the account can see here: by the ids of their originals if they were imported.
func (fs *filters) addArchivedStatuses(ctx context.Context, tx *store.Tx, f *store.FilterWithTerms, uris []string) error {
	room := maxFilterStatuses
	for _, other := range fs.list {
		room -= len(other.Statuses)
	}
	own, err := tx.KnownOriginals(ctx, fs.owner, uris)
	if err != nil {
		return err
	}
	for _, uri := range uris {
		id := own[uri]
		if id == 0 {
			st, err := tx.StatusByURI(ctx, uri)
			if err != nil {
				return err
			}
			if st == nil || st.ReblogOfID != nil {
				continue
			}
			if sees, err := tx.CanSee(ctx, fs.owner, st); err != nil {
				return err
			} else if !sees {
				continue
			}
			id = st.ID
		}
		if slices.ContainsFunc(f.Statuses, func(other *store.FilterStatus) bool { return other.StatusID == id }) || len(f.Statuses) >= room {
			continue
		}
		row := &store.FilterStatus{FilterID: f.ID, StatusID: id}
		f.Statuses = append(f.Statuses, row)
		if err := tx.AddFilterStatus(ctx, fs.owner, row); err != nil {
			return err
		}
	}
	return nil
}
