//go:build !nos3

package objects

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/minio/minio-go/v7"
)

const (
	// s3Part is the size, in bytes, of a part of an upload, and of its only buffer. With 10 000 parts an object has 117 GiB.
	s3Part     = 12 << 20
	s3MaxParts = 10_000
)

func (s *s3Store) Put(ctx context.Context, name string, body io.Reader, size int64, o PutOptions) (Object, error) {
	if err := checkName(name); err != nil {
		return Object{}, failed("put", name, err)
	}
	if size > s3Part*s3MaxParts {
		return Object{}, failed("put", name, fmt.Errorf("%w: an object has at most %d bytes", ErrSize, s3Part*s3MaxParts))
	}
	body = newSized(ctx, body, size)
	var object Object
	var err error
	if o.conditional() {
		object, err = s.putConditional(ctx, name, body, o)
	} else {
		object, err = s.put(ctx, name, body, size, o)
	}
	object.Name = name
	return object, failed("put", name, err)
}

// put sends an object that fits into the buffer in one request, because its whole content can be signed and repeated. A larger one goes in parts.
func (s *s3Store) put(ctx context.Context, name string, body io.Reader, size int64, o PutOptions) (Object, error) {
	buffer, err := firstPart(body, size)
	if err == nil {
		return s.putParts(ctx, name, buffer, body, o)
	}
	if err != io.EOF {
		return Object{}, err
	}
	return s.putBytes(ctx, s.core, name, buffer, s.putOptions(o))
}

// firstPart reads s3Part bytes. io.EOF: the body has no more than that. The buffer is no larger than needed.
func firstPart(body io.Reader, size int64) ([]byte, error) {
	switch {
	case size == 0:
		_, err := io.ReadFull(body, make([]byte, 1)) // sized returns ErrSize if there is one
		return nil, err
	case size > 0 && size <= s3Part:
		buffer := make([]byte, size)
		if _, err := io.ReadFull(body, buffer); err != nil {
			return nil, err
		}
		return buffer, io.EOF
	case size < 0:
		size = copyBuffer // most are small
	}
	buffer := make([]byte, min(size, s3Part))
	n, err := io.ReadFull(body, buffer)
	if err == nil && len(buffer) < s3Part {
		buffer = append(make([]byte, 0, s3Part), buffer...)[:s3Part]
		var more int
		more, err = io.ReadFull(body, buffer[n:])
		n += more
	}
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return buffer[:n], err
}

// putOptions leaves out the signature of each chunk, because the hash of the whole content is signed.
func (s *s3Store) putOptions(o PutOptions) minio.PutObjectOptions {
	return minio.PutObjectOptions{ContentType: o.ContentType, DisableContentSha256: true}
}

// putBytes sends an object in one request.
func (s *s3Store) putBytes(ctx context.Context, core *minio.Core, name string, b []byte, o minio.PutObjectOptions) (object Object, err error) {
	sum := sha256.Sum256(b)
	err = s.call(ctx, int64(len(b)), func(ctx context.Context) error {
		info, err := core.PutObject(ctx, s.bucket, s.prefix+name, bytes.NewReader(b), int64(len(b)), "", hex.EncodeToString(sum[:]), o)
		object = Object{Size: int64(len(b)), Modified: time.Now(), ETag: info.ETag}
		return err
	})
	return object, err
}

// putParts sends an object in parts, of which the first is in the buffer. If that fails, it removes them.
func (s *s3Store) putParts(ctx context.Context, name string, buffer []byte, body io.Reader, o PutOptions) (_ Object, err error) {
	key := s.prefix + name
	var id string
	err = s.call(ctx, 0, func(ctx context.Context) (err error) {
		id, err = s.once.NewMultipartUpload(ctx, s.bucket, key, s.putOptions(o)) // a repetition could leave a second one
		return err
	})
	if err != nil {
		return Object{}, err
	}
	defer func() {
		if err != nil {
			ctx, cancel := s.options.cleanUp(ctx)
			defer cancel()
			s.core.AbortMultipartUpload(ctx, s.bucket, key, id) // on failure, Sweep removes it
		}
	}()
	parts, size, err := s.sendParts(ctx, key, id, buffer, body)
	if err != nil {
		return Object{}, err
	}
	object := Object{Size: size, Modified: time.Now()}
	err = s.call(ctx, size, func(ctx context.Context) error {
		info, err := s.core.CompleteMultipartUpload(ctx, s.bucket, key, id, parts, minio.PutObjectOptions{})
		object.ETag = info.ETag
		return err
	})
	return object, err
}

