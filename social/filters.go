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

// Limits of all filters of an account together, because every rendered status is matched with all of them.
const (
	maxFilters        = 100
	maxFilterKeywords = 500
	maxFilterStatuses = 1000
	maxFilterTitle    = 256 // characters
	maxFilterKeyword  = 256 // code points
)

// FilterChange is a change to a filter, or a new filter. Nil fields stay as they are.
type FilterChange struct {
	Title     *string
	Context   []store.FilterContext
	Action    *store.FilterAction // of a new filter: warn
	ExpiresIn *time.Duration      // 0: never
	Keywords  []KeywordChange
}

// KeywordChange is a change to a keyword of a filter, or a new keyword. Nil fields stay as they are.
type KeywordChange struct {
	ID        store.FilterKeywordID // 0: a new one
	Keyword   *string
	WholeWord *bool
	Remove    bool
}

// filters are all filters of an account in a transaction.
type filters struct {
	owner store.AccountID
	list  []*store.FilterWithTerms
}

// changeFilters runs change on the owner's filters in a transaction.
func (s *Service) changeFilters(ctx context.Context, owner *store.Account, change func(*store.Tx, *filters) error) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		list, err := tx.UserFilters(ctx, owner.ID)
		if err != nil {
			return err
		}
		return change(tx, &filters{owner.ID, list})
	})
}

func (fs *filters) find(id store.FilterID) (*store.FilterWithTerms, error) {
	for _, f := range fs.list {
		if f.ID == id {
			return f, nil
		}
	}
	return nil, errs.ErrRecordNotFound
}

func (fs *filters) keyword(id store.FilterKeywordID) (*store.FilterWithTerms, *store.FilterKeyword, error) {
	for _, f := range fs.list {
		for _, k := range f.Keywords {
			if k.ID == id {
				return f, k, nil
			}
		}
	}
	return nil, nil, errs.ErrRecordNotFound
}

func (fs *filters) status(id store.FilterStatusID) (*store.FilterStatus, error) {
	for _, f := range fs.list {
		for _, st := range f.Statuses {
			if st.ID == id {
				return st, nil
			}
		}
	}
	return nil, errs.ErrRecordNotFound
}

// CreateFilter creates a filter.
func (s *Service) CreateFilter(ctx context.Context, owner *store.Account, d FilterChange) (*store.FilterWithTerms, error) {
	f := &store.FilterWithTerms{UserFilter: store.UserFilter{AccountID: owner.ID, Action: store.FilterWarn}}
	err := s.changeFilters(ctx, owner, func(tx *store.Tx, fs *filters) error {
		if err := s.addFilter(ctx, tx, fs, f, d); err != nil {
			return err
		}
		return fs.changeKeywords(ctx, tx, f, d.Keywords)
	})
	return f, err
}

func (s *Service) addFilter(ctx context.Context, tx *store.Tx, fs *filters, f *store.FilterWithTerms, d FilterChange) error {
	if err := s.applyFilterChange(&f.UserFilter, d); err != nil {
		return err
	}
	if len(fs.list) >= maxFilters {
		return errs.Invalid("Validation failed: You cannot have more than %d filters", maxFilters)
	}
	fs.list = append(fs.list, f)
	return tx.AddFilter(ctx, &f.UserFilter)
}

// applyFilterChange changes a filter and validates the result.
func (s *Service) applyFilterChange(f *store.UserFilter, d FilterChange) error {
	if d.Title != nil {
		f.Title = text.OneLine(*d.Title)
	}
	if d.Context != nil {
		f.Context.V = d.Context
	}
	if d.Action != nil {
		f.Action = *d.Action
	}
	switch {
	case f.Title == "":
		return errs.Invalid("Validation failed: Title can't be blank")
	case text.Length(f.Title, "") > maxFilterTitle:
		return errs.Invalid("Validation failed: Title is too long (maximum is %d characters)", maxFilterTitle)
	case len(f.Context.V) == 0:
		return errs.Invalid("Validation failed: Context can't be blank")
	case !slices.Contains(store.FilterActions, f.Action):
		return errs.Invalid("Validation failed: Filter action is not included in the list")
	}
	return s.setExpiry(f, d.ExpiresIn)
}

