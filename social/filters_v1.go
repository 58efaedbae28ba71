package social

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// FilterV1 is a filter in version 1 of the API: one keyword with its options. Each keyword of a filter is one, by the keyword's id
// (client API 3.15).
//
// Nil fields of a change stay as they are. A new filter warns, matches parts of words, and never expires.
type FilterV1 struct {
	Phrase       *string
	Context      []store.FilterContext
	Irreversible *bool // matching posts are left out of home and notifications
	WholeWord    *bool
	ExpiresIn    *time.Duration // 0: never
}

func (p FilterV1) changes() (FilterChange, KeywordChange) {
	f := FilterChange{Title: p.Phrase, Context: p.Context, ExpiresIn: p.ExpiresIn}
	if p.Irreversible != nil {
		f.Action = new(store.FilterWarn)
		if *p.Irreversible {
			f.Action = new(store.FilterHide)
		}
	}
	return f, KeywordChange{Keyword: p.Phrase, WholeWord: p.WholeWord}
}

func (p FilterV1) check() error {
	switch {
	case p.Phrase == nil:
	case utf8.RuneCountInString(text.OneLine(*p.Phrase)) > maxFilterKeyword:
		return errs.Invalid("Validation failed: Phrase is too long (maximum is %d characters)", maxFilterKeyword)
	case text.NewPhrase(*p.Phrase, false).Empty():
		return errs.Invalid("Validation failed: Phrase can't be blank")
	}
	return nil
}

// complete returns a new filter with its defaults.
func (p FilterV1) complete() FilterV1 {
	if p.Phrase == nil {
		p.Phrase = new(string)
	}
	if p.Irreversible == nil {
		p.Irreversible = new(bool)
	}
	if p.WholeWord == nil {
		p.WholeWord = new(bool)
	}
	return p
}

// CreateFilterV1 creates a filter with one keyword.
func (s *Service) CreateFilterV1(ctx context.Context, owner *store.Account, p FilterV1) (*store.FilterWithTerms, error) {
	p = p.complete()
	if err := p.check(); err != nil {
		return nil, err
	}
	filter, keyword := p.changes()
	filter.Keywords = []KeywordChange{keyword}
	return s.CreateFilter(ctx, owner, filter)
}

// UpdateFilterV1 changes a filter of version 1. If other keywords or statuses share the filter and its options change, the keyword moves
// to a new filter and keeps its id.
func (s *Service) UpdateFilterV1(ctx context.Context, owner *store.Account, id store.FilterKeywordID, p FilterV1) (*store.FilterWithTerms, *store.FilterKeyword, error) {
	if err := p.check(); err != nil {
		return nil, nil, err
	}
	var f *store.FilterWithTerms
	var k *store.FilterKeyword
	err := s.changeFilters(ctx, owner, func(tx *store.Tx, fs *filters) (err error) {
		if f, k, err = fs.keyword(id); err != nil {
			return err
		}
		filter, keyword := p.changes()
		if f.Title != k.Keyword { // it was set through version 2
			filter.Title = nil
		}
		before := f.UserFilter
		changed := before
		if err := s.applyFilterChange(&changed, filter); err != nil {
			return err
		}
		if err := keyword.apply(k); err != nil {
			return err
		}
		shared := len(f.Keywords) > 1 || len(f.Statuses) > 0
		same := changed.Action == before.Action && slices.Equal(changed.Context.V, before.Context.V) && changed.ExpiresAt == before.ExpiresAt
		switch {
		case !shared:
			f.UserFilter = changed
			err = tx.SaveFilter(ctx, &f.UserFilter)
		case !same:
			f = &store.FilterWithTerms{
				UserFilter: store.UserFilter{AccountID: owner.ID, Context: changed.Context, Action: changed.Action, ExpiresAt: changed.ExpiresAt},
				Keywords:   []*store.FilterKeyword{k},
			}
			if err = s.addFilter(ctx, tx, fs, f, FilterChange{Title: &k.Keyword}); err == nil {
				k.FilterID = f.ID
			}
		}
		if err != nil {
			return err
		}
		return tx.SaveFilterKeyword(ctx, owner.ID, k)
	})
	return f, k, err
}

// DeleteFilterV1 deletes a keyword of the owner's, and the filter with its last keyword.
func (s *Service) DeleteFilterV1(ctx context.Context, owner *store.Account, id store.FilterKeywordID) error {
	return s.changeFilters(ctx, owner, func(tx *store.Tx, fs *filters) error {
		f, _, err := fs.keyword(id)
		if err != nil {
			return err
		}
		if len(f.Keywords) == 1 {
			return tx.RemoveFilter(ctx, owner.ID, f.ID)
		}
		return tx.RemoveFilterKeyword(ctx, owner.ID, id)
	})
}
