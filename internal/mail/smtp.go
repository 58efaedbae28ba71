package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// sendTimeout bounds one mail, from the connection to the answer of the mail server.
const sendTimeout = 30 * time.Second

// authenticationRequired is the answer to mail without authentication (RFC 4954).
const authenticationRequired = 530

// Encryption is how the connection to a mail server is encrypted.
type Encryption int

const (
	StartTLS Encryption = iota // encrypted after a command of SMTP, which the server must support (RFC 3207)
	TLS                        // encrypted from the beginning (RFC 8314)
	Plain                      // not at all
)

// SMTPConfig describes a mail server.
type SMTPConfig struct {
	Host       string
	Port       int
	Encryption Encryption
	Insecure   bool   // accept every certificate
	User       string // "": no authentication
	Password   string
	From       string        // the sender, with or without a display name
	Hello      string        // the host name of this server
	Timeout    time.Duration // of one mail; 0: 30 seconds
	Now        func() time.Time
}

// SMTP is a Sender that uses a mail server. It opens a connection for each mail.
type SMTP struct{ SMTPConfig }

// NewSMTP returns a Sender that uses a mail server.
func NewSMTP(c SMTPConfig) *SMTP {
	if c.Timeout == 0 {
		c.Timeout = sendTimeout
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &SMTP{c}
}

// Send sends a mail and returns the answer of the mail server. The error is a RejectedError if the server refused this mail permanently. A
// refused connection or password is not, because it concerns all mails and the operator can change it.
func (s *SMTP) Send(ctx context.Context, m *Message) (string, error) {
	msg, err := compose(s.From, m, s.Now())
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	client, err := s.client(ctx)
	if err != nil {
		return "", err
	}
	err = client.DialAndSendWithContext(ctx, msg)
	if err != nil && !msg.IsDelivered() { // an error after the delivery changes nothing
		return "", s.describe(ctx, err)
	}
	return strings.TrimSpace(msg.ServerResponse()), nil
}

// client returns a client for one connection, which ends with ctx.
func (s *SMTP) client(ctx context.Context) (*gomail.Client, error) {
	config := &tls.Config{ServerName: s.Host, MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.Insecure}
	options := []gomail.Option{
		gomail.WithPort(s.Port), gomail.WithTimeout(s.Timeout), gomail.WithTLSConfig(config),
		gomail.WithDialContextFunc(func(dialing context.Context, _, _ string) (net.Conn, error) {
			conn, err := s.dial(dialing, config)
			if err == nil {
				context.AfterFunc(ctx, func() { conn.Close() })
			}
			return conn, err
		}),
	}
	if s.Hello != "" {
		options = append(options, gomail.WithHELO(s.Hello))
	}
	policy := gomail.NoTLS
	if s.Encryption == StartTLS {
		policy = gomail.TLSMandatory
	}
	options = append(options, gomail.WithTLSPolicy(policy))
	if s.User != "" {
		options = append(options, gomail.WithUsername(s.User), gomail.WithPassword(s.Password), gomail.WithOpportunisticSMTPAuth(s.mechanisms()...))
	}
	client, err := gomail.NewClient(s.Host, options...)
	if err != nil {
		return nil, fmt.Errorf("mail server: %w", err)
	}
	return client, nil
}

func (s *SMTP) dial(ctx context.Context, config *tls.Config) (net.Conn, error) {
	if s.Encryption == TLS {
		return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", s.address())
	}
	return new(net.Dialer).DialContext(ctx, "tcp", s.address())
}

// mechanisms returns the ways to authenticate, the preferred one first. Without encryption the password is not sent, except to this
// machine.
func (s *SMTP) mechanisms() []gomail.SMTPAuthType {
	list := []gomail.SMTPAuthType{gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthSCRAMSHA1, gomail.SMTPAuthCramMD5}
	if s.Encryption != Plain {
		return append([]gomail.SMTPAuthType{gomail.SMTPAuthPlain, gomail.SMTPAuthLogin}, list...)
	}
	if ip, err := netip.ParseAddr(s.Host); s.Host == "localhost" || err == nil && ip.IsLoopback() {
		list = append(list, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin)
	}
	return list
}

// describe adds to an error what failed.
func (s *SMTP) describe(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("mail server %s did not answer within %s: %w", s.address(), s.Timeout, err)
	}
	cause, _, _ := strings.Cut(err.Error(), ", affected ") // go-mail appends recipient and Message-ID
	described := fmt.Errorf("mail server %s: %s", s.address(), cause)
	var refusal *gomail.SendError
	if errors.As(err, &refusal) && refusal.ErrorCode() >= 500 && refusal.ErrorCode() != authenticationRequired {
		return &RejectedError{described}
	}
	return described
}

func (s *SMTP) address() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// Check connects to the mail server, encrypts and authenticates as Send does, and sends nothing.
func (s *SMTP) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	client, err := s.client(ctx)
	if err != nil {
		return err
	}
	if err := client.DialWithContext(ctx); err != nil {
		return s.describe(ctx, err)
	}
	return client.Close()
}
