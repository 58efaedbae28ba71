package app_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/internal/doctor"
	"svc/internal/toolchain"
)

const (
	doctorHost  = "svc.example"
	handlesHost = "handles.example"
)

// patient is a server behind a reverse proxy with a certificate, as svc doctor looks at it.
type patient struct {
	*apptest.Server
	config doctor.Config

	// Faults of the proxy, set before the check.
	noForwarded, noUpgrade, breakBody bool
	maxBody                           int64
	dateOff                           time.Duration
	expired                           bool
	handles                           string // where the web server of handlesHost redirects to; "": it is a proxy; -: nowhere
}

func newPatient(t *testing.T, change ...func(*config.Config)) *patient {
	t.Helper()
	p := &patient{maxBody: 1 << 40}
	var backend *url.URL
	p.Server = apptest.Start(t, append([]func(*config.Config){func(c *config.Config) {
		backend, _ = url.Parse(c.Server.URL)
		c.Server.URL, c.Server.TrustedProxies = "https://"+doctorHost, []string{"127.0.0.1"}
		c.Mail.Enabled, c.Mail.Adapter = true, config.MailFile
	}}, change...)...)
	proxy := httptest.NewUnstartedServer(p.proxy(backend))
	roots := x509.NewCertPool()
	valid, expired := issue(t, roots, time.Hour*24*90), issue(t, roots, -time.Hour)
	certificate := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		if p.expired {
			return expired, nil
		}
		return valid, nil
	}
	proxy.TLS = &tls.Config{GetCertificate: certificate}
	proxy.Config.ErrorLog = log.New(io.Discard, "", 0)
	proxy.StartTLS()
	proxy.TLS.Certificates = nil
	t.Cleanup(proxy.Close)
	p.config = p.DoctorConfig()
	p.config.Roots, p.config.Deadline = roots, 5*time.Second
	p.config.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
	}
	p.config.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, proxy.Listener.Addr().String())
	}
	p.config.MaxOpen = func() uint64 { return 65536 }
	p.config.GoVersion = toolchain.Wanted
	p.config.Disk = func(string) (uint64, uint64, error) { return 1 << 40, 1 << 41, nil }
	apptest.WriteDataFile(p.Server, "backups/svc-1.tar", "a backup")
	if err := os.Chmod(filepath.Join(p.Dir, "keys"), 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

// proxy returns the reverse proxy with its faults.
func (p *patient) proxy(backend *url.URL) http.Handler {
	reverse := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(backend)
			r.Out.Host = r.In.Host
			if !p.noForwarded {
				r.SetXForwarded()
			}
		},
		ModifyResponse: func(r *http.Response) error {
			if p.dateOff != 0 {
				r.Header.Set("Date", time.Now().Add(p.dateOff).UTC().Format(http.TimeFormat))
			}
			return nil
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.ContentLength > p.maxBody:
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			return
		case r.Host == handlesHost && p.handles == "-":
			http.NotFound(w, r)
			return
		case r.Host == handlesHost && p.handles != "":
			http.Redirect(w, r, p.handles+r.URL.RequestURI(), http.StatusMovedPermanently)
			return
		case p.breakBody && r.URL.Path == doctor.ProbePath:
			r.Header.Set("Date", time.Now().Add(-time.Minute).UTC().Format(http.TimeFormat))
		}
		if p.noUpgrade {
			r.Header.Del("Upgrade")
			r.Header.Del("Connection")
		}
		reverse.ServeHTTP(w, r)
	})
}

// issue returns a certificate of an authority that is added to roots. It ends after d.
func issue(t *testing.T, roots *x509.CertPool, d time.Duration) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(d), DNSNames: []string{doctorHost, handlesHost},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	own, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(own)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// want checks the result of one check.
func want(t *testing.T, report *doctor.Report, name string, status doctor.Status, seen string) {
	t.Helper()
	for _, r := range report.Results {
		if r.Name != name {
			continue
		}
		if r.Status != status || !strings.Contains(r.Seen, seen) {
			t.Errorf("%s is %s: %q, want %s: %q", name, r.Status, r.Seen, status, seen)
		}
		if r.Status == doctor.Failure && r.Advice == "" {
			t.Errorf("%s fails without advice", name)
		}
		return
	}
	t.Errorf("there is no check %q", name)
}

