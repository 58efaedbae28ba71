// Package fetch is the one way out: the client by which the server asks other machines for anything. Whatever the address, and
// whoever wrote it, a request reaches public machines only, ends in time, and returns no more than was asked for.
//
// What is checked: the scheme (https), the port, that it is not ourselves, for each redirect anew; and the network address at
// the moment it is dialled, so that no name can lead inside. Requests carry no cookies, no Referer and nothing of the person for
// whom they are made, and take no way through a proxy that the environment names. What the answers mean is the callers' business.
package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/idna"
)

// What a request can fail of, beside the network.
var (
	ErrRefused     = errors.New("address is refused") // now and for ever: not https, not public, or our own
	ErrTooLarge    = errors.New("answer is too large")
	ErrContentType = errors.New("answer is of another type than asked for")
	ErrRedirects   = errors.New("too many redirects")
	ErrBusy        = errors.New("too many requests under way") // here, which says nothing of who is asked
)

// StatusError says that the answer was another than 200.
type StatusError struct{ Status int }

func (e *StatusError) Error() string { return fmt.Sprintf("answered with status %d", e.Status) }

// Options are what a Client goes by. What is 0 has a standard.
type Options struct {
	UserAgent     string
	OwnHosts      []string // our own hosts, with their ports where they have any: they are not asked
	AllowLoopback bool     // this machine may be asked, on any port, and http may be spoken: for trials
	MaxRequests   int      // requests under way, 64
	MaxPerHost    int      // of them, to one host, 6

	RootCAs *x509.CertPool // who vouches for servers; nil: whom the system trusts
}

// The standard limits. Those of time add up to less than the time for all.
const (
	defaultMaxRequests = 64
	defaultMaxPerHost  = 6
	maxWaiting         = 200 // for a place, for one host and in all

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

// Client makes requests. Its methods may be called from any goroutine.
type Client struct {
	userAgent     string
	ownHosts      []string
	allowLoopback bool
	transport     *http.Transport
	slots         *Slots
}

// New makes a client.
func New(o Options) *Client {
	c := &Client{
		userAgent:     o.UserAgent,
		allowLoopback: o.AllowLoopback,
		slots:         NewSlots(orDefault(o.MaxRequests, defaultMaxRequests), orDefault(o.MaxPerHost, defaultMaxPerHost), maxWaiting),
	}
	for _, host := range o.OwnHosts {
		u := &url.URL{Scheme: "https", Host: host}
		c.ownHosts = append(c.ownHosts, hostPort(u))
	}
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second, Control: c.checkDial}
	c.transport = &http.Transport{
		Proxy:                  nil,
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
		TLSHandshakeTimeout:    handshakeTimeout,
		ResponseHeaderTimeout:  headerTimeout,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxIdleConns:           cap(c.slots.all),
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        idleTimeout,
	}
	return c
}

func orDefault(n, standard int) int {
	if n == 0 {
		return standard
	}
	return n
}

// AllowsHTTP tells whether http may be spoken, as in trials on one machine.
func (c *Client) AllowsHTTP() bool { return c.allowLoopback }

// Limits are what one request may cost, and what is wanted of it. What is 0 has a standard.
type Limits struct {
	MaxBody      int64                     // bytes, after decompression; 1 MiB
	Timeout      time.Duration             // for everything, the body included; 15 s
	MaxRedirects int                       // that are followed; 3
	Accept       string                    // header
	ContentTypes []string                  // of which the answer may be, as in text/html; none: any
	Prepare      func(*http.Request) error // called before each hop, to sign it or to refuse it; nil: nothing is done
}

func (l Limits) withDefaults() Limits {
	if l.MaxBody == 0 {
		l.MaxBody = defaultMaxBody
	}
	if l.Timeout == 0 {
		l.Timeout = defaultTimeout
	}
	if l.MaxRedirects == 0 {
		l.MaxRedirects = defaultMaxRedirects
	}
	return l
}

// Response is an answer that has come whole.
type Response struct {
	URL    *url.URL // where it came from in the end
	Header http.Header
	Type   string // of the body, in lower case without parameters; "" if none was given
	Body   []byte
}

// Get fetches what is at an address. Redirects are followed as far as the limits allow. An answer other than 200 is a
// *StatusError.
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

// Open is Get for those who read the body as it comes, and close it. Request.URL of the answer is where it came from in the end.
// The time of the limits covers the reading.
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
	held := resp.Body.(*body)
	release := held.release
	held.release = func() { release(); cancel() }
	return resp, nil
}

// follow goes where the redirects lead and returns the answer at their end, if it is as the limits want it.
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
		case resp.Header.Get("Content-Encoding") != "": // nothing but gzip was asked for, and that is undone by now
			err = fmt.Errorf("%w: encoded as %q", ErrContentType, resp.Header.Get("Content-Encoding"))
		case len(l.ContentTypes) > 0 && !slices.Contains(l.ContentTypes, mediaType(resp.Header)):
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

// get makes one request of a Get.
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

// redirect returns where an answer leads, nil if it leads nowhere.
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

// Do makes a single request as it is, of any method, and returns the answer of any status: redirects are not followed. The standard
// limits hold for the time, the reading of the body included, and for its length. The body has to be closed.
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
	held := resp.Body.(*body)
	release := held.release
	held.release = func() { release(); cancel() }
	return resp, nil
}

// do makes a request whose address has been checked. The context of the request must end some time.
func (c *Client) do(req *http.Request, most int64) (*http.Response, error) {
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
	stop := context.AfterFunc(ctx, release) // for who forgets to close the body
	resp.Body = &body{source: resp.Body, remaining: most, limit: most, release: func() { stop(); release() }}
	return resp, nil
}

// check refuses addresses that nobody should be asked at. Where a name leads is seen when it is dialled.
func (c *Client) check(u *url.URL) error {
	port := portOf(u.Scheme, u.Port())
	switch {
	case u.Scheme != "https" && !(u.Scheme == "http" && c.allowLoopback):
		return fmt.Errorf("%w: not https", ErrRefused)
	case u.Opaque != "" || u.Hostname() == "" || u.User != nil || len(u.String()) > maxURLLength:
		return fmt.Errorf("%w: not a plain address", ErrRefused)
	case port == 0 || !c.allowLoopback && !isWebPort(port):
		return fmt.Errorf("%w: port %s", ErrRefused, u.Port())
	case slices.Contains(c.ownHosts, hostPort(u)):
		return fmt.Errorf("%w: it is our own", ErrRefused)
	}
	return nil
}

// hostPort returns host and port of an address in one form, whatever way they are written.
func hostPort(u *url.URL) string {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	port := portOf(u.Scheme, u.Port())
	if port == 80 {
		port = 443 // the same host, in plain words
	}
	return net.JoinHostPort(host, fmt.Sprint(port))
}

func mediaType(h http.Header) string {
	t, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return ""
	}
	return t
}
