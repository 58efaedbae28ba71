// Package fetch is the only client for requests to other machines. For any URL from any source, a request reaches only
// public addresses, ends in time, and returns a bounded number of bytes.
//
// The client checks the scheme (https), the port, and that the host is not its own, for each redirect again. It checks the network
// address when it dials, so that no DNS name can lead to an internal address. Requests carry no cookies and no Referer, and ignore
// proxies named by the environment. Interpreting the response is up to the caller.
//
// A client for one service that the operator runs (Options.Service) requests nothing else, but that on any address and port.
//
// Limits: 64 requests at a time, 6 of them to one host; 200 waiting; 15 s, 1 MiB and 3 redirects per request unless the caller says otherwise.
package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/idna"

	"svc/internal/limit"
)

// Errors of requests, besides those of the network.
var (
	ErrRefused     = errors.New("address is refused") // permanent: not https, not public, or this server itself
	ErrTooLarge    = errors.New("response is too large")
	ErrContentType = errors.New("response has an unexpected content type")
	ErrRedirects   = errors.New("too many redirects")
	ErrBusy        = limit.ErrBusy // a limit of this server, independent of the remote host
)

// StatusError is the error of a response with a status other than 200.
type StatusError struct{ Status int }

func (e *StatusError) Error() string { return fmt.Sprintf("responded with status %d", e.Status) }

// Options configure a Client. Fields that are 0 have a default.
type Options struct {
	UserAgent     string
	OwnHosts      []string // hosts of this server, with port if it is not the default: they are refused
	AllowLoopback bool     // allow loopback addresses on any port, and plain http, for tests on one machine
	Service       *url.URL // the only service that is requested, at the address that the operator named; nil: every public one
	MaxRequests   int      // at the same time; default 64
	MaxPerHost    int      // of them to one host; default 6

	RootCAs *x509.CertPool // nil: those of the system
}

// Default limits. The timeouts of the phases add up to less than defaultTimeout.
const (
	defaultMaxRequests = 64
	defaultMaxPerHost  = 6
	maxWaiting         = 200 // for a slot, per host and in all

	connectTimeout      = 5 * time.Second
	handshakeTimeout    = 5 * time.Second
	headerTimeout       = 10 * time.Second
	idleTimeout         = 30 * time.Second
	defaultTimeout      = 15 * time.Second
	defaultMaxBody      = 1 << 20
	defaultMaxRedirects = 3
	maxHeaderBytes      = 64 << 10
	maxURLLength        = 4096
)

// Client makes requests. It is safe for concurrent use.
type Client struct {
	userAgent     string
	ownHosts      []string
	allowLoopback bool
	service       string // hostPort; "": every public one
	transport     *http.Transport
	slots         *limit.Slots[string] // by hostPort
}

// New returns a client.
func New(o Options) *Client {
	maxRequests := cmp.Or(o.MaxRequests, defaultMaxRequests)
	c := &Client{
		userAgent:     o.UserAgent,
		allowLoopback: o.AllowLoopback,
		slots:         limit.NewSlots[string](maxRequests, cmp.Or(o.MaxPerHost, defaultMaxPerHost), maxWaiting),
	}
	for _, host := range o.OwnHosts {
		u := &url.URL{Scheme: "https", Host: host}
		c.ownHosts = append(c.ownHosts, hostPort(u))
	}
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second, Control: c.checkDial}
	if o.Service != nil {
		c.service, dialer.Control = hostPort(o.Service), nil
	}
	c.transport = &http.Transport{
		Proxy:                  nil,
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
		TLSHandshakeTimeout:    handshakeTimeout,
		ResponseHeaderTimeout:  headerTimeout,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxIdleConns:           maxRequests,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        idleTimeout,
	}
	return c
}

// AllowsHTTP returns whether plain http is allowed.
func (c *Client) AllowsHTTP() bool { return c.allowLoopback }

// Limits bound one request and its response. Fields that are 0 have a default.
type Limits struct {
	MaxBody      int64                       // bytes after decompression; default 1 MiB
	Timeout      time.Duration               // for everything, the body included; default 15 s
	MaxRedirects int                         // default 3
	Accept       string                      // header
	Accepts      func(mediaType string) bool // whether a response of a media type, "" if it declares none, is read; nil: all are
	Prepare      func(*http.Request) error   // called before each request, redirects included, to sign or to refuse it
}

func (l Limits) withDefaults() Limits {
	l.MaxBody = cmp.Or(l.MaxBody, defaultMaxBody)
	l.Timeout = cmp.Or(l.Timeout, defaultTimeout)
	l.MaxRedirects = cmp.Or(l.MaxRedirects, defaultMaxRedirects)
	return l
}

// Response is a response that was read completely.
type Response struct {
	URL    *url.URL // after redirects
	Header http.Header
	Type   string // media type of the body in lower case without parameters; "" if none was given
	Body   []byte
}

// Get fetches a URL and follows redirects. A response other than 200 is a *StatusError.
func (c *Client) Get(ctx context.Context, address string, l Limits) (*Response, error) {
	resp, err := c.Open(ctx, address, l)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", resp.Request.URL.Redacted(), err)
	}
	return &Response{URL: resp.Request.URL, Header: resp.Header, Type: mediaType(resp.Header), Body: content}, nil
}

