package policy

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"svc/internal/config"
)

// dnsBlockList is DNSRBLPolicy: it rejects hosts on a DNS block list (RFC 5782). If the list does not answer, hosts pass.
type dnsBlockList struct {
	config.MRFDNSRBL
	listed func(context.Context, string) (bool, error)
	log    *slog.Logger
}

func (b dnsBlockList) check(ctx context.Context, local bool, host string) error {
	name, _, _ := strings.Cut(host, ":")
	if _, err := netip.ParseAddr(name); local || b.listed == nil || b.Zone == "" || name == "" || err == nil {
		return nil
	}
	listed, err := b.listed(ctx, name)
	if errors.As(err, new(networkError)) {
		return err
	}
	if err != nil {
		b.log.Warn("DNS block list does not answer: hosts pass", "zone", b.Zone, "err", err)
		return nil
	}
	if listed {
		return rejectf("the host %s is on the block list %s", name, b.Zone)
	}
	return nil
}

func (b dnsBlockList) post(ctx context.Context, p *Post) error {
	return b.check(ctx, p.Local, p.Host)
}

func (b dnsBlockList) profile(ctx context.Context, p *Profile) error {
	return b.check(ctx, false, p.Host)
}

func (b dnsBlockList) activity(ctx context.Context, a *Activity) error {
	if a.Type == "Delete" || a.Type == "Undo" { // a host that is listed later may still remove its accepted posts
		return nil
	}
	return b.check(ctx, a.Local, a.Host)
}

func (b dnsBlockList) describe(public map[string]any) {
	public["mrf_dnsrbl"] = map[string]any{"nameserver": b.Nameserver, "port": b.Port, "zone": b.Zone}
}

// dnsLookup returns the query to a DNS block list.
func dnsLookup(s config.MRFDNSRBL) func(context.Context, string) (bool, error) {
	server := net.JoinHostPort(s.Nameserver, strconv.Itoa(s.Port))
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server)
	}}
	return func(ctx context.Context, name string) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, dnsTimeout)
		defer cancel()
		found, err := resolver.LookupNetIP(ctx, "ip4", name+"."+strings.TrimSuffix(s.Zone, ".")+".")
		if e, ok := err.(*net.DNSError); ok && e.IsNotFound {
			return false, nil
		}
		for _, a := range found {
			if dnsblListed.Contains(a.Unmap()) && !dnsblErrors.Contains(a.Unmap()) {
				return true, nil
			}
		}
		return false, err
	}
}

// Addresses that block lists answer with: for listed names, and for queries that they refuse.
var (
	dnsblListed = netip.MustParsePrefix("127.0.0.0/8")
	dnsblErrors = netip.MustParsePrefix("127.255.255.0/24")
)
