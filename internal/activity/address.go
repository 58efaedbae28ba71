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

// ParseURL parses a URL in a document. One that is longer than any that is stored is an error, which takes no time.
func ParseURL(address string) (*url.URL, error) {
	if len(address) > maxURLBytes {
		return nil, fmt.Errorf("%w: URL of %d bytes", ErrMalformed, len(address))
	}
	if IsBroken(address) {
		return nil, fmt.Errorf("%w: URL with broken text", ErrMalformed)
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%w: URL: %v", ErrMalformed, err)
	}
	return u, nil
}

var errNoURL = fmt.Errorf("%w: URL is empty", ErrMalformed)

// Host returns the canonical host of an id: lower case, ASCII, with its port if that is not the default. An id that is not a plain URL
// of a public host is an error (federation 5.1, R8): https only, no user, no IP address, no trailing dot. allowLoopback permits http
// and loopback addresses.
func Host(id string, allowLoopback bool) (string, error) {
	if id == "" { // a member that most documents do not have
		return "", errNoURL
	}
	u, err := ParseURL(id)
	if err != nil {
		return "", err
	}
	switch {
	case u.Scheme != "https" && !(allowLoopback && u.Scheme == "http"):
		return "", fmt.Errorf("%w: %q is not https", ErrMalformed, id)
	case u.Host == "" || u.User != nil || u.Opaque != "" || strings.ContainsAny(id, " \t\r\n\\"):
		return "", fmt.Errorf("%w: %q is not a plain URL", ErrMalformed, id)
	}
	name, host := u.Hostname(), text.NormalizeDomain(u.Host)
	if allowLoopback && host != "" && isLoopback(name) {
		return trimDefaultPort(host, u.Scheme), nil
	}
	_, notIP := netip.ParseAddr(name)
	switch {
	case host == "" || notIP == nil || strings.HasPrefix(host, "[") || strings.HasSuffix(name, "."):
		return "", fmt.Errorf("%w: host of %q is not a public domain name", ErrMalformed, id)
	case !strings.Contains(host, "."):
		return "", fmt.Errorf("%w: host of %q has no dot", ErrMalformed, id)
	case endsInNumber(host):
		return "", fmt.Errorf("%w: host of %q ends in a number", ErrMalformed, id)
	case mixesScripts(host):
		return "", fmt.Errorf("%w: host of %q mixes scripts", ErrMalformed, id)
	}
	return trimDefaultPort(host, u.Scheme), nil
}

// isLoopback returns whether a host name is localhost or a loopback address. IPv4-mapped addresses are excluded, because they would be
// a second name.
func isLoopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback() && !ip.Is4In6() && ip.Zone() == ""
}

// endsInNumber returns whether a host may be parsed as an IPv4 address, such as 127.1 or 0x7f.1.
func endsInNumber(host string) bool {
	host, _, _ = strings.Cut(host, ":")
	last := host[strings.LastIndexByte(host, '.')+1:]
	hex, isHex := strings.CutPrefix(last, "0x")
	return strings.Trim(last, "0123456789") == "" || isHex && strings.Trim(hex, "0123456789abcdef") == ""
}

// mixesScripts returns whether a label of a host has letters of several scripts that look alike.
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

// SameHost returns whether two valid ids have the same host.
func SameHost(a, b string, allowLoopback bool) bool {
	x, err := Host(a, allowLoopback)
	if err != nil {
		return false
	}
	y, err := Host(b, allowLoopback)
	return err == nil && x == y
}

// WithoutFragment returns a URL without its fragment.
func WithoutFragment(address string) string {
	address, _, _ = strings.Cut(address, "#")
	return address
}

// RegisteredDomain returns the registered domain of a host. A host that is an address or has no registered domain is returned with its
// port.
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