// setExpiry sets when a filter expires. Very long durations have no end. A negative duration is valid for an expired filter, because
// clients that edit one send how long ago it expired.
func (s *Service) setExpiry(f *store.UserFilter, in *time.Duration) error {
	now := s.db.Now()
	switch {
	case in == nil:
	case *in == 0 || *in >= maxMuteDuration:
		f.ExpiresAt = nil
	case *in > 0:
		f.ExpiresAt = new(store.At(now.Add(*in)))
	case f.ExpiresAt == nil || f.ExpiresAt.Time().After(now):
		return errs.Invalid("Validation failed: Expires in must not be negative")
	}
	return nil
}

// UpdateFilter changes the owner's filter and its keywords. Keywords without an id are added.
func (s *Service) UpdateFilter(ctx context.Context, owner *store.Account, id store.FilterID, d FilterChange) (*store.FilterWithTerms, error) {
	var f *store.FilterWithTerms
	err := s.changeFilters(ctx, owner, func(tx *store.Tx, fs *filters) (err error) {
		if f, err = fs.find(id); err != nil {
			return err
		}
		if err := s.applyFilterChange(&f.UserFilter, d); err != nil {
			return err
		}
		if err := tx.SaveFilter(ctx, &f.UserFilter); err != nil {
			return err
		}
		return fs.changeKeywords(ctx, tx, f, d.Keywords)
	})
	return f, err
}

// changeKeywords applies changes to the keywords of a filter.
func (fs *filters) changeKeywords(ctx context.Context, tx *store.Tx, f *store.FilterWithTerms, changes []KeywordChange) error {
	for _, d := range changes {
		i := slices.IndexFunc(f.Keywords, func(k *store.FilterKeyword) bool { return k.ID == d.ID })
		var err error
		switch {
		case d.ID != 0 && i < 0:
			err = errs.ErrRecordNotFound
		case d.Remove && d.ID != 0:
			f.Keywords = slices.Delete(f.Keywords, i, i+1)
			err = tx.RemoveFilterKeyword(ctx, fs.owner, d.ID)
		case d.Remove:
		case d.ID != 0:
			if err = d.apply(f.Keywords[i]); err == nil {
				err = tx.SaveFilterKeyword(ctx, fs.owner, f.Keywords[i])
			}
		default:
			_, err = fs.addKeyword(ctx, tx, f, d)
		}
		if err != nil {
			return err
		}
	}
	return fs.checkKeywordCount()
}

// checkKeywordCount returns an error if the account has too many keywords.
func (fs *filters) checkKeywordCount() error {
	n := 0
	for _, f := range fs.list {
		n += len(f.Keywords)
	}
	if n > maxFilterKeywords {
		return errs.Invalid("Validation failed: Filters cannot have more than %d keywords in total", maxFilterKeywords)
	}
	return nil
}

func (d KeywordChange) apply(k *store.FilterKeyword) error {
	if d.Keyword != nil {
		k.Keyword = text.OneLine(*d.Keyword)
	}
	if d.WholeWord != nil {
		k.WholeWord = *d.WholeWord
	}
	switch {
	case utf8.RuneCountInString(k.Keyword) > maxFilterKeyword:
		return errs.Invalid("Validation failed: Keyword is too long (maximum is %d characters)", maxFilterKeyword)
	case text.NewPhrase(k.Keyword, false).Empty(): // also if it has only invisible characters
		return errs.Invalid("Validation failed: Keyword can't be blank")
	}
	return nil
}

