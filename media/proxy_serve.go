package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"svc/internal/errs"
)

// Handler serves what is below /proxy/: under the headers of uploads, and never as anything but what those can be. It answers with no
// redirects, and hands on nothing of the request.
func (p *Proxy) Handler() http.Handler { return http.HandlerFunc(p.serve) }

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		refuse(w, errs.New(http.StatusMethodNotAllowed, "Method not allowed"))
		return
	}
	address, err := p.allowed(r)
	if err == nil {
		err = p.serveAddress(w, r, address)
	}
	if err != nil && r.Context().Err() == nil {
		refuse(w, p.clientError(err))
	}
}

// allowed returns the address that is asked for, if it is to be shown.
func (p *Proxy) allowed(r *http.Request) (string, error) {
	if !p.Enabled {
		return "", errs.NotFound("Not found")
	}
	address, ok := p.verify(strings.TrimPrefix(r.URL.Path, proxyPath))
	if !ok {
		return "", errs.Forbidden("This address was not made here")
	}
	if isServer(r.UserAgent()) {
		return "", errs.Forbidden("Other servers get it where it is")
	}
	banned, err := p.db.MediaBanned(r.Context(), address)
	if banned && err == nil {
		err = errs.NotFound("Not found")
	}
	return address, err
}

// isServer tells whether a request comes from another server, a media proxy perhaps that we would ask in turn. Servers of the network,
// this one among them, say in their User-Agent at what address they are; the browsers and apps of people do not.
func isServer(userAgent string) bool {
	return strings.Contains(userAgent, "://") || strings.Contains(strings.ToLower(userAgent), "mediaproxy")
}

// serveAddress answers with what is at an address. An error means that nothing has been answered yet.
func (p *Proxy) serveAddress(w http.ResponseWriter, r *http.Request, address string) error {
	key, now := keyOf(address), time.Now()
	old, err := p.openCopy(key, now)
	if err != nil {
		return err
	}
	if old != nil {
		defer old.Close()
		if now.Sub(old.fetched) < copyTTL {
			return p.sendCopy(w, r, address, old)
		}
	}
	f, fresh, err := p.startOrJoin(key, address, now)
	if fresh != nil {
		defer fresh.Close()
		return p.sendCopy(w, r, address, fresh)
	}
	if err == nil {
		defer p.release(f)
		http.NewResponseController(w).SetWriteDeadline(now.Add(p.Timeout + time.Minute)) // where it cannot be set, there is none
		err = f.waitStart(r.Context())
	}
	var failed *failure
	switch {
	case err == nil:
		return p.sendDownload(w, r, f)
	case old != nil && !(errors.As(err, &failed) && failed.permanent):
		return p.sendCopy(w, r, address, old) // better than nothing
	}
	return err
}

func (p *Proxy) sendCopy(w http.ResponseWriter, r *http.Request, address string, c *cachedCopy) error {
	setFileHeaders(w.Header(), address, c.format, c.fetched)
	http.ServeContent(w, r, "", time.Time{}, c)
	return nil
}

// sendDownload passes on what is coming. A part of it can be asked for as of any file; where its size is not known, only once it is
// there.
func (p *Proxy) sendDownload(w http.ResponseWriter, r *http.Request, f *download) error {
	size := f.size
	if size < 0 && r.Header.Get("Range") != "" {
		if err := f.waitEnd(r.Context()); err != nil {
			return err
		}
		size = f.received
	}
	setFileHeaders(w.Header(), f.address, f.format, f.fetched)
	from := &downloadReader{download: f, ctx: r.Context(), all: size}
	if size < 0 {
		if r.Method == http.MethodHead {
			return nil
		}
		if _, err := io.Copy(w, from); err != nil {
			panic(http.ErrAbortHandler)
		}
		return nil
	}
	http.ServeContent(w, r, "", time.Time{}, from)
	if from.err != nil {
		panic(http.ErrAbortHandler) // the length has been promised
	}
	return nil
}

// setFileHeaders sets the headers of a file.
func setFileHeaders(h http.Header, address string, f *format, fetched time.Time) {
	name := ""
	if u, err := url.Parse(address); err == nil {
		name = path.Base(u.Path)
	}
	h.Set("Content-Type", f.mime)
	h.Set("Content-Disposition", disposition(name, f.ext))
	h.Set("Cache-Control", "public, max-age=1209600, immutable")
	key := keyOf(address)
	h.Set("ETag", fmt.Sprintf(`"%x-%x"`, key[:8], fetched.Unix()))
}

// clientError returns what people are told of an error.
func (p *Proxy) clientError(err error) *errs.Error {
	var e *errs.Error
	if !errors.As(err, &e) {
		if !errors.Is(err, context.Canceled) {
			p.log.Error("media proxy", "err", err)
		}
		e = errs.New(http.StatusInternalServerError, "Internal server error")
	}
	return e
}

func refuse(w http.ResponseWriter, e *errs.Error) {
	w.Header().Set("Cache-Control", "no-store")
	if e.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	http.Error(w, e.Message, e.Status)
}
