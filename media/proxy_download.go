package media

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/url"
	"os"
	"path"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"svc/internal/fetch"
)

// acceptedTypes are the types that an answer may call itself: those of our own list and other names of theirs. What counts is the content; but
// a server that says it sends a page or a document is not made to have sent a picture (federation 5.3).
var acceptedTypes = append(MIMETypes(),
	"image/jpg", "image/pjpeg", "image/apng", "image/vnd.mozilla.apng", "image/x-png",
	"video/x-m4v", "audio/webm",
	"audio/mp3", "audio/x-m4a", "audio/m4a", "audio/opus", "audio/vorbis", "audio/x-flac", "audio/wave", "audio/x-wav", "audio/vnd.wave",
)

const acceptMedia = "image/*, video/*, audio/*"

// maxDownloadsPerHost bounds how many files of one host are being fetched or waited for, so that a slow one leaves room for others.
const maxDownloadsPerHost = 32

// download is a file on its way. All who want it read from one and the same.
type download struct {
	key     proxyKey
	address string
	host    string
	users   int // those who need file open; guarded by the proxy's mu

	started chan struct{} // closed when what follows is known, or that it has failed
	// Written before begun is closed.
	format  *format
	size    int64 // -1: not known before the end
	fetched time.Time
	file    *os.File // with room for the line of a copy at the beginning
	temp    string

	mu       sync.Mutex
	received int64
	done     bool
	err      error
	changed  chan struct{} // closed, and replaced, with each change of the above
}

// update changes what has come so far, and tells those who wait for it.
func (f *download) update(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *download) state() (have int64, done bool, moved <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.received, f.done, f.changed, f.err
}

// waitStart waits until it is known what comes.
func (f *download) waitStart(ctx context.Context) error {
	select {
	case <-f.started:
	case <-ctx.Done():
		return ctx.Err()
	}
	if f.file == nil {
		_, _, _, err := f.state()
		return err
	}
	return nil
}

