//go:build !nosftp

package objects

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/pkg/sftp"
)

// sftpChunk is how many bytes are read or written at once, in packets of 32 KiB that do not wait for each other.
const sftpChunk = 1 << 20

func (s *sftpStore) Get(ctx context.Context, name string, offset, length int64) (io.ReadCloser, Object, error) {
	if err := checkName(name); err != nil {
		return nil, Object{}, failed("get", name, err)
	}
	if err := checkOffset(ctx, offset); err != nil {
		return nil, Object{}, failed("get", name, err)
	}
	b := &sftpBody{store: s, ctx: ctx, name: name, offset: offset}
	var object Object
	err := repeat(ctx, func() (err error) {
		object, err = b.open(ctx, name)
		return err
	})
	if err != nil {
		return nil, Object{}, failed("get", name, err)
	}
	if b.left = max(object.Size-offset, 0); length >= 0 {
		b.left = min(b.left, length)
	}
	return &fileBody{bufio.NewReaderSize(b, int(max(min(b.left, sftpChunk), 16))), b}, object, nil
}

// sftpBody reads a file, and has a connection until it is closed.
type sftpBody struct {
	store   *sftpStore
	ctx     context.Context
	name    string
	session *session
	file    *sftp.File
	offset  int64
	left    int64 // bytes
}

func (b *sftpBody) open(ctx context.Context, name string) (object Object, err error) {
	if b.session, err = b.store.take(ctx); err != nil {
		return Object{}, err
	}
	err = b.session.run(ctx, 0, func(c *session) error {
		var err error
		if b.file, err = c.sftp.OpenFile(b.store.path(name), os.O_RDONLY); err != nil {
			return err
		}
		info, err := b.file.Stat()
		if err == nil && !info.Mode().IsRegular() {
			err = fs.ErrNotExist
		}
		if err != nil {
			b.file.Close()
			return err
		}
		object = sftpObject(name, info)
		return nil
	})
	if err != nil {
		b.store.give(b.session)
	}
	return object, err
}

func (b *sftpBody) Read(p []byte) (n int, err error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), b.left)]
	err = b.session.run(b.ctx, int64(len(p)), func(*session) (err error) {
		if n, err = b.file.ReadAt(p, b.offset); n == len(p) {
			return nil
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // it became shorter
		}
		return err
	})
	b.offset += int64(n)
	b.left -= int64(n)
	return n, failed("get", b.name, err)
}

func (b *sftpBody) Close() error {
	if b.session == nil {
		return nil
	}
	// An error of closing a file that was read loses nothing, but the connection is not used again.
	if !b.session.broken && b.session.run(b.ctx, 0, func(*session) error { return b.file.Close() }) != nil {
		b.session.broken = true
	}
	b.store.give(b.session)
	b.session = nil
	return nil
}
