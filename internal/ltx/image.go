package ltx

import (
	"fmt"
	"io"

	"svc/internal/disk"
)

// image is the file of a database.
type image struct {
	file     *disk.File
	pageSize uint32 // 0: there are no pages
	commit   uint32 // pages
}

// apply writes the pages of an LTX file into the database and gives it the size that it had then. After an error the file is neither in the old
// nor in the new state; to apply the same again, or a file with more transactions, mends it.
func (m *image) apply(r *reader) error {
	h := r.header
	if m.pageSize != h.PageSize { // the file must have all pages then
		if err := m.file.Truncate(0); err != nil {
			return err
		}
		m.pageSize, m.commit = h.PageSize, 0
	}
	err := m.eachPage(r, func(page uint32, data []byte) error {
		_, err := m.file.WriteAt(data, int64(page-1)*int64(h.PageSize))
		return err
	})
	if err != nil {
		return err
	}
	m.commit = h.Commit
	return m.file.Truncate(int64(h.Commit) * int64(h.PageSize))
}

// verify reads a file that is to be applied, and changes nothing.
func (m *image) verify(r *reader) error {
	return m.eachPage(r, func(uint32, []byte) error { return nil })
}

// eachPage calls fn for each page, and returns an error if pages are missing that the database does not have either.
func (m *image) eachPage(r *reader, fn func(page uint32, data []byte) error) error {
	h := r.header
	before := m.commit
	if m.pageSize != h.PageSize {
		before = 0
	}
	data := make([]byte, h.PageSize)
	for added := uint32(0); ; {
		page, err := r.next(data)
		if err == io.EOF {
			if want := newPages(before, h.Commit, h.LockPgno()); added != want {
				return fmt.Errorf("%w: it has %d of the %d pages that the database is longer by", ErrDamaged, added, want)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if page > before {
			added++
		}
		if err := fn(page, data); err != nil {
			return err
		}
	}
}

// newPages returns how many pages a database has in addition when it grows. The page of SQLite's locks is in no file.
func newPages(before, after, lock uint32) uint32 {
	if after <= before {
		return 0
	}
	n := after - before
	if before < lock && lock <= after {
		n--
	}
	return n
}