// WaitEnd waits until all has come.
func (f *download) waitEnd(ctx context.Context) error {
	for {
		_, done, moved, err := f.state()
		if done {
			return err
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// downloadReader reads a flight from any place, and waits for what has not come yet.
type downloadReader struct {
	*download
	ctx context.Context
	all int64 // its size, if that is known
	at  int64
	err error // why it ended too early
}

func (r *downloadReader) Read(b []byte) (int, error) {
	for {
		have, done, moved, err := r.state()
		switch {
		case r.at < have:
			n, err := r.file.ReadAt(b[:min(int64(len(b)), have-r.at)], copyHeader+r.at)
			r.at += int64(n)
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
		case <-moved:
		case <-r.ctx.Done():
			r.err = r.ctx.Err()
			return 0, r.err
		}
	}
}

// Seek is for http.ServeContent, and for flights whose size is known.
func (r *downloadReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.all
	}
	if offset < 0 {
		return 0, errors.New("seek before the beginning")
	}
	r.at = offset
	return offset, nil
}

// startOrJoin returns the flight of an address: the one that is under way, or a new one. leave ends the use of it. If there is a copy that
// is fresh by now, that is returned instead.
func (p *Proxy) startOrJoin(key proxyKey, address string, now time.Time) (*download, *cachedCopy, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.downloads[key]; f != nil {
		f.users++
		return f, nil, nil
	}
	if failed, ok := p.failures[key]; ok && now.Before(failed.until) {
		return nil, nil, failed
	}
	if file, err := p.root.Open(key.file()); err == nil { // a flight has ended since the last look
		if c, _, err := readCopy(file); err == nil && now.Sub(c.fetched) < copyTTL {
			return nil, c, nil
		}
		file.Close()
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, nil, errRefusedAddress
	}
	host, n := strings.ToLower(u.Host), 0
	for _, f := range p.downloads {
		if f.host == host {
			n++
		}
	}
	if n >= maxDownloadsPerHost || p.ctx.Err() != nil {
		return nil, nil, errBusy
	}
	f := &download{
		key: key, address: address, host: host, users: 2, // the caller and what fetches it
		size: -1, started: make(chan struct{}), changed: make(chan struct{}),
	}
	p.downloads[key] = f
	p.running.Go(func() { p.run(f) })
	return f, nil, nil
}

// release ends the use of a flight by one of those who need its file.
func (p *Proxy) release(f *download) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.users--; f.users == 0 && f.file != nil {
		f.file.Close()
	}
}

// run fetches a file. It goes on when nobody waits for it any more: most who leave come back, and it does not take long.
func (p *Proxy) run(f *download) {
	defer p.release(f)
	reserved := int64(0)
	err := p.fetchFile(f, &reserved)
	var failed *failure
	if err != nil {
		failed = failureOf(err)
		level := slog.LevelDebug
		if failed.internal {
			level = slog.LevelError
		}
		p.log.Log(p.ctx, level, "media proxy: nothing to show", "host", f.host, "err", err)
		err = failed
	}
	p.mu.Lock()
	if failed == nil {
		if err := p.addCopy(f); err != nil { // those who read it now have it none the less
			p.log.Error("media proxy: cannot keep a copy", "err", err)
		}
	} else if failed.until.After(time.Now()) {
		p.remember(f.key, failed)
	}
	p.downloadingBytes -= reserved
	delete(p.downloads, f.key)
	p.mu.Unlock()
	if f.temp != "" {
		p.root.Remove(f.temp) // which is not there if it is a copy now
	}
	if failed != nil && failed.permanent {
		if err := p.remove(f.key); err != nil {
			p.log.Error("media proxy: cannot remove an old copy", "err", err)
		}
	}
	f.update(func() { f.done, f.err = true, err })
	if f.file == nil {
		close(f.started)
	}
}

var errTooSlow = errors.New("comes too slowly")

// fetchFile fetches the file of a flight to its end. reserved counts what it takes of the cache meanwhile.
func (p *Proxy) fetchFile(f *download, reserved *int64) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			p.log.Error("media proxy", "host", f.host, "err", err)
		}
	}()
	ctx, cancel := context.WithCancelCause(p.ctx)
	defer cancel(nil)
	resp, err := p.Fetch.Open(ctx, f.address, fetch.Limits{MaxBody: p.MaxFile, Timeout: p.Timeout, Accept: acceptMedia, ContentTypes: acceptedTypes})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	from := &stallReader{from: resp.Body, timeout: p.StallTimeout, remaining: p.StallTimeout, timer: time.AfterFunc(p.Timeout, func() { cancel(errTooSlow) })}
	defer from.timer.Stop()
	defer func() {
		if err != nil && context.Cause(ctx) == errTooSlow {
			err = errTooSlow
		}
	}()

	buf := make([]byte, 32<<10)
	n, err := readHead(from, buf[:sniffLength])
	if err != nil {
		return err
	}
	if f.format = remoteFormat(buf[:n], resp.Header.Get("Content-Type")); f.format == nil {
		return fmt.Errorf("%w: content that is no %s", fetch.ErrContentType, resp.Header.Get("Content-Type"))
	}
	f.temp = path.Join(tempDir, rand.Text())
	file, err := p.root.OpenFile(f.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return writeError(err)
	}
	f.file, f.size, f.fetched = file, resp.ContentLength, time.Now()
	close(f.started)
	for {
		if n > 0 {
			*reserved += int64(n)
			if err := p.reserve(ctx, int64(n)); err != nil {
				return err
			}
			if _, err := file.WriteAt(buf[:n], copyHeader+f.received); err != nil {
				return writeError(err)
			}
			f.update(func() { f.received += int64(n) })
		}
		if n, err = from.Read(buf); errors.Is(err, io.EOF) && n == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	line := fmt.Sprintf(copyFormat, f.format.ext, f.received, f.fetched.Unix())
	if _, err := fmt.Fprintf(io.NewOffsetWriter(file, 0), "%-*s\n", copyHeader-1, line); err != nil {
		return writeError(err)
	}
	return nil
}

// readHead fills b, or as much of it as there is.
func readHead(from io.Reader, b []byte) (n int, err error) {
	for n < len(b) {
		m, err := from.Read(b[n:])
		n += m
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// stallReader is the body of an answer that has to come at a pace: each piece of it within the patience. Only the waiting for it counts.
type stallReader struct {
	from      io.Reader
	timeout   time.Duration
	remaining time.Duration // for the piece that is coming
	piece     int           // what has come of it
	timer     *time.Timer
}

func (r *stallReader) Read(b []byte) (int, error) {
	began := time.Now()
	r.timer.Reset(r.remaining)
	n, err := r.from.Read(b)
	r.timer.Stop()
	r.remaining -= time.Since(began)
	if r.piece += n; r.piece >= minProgress {
		r.remaining, r.piece = r.timeout, 0
	}
	return n, err
}

// remoteFormat returns the format of a file that begins like this and claims to be of a type, nil if it is none that is shown, or
// if the two have nothing to do with each other.
func remoteFormat(head []byte, claim string) *format {
	f := detect(head)
	t, _, _ := mime.ParseMediaType(claim) // the client has found it to be one of the claimed
	if f == nil || strings.HasPrefix(t, "image/") != strings.HasPrefix(f.mime, "image/") {
		return nil
	}
	if f == formatMP4 && strings.HasPrefix(t, "audio/") {
		return formatM4A
	}
	return f
}
