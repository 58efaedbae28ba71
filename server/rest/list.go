package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"svc/internal/errs"
	"svc/internal/limit"
	"svc/store"
)

// Bounds of an answer in bytes of JSON. A list ends before the entity that would exceed them, but has one. Answers to pages of the web interface,
// which make HTML of them, have half.
const (
	MaxPageBytes    = 2 << 20
	MaxContextBytes = 4 << 20
)

// Memory of an answer. Up to smallAnswer bytes of JSON, or smallRead bytes of rows, it is not counted, because ordinary pages have less.
const (
	smallAnswer = 64 << 10
	smallRead   = 256 << 10
	pieceRead   = 512 << 10       // rows of a larger answer that are read and rendered at a time
	largeAnswer = 6 << 20         // what such an answer takes while it is rendered
	memoryWait  = 3 * time.Second // how long an answer for a visitor waits for its memory
	memberWait  = 8 * time.Second // likewise for a member
	retryMemory = 5 * time.Second
	htmlFactor  = 4 // how much larger a page of the web interface is, with what it is made of, than the JSON that it shows
)

var errMemoryBusy = &errs.Error{Status: http.StatusServiceUnavailable, Message: "The server is busy with large answers, try again soon", RetryAfter: retryMemory}

// errNoMemory ends a handler that is called again when there is memory for its answer.
var errNoMemory = fmt.Errorf("there is no memory for the answer: %w", store.ErrReadBudget)

// sized is an entity that knows about how many bytes of JSON it has before it is rendered.
type sized interface {
	JSONSize() int
}

// JSONSize returns how many bytes of JSON an entity has. One that does not know it is rendered.
func JSONSize(entity any) int {
	if s, ok := entity.(sized); ok {
		return s.JSONSize()
	}
	b := jsonBuffers.Get().(*jsonBuffer)
	defer b.release()
	b.encode(entity) // an error is that of the answer, too
	return len(b.bytes)
}

// List renders a page of a list, and links the pages beside it as LinkPart does. The page ends at MaxPageBytes: the next one begins after the last
// entity that is shown. Rows are the newest first; with MinID those that are next to it are kept. show renders some of them in their order,
// and may leave out others. cursor and next are those of LinkPart.
func List[T any, L ~[]E, E any](r *Request, p Page, rows []T, cursor func(i int) string, next string, show func([]T) (L, error)) (L, error) {
	shown, n, err := Fit(r, rows, p.MinID != 0, show)
	if err != nil {
		return nil, err
	}
	first := 0
	if n < len(rows) {
		if p.MinID != 0 {
			first = len(rows) - n
		}
		next, p.Limit = "", n
	}
	r.LinkPart(p, n, func(i int) string { return cursor(first + i) }, next)
	return shown, nil
}

// Fit renders the first n rows of a list, or the last ones, as many as an answer may have. There is at least one.
func Fit[T any, L ~[]E, E any](r *Request, rows []T, last bool, show func([]T) (L, error)) (shown L, n int, err error) {
	if len(rows) == 0 {
		shown, err = show(rows)
		return shown, 0, err
	}
	for piece := len(rows); n < len(rows); {
		some := func(k int) []T {
			if last {
				return rows[len(rows)-n-k : len(rows)-n]
			}
			return rows[n : n+k]
		}
		var entities L
		var k int
		if entities, k, err = ShowSome(r, min(piece, len(rows)-n), func(k int) (L, error) { return show(some(k)) }); err != nil {
			return nil, 0, err
		}
		before := r.entityBytes
		fits := r.Fitting(len(entities), len(shown) == 0, func(i int) int {
			if last {
				i = len(entities) - 1 - i
			}
			return JSONSize(entities[i])
		})
		if cut := fits < len(entities); cut && len(entities) < k && k > 1 {
			piece, r.entityBytes = (k+1)/2, before // because it is not known which of the rows were left out
			continue
		} else if cut {
			k = fits
		}
		if last {
			shown = append(entities[len(entities)-fits:len(entities):len(entities)], shown...)
		} else if shown == nil {
			shown = entities[:fits]
		} else {
			shown = append(shown, entities[:fits]...)
		}
		if n += k; fits < len(entities) {
			break
		}
		piece = 2 * k
	}
	return shown, n, r.Rendered()
}

