package media

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"svc/internal/disk"
)

// download is a remote file that is being fetched to a temporary file. All requests for it read that file while it grows.
type download struct {
	key     proxyKey
	address string
	domain  string // the registered domain of the address
	ctx     context.Context
	cancel  context.CancelCauseFunc

	users      int  // of file; guarded by the proxy's mu
	background bool // it goes on without a client; likewise

	started chan struct{} // closed when the following fields are set, or the download has failed
	format  *format
	size    int64 // -1: not known before the end
	fetched time.Time
	file    *disk.File // begins with room for the header of a copy
	temp    string

	mu       sync.Mutex
	received int64
	done     bool
	err      error
	changed  chan struct{} // closed and replaced when one of the fields above changes
}

// update changes the state and wakes up goroutines that wait for a change.
func (d *download) update(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
	close(d.changed)
	d.changed = make(chan struct{})
}

func (d *download) state() (received int64, done bool, changed <-chan struct{}, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.received, d.done, d.changed, d.err
}

// waitStart waits until the format is known, and returns the error of a download that failed before.
func (d *download) waitStart(ctx context.Context) error {
	select {
	case <-d.started:
	case <-ctx.Done():
		return ctx.Err()
	}
	if d.file == nil {
		_, _, _, err := d.state()
		return err
	}
	return nil
}

// waitEnd waits until the file is complete.
func (d *download) waitEnd(ctx context.Context) error {
	for {
		_, done, changed, err := d.state()
		if done {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// downloadReader reads a download from any offset, and waits for bytes that have not arrived yet.
type downloadReader struct {
	*download
	ctx    context.Context
	length int64 // of the file, if it is known
	offset int64
	err    error // other than io.EOF
}

func (r *downloadReader) Read(b []byte) (int, error) {
	for {
		received, done, changed, err := r.state()
		switch {
		case r.offset < received:
			n, err := r.file.ReadAt(b[:min(int64(len(b)), received-r.offset)], copyHeader+r.offset)
			r.offset += int64(n)
			if n > 0 {
				err = nil
			}
			r.err = err
			return n, err
		case err != nil:
			r.err = err
			return 0, err
		case done:
			return 0, io.EOF
		}
		select {
		case <-changed:
		case <-r.ctx.Done():
			r.err = r.ctx.Err()
			return 0, r.err
		}
	}
}

// Seek is for http.ServeContent, for downloads of known length.
func (r *downloadReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.offset
	case io.SeekEnd:
		offset += r.length
	}
	if offset < 0 {
		return 0, errors.New("seek before the beginning")
	}
	r.offset = offset
	return offset, nil
}