func (fs *filters) addKeyword(ctx context.Context, tx *store.Tx, f *store.FilterWithTerms, d KeywordChange) (*store.FilterKeyword, error) {
	k := &store.FilterKeyword{FilterID: f.ID}
	if err := d.apply(k); err != nil {
		return nil, err
	}
	f.Keywords = append(f.Keywords, k)
	return k, tx.AddFilterKeyword(ctx, fs.owner, k)
}

// DeleteFilter deletes the owner's filter.
func (s *Service) DeleteFilter(ctx context.Context, owner *store.Account, id store.FilterID) error {
	return s.changeFilters(ctx, owner, func(tx *store.Tx, fs *filters) error {
		if _, err := fs.find(id); err != nil {
			return err
		}
		return tx.RemoveFilter(ctx, owner.ID, id)
	})
}

// AddFilterKeyword adds a keyword to the owner's filter. Duplicates are allowed.
func (s *Service) AddFilterKeyword(ctx context.Context, owner *store.Account, id store.FilterID, d KeywordChange) (*store.FilterKeyword, error) {
	var k *store.FilterKeyword
	err := s.changeFilters(ctx, owner, func(tx *store.Tx, fs *filters) error {
		f, err := fs.find(id)
		if err != nil {
			return err
		}
		if k, err = fs.addKeyword(ctx, tx, f, d); err != nil {
			return err
		}
		return fs.checkKeywordCount()
	})
	return k, err
}

// UpdateFilterKeyword changes a keyword of the owner's.
func (s *Service) UpdateFilterKeyword(ctx context.Context, owner *store.Account, d KeywordChange) (*store.FilterKeyword, error) {
	var k *store.FilterKeyword
	err := s.changeFilters(ctx, owner, func(tx *store.Tx, fs *filters) (err error) {
		if _, k, err = fs.keyword(d.ID); err != nil {
			return err
		}
		if err := d.apply(k); err != nil {
			return err
		}
		return tx.SaveFilterKeyword(ctx, owner.ID, k)
	})
	return k, err
}

// DeleteFilterKeyword deletes a keyword of the owner's. The filter stays, even if it has no keyword left.
func (s *Service) DeleteFilterKeyword(ctx context.Context, owner *store.Account, id store.FilterKeywordID) error {
	return s.changeFilters(ctx, owner, func(tx *store.Tx, fs *filters) error {
		if _, _, err := fs.keyword(id); err != nil {
			return err
		}
		return tx.RemoveFilterKeyword(ctx, owner.ID, id)
	})
}

// AddFilterStatus adds a status that the owner can see, or the original of a reblog, to the owner's filter.
func (s *Service) AddFilterStatus(ctx context.Context, owner *store.Account, id store.FilterID, status store.StatusID) (*store.FilterStatus, error) {
	var row *store.FilterStatus
	err := s.changeFilters(ctx, owner, func(tx *store.Tx, fs *filters) error {
		f, err := fs.find(id)
		if err != nil {
			return err
		}
		st, err := tx.VisibleStatus(ctx, owner.ID, status)
		if err != nil {
			return err
		}
		n := 0
		for _, other := range fs.list {
			n += len(other.Statuses)
		}
		row = &store.FilterStatus{FilterID: f.ID, StatusID: st.OriginalID()}
		switch {
		case slices.ContainsFunc(f.Statuses, func(other *store.FilterStatus) bool { return other.StatusID == row.StatusID }):
			return errs.Invalid("Validation failed: Status has already been taken")
		case n >= maxFilterStatuses:
			return errs.Invalid("Validation failed: Filters cannot have more than %d posts in total", maxFilterStatuses)
		}
		return tx.AddFilterStatus(ctx, owner.ID, row)
	})
	return row, err
}

// RemoveFilterStatus removes a status from its filter.
func (s *Service) RemoveFilterStatus(ctx context.Context, owner *store.Account, id store.FilterStatusID) error {
	return s.changeFilters(ctx, owner, func(tx *store.Tx, fs *filters) error {
		if _, err := fs.status(id); err != nil {
			return err
		}
		return tx.RemoveFilterStatus(ctx, owner.ID, id)
	})
}