func (s *s3Store) sendParts(ctx context.Context, key, id string, buffer []byte, body io.Reader) ([]minio.CompletePart, int64, error) {
	var parts []minio.CompletePart
	var size int64
	for last := false; len(buffer) > 0; {
		if len(parts) == s3MaxParts {
			return nil, 0, fmt.Errorf("%w: an object has at most %d bytes", ErrSize, s3Part*s3MaxParts)
		}
		sum := sha256.Sum256(buffer)
		err := s.call(ctx, int64(len(buffer)), func(ctx context.Context) error {
			part, err := s.core.PutObjectPart(ctx, s.bucket, key, id, len(parts)+1, bytes.NewReader(buffer), int64(len(buffer)),
				minio.PutObjectPartOptions{Sha256Hex: hex.EncodeToString(sum[:]), DisableContentSha256: true})
			if err == nil {
				parts = append(parts, minio.CompletePart{PartNumber: part.PartNumber, ETag: part.ETag})
			}
			return err
		})
		if err != nil {
			return nil, 0, err
		}
		size += int64(len(buffer))
		if last {
			break
		}
		n, err := io.ReadFull(body, buffer[:s3Part])
		last = err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return nil, 0, err
		}
		buffer = buffer[:n]
	}
	return parts, size, nil
}

// putConditional writes an object with a condition. It is not repeated: the second attempt would fail because the first one succeeded.
func (s *s3Store) putConditional(ctx context.Context, name string, body io.Reader, o PutOptions) (Object, error) {
	b, err := readSmall(body)
	if err != nil {
		return Object{}, err
	}
	if err := s.probe(ctx); err != nil {
		return Object{}, err
	}
	object, err := s.putBytes(ctx, s.once, name, b, s.conditions(o))
	if o.IfMatch != "" && errors.Is(err, fs.ErrNotExist) {
		err = as(ErrCondition, errors.New("there is no object")) // S3 answers 404
	}
	return object, err
}

func (s *s3Store) conditions(o PutOptions) minio.PutObjectOptions {
	options := s.putOptions(o)
	if o.IfNone {
		options.SetMatchETagExcept("*")
	}
	if o.IfMatch != "" {
		options.SetMatchETag(o.IfMatch)
	}
	return options
}

// probe makes sure once that the server honours conditions: one that ignores them would let every writer win.
func (s *s3Store) probe(ctx context.Context) error {
	s.probing.Lock()
	defer s.probing.Unlock()
	if s.honoured {
		return nil
	}
	name := reserved + "probe/" + rand.Text()
	defer func() {
		ctx, cancel := s.options.cleanUp(ctx)
		defer cancel()
		s.remove(ctx, name)
	}()
	if _, err := s.putBytes(ctx, s.once, name, nil, s.conditions(PutOptions{IfNone: true})); err != nil {
		return fmt.Errorf("probe conditions: %w", err)
	}
	for _, c := range []struct {
		header string
		PutOptions
	}{{"If-None-Match", PutOptions{IfNone: true}}, {"If-Match", PutOptions{IfMatch: "00000000000000000000000000000000"}}} {
		_, err := s.putBytes(ctx, s.once, name, nil, s.conditions(c.PutOptions))
		switch {
		case err == nil:
			return as(errors.ErrUnsupported, fmt.Errorf("the S3 server ignores %s", c.header))
		case !errors.Is(err, ErrCondition):
			return fmt.Errorf("probe %s: %w", c.header, err)
		}
	}
	s.honoured = true
	return nil
}
