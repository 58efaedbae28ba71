package activity

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"svc/internal/text"
)

const maxAddress = 2048 // bytes

// Host returns the one form of the host that an id belongs to: in lower case, in ASCII, with its port if it has an unusual one. An id
// that is not a plain address of a public host is an error (federation 5.1, R8): https only, no user, no number in place of a name,
// no dot at the end. trial allows http, and this machine, as is needed to try servers on one machine.
func Host(id string, trial bool) (string, error) {
	u, err := url.Parse(id)
	if err != nil {
		return "", fmt.Errorf("%w: address: %v", ErrMalformed, err)
	}
	switch {
	case len(id) > maxAddress:
		return "", fmt.Errorf("%w: address of %d bytes", ErrMalformed, len(id))
	case u.Scheme != "https" && !(trial && u.Scheme == "http"):
		return "", fmt.Errorf("%w: %q is not https", ErrMalformed, id)
	case u.Host == "" || u.User != nil || u.Opaque != "" || strings.ContainsAny(id, " \t\r\n\\"):
		return "", fmt.Errorf("%w: %q is no plain address", ErrMalformed, id)
	}
	name := u.Hostname()
	if trial && isLoopback(name) {
		return withoutPort(strings.ToLower(u.Host), u.Scheme), nil
	}
	host := text.NormalizeDomain(u.Host)
	_, numeric := netip.ParseAddr(name)
	switch {
	case host == "" || numeric == nil || strings.HasPrefix(host, "[") || strings.HasSuffix(name, "."):
		return "", fmt.Errorf("%w: %q has no host of the public network", ErrMalformed, id)
	case !strings.Contains(host, "."):
		return "", fmt.Errorf("%w: %q has a host of one word", ErrMalformed, id)
	}
	return withoutPort(host, u.Scheme), nil
}

func isLoopback(name string) bool {
	if name == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

func withoutPort(host, scheme string) string {
	if scheme == "http" {
		return strings.TrimSuffix(host, ":80")
	}
	return strings.TrimSuffix(host, ":443")
}

// SameHost tells whether two ids belong to one host, and both are fine.
func SameHost(a, b string, trial bool) bool {
	x, err := Host(a, trial)
	if err != nil {
		return false
	}
	y, err := Host(b, trial)
	return err == nil && x == y
}

// WithoutFragment returns an address up to its #.
func WithoutFragment(address string) string {
	address, _, _ = strings.Cut(address, "#")
	return address
}
