package objects_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// sshServer serves SFTP for one user.
type sshServer struct {
	address string
	keys    []ssh.Signer // of the host: ECDSA, Ed25519
	user    ssh.PublicKey
}

// newSSHServer starts a server. It has two host keys, as most have, and accepts the password and, if it is set, the key of the user.
func newSSHServer(t *testing.T) *sshServer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &sshServer{address: l.Addr().String()}
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
			return nil, allow(c.User() == "svc" && string(password) == testSecret)
		},
		PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			return nil, allow(c.User() == "svc" && s.user != nil && string(key.Marshal()) == string(s.user.Marshal()))
		},
	}
	for _, key := range []crypto.Signer{ecdsaKey, edKey} {
		signer, err := ssh.NewSignerFromSigner(key)
		if err != nil {
			t.Fatal(err)
		}
		config.AddHostKey(signer)
		s.keys = append(s.keys, signer)
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
			running.Go(func() { serveSSH(conn, config) })
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

func (s *sshServer) fingerprint(key int) string {
	return strings.ReplaceAll(ssh.FingerprintSHA256(s.keys[key].PublicKey()), "+", "%2B")
}

func serveSSH(conn net.Conn, config *ssh.ServerConfig) {
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
			if s, err := sftp.NewServer(channel); err == nil {
				s.Serve()
			}
		})
	}
}
