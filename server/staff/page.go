package staff

import (
	"strconv"

	"svc/internal/errs"
	"svc/server/rest"
)

// Limits of lists that are paged by number.
const (
	maxPageSize = 500
	maxOffset   = 1_000_000 // because the rows before the page are read
)

// page is the part of a list that a client asks for by its number.
type page struct{ number, size int }

// pageOf returns the page that the request asks for: page, from 1 on, and page_size. Anything but a positive number counts as absent.
func pageOf(r *rest.Request, standard int) page {
	p := page{1, standard}
	if n, err := strconv.Atoi(r.Query("page")); err == nil && n > 0 {
		p.number = n
	}
	if n, err := strconv.Atoi(r.Query("page_size")); err == nil && n > 0 {
		p.size = min(n, maxPageSize)
	}
	return p
}

// parseLimit reads a limit, which a client must not send below 1. Larger ones than maxPageSize are lowered.
func parseLimit(text string, standard int) (int, error) {
	if text == "" {
		return standard, nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, errs.BadRequest("limit - Invalid integer. Got: string.")
	case n < 1:
		return 0, errs.BadRequest("limit - %d is smaller than inclusive minimum 1.", n)
	}
	return min(n, maxPageSize), nil
}

func (p page) offset() int { return int(min(int64(p.number-1)*int64(p.size), maxOffset)) }
