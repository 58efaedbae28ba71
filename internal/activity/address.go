package activity

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"svc/internal/text"
)

const maxURLBytes = 2048 // bytes

// Host returns the one form of the host that an id belongs to: in lower case, in ASCII, with its port if it has an unusual one. An id
// that is not a plain address of a public host is an error (federation 5.1, R8): https only, no user, no number in place of a name,
// no dot at the end. trial allows http, and this machine, as is needed to try servers on one machine.
func Host(id string, trial bool) (string, error) {
	u, err := url.Parse(id)
	if err != nil {
		return "", fmt.Errorf("%w: address: %v", ErrMalformed, err)
	}
	switch {
	case len(id) > maxURLBytes:
		return "", fmt.Errorf("%w: address of %d bytes", ErrMalformed, len(id))
	case u.Scheme != "https" && !(trial && u.Scheme == "http"):
		return "", fmt.Errorf("%w: %q is not https", ErrMalformed, id)
	case u.Host == "" || u.User != nil || u.Opaque != "" || strings.ContainsAny(id, " \t\r\n\\"):
		return "", fmt.Errorf("%w: %q is no plain address", ErrMalformed, id)
	}
	name, host := u.Hostname(), text.NormalizeDomain(u.Host)
	if trial && host != "" && isLoopback(name) {
		return trimDefaultPort(host, u.Scheme), nil
	}
	_, notIP := netip.ParseAddr(name)
	switch {
	case host == "" || notIP == nil || strings.HasPrefix(host, "[") || strings.HasSuffix(name, "."):
		return "", fmt.Errorf("%w: %q has no host of the public network", ErrMalformed, id)
	case !strings.Contains(host, "."):
		return "", fmt.Errorf("%w: %q has a host of one word", ErrMalformed, id)
	case endsInNumber(host):
		return "", fmt.Errorf("%w: %q has a number in place of a host", ErrMalformed, id)
	case mixesScripts(host):
		return "", fmt.Errorf("%w: %q has a host that looks like another one", ErrMalformed, id)
	}
	return trimDefaultPort(host, u.Scheme), nil
}

// isLoopback tells whether a name is one of this machine. IPv4 within IPv6 is not: it would be a second name for the same.
func isLoopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback() && !ip.Is4In6() && ip.Zone() == ""
}

// endsInNumber tells of hosts that some take for an IPv4 address: 127.1, 0x7f.1.
func endsInNumber(host string) bool {
	host, _, _ = strings.Cut(host, ":")
	last := host[strings.LastIndexByte(host, '.')+1:]
	hex, isHex := strings.CutPrefix(last, "0x")
	return strings.Trim(last, "0123456789") == "" || isHex && strings.Trim(hex, "0123456789abcdef") == ""
}

// mixesScripts tells of hosts that have a word with letters of several of the scripts that look alike.
func mixesScripts(host string) bool {
	if !strings.Contains(host, "xn--") {
		return false
	}
	host, _, _ = strings.Cut(host, ":")
	readable, err := idna.Punycode.ToUnicode(host)
	if err != nil {
		return true
	}
	for label := range strings.SplitSeq(readable, ".") {
		scripts := 0
		for _, script := range []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek} {
			if strings.ContainsFunc(label, func(r rune) bool { return unicode.Is(script, r) }) {
				scripts++
			}
		}
		if scripts > 1 {
			return true
		}
	}
	return false
}

func trimDefaultPort(host, scheme string) string {
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

// RegisteredDomain returns the registered domain of a host. If the host is an address or has no registered domain, it is the host with its port.
func RegisteredDomain(host string) string {
	name, _, _ := strings.Cut(host, ":")
	if _, err := netip.ParseAddr(name); err == nil {
		return host
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return host
	}
	return domain
}
