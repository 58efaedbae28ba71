package apptest

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// SMTPServer is a mail server on a loopback port that keeps what it accepts. Its certificate is self-signed.
type SMTPServer struct {
	Port int

	// Set these before the first connection.
	ImplicitTLS bool              // encrypted from the beginning
	NoStartTLS  bool              // does not offer STARTTLS
	User        string            // "": accepts mail without authentication
	Password    string            // of User
	Silent      bool              // accepts connections and says nothing
	Refuse      map[string]string // command, such as "RCPT" or "DATA." for the end of the data → the answer

	certificate tls.Certificate
	mu          sync.Mutex
	mails       []SMTPMail
}

// SMTPMail is a mail that the server accepted.
type SMTPMail struct {
	From, To  string
	Data      string
	Encrypted bool
	User      string // as which the client had authenticated
}

// StartSMTP starts a mail server. change configures it.
func StartSMTP(t testing.TB, change ...func(*SMTPServer)) *SMTPServer {
	t.Helper()
	s := &SMTPServer{Refuse: make(map[string]string), certificate: selfSigned(t)}
	for _, f := range change {
		f(s)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Port = ln.Addr().(*net.TCPAddr).Port
	var connections sync.WaitGroup
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			connections.Go(func() { s.serve(conn) })
		}
	}()
	t.Cleanup(func() {
		ln.Close()
		<-done
		connections.Wait()
	})
	return s
}

// Mails returns the accepted mails.
func (s *SMTPServer) Mails() []SMTPMail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]SMTPMail(nil), s.mails...)
}

// SetRefusal makes the server answer a command with a text; "" removes it.
func (s *SMTPServer) SetRefusal(command, answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Refuse[command] = answer
}

func (s *SMTPServer) refusal(command string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Refuse[command]
}

func (s *SMTPServer) serve(conn net.Conn) {
	defer func() { conn.Close() }()
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	mail := SMTPMail{}
	if s.ImplicitTLS {
		conn, mail.Encrypted = tls.Server(conn, s.tlsConfig()), true
	}
	in := bufio.NewReader(conn)
	say := func(line string) { fmt.Fprintf(conn, "%s\r\n", line) }
	if s.Silent {
		in.ReadString('\n') // until the client closes the connection
		return
	}
	say("220 test ESMTP")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		command, argument, _ := strings.Cut(strings.TrimSpace(line), " ")
		command = strings.ToUpper(command)
		if answer := s.refusal(command); answer != "" {
			say(answer)
			continue
		}
		switch command {
		case "EHLO", "HELO":
			lines := []string{"test"}
			if !s.NoStartTLS && !mail.Encrypted {
				lines = append(lines, "STARTTLS")
			}
			if s.User != "" {
				lines = append(lines, "AUTH PLAIN")
			}
			for _, l := range lines {
				say("250-" + l)
			}
			say("250 8BITMIME")
		case "STARTTLS":
			say("220 go ahead")
			conn = tls.Server(conn, s.tlsConfig())
			in, mail.Encrypted = bufio.NewReader(conn), true
		case "AUTH":
			given, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(argument, "PLAIN "))
			if string(given) != "\x00"+s.User+"\x00"+s.Password {
				say("535 5.7.8 wrong user name or password")
				continue
			}
			mail.User = s.User
			say("235 2.7.0 welcome")
		case "MAIL":
			if s.User != "" && mail.User == "" {
				say("530 5.7.0 authentication required")
				continue
			}
			mail.From = bracketed(argument)
			say("250 2.1.0 ok")
		case "RCPT":
			mail.To = bracketed(argument)
			say("250 2.1.5 ok")
		case "DATA":
			say("354 send it")
			mail.Data = readData(in)
			if answer := s.refusal("DATA."); answer != "" {
				say(answer)
				continue
			}
			s.mu.Lock()
			s.mails = append(s.mails, mail)
			n := len(s.mails)
			s.mu.Unlock()
			say(fmt.Sprintf("250 2.0.0 queued as %d", n))
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func (s *SMTPServer) tlsConfig() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{s.certificate}}
}

func bracketed(argument string) string {
	_, rest, _ := strings.Cut(argument, "<")
	address, _, _ := strings.Cut(rest, ">")
	return address
}

// readData reads the lines of a mail up to the one with a dot alone.
func readData(in *bufio.Reader) string {
	var data strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil || line == ".\r\n" {
			return data.String()
		}
		data.WriteString(strings.TrimPrefix(line, "."))
	}
}

func selfSigned(t testing.TB) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
