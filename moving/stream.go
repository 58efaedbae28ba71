package moving

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"svc/internal/errs"
)

const (
	maxEntryBytes = 1 << 20   // of an entry of a list, as of a document of another server
	maxEntries    = 1_000_000 // of a list
	readAhead     = 64 << 10  // what the decoder may read beyond an entry
)

// errStop ends the reading of a list early.
var errStop = errors.New("stop")

// boundedReader bounds how much a decoder reads, and so holds in memory, for one entry.
type boundedReader struct {
	source io.Reader
	left   int
}

var errEntryTooLarge = fmt.Errorf("an entry has more than %d bytes", maxEntryBytes)

func (r *boundedReader) Read(b []byte) (int, error) {
	if r.left <= 0 {
		return 0, errEntryTooLarge
	}
	n, err := r.source.Read(b[:min(len(b), r.left)])
	r.left -= n
	return n, err
}

// eachEntry calls fn for each entry of a list in a file, without holding more than one: of the array that the file is, or of the member orderedItems or
// items of its object. fn may return errStop. A file that is no such list is an errs.Error.
func (a *Archive) eachEntry(name string, fn func(json.RawMessage) error) error {
	content, err := a.Open(name)
	if err != nil {
		return err
	}
	defer content.Close()
	r := &boundedReader{source: content, left: maxEntryBytes}
	d := json.NewDecoder(r)
	err = readList(d, r, fn)
	syntax, kind := new(json.SyntaxError), new(json.UnmarshalTypeError)
	switch {
	case errors.Is(err, errStop):
		return nil
	case errors.Is(err, errEntryTooLarge), errors.Is(err, errNoList), errors.As(err, &syntax), errors.As(err, &kind), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errs.Invalid("The file %q of the archive cannot be read: %v", name, err)
	}
	return err
}

var (
	errNoList = errors.New("it is not a list")
)

func readList(d *json.Decoder, r *boundedReader, fn func(json.RawMessage) error) error {
	first, err := d.Token()
	if err != nil {
		return err
	}
	switch first {
	case json.Delim('['):
		return readArray(d, r, fn)
	case json.Delim('{'):
	default:
		return errNoList
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		if key, _ := name.(string); slices.Contains([]string{"orderedItems", "items"}, key) {
			open, err := d.Token()
			if err != nil || open != json.Delim('[') {
				return errors.Join(errNoList, err)
			}
			return readArray(d, r, fn)
		}
		var other json.RawMessage
		r.left = maxEntryBytes + readAhead
		if err := d.Decode(&other); err != nil {
			return err
		}
	}
	return errNoList
}

func readArray(d *json.Decoder, r *boundedReader, fn func(json.RawMessage) error) error {
	for n := 0; ; n++ {
		r.left = maxEntryBytes + readAhead
		if !d.More() {
			_, err := d.Token() // which is an error if the list is cut off
			return err
		}
		if n >= maxEntries {
			return fmt.Errorf("%w: more than %d entries", errNoList, maxEntries)
		}
		var entry json.RawMessage
		if err := d.Decode(&entry); err != nil {
			return err
		}
		if len(entry) > maxEntryBytes {
			return errEntryTooLarge
		}
		if err := fn(entry); err != nil {
			return err
		}
	}
}
