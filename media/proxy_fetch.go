package media

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"svc/internal/activity"
	"svc/internal/fetch"
	"svc/internal/text"
)

const acceptMedia = "image/*, video/*, audio/*"

// maxDownloadsPerDomain bounds the downloads of one registered domain, running or waiting, so that a slow one leaves room for others.
const maxDownloadsPerDomain = 32

// startOrJoin returns the running download of an address, or starts one. The caller ends its use by release. If there is a fresh copy by
// now, it returns that instead.
func (p *Proxy) startOrJoin(key proxyKey, address string, now time.Time) (*download, *cachedCopy, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.downloads[key]; d != nil {
		d.users++
		return d, nil, nil
	}
	if failed, ok := p.failures.Get(key, now); ok {
		return nil, nil, failed
	}
	if file, err := p.root.Open(key.file()); err == nil { // a download has ended since the caller looked for a copy
		if c, _, err := readCopy(file); err == nil && c.isFresh(now) {
			return nil, c, nil
		}
		file.Close()
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, nil, errRefusedAddress
	}
	domain := activity.RegisteredDomain(strings.ToLower(u.Host))
	if p.ctx.Err() != nil || !p.perDomain.Add(domain, maxDownloadsPerDomain) {
		return nil, nil, errBusy
	}
	d := &download{
		key: key, address: address, domain: domain, users: 2, // the caller and run
		size: -1, started: make(chan struct{}), changed: make(chan struct{}),
	}
	d.ctx, d.cancel = context.WithCancelCause(p.ctx)
	p.downloads[key] = d
	p.running.Go(func() { p.run(d) })
	return d, nil, nil
}

// release ends the use of a download.
func (p *Proxy) release(d *download) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d.users--
	switch {
	case d.users == 0 && d.file != nil:
		d.file.Close()
	case d.users == 1 && p.downloads[d.key] == d:
		p.abandonLater(d)
	}
}

// run fetches the file of a download. It continues for a while if nobody waits for the file any more, because most clients ask for it again soon.
func (p *Proxy) run(d *download) {
	defer p.release(d)
	defer d.cancel(nil)
	reserved := int64(0)
	err := p.fetchFile(d, &reserved)
	var failed *failure
	if err != nil {
		failed = failureOf(err)
		level := slog.LevelDebug
		if failed.internal {
			level = slog.LevelError
		}
		p.log.Log(p.ctx, level, "media proxy: file could not be fetched", "domain", d.domain, "err", err)
		err = failed
	}
	p.mu.Lock()
	if failed == nil {
		if err := p.addCopy(d); err != nil { // the present requests are served from the temporary file
			p.log.Error("media proxy: copy could not be stored", "err", err)
		}
	} else if failed.ttl > 0 {
		p.failures.Put(d.key, failed, failed.ttl, time.Now())
	}
	p.downloadingBytes -= reserved
	if p.downloads[d.key] == d {
		delete(p.downloads, d.key)
	}
	p.perDomain.Done(d.domain)
	p.mu.Unlock()
	if d.temp != "" {
		p.root.Remove(d.temp) // fails if it was renamed to the copy
	}
	if failed != nil && failed.permanent {
		if err := p.remove(d.key); err != nil {
			p.log.Error("media proxy: old copy could not be removed", "err", err)
		}
	}
	d.update(func() { d.done, d.err = true, err })
	if d.file == nil {
		close(d.started)
	}
}

var errTooSlow = errors.New("response is too slow")

