//go:build !nosftp

package objects

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"sync"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// sftpStore keeps an object as a file of its name behind SFTP. Each operation has a connection of its own meanwhile, because only closing it ends
// a request that hangs.
type sftpStore struct {
	location Location
	options  Options
	configs  []*ssh.ClientConfig
	slots    chan struct{} // one for each connection in use

	mu     sync.Mutex
	config int // of configs, the one that is right as far as is known
	idle   []*session
	used   map[*session]bool
	closed bool
}

const (
	// maxSessions is how many connections are used at once. OpenSSH refuses more than ten that sign in at the same time.
	maxSessions = 8
	// maxIdle is how long a connection may have been idle to be used again: routers forget it silently.
	maxIdle = 30 * time.Second
)

func openSFTP(ctx context.Context, l Location, o Options) (Store, error) {
	configs, err := sshConfigs(l, o)
	if err != nil {
		return nil, err
	}
	s := &sftpStore{location: l, options: o, configs: configs, slots: make(chan struct{}, maxSessions), used: make(map[*session]bool)}
	err = s.do(ctx, 0, func(c *session) error {
		if o.NoCreate {
			_, err := c.sftp.Stat(s.location.Path)
			return err
		}
		return c.sftp.MkdirAll(s.path(tempDir))
	})
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// path returns the path of an object or folder on the server.
func (s *sftpStore) path(name string) string { return path.Join(s.location.Path, name) }

// Close closes all connections.
func (s *sftpStore) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.used {
		c.kill()
	}
	for _, c := range s.idle {
		c.kill()
	}
	s.idle = nil
	return nil
}

// do runs an operation that is safe to repeat, with a connection of its own. size is how many bytes it transfers.
func (s *sftpStore) do(ctx context.Context, size int64, operation func(*session) error) error {
	return repeat(ctx, func() error {
		c, err := s.take(ctx)
		if err != nil {
			return err
		}
		defer s.give(c)
		return c.run(ctx, size, operation)
	})
}

func (s *sftpStore) Stat(ctx context.Context, name string) (o Object, err error) {
	if err := checkName(name); err != nil {
		return Object{}, failed("stat", name, err)
	}
	err = s.do(ctx, 0, func(c *session) error {
		info, err := c.sftp.Stat(s.path(name))
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fs.ErrNotExist
		}
		o = sftpObject(name, info)
		return nil
	})
	return o, failed("stat", name, err)
}

func sftpObject(name string, info fs.FileInfo) Object {
	return Object{Name: name, Size: info.Size(), Modified: info.ModTime()}
}

// listing is, in bytes, how much a page is assumed to transfer at most, for its time.
const listing = 8 << 20

func (s *sftpStore) List(ctx context.Context, prefix, after string, limit int) (page []Object, err error) {
	if err := checkList(prefix, after, limit); err != nil {
		return nil, failed("list", prefix, err)
	}
	err = s.do(ctx, listing, func(c *session) (err error) {
		l := &lister{prefix: prefix, after: after, limit: limit}
		l.read = func(folder string) ([]entry, error) { return c.readDir(s.path(folder)) }
		l.describe = func(_ string, e entry) (Object, bool, error) { return e.object, true, nil }
		page, err = l.list()
		return err
	})
	if err != nil {
		return nil, failed("list", prefix, err)
	}
	return page, nil
}

func (c *session) readDir(folder string) ([]entry, error) {
	files, err := c.sftp.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var status *sftp.StatusError
	if errors.As(err, &status) {
		if info, e := c.sftp.Stat(folder); e == nil && !info.IsDir() {
			return nil, nil
		}
	}
	if err != nil {
		return nil, err
	}
	entries := make([]entry, 0, len(files))
	for _, f := range files {
		if f.IsDir() || f.Mode().IsRegular() {
			entries = append(entries, entry{name: f.Name(), folder: f.IsDir(), object: sftpObject("", f)})
		}
	}
	sortEntries(entries)
	return entries, nil
}

func (s *sftpStore) Delete(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return failed("delete", name, err)
	}
	err := s.do(ctx, 0, func(c *session) error {
		info, err := c.sftp.Lstat(s.path(name))
		if err == nil && info.IsDir() {
			return nil // no object
		}
		if err == nil {
			err = c.removeFile(s.path(name))
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return failed("delete", name, err)
}

// removeFile removes a file. The library tries to remove a folder after a failure, and returns that error.
func (c *session) removeFile(name string) error {
	err := c.sftp.Remove(name)
	if err == nil {
		return nil
	}
	if _, e := c.sftp.Lstat(name); errors.Is(e, fs.ErrNotExist) {
		return nil // of two that delete, one fails
	}
	return err
}

// Sweep compares the clock of the server with that of this machine.
func (s *sftpStore) Sweep(ctx context.Context, age time.Duration) (n int, err error) {
	err = s.do(ctx, listing, func(c *session) error {
		entries, err := c.readDir(s.path(tempDir))
		for _, e := range entries {
			if e.folder || time.Since(e.object.Modified) < age {
				continue
			}
			if err := c.removeFile(s.path(path.Join(tempDir, e.name))); err != nil {
				return err
			}
			n++
		}
		return err
	})
	return n, failed("sweep", tempDir, err)
}