// Open is Get for callers that read the body themselves, and close it. Request.URL of the response is the URL after redirects. The timeout
// includes reading the body.
func (c *Client) Open(ctx context.Context, address string, l Limits) (*http.Response, error) {
	l = l.withDefaults()
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrRefused, err)
	}
	ctx, cancel := context.WithTimeout(ctx, l.Timeout)
	resp, err := c.follow(ctx, u, l)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("fetch %s: %w", u.Redacted(), err)
	}
	resp.Body.(*body).onClose(cancel)
	return resp, nil
}

// follow follows redirects and returns the last response if it is within the limits.
func (c *Client) follow(ctx context.Context, u *url.URL, l Limits) (*http.Response, error) {
	for hop := 0; ; hop++ {
		resp, err := c.get(ctx, u, l)
		if err != nil {
			return nil, err
		}
		next, err := redirect(resp)
		switch {
		case err != nil:
		case next != nil && hop == l.MaxRedirects:
			err = ErrRedirects
		case next != nil:
			resp.Body.Close()
			u = next
			continue
		case resp.StatusCode != http.StatusOK:
			err = &StatusError{resp.StatusCode}
		case resp.Header.Get("Content-Encoding") != "": // the transport requests gzip and decodes it
			err = fmt.Errorf("%w: encoded as %q", ErrContentType, resp.Header.Get("Content-Encoding"))
		case l.Accepts != nil && !l.Accepts(mediaType(resp.Header)):
			err = fmt.Errorf("%w: %q", ErrContentType, mediaType(resp.Header))
		case resp.ContentLength > l.MaxBody:
			err = fmt.Errorf("%w: %d bytes", ErrTooLarge, resp.ContentLength)
		default:
			return resp, nil
		}
		resp.Body.Close()
		return nil, err
	}
}

// get makes one request of follow.
func (c *Client) get(ctx context.Context, u *url.URL, l Limits) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrRefused, err)
	}
	if l.Accept != "" {
		req.Header.Set("Accept", l.Accept)
	}
	if err := c.check(req.URL); err != nil {
		return nil, err
	}
	if l.Prepare != nil {
		if err := l.Prepare(req); err != nil {
			return nil, err
		}
	}
	return c.do(req, l.MaxBody)
}

// redirect returns the URL that a response redirects to, nil if it does not.
func redirect(resp *http.Response) (*url.URL, error) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	if resp.Header.Get("Location") == "" {
		return nil, nil
	}
	next, err := resp.Location()
	if err != nil {
		return nil, fmt.Errorf("%w: redirect: %v", ErrRefused, err)
	}
	return next, nil
}

// Do makes a single request with any method. It does not follow redirects and returns responses of any status. The default timeout, which
// includes reading the body, and the default size apply. The caller closes the body.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	if err := c.check(req.URL); err != nil {
		return nil, fmt.Errorf("%s %s: %w", req.Method, req.URL.Redacted(), err)
	}
	ctx, cancel := context.WithTimeout(req.Context(), defaultTimeout)
	resp, err := c.do(req.Clone(ctx), defaultMaxBody)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("%s %s: %w", req.Method, req.URL.Redacted(), err)
	}
	resp.Body.(*body).onClose(cancel)
	return resp, nil
}

// do makes a request whose URL was checked. The context of the request must have a deadline.
func (c *Client) do(req *http.Request, maxBody int64) (*http.Response, error) {
	ctx := req.Context()
	release, err := c.slots.Take(ctx, hostPort(req.URL))
	if err != nil {
		return nil, err
	}
	if req.Header == nil {
		req.Header = make(http.Header)
	}
	req.Header.Set("User-Agent", c.userAgent)
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		release()
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			err = fmt.Errorf("%w: %w", ErrBusy, err)
		}
		return nil, err
	}
	stop := context.AfterFunc(ctx, release) // in case the caller does not close the body
	resp.Body = &body{source: resp.Body, remaining: maxBody, limit: maxBody, release: func() { stop(); release() }}
	return resp, nil
}

// check refuses URLs by their form. checkDial checks the network address.
func (c *Client) check(u *url.URL) error {
	port := portOf(u.Scheme, u.Port())
	if c.service != "" {
		if u.Scheme != "https" && u.Scheme != "http" || u.Opaque != "" || u.User != nil || len(u.String()) > maxURLLength || hostPort(u) != c.service {
			return fmt.Errorf("%w: not the service of this client", ErrRefused)
		}
		return nil
	}
	switch {
	case u.Scheme != "https" && !(u.Scheme == "http" && c.allowLoopback):
		return fmt.Errorf("%w: not https", ErrRefused)
	case u.Opaque != "" || u.Hostname() == "" || u.User != nil || len(u.String()) > maxURLLength:
		return fmt.Errorf("%w: not a plain URL", ErrRefused)
	case port == 0 || !c.allowLoopback && !isWebPort(port):
		return fmt.Errorf("%w: port %s", ErrRefused, u.Port())
	case slices.Contains(c.ownHosts, hostPort(u)):
		return fmt.Errorf("%w: it is this server", ErrRefused)
	}
	return nil
}

// hostPort returns the host and port of a URL in a canonical form.
func hostPort(u *url.URL) string {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	port := portOf(u.Scheme, u.Port())
	if port == 80 {
		port = 443 // the same host
	}
	return net.JoinHostPort(host, fmt.Sprint(port))
}
