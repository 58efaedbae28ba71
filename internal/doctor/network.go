package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// certificateWarning is how long before its end a certificate should have been renewed.
const certificateWarning = 14 * 24 * time.Hour

const (
	maxDialed = 8               // addresses of the host
	dialTime  = 5 * time.Second // to connect to one
)

// isLocalName returns true for hosts that other machines cannot reach.
func isLocalName(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

func checkURL(_ context.Context, d *doctor) Result {
	switch host := d.url.Hostname(); {
	case isLocalName(host):
		return warning("Set server.url to the public address before people use the server: it cannot be changed later.",
			"server.url is %s, which other machines cannot reach", d.url)
	case d.url.Scheme != "https":
		return failure("Put the server behind https, and set server.url to the https address.", "server.url is %s: passwords travel unencrypted, and other servers do not federate", d.url)
	}
	return ok("server.url is %s", d.url)
}

// addresses returns the addresses of the host of the server.
func (d *doctor) addresses(ctx context.Context) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(d.url.Hostname()); err == nil {
		return []netip.Addr{a}, nil
	}
	return d.Resolve(ctx, d.url.Hostname())
}

func checkDNS(ctx context.Context, d *doctor) Result {
	host := d.url.Hostname()
	const advice = "Correct the A and AAAA records of the domain; a change may take some hours to be seen everywhere."
	found, err := d.addresses(ctx)
	switch {
	case err != nil:
		return failure(advice, "%s cannot be resolved: %v", host, err)
	case len(found) == 0:
		return failure(advice, "%s has no address", host)
	}
	list := joinAddresses(found)
	if private := func(a netip.Addr) bool { return !a.IsGlobalUnicast() || a.IsPrivate() }; !isLocalName(host) && slices.ContainsFunc(found, private) {
		return warning("Check that the public name servers have a public address.", "%s resolves to %s, of which one is private", host, list)
	}
	if p, err := d.probe(); err == nil && p.foreign {
		return failure(advice, "%s resolves to %s, where another server answers: %s", host, list, p.answer)
	}
	return ok("%s resolves to %s", host, list)
}

func joinAddresses(list []netip.Addr) string {
	var texts []string
	for _, a := range list {
		texts = append(texts, a.Unmap().String())
	}
	return strings.Join(texts, ", ")
}

// hostPort returns the address of the server with its port.
func (d *doctor) hostPort() string {
	port := d.url.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[d.url.Scheme]
	}
	return net.JoinHostPort(d.url.Hostname(), port)
}

// checkPort connects to each address of the host, because visitors and servers use any of them.
func checkPort(ctx context.Context, d *doctor) Result {
	found, err := d.addresses(ctx)
	if err != nil || len(found) == 0 {
		return notChecked("the host has no address")
	}
	found = found[:min(len(found), maxDialed)]
	_, port, _ := net.SplitHostPort(d.hostPort())
	faults := make([]error, len(found))
	var dials sync.WaitGroup
	for i, a := range found {
		dials.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, dialTime)
			defer cancel()
			conn, err := d.Dial(ctx, "tcp", net.JoinHostPort(a.Unmap().String(), port))
			if faults[i] = err; err == nil {
				conn.Close()
			}
		})
	}
	dials.Wait()
	var closed, untried []string
	for i, err := range faults {
		switch address := net.JoinHostPort(found[i].Unmap().String(), port); {
		case err == nil:
		case errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT):
			untried = append(untried, address)
		default:
			closed = append(closed, fmt.Sprintf("%s does not accept connections: %v", address, err))
		}
	}
	switch {
	case isLocalName(d.url.Hostname()) && len(closed) < len(found): // localhost has two addresses, of which a trial needs one
	case len(closed) > 0:
		return failure("Start the server and the reverse proxy, let them listen on IPv4 and IPv6, and open the port in the firewall and in the router; "+
			"or remove the A or AAAA record of an address that does not serve.", "%s", strings.Join(closed, "; "))
	case len(untried) > 0:
		return warning("Remove the AAAA record if the server has no IPv6; else give this machine IPv6, or check the address from another one.",
			"%s cannot be reached from this machine, which has no such network", strings.Join(untried, ", "))
	}
	return ok("%s accepts connections at %s", d.hostPort(), joinAddresses(found))
}

func checkCertificate(ctx context.Context, d *doctor) Result {
	if d.url.Scheme != "https" {
		return notChecked("server.url is not https")
	}
	conn, err := d.Dial(ctx, "tcp", d.hostPort())
	if err != nil {
		return notChecked("the port does not accept connections")
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	secure := tls.Client(conn, &tls.Config{ServerName: d.url.Hostname(), InsecureSkipVerify: true}) // it is verified below, part by part
	if err := secure.HandshakeContext(ctx); err != nil {
		return failure("Look into the log of the reverse proxy.", "no encrypted connection to %s: %v", d.hostPort(), err)
	}
	return d.judge(secure.ConnectionState().PeerCertificates)
}

// judge verifies a chain of certificates, the server's first.
func (d *doctor) judge(chain []*x509.Certificate) Result {
	const renew = "Renew the certificate, and check why that did not happen by itself."
	own, now, host := chain[0], d.Now(), d.url.Hostname()
	until := own.NotAfter.UTC().Format(time.DateOnly)
	switch {
	case now.After(own.NotAfter):
		return failure(renew, "the certificate has expired on %s", until)
	case now.Before(own.NotBefore):
		return failure("Check the clock of this machine.", "the certificate is valid only from %s on", own.NotBefore.UTC().Format(time.DateOnly))
	case own.VerifyHostname(host) != nil:
		return failure("Get a certificate for "+host+".", "the certificate is for %s, not for %s", strings.Join(own.DNSNames, ", "), host)
	}
	others := x509.NewCertPool()
	for _, c := range chain[1:] {
		others.AddCert(c)
	}
	if _, err := own.Verify(x509.VerifyOptions{Roots: d.Roots, Intermediates: others, CurrentTime: now}); err != nil {
		var unknown x509.UnknownAuthorityError
		if errors.As(err, &unknown) {
			return failure("Use a certificate of a public authority, and serve its intermediate certificates, too.", "the certificate is not trusted: %v", err)
		}
		return failure(renew, "the certificate is not valid: %v", err)
	}
	if own.NotAfter.Sub(now) < certificateWarning {
		return warning(renew, "the certificate expires on %s", until)
	}
	return ok("the certificate is valid until %s", until)
}
