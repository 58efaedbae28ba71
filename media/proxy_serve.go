package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/limit"
)

// Handler serves the paths below /proxy/ with the headers and formats of uploads. It never redirects, and forwards nothing of the request.
// The downloads for one client at the same time are limited, unless its network is not known (the zero Addr).
func (p *Proxy) Handler(client netip.Addr) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, client) })
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request, client netip.Addr) {
	h := w.Header()
	setSafeHeaders(h)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		refuse(w, errs.New(http.StatusMethodNotAllowed, "Method not allowed"))
		return
	}
	address, err := p.allowed(r)
	if err == nil {
		err = p.serveAddress(w, r, address, client)
	}
	if err != nil && r.Context().Err() == nil {
		refuse(w, p.clientError(err))
	}
}

// allowed returns the requested address if it may be served.
func (p *Proxy) allowed(r *http.Request) (string, error) {
	if !p.Settings.Load().MediaProxy.Enabled {
		return "", errs.NotFound("Not found")
	}
	address, ok := p.verify(strings.TrimPrefix(r.URL.Path, proxyPath))
	if !ok {
		return "", errs.Forbidden("The signature of this address is not valid")
	}
	if isServer(r.UserAgent()) {
		return "", errs.Forbidden("Servers fetch the file from its origin")
	}
	banned, err := p.db.MediaBanned(r.Context(), address)
	if banned && err == nil {
		err = errs.NotFound("Not found")
	}
	return address, err
}

// isServer returns whether a request comes from another server, such as a media proxy, which could cause a loop. Instances, this one
// included, have their URL in their User-Agent; browsers and apps do not.
func isServer(userAgent string) bool {
	return strings.Contains(userAgent, "://") || strings.Contains(strings.ToLower(userAgent), "mediaproxy")
}

// serveAddress serves the file of an address. If it returns an error, it has not written anything.
func (p *Proxy) serveAddress(w http.ResponseWriter, r *http.Request, address string, client netip.Addr) error {
	key, now := keyOf(address), time.Now()
	old, err := p.openCopy(key, now)
	if err != nil {
		return err
	}
	if old != nil {
		defer old.Close()
		if old.isFresh(now) {
			return p.sendCopy(w, r, address, old)
		}
	}
	if client.IsValid() {
		release, err := p.clients.Take(r.Context(), client)
		if errors.Is(err, limit.ErrBusy) {
			return errBusy
		}
		if err != nil {
			return err
		}
		defer release()
		now = time.Now()
	}
	d, fresh, err := p.startOrJoin(key, address, now)
	if fresh != nil {
		defer fresh.Close()
		return p.sendCopy(w, r, address, fresh)
	}
	if err == nil {
		defer p.release(d)
		http.NewResponseController(w).SetWriteDeadline(now.Add(p.Timeout + time.Minute)) // an error means that the connection has no deadline
		err = d.waitStart(r.Context())
	}
	var failed *failure
	switch {
	case err == nil:
		return p.sendDownload(w, r, d)
	case old != nil && !(errors.As(err, &failed) && failed.permanent):
		return p.sendCopy(w, r, address, old)
	}
	return err
}

func (p *Proxy) sendCopy(w http.ResponseWriter, r *http.Request, address string, c *cachedCopy) error {
	setFileHeaders(w.Header(), address, c.format, c.fetched)
	http.ServeContent(w, r, "", time.Time{}, c)
	return nil
}

// sendDownload serves a file while it arrives. If its size is not known, a range request waits until the file is complete.
func (p *Proxy) sendDownload(w http.ResponseWriter, r *http.Request, d *download) error {
	size := d.size
	if size < 0 && r.Header.Get("Range") != "" {
		if err := d.waitEnd(r.Context()); err != nil {
			return err
		}
		size = d.received
	}
	setFileHeaders(w.Header(), d.address, d.format, d.fetched)
	reader := &downloadReader{download: d, ctx: r.Context(), length: size}
	if size < 0 {
		if r.Method == http.MethodHead {
			return nil
		}
		if _, err := io.Copy(w, reader); err != nil {
			panic(http.ErrAbortHandler)
		}
		return nil
	}
	http.ServeContent(w, r, "", time.Time{}, reader)
	if reader.err != nil {
		panic(http.ErrAbortHandler) // the Content-Length was sent already
	}
	return nil
}

// setFileHeaders sets the headers of a response with a file.
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

// clientError returns the error for the client, and logs it if it is internal.
func (p *Proxy) clientError(err error) *errs.Error {
	var e *errs.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled): // the client is gone, or the server is stopping
		return errBusy
	}
	p.log.Error("media proxy: request failed", "err", err)
	return errs.New(http.StatusInternalServerError, "Internal server error")
}

func refuse(w http.ResponseWriter, e *errs.Error) {
	w.Header().Set("Cache-Control", "no-store")
	if e.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	http.Error(w, e.Message, e.Status)
}
