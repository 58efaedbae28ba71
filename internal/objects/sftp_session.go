//go:build !nosftp

package objects

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// session is a connection to an SFTP server. One operation uses it at a time.
type session struct {
	conn    *watchedConn
	ssh     *ssh.Client
	sftp    *sftp.Client
	options Options
	last    time.Time // when it was used last
	broken  bool
}

// kill ends the connection and what runs on it.
func (c *session) kill() { c.conn.Close() }

// run runs a step of an operation. It ends if the context does, if the server sends nothing for Options.Stall, or after the time for size bytes.
func (c *session) run(ctx context.Context, size int64, step func(*session) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.limit(size), errStalled)
	defer cancel()
	stop := context.AfterFunc(ctx, c.kill)
	c.conn.arm()
	err := step(c)
	c.conn.disarm()
	if !stop() {
		c.broken = true
		if err == nil {
			return nil
		}
		return ended(ctx)
	}
	if err == nil {
		return nil
	}
	err = sftpError(err)
	if errors.Is(err, ErrUnreachable) {
		c.broken = true
		if c.conn.stalled.Load() {
			err = as(errStalled, err)
		}
	}
	return err
}

// take returns a connection that nothing else uses, and waits if too many are in use.
func (s *sftpStore) take(ctx context.Context) (*session, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	waiting := time.NewTimer(s.options.Timeout)
	defer waiting.Stop()
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-waiting.C:
		return nil, fmt.Errorf("%w: %d connections are in use: %w", ErrUnreachable, maxSessions, errStalled)
	}
	if c := s.takeIdle(); c != nil {
		return c, nil
	}
	c, err := s.dial(ctx)
	if err == nil && !s.register(c) {
		c.kill()
		err = errors.New("the store is closed")
	}
	if err != nil {
		<-s.slots
		return nil, err
	}
	return c, nil
}

func (s *sftpStore) register(c *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.used[c] = true
	}
	return !s.closed
}

func (s *sftpStore) takeIdle() *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.idle) > 0 {
		c := s.idle[len(s.idle)-1]
		s.idle = s.idle[:len(s.idle)-1]
		if time.Since(c.last) < maxIdle {
			s.used[c] = true
			return c
		}
		c.kill()
	}
	return nil
}

// give returns a connection, or closes it if it is broken.
func (s *sftpStore) give(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.used, c)
	if c.broken || s.closed {
		c.kill()
	} else {
		c.last = time.Now()
		s.idle = append(s.idle, c)
	}
	<-s.slots
}

// dial connects, verifies the host key and signs in.
func (s *sftpStore) dial(ctx context.Context) (*session, error) {
	s.mu.Lock()
	first := s.config
	s.mu.Unlock()
	var refusal error
	for i := first; i < len(s.configs); i++ {
		c, err := s.dialWith(ctx, s.configs[i])
		var none *ssh.AlgorithmNegotiationError
		switch {
		case err == nil:
			s.mu.Lock()
			s.config = i
			s.mu.Unlock()
			return c, nil
		case errors.Is(err, ErrIdentity):
			refusal = err
		case !errors.As(err, &none):
			return nil, err
		}
	}
	if refusal == nil {
		refusal = fmt.Errorf("%w: %s has no key of a type that is known", ErrIdentity, s.location.Host)
	}
	return nil, refusal
}

func (s *sftpStore) dialWith(ctx context.Context, config *ssh.ClientConfig) (*session, error) {
	dialer := net.Dialer{Timeout: min(s.options.Stall, s.options.Timeout)}
	conn, err := dialer.DialContext(ctx, "tcp", s.location.Host)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, as(ErrUnreachable, err)
	}
	c := &session{conn: &watchedConn{Conn: conn, stall: s.options.Stall}, options: s.options, last: time.Now()}
	err = c.run(ctx, 0, func(c *session) error {
		sshConn, channels, requests, err := ssh.NewClientConn(c.conn, s.location.Host, config)
		if err != nil {
			return err
		}
		c.ssh = ssh.NewClient(sshConn, channels, requests)
		c.sftp, err = sftp.NewClient(c.ssh, sftp.UseConcurrentWrites(true), sftp.UseFstat(true))
		return err
	})
	if err != nil {
		c.kill()
		return nil, err
	}
	return c, nil
}

// sftpError returns an error of the library as one of this package.
func sftpError(err error) error {
	for _, kind := range []error{fs.ErrNotExist, ErrIdentity, ErrCondition, ErrSize, ErrFull, ErrName, errors.ErrUnsupported, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, kind) {
			return err
		}
	}
	var status *sftp.StatusError
	switch {
	case errors.Is(err, fs.ErrPermission):
		return as(ErrRefused, err)
	case errors.As(err, &status):
		return statusError(status)
	case strings.Contains(err.Error(), "unable to authenticate"): // the library has no type for it
		return as(ErrRefused, err)
	}
	return as(ErrUnreachable, err)
}

// Codes of later versions of SFTP, which some servers send in version 3.
const (
	noSpace       = 14
	quotaExceeded = 15
)

func statusError(status *sftp.StatusError) error {
	text := strings.ToLower(status.Error())
	switch {
	case status.Code == noSpace, status.Code == quotaExceeded, strings.Contains(text, "no space"), strings.Contains(text, "quota"):
		return as(ErrFull, status)
	case status.FxCode() == sftp.ErrSSHFxNoConnection, status.FxCode() == sftp.ErrSSHFxConnectionLost:
		return as(ErrUnreachable, status)
	case status.FxCode() == sftp.ErrSSHFxOpUnsupported:
		return as(errors.ErrUnsupported, status)
	}
	return status
}

// watchedConn ends a connection on which nothing is received for a time while it is armed. Idle connections are left alone.
type watchedConn struct {
	net.Conn
	stall   time.Duration
	stalled atomic.Bool

	mu    sync.Mutex
	armed bool
}

func (c *watchedConn) arm()    { c.set(true) }
func (c *watchedConn) disarm() { c.set(false) }

func (c *watchedConn) set(armed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = armed
	if armed {
		c.SetDeadline(time.Now().Add(c.stall))
	} else {
		c.SetDeadline(time.Time{})
	}
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.mu.Lock()
		if c.armed {
			c.SetDeadline(time.Now().Add(c.stall))
		}
		c.mu.Unlock()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.stalled.Store(true)
	}
	return n, err
}

func (c *watchedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.stalled.Store(true)
	}
	return n, err
}
