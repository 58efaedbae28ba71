//go:build !nosftp

package objects

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/pkg/sftp"
)

// Extensions of OpenSSH, which most servers have.
const (
	extRename = "posix-rename@openssh.com"
	extLink   = "hardlink@openssh.com"
	extSync   = "fsync@openssh.com"
	extSpace  = "statvfs@openssh.com"
)

// nearlyFull is the free space, in bytes, below which a failed write is taken for a full disk: version 3 of SFTP has no code for it.
const nearlyFull = 2 * sftpChunk

// Put syncs the file if the server can (fsync@openssh.com). SFTP cannot sync a folder.
func (s *sftpStore) Put(ctx context.Context, name string, body io.Reader, size int64, o PutOptions) (Object, error) {
	if err := checkName(name); err != nil {
		return Object{}, failed("put", name, err)
	}
	if o.IfMatch != "" {
		return Object{}, failed("put", name, fmt.Errorf("%w: SFTP has no condition on ETags", errors.ErrUnsupported))
	}
	if o.IfNone {
		switch _, err := s.Stat(ctx, name); {
		case err == nil:
			return Object{}, failed("put", name, fmt.Errorf("%w: there is one", ErrCondition))
		case !errors.Is(err, fs.ErrNotExist):
			return Object{}, err
		}
		body = &limited{body: body, left: MaxConditional}
	}
	w := &sftpWriter{store: s, ctx: ctx, temp: s.path(path.Join(tempDir, rand.Text()))}
	if err := repeat(ctx, w.open); err != nil { // the name is random, so that a second file does no harm
		return Object{}, failed("put", name, err)
	}
	object, err := w.write(newSized(ctx, body, size))
	if err == nil {
		err = w.commit(name, o)
	}
	if err != nil || o.IfNone { // a link leaves the temporary name
		w.remove()
	}
	s.give(w.session)
	object.Name = name
	return object, failed("put", name, err)
}

// sftpWriter writes one object.
type sftpWriter struct {
	store   *sftpStore
	ctx     context.Context
	temp    string
	session *session
	file    *sftp.File
}

func (w *sftpWriter) open() (err error) {
	if w.session, err = w.store.take(w.ctx); err != nil {
		return err
	}
	err = w.session.run(w.ctx, 0, func(c *session) (err error) {
		if w.file, err = c.sftp.OpenFile(w.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL); err != nil {
			return w.spaceError(err)
		}
		var status *sftp.StatusError
		if err = w.file.Chmod(0o600); errors.As(err, &status) || errors.Is(err, fs.ErrPermission) {
			err = nil // some servers have no modes
		}
		return err
	})
	if err != nil {
		w.store.give(w.session)
	}
	return err
}

// write writes the body into the temporary file and syncs it.
func (w *sftpWriter) write(body io.Reader) (Object, error) {
	buffer := make([]byte, sftpChunk)
	var size int64
	for {
		n, err := io.ReadFull(body, buffer) // not on the clock: the body may be slow
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return Object{}, err
		}
		if n > 0 {
			err = w.session.run(w.ctx, int64(n), func(c *session) error {
				_, err := w.file.WriteAt(buffer[:n], size)
				return w.spaceError(err)
			})
			if err != nil {
				return Object{}, err
			}
		}
		if size += int64(n); last {
			return w.finish(size)
		}
	}
}

// finish syncs and closes the file, and compares its size with the bytes written.
func (w *sftpWriter) finish(size int64) (object Object, err error) {
	err = w.session.run(w.ctx, listing, func(c *session) error {
		if version, ok := c.sftp.HasExtension(extSync); ok && version == "1" {
			if err := w.file.Sync(); err != nil {
				return w.spaceError(err)
			}
		}
		info, err := w.file.Stat()
		if err != nil {
			return err
		}
		if info.Size() != size {
			return fmt.Errorf("%w: the server has %d bytes of %d", ErrSize, info.Size(), size)
		}
		object = sftpObject("", info)
		return w.spaceError(w.file.Close())
	})
	return object, err
}

// spaceError returns ErrFull for a failure for which the server names no reason, if its disk is full.
func (w *sftpWriter) spaceError(err error) error {
	var status *sftp.StatusError
	if !errors.As(err, &status) || status.FxCode() != sftp.ErrSSHFxFailure {
		return err
	}
	if _, ok := w.session.sftp.HasExtension(extSpace); ok {
		if space, e := w.session.sftp.StatVFS(path.Dir(w.temp)); e == nil && (space.Bavail*space.Frsize < nearlyFull || space.Favail == 0 && space.Files > 0) {
			return as(ErrFull, err)
		}
	}
	return err
}

// commit gives the temporary file its name.
func (w *sftpWriter) commit(name string, o PutOptions) error {
	return w.session.run(w.ctx, 0, func(c *session) error {
		target := w.store.path(name)
		move := w.rename
		if o.IfNone {
			move = w.link
		}
		err := move(c, target)
		if errors.Is(err, fs.ErrNotExist) { // most often the folder is there
			if err := c.sftp.MkdirAll(path.Dir(target)); err != nil {
				return w.spaceError(err)
			}
			err = move(c, target)
		}
		var status *sftp.StatusError
		if errors.As(err, &status) {
			if info, e := c.sftp.Lstat(target); e == nil && info.IsDir() {
				return fmt.Errorf("%w: there is a folder of that name", ErrName)
			}
		}
		return w.spaceError(err)
	})
}

func (w *sftpWriter) rename(c *session, target string) error {
	if _, ok := c.sftp.HasExtension(extRename); ok {
		return c.sftp.PosixRename(w.temp, target)
	}
	err := c.sftp.Rename(w.temp, target) // most servers do not overwrite
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, e := c.sftp.Lstat(target); e == nil {
		return as(errors.ErrUnsupported, fmt.Errorf("replace without %s: %w", extRename, err))
	}
	return err
}

func (w *sftpWriter) link(c *session, target string) error {
	if _, ok := c.sftp.HasExtension(extLink); !ok {
		return fmt.Errorf("%w: the server has no %s", errors.ErrUnsupported, extLink)
	}
	err := c.sftp.Link(w.temp, target)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var status *sftp.StatusError
	if errors.As(err, &status) {
		if _, e := c.sftp.Lstat(target); e == nil {
			return fmt.Errorf("%w: there is one", ErrCondition)
		}
	}
	return err
}

// remove removes the temporary file, with another connection if its own is broken. On failure, Sweep removes it.
func (w *sftpWriter) remove() {
	ctx, cancel := w.store.options.cleanUp(w.ctx)
	defer cancel()
	if !w.session.broken {
		w.session.run(ctx, 0, func(c *session) error {
			w.file.Close() // fails if it is closed already
			return c.sftp.Remove(w.temp)
		})
		return
	}
	c, err := w.store.take(ctx)
	if err != nil {
		return
	}
	defer w.store.give(c)
	c.run(ctx, 0, func(c *session) error { return c.sftp.Remove(w.temp) })
}
