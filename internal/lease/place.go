package lease

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"svc/internal/disk"
	"svc/internal/objects"
)

const (
	maxObject = 4 << 10 // bytes
	maxListed = 1000    // objects
	kept      = 16      // numbers

	seenSuffix     = ".seen"     // written while the holder runs
	releasedSuffix = ".released" // written when it has stopped
	clockName      = "clock"     // written to learn the time of the place
)

// place is where the numbers are.
type place struct {
	store  objects.Store
	prefix string
}

func (p *place) name(number uint64) string { return fmt.Sprintf("%s%010d", p.prefix, number) }

// parse returns the number and the suffix of a name.
func (p *place) parse(name string) (number uint64, suffix string, ok bool) {
	rest, ok := strings.CutPrefix(name, p.prefix)
	if !ok {
		return 0, "", false
	}
	if i := strings.IndexByte(rest, '.'); i >= 0 {
		rest, suffix = rest[:i], rest[i:]
	}
	if _, err := fmt.Sscanf(rest, "%d", &number); err != nil || p.name(number) != p.prefix+rest {
		return 0, "", false
	}
	return number, suffix, true
}

// read lists the place.
func (p *place) read(ctx context.Context) (numbers, error) {
	n := numbers{place: p, objects: map[string]objects.Object{}}
	page, err := p.store.List(ctx, p.prefix, "", maxListed)
	if err != nil {
		return n, err
	}
	if len(page) == maxListed {
		return n, fmt.Errorf("%s has %d objects or more, which no server wrote: remove what does not belong there", p.prefix, maxListed)
	}
	for _, o := range page {
		n.objects[o.Name] = o
	}
	return n, nil
}

// numbers are the objects of a place.
type numbers struct {
	place   *place
	objects map[string]objects.Object
}

// highest returns the number that holds the lease, 0 if nobody does.
func (n numbers) highest() (highest uint64) {
	for name := range n.objects {
		if number, suffix, ok := n.place.parse(name); ok && suffix == "" {
			highest = max(highest, number)
		}
	}
	return highest
}

// state returns the state of a number.
func (p *place) state(ctx context.Context, n numbers, number uint64) (State, error) {
	object := n.objects[p.name(number)]
	s := State{Holder: Holder{Number: number, Host: "an unknown host"}, Since: object.Modified, Seen: object.Modified}
	if o, ok := n.objects[p.name(number)+seenSuffix]; ok {
		s.Seen = o.Modified
	}
	if o, ok := n.objects[p.name(number)+releasedSuffix]; ok {
		s.Released, s.Seen = true, o.Modified
	}
	body, _, err := p.store.Get(ctx, p.name(number), 0, maxObject)
	if err != nil {
		return s, err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxObject))
	if err != nil {
		return s, err
	}
	var h Holder
	if err := json.Unmarshal(text, &h); err == nil && h.Number == number { // others can write there, too: the number counts
		s.Holder = h
	}
	return s, nil
}

// put writes a number that must not exist. The error is objects.ErrCondition if it does.
func (p *place) put(ctx context.Context, h Holder) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	_, err = p.store.Put(ctx, p.name(h.Number), bytes.NewReader(text), int64(len(text)), objects.PutOptions{IfNone: true, ContentType: "application/json"})
	if errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("the place cannot exclude that two servers write: choose another one for replica.place: %w", err)
	}
	return err
}

// note writes that the holder of a number runs, or has stopped. Its time is what counts.
func (p *place) note(ctx context.Context, number uint64, suffix string) error {
	_, err := p.store.Put(ctx, p.name(number)+suffix, strings.NewReader("\n"), 1, objects.PutOptions{})
	return err
}

// now returns the time by the clock of the place.
func (p *place) now(ctx context.Context) (time.Time, error) {
	if _, err := p.store.Put(ctx, p.prefix+clockName, strings.NewReader("\n"), 1, objects.PutOptions{}); err != nil {
		return time.Time{}, err
	}
	o, err := p.store.Stat(ctx, p.prefix+clockName)
	return o.Modified, err
}

// since returns when a number was written, by the clock of the place.
func (p *place) since(ctx context.Context, number uint64) (time.Time, error) {
	o, err := p.store.Stat(ctx, p.name(number))
	return o.Modified, err
}

func (p *place) released(ctx context.Context, number uint64) (bool, error) {
	_, err := p.store.Stat(ctx, p.name(number)+releasedSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// prune removes old numbers. What fails is left for the next time.
func (p *place) prune(ctx context.Context, n numbers, newest uint64) {
	for name := range n.objects {
		if number, _, ok := p.parse(name); ok && number+kept < newest {
			p.store.Delete(ctx, name)
		}
	}
}

// write remembers what a data directory holds.
func (r record) write(path string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := disk.ReplaceText(path, string(text)+"\n"); err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	return nil
}