// TestDoctorOfHealthyServer expects no warning and no failure.
func TestDoctorOfHealthyServer(t *testing.T) {
	p := newPatient(t)
	report := doctor.Run(t.Context(), p.config)
	if report.Failed || len(report.Results) < 19 {
		t.Errorf("failed: %v, %d checks", report.Failed, len(report.Results))
	}
	for _, r := range report.Results {
		if r.Status != doctor.OK {
			t.Errorf("%s is %s: %s", r.Name, r.Status, r.Seen)
		}
	}
}

func splitDomain(c *config.Config) { c.Server.Host = handlesHost }

// TestDoctorOfHandles checks that redirects and a proxy for the host of handles are right.
func TestDoctorOfHandles(t *testing.T) {
	p := newPatient(t, splitDomain)
	for _, p.handles = range []string{"https://" + doctorHost, ""} {
		want(t, doctor.Run(t.Context(), p.config), "handles", doctor.OK, "handles.example leads WebFinger to https://svc.example")
	}
}

// TestDoctorNamesFaults injects faults one at a time.
func TestDoctorNamesFaults(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	refusing := apptest.StartSMTP(t, func(s *apptest.SMTPServer) { s.NoStartTLS = true })
	smtp := func(c *config.Config) {
		c.Mail.Adapter, c.Mail.Host, c.Mail.Port, c.Mail.TLS = config.MailSMTP, "127.0.0.1", refusing.Port, config.MailStartTLS
		c.Mail.User, c.Mail.Password = "svc", "very secret password"
	}
	for _, tt := range []struct {
		fault  string
		change func(*config.Config)
		inject func(*patient)
		check  string
		seen   string
	}{
		{"wrong DNS: another server", nil, func(p *patient) {
			p.config.Settings.Server.URL = other.URL
			p.config.Resolve = nil
			p.config.Dial = nil
		}, "dns", "where another server answers"},
		{"wrong DNS: no address", nil, func(p *patient) {
			p.config.Resolve = func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("no such host") }
		}, "dns", "svc.example cannot be resolved: no such host"},
		{"a proxy that strips headers", nil, func(p *patient) { p.noForwarded = true }, "proxy", "does not set X-Forwarded-For"},
		{"a proxy that is not trusted", func(c *config.Config) { c.Server.TrustedProxies = nil }, nil, "proxy", "is not in server.trusted_proxies"},
		{"no WebSocket", nil, func(p *patient) { p.noUpgrade = true }, "websocket", "does not open WebSockets (426"},
		{"small body limit", nil, func(p *patient) { p.maxBody = 1 << 20 }, "body size", "refuses an upload of"},
		{"clock 10 minutes off", nil, func(p *patient) { p.dateOff = 10 * time.Minute }, "clock", "the clock and that of the public address are"},
		{"full disk", nil, func(p *patient) {
			p.config.Disk = func(string) (uint64, uint64, error) { return 1 << 20, 1 << 30, nil }
		}, "disk", "1 of 1024 MiB are free"},
		{"wrong keys", nil, func(p *patient) { apptest.WriteDataFile(p.Server, "keys/secret", strings.Repeat("x", 32)) }, "keys", "are not those with which the server was started"},
		{"missing keys", nil, func(p *patient) { os.Remove(filepath.Join(p.Dir, "keys", "secret")) }, "keys", "the key is missing"},
		{"SMTP refusing", smtp, nil, "mail", "mail server 127.0.0.1"},
		{"expired certificate", nil, func(p *patient) { p.expired = true }, "certificate", "the certificate has expired on"},
		{"blocked port", nil, func(p *patient) {
			p.config.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("connection refused") }
		}, "port", "93.184.216.34:443 does not accept connections: connection refused"},
		{"a dead IPv6 address", nil, func(p *patient) {
			open := p.config.Dial
			p.config.Resolve = func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("2001:db8::1")}, nil
			}
			p.config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				if strings.HasPrefix(address, "[2001:db8::1]") {
					return nil, errors.New("connection refused")
				}
				return open(ctx, network, address)
			}
		}, "port", "[2001:db8::1]:443 does not accept connections: connection refused"},
		{"a proxy that changes signed headers", nil, func(p *patient) { p.breakBody = true }, "federation", "could not be verified"},
		{"no redirects for handles", splitDomain, func(p *patient) { p.handles = "-" }, "handles", "https://handles.example/.well-known/host-meta is answered by another server: 404"},
		{"redirects for handles that lose the path", splitDomain, func(p *patient) { p.handles = "https://" + doctorHost + "/x" }, "handles", "https://handles.example/.well-known/nodeinfo leads to https://svc.example/x/"},
		{"redirects for handles in a circle", splitDomain, func(p *patient) { p.handles = "https://" + handlesHost }, "handles", "more than 5 redirects"},
		{"few open files", nil, func(p *patient) { p.config.MaxOpen = func() uint64 { return 256 } }, "open files", "may open 256 files"},
	} {
		t.Run(tt.fault, func(t *testing.T) {
			p := newPatient(t)
			if tt.change != nil {
				p = newPatient(t, tt.change)
			}
			if tt.inject != nil {
				tt.inject(p)
			}
			report := doctor.Run(t.Context(), p.config)
			want(t, report, tt.check, doctor.Failure, tt.seen)
			if !report.Failed {
				t.Error("the report does not fail")
			}
			text, err := json.Marshal(report)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{"very secret password", string(p.config.Secret)} {
				if strings.Contains(string(text), secret) {
					t.Errorf("the report has a secret: %s", text)
				}
			}
		})
	}
}

