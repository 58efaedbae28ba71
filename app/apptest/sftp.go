package apptest

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// SFTPPassword is the password of the user svc on the server of StartSFTP.
const SFTPPassword = "sesame"

// StartSFTP starts an SFTP server on loopback that serves the files of this machine until the test ends. It returns the location of a folder on it, as
// settings name it.
func StartSFTP(t testing.TB, dir string) (location string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	config := &ssh.ServerConfig{PasswordCallback: func(c ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
		if c.User() != "svc" || string(password) != SFTPPassword {
			return nil, errors.New("not allowed")
		}
		return nil, nil
	}}
	config.AddHostKey(signer)
	s := &sftpServer{config: config}
	go s.accept(ln)
	t.Cleanup(func() {
		ln.Close()
		s.close()
	})
	u := url.URL{Scheme: "sftp", User: url.User("svc"), Host: ln.Addr().String(), Path: dir, RawQuery: url.Values{"fingerprint": {ssh.FingerprintSHA256(signer.PublicKey())}}.Encode()}
	return u.String()
}

type sftpServer struct {
	config *ssh.ServerConfig
	mu     sync.Mutex
	open   []net.Conn
}

func (s *sftpServer) accept(ln net.Listener) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.open = append(s.open, conn)
		s.mu.Unlock()
		go s.serve(conn)
	}
}

func (s *sftpServer) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.open {
		conn.Close()
	}
}

func (s *sftpServer) serve(conn net.Conn) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, s.config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		channel, requests, err := c.Accept()
		if err != nil {
			return
		}
		go func() {
			for r := range requests {
				r.Reply(r.Type == "subsystem", nil)
			}
		}()
		go func() {
			defer channel.Close()
			if server, err := sftp.NewServer(channel); err == nil {
				server.Serve()
			}
		}()
	}
}
