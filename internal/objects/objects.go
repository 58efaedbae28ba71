// Package objects stores named objects in a folder, in a bucket of S3, or in a folder of an SFTP server. Backups, copies and media use it.
//
// All three behave alike: an object is visible as a whole or not at all, List sorts by the bytes of names, and errors.Is distinguishes errors.
// Callers decide what an object means, whether it is encrypted and how long it is kept.
//
// Limits: a name has at most 512 bytes, a page 10 000 objects, an object that is put with a condition 1 MiB, another object on S3 117 GiB, XML of an
// S3 server 1 MiB. A Put needs at most 16 MiB of memory for an object of any size. An operation fails after 30 seconds without progress, unless
// Options say otherwise.
//
// The build tag nosftp leaves out SFTP with its library.
package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"
)

// Errors of places, besides fs.ErrNotExist for an object that is not there and errors.ErrUnsupported for what a place cannot do.
var (
	// ErrRefused means that the place does not accept the credentials, or that they do not permit the operation.
	ErrRefused = errors.New("refused")
	// ErrFull means that the place has no space left, or that a quota is used up.
	ErrFull = errors.New("no space left")
	// ErrUnreachable means that no or half an answer came. A Put that failed with it may have been completed, nevertheless.
	ErrUnreachable = errors.New("unreachable")
	// ErrIdentity means that the host key of an SFTP server is not the expected one or that none is known, or that the certificate of an S3 server
	// is not trusted. Nothing secret was sent.
	ErrIdentity = errors.New("server not verified")
	// ErrCondition means that the condition of a Put was not met: nothing was written.
	ErrCondition = errors.New("condition not met")
	// ErrName means that a name is not valid.
	ErrName = errors.New("invalid name")
	// ErrSize means that an object is larger than allowed, or that its body does not have the size that was named.
	ErrSize = errors.New("wrong size")
)

const (
	// MaxPage is how many objects List returns at most.
	MaxPage = 10_000
	// MaxConditional is the size, in bytes, of the largest object that can be written with a condition. S3 has conditions for single requests only.
	MaxConditional = 1 << 20
)

// Object describes an object of a place.
type Object struct {
	Name     string
	Size     int64     // in bytes
	Modified time.Time // when it was written, by the clock of the place; whole seconds on SFTP
	ETag     string    // of this version; on S3 the same for the same content; empty on SFTP
}

// PutOptions are conditions and properties of a Put.
type PutOptions struct {
	// IfNone writes only if there is no object of the name. Of several writers, exactly one succeeds: S3 uses If-None-Match, a folder and SFTP
	// a hard link, which does not overwrite, and a folder without hard links renameat2 (Linux). A probe before the first use detects an S3 server
	// that ignores the condition. Put returns errors.ErrUnsupported if the place cannot guarantee it. A Put without a condition and a Delete
	// are not excluded: do not use them for the same name.
	IfNone bool
	// IfMatch writes only if the object is there and has this ETag. S3 uses If-Match, which is probed, too. Its ETag is that of the content, so that
	// each version needs a content of its own. A folder uses a lock (flock), which excludes the processes of one machine, and those of others
	// if the file system shares locks. SFTP returns errors.ErrUnsupported, because it cannot compare and replace in one step.
	IfMatch string
	// ContentType is kept by S3 only.
	ContentType string
}

func (o PutOptions) conditional() bool { return o.IfNone || o.IfMatch != "" }

// Store keeps objects. It is safe for concurrent use. All operations end with their context, except that a folder blocks while its disk does.
type Store interface {
	// Put writes or replaces an object, and returns when it is durable. size is that of body in bytes, or -1 if it is not known; a body of another
	// size is ErrSize. A condition that is not met is ErrCondition. After an error nothing of the object is visible, except that after
	// ErrUnreachable the whole object may be there: a caller with a condition has to read it. An SFTP server cannot sync folders, and only some
	// sync files. Requests to S3 without a condition are repeated twice if the server does not answer.
	Put(ctx context.Context, name string, body io.Reader, size int64, options PutOptions) (Object, error)
	// Get opens an object from an offset on, at most length bytes, or to the end if length is negative. An offset behind the end has no bytes and
	// is no error. The Object has the whole size. The reader returns an error if the place sends less than it announced; ctx bounds it, too.
	Get(ctx context.Context, name string, offset, length int64) (io.ReadCloser, Object, error)
	// Stat describes an object.
	Stat(ctx context.Context, name string) (Object, error)
	// List returns at most limit objects, up to MaxPage, whose names begin with prefix and come behind after, in the order of the bytes of
	// their names. Fewer than limit means that there are no more. The prefix need not end at a slash.
	List(ctx context.Context, prefix, after string, limit int) ([]Object, error)
	// Delete removes an object. That there is none is no error.
	Delete(ctx context.Context, name string) error
	// Sweep removes what Puts that were interrupted more than age ago left behind invisibly: temporary files, parts of uploads. It returns how many.
	// An age below the duration of the longest Put breaks that Put.
	Sweep(ctx context.Context, age time.Duration) (int, error)
	// Close ends connections. Operations that still run fail.
	Close() error
}

// SignOptions are what a signed address makes the place answer with. They are part of the signature.
type SignOptions struct {
	Valid       time.Duration // from 1 second to MaxSigned
	ContentType string
	Disposition string // value of Content-Disposition
}

// MaxSigned is how long a signed address can be valid.
const MaxSigned = 10 * time.Minute

// Signer is a Store that makes addresses from which anybody can GET an object until they expire. S3 is one. Making one is no request.
type Signer interface {
	SignGet(ctx context.Context, name string, options SignOptions) (string, error)
}

// Open returns the store of a location. It connects to an SFTP server, makes a folder that is missing, and checks that the bucket is there, so that
// wrong settings are noticed at once, unless options say otherwise.
func Open(ctx context.Context, location Location, options Options) (Store, error) {
	options = options.withDefaults()
	var s Store
	var err error
	switch location.Kind {
	case S3:
		s, err = openS3(ctx, location, options)
	case SFTP:
		s, err = openSFTP(ctx, location, options)
	case Folder:
		s, err = openFolder(location, options)
	default:
		err = errors.New("no location")
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", location, err)
	}
	return s, nil
}

// All returns all objects whose names begin with prefix, page by page. It ends after an error.
func All(ctx context.Context, s Store, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for after := ""; ; {
			page, err := s.List(ctx, prefix, after, MaxPage)
			if err != nil {
				yield(Object{}, err)
				return
			}
			for _, o := range page {
				if !yield(o, nil) {
					return
				}
			}
			if len(page) < MaxPage {
				return
			}
			after = page[len(page)-1].Name
		}
	}
}

// failed returns an error with the operation and the name, or nil.
func failed(operation, name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w", operation, name, err)
}

// as returns err as an error of one of the kinds above. The text has both.
func as(kind, err error) error {
	if err == nil || errors.Is(err, kind) {
		return err
	}
	return fmt.Errorf("%w: %w", kind, err)
}