// TestDoctorWarns checks the warnings, which do not make the report fail.
func TestDoctorWarns(t *testing.T) {
	p := newPatient(t, func(c *config.Config) { c.Mail.Enabled = false })
	os.Remove(filepath.Join(p.Dir, "backups", "svc-1.tar"))
	p.config.MaxOpen = func() uint64 { return 1024 }
	p.config.Disk = func(string) (uint64, uint64, error) { return 1 << 30, 1 << 40, nil }
	p.config.QuickCheck = func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }
	p.config.GoVersion = "go1.26.0"
	p.config.Deadline, p.dateOff = 2*time.Second, 30*time.Second
	open := p.config.Dial
	p.config.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("2001:db8::1")}, nil
	}
	p.config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "[2001:db8::1]") {
			return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ENETUNREACH)}
		}
		return open(ctx, network, address)
	}
	report := doctor.Run(t.Context(), p.config)
	for name, seen := range map[string]string{
		"port": "[2001:db8::1]:443 cannot be reached from this machine",
		"mail": "mail is off", "backups": "there is no backup", "open files": "may open 1024", "disk": "1024 of", "database": "not checked to the end", "clock": "apart",
		"go": "built with go1.26.0, which has known vulnerabilities",
	} {
		want(t, report, name, doctor.Warning, seen)
	}
	if report.Failed {
		t.Error("the report fails")
	}
}

// TestDoctorOfTrial checks that a server of this machine alone needs one of the addresses of localhost.
func TestDoctorOfTrial(t *testing.T) {
	p := newPatient(t)
	p.config.Settings.Server.URL = "https://localhost:4000"
	open := p.config.Dial
	p.config.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")}, nil
	}
	p.config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "[::1]") {
			return nil, errors.New("connection refused")
		}
		return open(ctx, network, address)
	}
	want(t, doctor.Run(t.Context(), p.config), "port", doctor.OK, "accepts connections")
	p.config.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("connection refused") }
	want(t, doctor.Run(t.Context(), p.config), "port", doctor.Failure, "127.0.0.1:4000 does not accept connections")
}

// TestProbeIsSecret checks that nobody else gets the answer to a probe.
func TestProbeIsSecret(t *testing.T) {
	srv := apptest.Start(t)
	for _, token := range []string{"", "x", doctor.Token([]byte("other"), time.Now()), doctor.Token(srv.DoctorConfig().Secret, time.Now().Add(-time.Hour))} {
		req, err := http.NewRequest("POST", srv.URL+doctor.ProbePath, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(doctor.TokenHeader, token)
		srv.As(nil).DoRequest(req).Want(404)
	}
}
