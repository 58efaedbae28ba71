package objects_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"svc/internal/objects"
	"svc/internal/objects/objectstest"
)

// TestHostKeys never accepts a host key that is not expected, and finds the expected one among several.
func TestHostKeys(t *testing.T) {
	server, other := objectstest.NewSFTP(t), objectstest.NewSFTP(t)
	t.Setenv("HOME", t.TempDir())
	known := func(keys ...ssh.PublicKey) string {
		file := filepath.Join(t.TempDir(), "known_hosts")
		var lines strings.Builder
		for _, key := range keys {
			lines.WriteString(knownhosts.Line([]string{server.Address}, key) + "\n")
		}
		if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	ecdsaKey, edKey := server.Keys[0].PublicKey(), server.Keys[1].PublicKey()
	for _, tt := range []struct {
		name        string
		fingerprint string
		known       string
		ok          bool
		says        string
	}{
		{"nothing known", "", "", false, "known_hosts"},
		{"fingerprint of the first", server.Fingerprint(0), "", true, ""},
		{"fingerprint of the second", server.Fingerprint(1), "", true, ""},
		{"fingerprint of another", other.Fingerprint(0), known(edKey), false, ssh.FingerprintSHA256(ecdsaKey)},
		{"known, both", "", known(ecdsaKey, edKey), true, ""},
		{"known, the second only", "", known(edKey), true, ""},
		{"known, changed", "", known(other.Keys[1].PublicKey()), false, "key mismatch"},
		{"known, empty", "", known(), false, "set it as fingerprint"},
		{"known, missing file", "", "/nonexistent/known_hosts", false, "/nonexistent/known_hosts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := place{location: "sftp://svc@" + server.Address + t.TempDir(), options: objects.Options{Password: testSecret, KnownHosts: tt.known}}
			if tt.fingerprint != "" {
				p.location += "?fingerprint=" + tt.fingerprint
			}
			_, err := p.tryOpen(t)
			switch {
			case tt.ok && err != nil:
				t.Error(err)
			case !tt.ok && (!errors.Is(err, objects.ErrIdentity) || !strings.Contains(err.Error(), tt.says)):
				t.Errorf("got %v, want an error that says %q", err, tt.says)
			}
		})
	}
}

// TestUserKeys signs in with a private key, also with one that has a password.
func TestUserKeys(t *testing.T) {
	server := objectstest.NewSFTP(t)
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	server.User = signer.PublicKey()
	dir := t.TempDir()
	save := func(name string, block *pem.Block, err error) string {
		file := filepath.Join(dir, name)
		if err == nil {
			err = os.WriteFile(file, pem.EncodeToMemory(block), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	plain := save("plain", block, err)
	block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte("hidden"))
	encrypted := save("encrypted", block, err)
	_, key, err = ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err = ssh.MarshalPrivateKey(key, "")
	another := save("another", block, err)
	password := filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte("hidden\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		options objects.Options
		want    error
	}{
		{"plain", objects.Options{KeyFile: plain}, nil},
		{"encrypted", objects.Options{KeyFile: encrypted, KeyPassword: "hidden"}, nil},
		{"encrypted, password in a file", objects.Options{KeyFile: encrypted, KeyPasswordFile: password}, nil},
		{"encrypted, no password", objects.Options{KeyFile: encrypted}, objects.ErrRefused},
		{"encrypted, wrong password", objects.Options{KeyFile: encrypted, KeyPassword: "hidden2"}, objects.ErrRefused},
		{"another key", objects.Options{KeyFile: another}, objects.ErrRefused},
		{"another key, then the password", objects.Options{KeyFile: another, Password: testSecret}, nil},
		{"no key", objects.Options{KeyFile: dir + "/missing"}, os.ErrNotExist},
		{"nothing", objects.Options{}, objects.ErrRefused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := place{location: "sftp://svc@" + server.Address + t.TempDir() + "?fingerprint=" + server.Fingerprint(1), options: tt.options}
			_, err := p.tryOpen(t)
			if !errors.Is(err, tt.want) || err != nil && strings.Contains(err.Error(), "hidden") {
				t.Error(err)
			}
		})
	}
}

// TestCertificates verifies that of an S3 server.
func TestCertificates(t *testing.T) {
	server := httptest.NewTLSServer(objectstest.Empty())
	defer server.Close()
	p := s3Place(server.Listener.Addr().String())
	p.location = strings.Replace(p.location, "http:", "https:", 1)
	if _, err := p.tryOpen(t); !errors.Is(err, objects.ErrIdentity) {
		t.Errorf("an unknown certificate: %v", err)
	}
	p.options.RootCAs = x509.NewCertPool()
	p.options.RootCAs.AddCert(server.Certificate())
	s := p.open(t)
	put(t, s, "object", "over TLS")
	if got := get(t, s, "object"); got != "over TLS" {
		t.Errorf("the object is %q", got)
	}
}

// TestSignedAddresses are valid for a time, for one object, and with the properties that were signed.
func TestSignedAddresses(t *testing.T) {
	p := realPlace(t)
	s := p.open(t)
	put(t, s, "a/picture é.jpg", "picture")
	signer := s.(objects.Signer)
	o := objects.SignOptions{Valid: time.Minute, ContentType: "image/jpeg", Disposition: `attachment; filename="a.jpg"`}
	address, err := signer.SignGet(t.Context(), "a/picture é.jpg", o)
	if err != nil {
		t.Fatal(err)
	}
	response := fetch(t, address)
	if response.status != 200 || response.body != "picture" || response.Get("Content-Type") != o.ContentType || response.Get("Content-Disposition") != o.Disposition {
		t.Errorf("got %+v", response)
	}
	if strings.Contains(address, testSecret) {
		t.Errorf("the secret is in %s", address)
	}
	for _, change := range [][2]string{
		{"picture", "another"}, {"image%2Fjpeg", "text%2Fhtml"}, {"attachment", "inline"}, {"X-Amz-Expires=60", "X-Amz-Expires=600"},
	} {
		changed := strings.Replace(address, change[0], change[1], 1)
		if response := fetch(t, changed); changed == address || response.status != 403 {
			t.Errorf("with %q the status is %d", change, response.status)
		}
	}
	o.Valid = time.Second
	if address, err = signer.SignGet(t.Context(), "a/picture é.jpg", o); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "expiry", func() bool { return fetch(t, address).status == 403 })
}