// ShowSome calls show for some of n rows that follow, for as many as can be rendered at a time. It returns their number. The rows
// that show reads count: if there are too many, it is called for half of them, and in the end for one, which may be of any size.
func ShowSome[L any](r *Request, n int, show func(n int) (L, error)) (entities L, _ int, err error) {
	whole := r.Request
	defer func() { r.Request = whole }()
	within := func(bytes int) error {
		limited, end := store.WithReadBudget(whole.Context(), bytes)
		defer end()
		r.Request = whole.WithContext(limited)
		entities, err = show(n)
		return err
	}
	if r.root().retried || n == 0 {
		entities, err = show(n)
		return entities, n, err
	}
	if !r.root().large {
		if err := within(smallRead); !errors.Is(err, store.ErrReadBudget) {
			return entities, n, err
		}
		if err := r.takeLarge(); err != nil {
			return entities, 0, err
		}
	}
	for ; n > 1; n = (n + 1) / 2 {
		if err := within(pieceRead); !errors.Is(err, store.ErrReadBudget) {
			return entities, n, err
		}
	}
	r.Request = whole.WithContext(store.WithoutReadBudget(whole.Context()))
	entities, err = show(1)
	return entities, 1, err
}

// Halved renders an answer of n parts that cannot be cut: show is called for half as many until they are small enough, and in the end for one.
func Halved[T any](r *Request, n int, show func(n int) (T, error)) (answer T, err error) {
	for most := r.maxBytes(MaxPageBytes); ; n = (n + 1) / 2 {
		if answer, n, err = ShowSome(r, n, show); err != nil {
			return answer, err
		}
		if size := JSONSize(answer); size <= most || n <= 1 {
			r.entityBytes += size
			return answer, r.Rendered()
		}
	}
}

// Large takes the memory of an answer that is known to be large before it is rendered.
func (r *Request) Large() error {
	switch root := r.root(); {
	case root.large:
		return nil
	case root.retried:
		root.noMemory = true
		return errNoMemory
	}
	return r.takeLarge()
}

// takeLarge waits until the answer may take what one is rendered with in pieces.
func (r *Request) takeLarge() error {
	if err := r.takeMemory(largeAnswer); err != nil {
		return err
	}
	r.root().large = true
	return nil
}

// Fitting returns how many of n further entities of a list the answer may have, and counts them. With one it has at least one.
func (r *Request) Fitting(n int, one bool, size func(i int) int) int {
	most := r.maxBytes(MaxPageBytes)
	for i := range n {
		more := size(i) + len(",")
		if r.entityBytes+more > most && (i > 0 || !one) {
			return i
		}
		r.entityBytes += more
	}
	return n
}

// MaxContext returns how many bytes of JSON a context may have.
func (r *Request) MaxContext() int { return r.maxBytes(MaxContextBytes) }

// Shown is Rendered for an answer of so many bytes that was rendered without Fitting.
func (r *Request) Shown(bytes int) error {
	r.entityBytes += bytes
	return r.Rendered()
}

// maxBytes returns how many bytes of JSON the answer may have.
func (r *Request) maxBytes(most int) int {
	if r.outer != nil {
		return most / 2
	}
	return most
}

// Rendered adapts the memory of the answer to what was rendered.
func (r *Request) Rendered() error {
	root := r.root()
	need := r.entityBytes
	if root != r {
		root.entityBytes += r.entityBytes - r.counted
		r.counted = r.entityBytes
		need = htmlFactor * root.entityBytes
	}
	if root.large {
		root.large = false
		root.memory.Shrink(int64(max(need, smallAnswer)))
	}
	if need > smallAnswer {
		return r.takeMemory(need)
	}
	return nil
}

// root returns the request of the client, for one that is called inside of it.
func (r *Request) root() *Request {
	for r.outer != nil {
		r = r.outer
	}
	return r
}

// takeMemory waits until the answer may take n bytes. If the handler can be called again, it does not wait: errNoMemory ends the handler, so that
// no rendered rows are in memory meanwhile.
func (r *Request) takeMemory(n int) error {
	root := r.root()
	if root.memory == nil {
		root.memory = root.server.memory.NewHold(root.holder())
	}
	if root.retried {
		if !root.memory.TryGrow(int64(n)) {
			root.noMemory = true
			return errNoMemory
		}
		return nil
	}
	wait := memberWait
	if root.Viewer == nil {
		wait = memoryWait
	}
	switch err := root.memory.Grow(root.Context(), int64(n), wait); {
	case errors.Is(err, limit.ErrBusy):
		return errMemoryBusy
	case err != nil:
		return context.Cause(root.Context())
	}
	return nil
}

// holder returns who the memory of an answer is for.
func (r *Request) holder() limit.Holder {
	if r.Viewer != nil {
		return limit.Holder{Key: r.Viewer.ID}
	}
	return limit.Holder{Key: r.Network(), Anonymous: true}
}

// sending lets others have the memory of an answer if the client does not read it.
func (r *Request) sending(w http.ResponseWriter) {
	if r.memory != nil {
		r.memory.Sending(func() { http.NewResponseController(w).SetWriteDeadline(time.Now()) })
	}
}
