package objectstest

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// SFTPServer serves SFTP for one user.
type SFTPServer struct {
	Address string
	Keys    []ssh.Signer  // of the host: ECDSA, Ed25519
	User    ssh.PublicKey // nil: only the password Secret
	Program string        // that serves SFTP; empty: the library
	Log     buffer        // of Program
}

// buffer has what programs wrote.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *buffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *buffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// OpenSSH returns the path of OpenSSH's server of SFTP, which has other errors and extensions than the library.
func OpenSSH(t testing.TB) string {
	for _, program := range []string{os.Getenv("SVC_TEST_SFTP_SERVER"), "/usr/lib/openssh/sftp-server", "/usr/libexec/sftp-server", "/usr/libexec/openssh/sftp-server"} {
		if _, err := os.Stat(program); err == nil {
			return program
		}
	}
	t.Skip("there is no sftp-server of OpenSSH; SVC_TEST_SFTP_SERVER can name one")
	return ""
}

// NewSFTP starts a server. It has two host keys, as most have, and accepts the password and, if it is set, the key of the user.
func NewSFTP(t testing.TB) *SFTPServer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &SFTPServer{Address: l.Addr().String()}
	ecdsaKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	config := &ssh.ServerConfig{
		PasswordCallback: func(c ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
			return nil, allow(c.User() == "svc" && string(password) == Secret)
		},
		PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			return nil, allow(c.User() == "svc" && s.User != nil && string(key.Marshal()) == string(s.User.Marshal()))
		},
	}
	for _, key := range []crypto.Signer{ecdsaKey, edKey} {
		signer, err := ssh.NewSignerFromSigner(key)
		if err != nil {
			t.Fatal(err)
		}
		config.AddHostKey(signer)
		s.Keys = append(s.Keys, signer)
	}
	var running sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			running.Go(func() { s.serve(conn, config) })
		}
	})
	return s
}

func allow(ok bool) error {
	if ok {
		return nil
	}
	return errors.New("not allowed")
}

// Fingerprint returns that of a host key, as a location has it.
func (s *SFTPServer) Fingerprint(key int) string {
	return strings.ReplaceAll(ssh.FingerprintSHA256(s.Keys[key].PublicKey()), "+", "%2B")
}

func (s *SFTPServer) serve(conn net.Conn, config *ssh.ServerConfig) {
	defer conn.Close()
	server, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	var running sync.WaitGroup
	defer running.Wait()
	defer server.Close()
	for n := range channels {
		channel, requests, err := n.Accept()
		if err != nil {
			return
		}
		running.Go(func() {
			for r := range requests {
				r.Reply(r.Type == "subsystem", nil)
			}
		})
		running.Go(func() {
			defer channel.Close()
			if s.Program != "" {
				c := exec.Command(s.Program, "-e", "-l", "DEBUG3")
				c.Stdin, c.Stdout, c.Stderr = channel, channel, &s.Log
				c.Run()
			} else if s, err := sftp.NewServer(channel); err == nil {
				s.Serve()
			}
		})
	}
}