// fetchFile fetches the whole file of a download. It adds to reserved the bytes that it reserves in the cache.
func (p *Proxy) fetchFile(d *download, reserved *int64) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			p.log.Error("media proxy: panic", "domain", d.domain, "err", err)
		}
	}()
	ctx := d.ctx
	defer func() {
		if cause := context.Cause(ctx); err != nil && (cause == errTooSlow || cause == errAbandoned) {
			err = cause
		}
	}()
	at, err := p.takePlace(d)
	if err != nil {
		return err
	}
	defer func() { at.end(err == nil, d.received) }()
	go p.watchRate(ctx, d, at)
	resp, err := p.openRemote(ctx, d.address)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body := newStallReader(resp.Body, p.StallTimeout, func() { d.cancel(errTooSlow) })
	defer body.timer.Stop()

	buf := make([]byte, 32<<10)
	n, err := readHead(body, buf[:sniffLength])
	if err != nil {
		return err
	}
	if d.format = remoteFormat(buf[:n], resp.Header.Get("Content-Type")); d.format == nil {
		return fmt.Errorf("%w: content is not of type %s", fetch.ErrContentType, resp.Header.Get("Content-Type"))
	}
	if err := p.checkRoom(ctx, max(resp.ContentLength, int64(n))); err != nil {
		return err
	}
	d.temp = path.Join(tempDir, rand.Text())
	file, err := p.root.OpenFile(d.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return writeError(err)
	}
	d.file, d.size, d.fetched = file, resp.ContentLength, time.Now()
	close(d.started)
	for proven := false; ; {
		if n > 0 {
			*reserved += int64(n)
			if err := p.reserve(ctx, int64(n)); err != nil {
				return err
			}
			if _, err := file.WriteAt(buf[:n], copyHeader+d.received); err != nil {
				return writeError(err)
			}
			if d.update(func() { d.received += int64(n) }); d.received >= provenBytes && !proven {
				at.prove(d.received)
				proven = true
			}
		}
		if n, err = body.Read(buf); errors.Is(err, io.EOF) && n == 0 {
			return d.writeHeader()
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
}

// openRemote requests a remote file. Its format is that of its content: many servers declare none, or application/octet-stream. What is declared
// as a page or a document is refused (federation 5.3).
func (p *Proxy) openRemote(ctx context.Context, address string) (*http.Response, error) {
	return p.Fetch.Open(ctx, address, fetch.Limits{
		MaxBody: p.Settings.Load().MediaProxy.MaxFile, Timeout: p.Timeout, Accept: acceptMedia, Accepts: fetch.NotDocument,
	})
}

// takePlace waits for a place for a download.
func (p *Proxy) takePlace(d *download) (*place, error) {
	ctx, cancel := context.WithTimeoutCause(d.ctx, p.Timeout, fetch.ErrBusy)
	defer cancel()
	return p.places.take(ctx, d.domain)
}

// readHead fills b, unless the body is shorter. Unlike io.ReadFull it tells the end of the body from a body that is cut off.
func readHead(body io.Reader, b []byte) (n int, err error) {
	for n < len(b) {
		m, err := body.Read(b[n:])
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

// stallReader is the body of a response. It calls a function if less than minProgress arrives within a timeout. Only the time of reading
// counts.
type stallReader struct {
	body      io.Reader
	timeout   time.Duration
	remaining time.Duration // for the current minProgress bytes
	progress  int           // of them
	timer     *time.Timer
}

func newStallReader(body io.Reader, timeout time.Duration, stalled func()) *stallReader {
	r := &stallReader{body: body, timeout: timeout, remaining: timeout, timer: time.AfterFunc(timeout, stalled)}
	r.timer.Stop()
	return r
}

func (r *stallReader) Read(b []byte) (int, error) {
	start := time.Now()
	r.timer.Reset(r.remaining)
	n, err := r.body.Read(b)
	r.timer.Stop()
	r.remaining -= time.Since(start)
	if r.progress += n; r.progress >= minProgress {
		r.remaining, r.progress = r.timeout, 0
	}
	return n, err
}

// remoteFormat returns the format of a remote file by its first bytes, nil if the proxy does not serve that format. The declared type only
// decides whether a container that can have pictures is sound: the tracks are not read.
func remoteFormat(head []byte, declared string) *format {
	f := detect(head)
	if t, _, _ := text.ParseMediaType(declared); f != nil && strings.HasPrefix(t, "audio/") {
		return f.soundOnly()
	}
	return f
}
