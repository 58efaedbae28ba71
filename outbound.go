package main

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// outboundClient returns a client for requests to addresses that others name. It connects to public addresses only, looking at the
// address that is dialled and not at what a name was resolved to before, uses no proxy, keeps no cookies and follows no redirects.
// loopback permits this machine too.
func outboundClient(loopback bool) *http.Client {
	dialer := &net.Dialer{
		Timeout: 5 * time.Second,
		Control: func(_, address string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			if ip := ap.Addr().Unmap(); !isPublic(ip) && !(loopback && ip.IsLoopback()) {
				return fmt.Errorf("%s is no public address", ip)
			}
			return nil
		},
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    5 * time.Second,
			ResponseHeaderTimeout:  10 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			MaxIdleConnsPerHost:    2,
			MaxIdleConns:           20,
			IdleConnTimeout:        time.Minute,
			ForceAttemptHTTP2:      true,
		},
		Timeout:       15 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Addresses that no server on the Internet has (IANA's registries of special-purpose addresses). Of IPv6 only what is handed out is
// public, and of that not what embeds an address of IPv4.
var (
	globalIPv6 = netip.MustParsePrefix("2000::/3")
	notPublic  = prefixes(
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
		"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "2620:4f:8000::/48",
	)
)

func prefixes(list ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, p := range list {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}

func isPublic(ip netip.Addr) bool {
	if ip.Is6() && !globalIPv6.Contains(ip) {
		return false
	}
	for _, p := range notPublic {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}