type fetched struct {
	http.Header
	status int
	body   string
}

func fetch(t *testing.T, address string) fetched {
	t.Helper()
	r, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fetched{r.Header, r.StatusCode, string(b)}
}

// TestSignBounds refuses what must not be signed. It needs no server: signing asks nobody.
func TestSignBounds(t *testing.T) {
	server := objectstest.New(t)
	s := s3Place(server.Address).open(t)
	server.Requests = nil
	signer := s.(objects.Signer)
	for _, tt := range []struct {
		name  string
		valid time.Duration
		ok    bool
	}{
		{"object", time.Second, true}, {"object", objects.MaxSigned, true},
		{"object", 0, false}, {"object", -time.Minute, false}, {"object", objects.MaxSigned + time.Second, false}, {"../object", time.Minute, false},
	} {
		address, err := signer.SignGet(t.Context(), tt.name, objects.SignOptions{Valid: tt.valid})
		if (err == nil) != tt.ok {
			t.Errorf("%+v: %v", tt, err)
		}
		if u, err := url.Parse(address); tt.ok && (err != nil || u.Host != server.Address || u.Path != "/bucket/a/prefix/object") {
			t.Errorf("%+v: %s", tt, address)
		}
	}
	if len(server.Requests) > 0 {
		t.Errorf("the server was asked %q", server.Requests)
	}
	var notSigner objects.Store = folderPlace(t).open(t)
	if _, ok := notSigner.(objects.Signer); ok {
		t.Error("a folder signs addresses")
	}
}

// TestConnections holds as many connections to an SFTP server as are allowed. The next operation waits.
func TestConnections(t *testing.T) {
	p := sftpPlace(t)
	s := p.open(t)
	put(t, s, "object", strings.Repeat("x", 100_000))
	bodies := make([]io.ReadCloser, 8)
	for i := range bodies {
		var err error
		if bodies[i], _, err = s.Get(t.Context(), "object", 0, -1); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Stat(ctx, "object"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a ninth: %v", err)
	}
	for _, b := range bodies {
		if n, err := io.Copy(io.Discard, b); n != 100_000 || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
		b.Close()
		b.Close() // is no error and gives nothing back twice
	}
	if _, err := s.Stat(t.Context(), "object"); err != nil {
		t.Error(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and never says anything
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p.options.Stall = stall
	if _, err := p.through(l.Addr().String()).tryOpen(t); !errors.Is(err, objects.ErrUnreachable) {
		t.Errorf("a server that is silent: %v", err)
	}
}
