package media

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"image"
	"io"
	"path"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// Kind is the purpose of an upload.
type Kind int

const (
	Attachment Kind = iota // of a post: all accepted formats
	Avatar
	Header
	Background
	Emoji
	Mascot
	Preview // picture of a video or sound; only its thumbnail is stored
)

// kindRules are the rules for each Kind.
var kindRules = [...]struct {
	pictures bool        // only pictures that can be decoded
	box      image.Point // maximum size of thumbnails; zero: none are made
	still    bool        // an animation always gets a thumbnail as its still picture
	blurhash bool
}{
	Attachment: {box: image.Pt(640, 640), still: true, blurhash: true},
	Avatar:     {pictures: true, box: image.Pt(400, 400), still: true},
	Header:     {pictures: true, box: image.Pt(1500, 500), still: true},
	Background: {pictures: true},
	Emoji:      {pictures: true, box: image.Pt(128, 128), still: true},
	Mascot:     {pictures: true, box: image.Pt(640, 640)},
	Preview:    {pictures: true, box: image.Pt(640, 640), still: true, blurhash: true},
}

// ErrUnsupported is returned for content of a format that is not accepted.
var ErrUnsupported = errs.Invalid("Files of this type are not accepted")

// ErrNotPicture is returned for content that is no picture where only pictures can be used. Its text is the same, because apps show it for any upload.
var ErrNotPicture = errs.Invalid("%s", ErrUnsupported.Message)

// File is a stored upload.
type File struct {
	Name      string // in Files, and path below /media/
	MIME      string // by content
	Size      int64
	SHA256    string // hexadecimal
	Width     int    // as displayed; 0 if not known
	Height    int
	Duration  time.Duration // likewise
	FrameRate float64       // frames a second, likewise
	Thumbnail string        // name of a smaller or still picture, PNG or JPEG; "" if there is none
	ThumbSize image.Point
	Blurhash  string // "" if the picture was not decoded

	thumbnailSize int64  // bytes
	thumbnailSum  string // SHA-256, hexadecimal
	files         *Files
	owner         store.AccountID
}

// Stored returns the records of the files, for the transaction that refers to them; none for nil.
func (file *File) Stored(class store.FileClass) []store.StoredFile {
	if file == nil {
		return nil
	}
	files := []store.StoredFile{{Name: file.Name, Class: class, Bytes: diskUsage(file.Size), SHA256: file.SHA256}}
	if file.Thumbnail != "" {
		files = append(files, store.StoredFile{Name: file.Thumbnail, Class: class, Bytes: diskUsage(file.thumbnailSize), SHA256: file.thumbnailSum})
	}
	return files
}

// Release ends the claim on the stored files. Call it when a row refers to them, or when none will: unused files are removed later.
func (file *File) Release() {
	if file == nil {
		return
	}
	file.files.release(file.Name)
	if file.Thumbnail != "" {
		file.files.release(file.Thumbnail)
	}
}

// ReserveOther returns an empty reservation for files beside the uploads, such as archives that are imported.
func (f *Files) ReserveOther() *Reservation { return f.budget.Load().Reserve(OtherFiles) }

// RemeasureOther makes the next reservation measure the data directory again, because files beside the uploads were removed.
func (f *Files) RemeasureOther() { f.budget.Load().Remeasure() }

// Ingest stores the content of r for an owner, without its metadata, and returns when it is on disk or in the bucket. It reads slightly more than maxBytes at most.
// Content that is too long, not accepted for the kind, damaged, or too costly is rejected with an errs.Error, and nothing is stored.
// No clean-up removes the files until File.Release.
func (f *Files) Ingest(ctx context.Context, owner store.AccountID, r io.Reader, kind Kind, maxBytes int64) (*File, error) {
	room := f.budget.Load().Reserve(Uploads)
	defer room.Release()
	up := &upload{ctx: ctx, r: r, left: maxBytes, room: room}
	if banned, err := f.hasBans(ctx); err != nil {
		return nil, err
	} else if banned {
		up.sum = sha256.New()
	}
	head := make([]byte, sniffLength)
	n, err := io.ReadFull(up, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if up.err != nil {
		return nil, up.err
	}
	if n == 0 {
		return nil, errs.Invalid("The file is empty")
	}
	format, err := sniff(head[:n], kind)
	if err != nil {
		return nil, err
	}

	t, err := f.newTemp()
	if err != nil {
		return nil, err
	}
	defer t.discard()
	if _, err := t.Write(head[:n]); err != nil {
		return nil, writeError(err)
	}
	rest, err := io.Copy(t, up)
	if up.err != nil {
		return nil, up.err
	}
	if err != nil {
		return nil, writeError(err)
	}
	size := int64(n) + rest

	found, size, err := stripMetadata(t, size, format.scan, f.limits)
	if err != nil {
		return nil, err
	}
	format = format.refine(found)
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(t, 0, size)); err != nil {
		return nil, fmt.Errorf("hash upload: %w", err)
	}

	content := [sha256.Size]byte(sum.Sum(nil))
	file := &File{
		Name:      f.storedName(owner, content, format.ext),
		MIME:      format.mime,
		Size:      size,
		SHA256:    hex.EncodeToString(content[:]),
		Width:     found.width,
		Height:    found.height,
		Duration:  found.duration,
		FrameRate: found.frameRate,
		files:     f,
		owner:     owner,
	}
	if found.rotated() {
		file.Width, file.Height = file.Height, file.Width
	}
	var data []byte // of the thumbnail
	if format.decode != nil {
		src := io.NewSectionReader(readerAt{ctx, t}, 0, size)
		if data, err = f.preview(ctx, src, format, found, kind, file); err == nil {
			err = room.Grow(ctx, int64(len(data)))
		}
		if err != nil {
			return nil, err
		}
	}
	if up.sum != nil {
		if err := f.checkBans(ctx, up.sum.Sum(nil), file); err != nil {
			return nil, err
		}
	}
	if kind == Preview && data != nil {
		err = f.storeOnlyThumbnail(ctx, file, data)
	} else {
		err = f.storeWithThumbnail(ctx, t, file, data)
	}
	if err != nil {
		return nil, err
	}
	return file, nil
}

// storeWithThumbnail stores a file and, if it has one, its thumbnail.
func (f *Files) storeWithThumbnail(ctx context.Context, t *temp, file *File, thumbnail []byte) error {
	if thumbnail != nil {
		if err := f.storeBytes(ctx, file.Thumbnail, thumbnail); err != nil {
			return err
		}
	}
	if err := t.store(ctx, file.Name); err != nil {
		if thumbnail != nil {
			f.release(file.Thumbnail)
		}
		return err
	}
	return nil
}

// storeOnlyThumbnail makes the thumbnail the file.
func (f *Files) storeOnlyThumbnail(ctx context.Context, file *File, thumbnail []byte) error {
	file.Name, file.Thumbnail, file.Size = file.Thumbnail, "", int64(len(thumbnail))
	file.MIME = mimeByExt[strings.TrimPrefix(path.Ext(file.Name), ".")]
	file.SHA256 = file.thumbnailSum
	file.Width, file.Height = file.ThumbSize.X, file.ThumbSize.Y
	return f.storeBytes(ctx, file.Name, thumbnail)
}

// upload is the body of an upload. Reading fails if it is too long or the context has ended.
type upload struct {
	ctx  context.Context
	r    io.Reader
	left int64
	room *Reservation
	sum  hash.Hash // of the bytes read; nil: not needed
	err  error     // other than io.EOF
}

func (u *upload) Read(p []byte) (int, error) {
	if u.err != nil {
		return 0, u.err
	}
	if u.err = u.ctx.Err(); u.err != nil {
		return 0, u.err
	}
	if int64(len(p)) > u.left+1 {
		p = p[:u.left+1]
	}
	n, err := u.r.Read(p)
	u.left -= int64(n)
	switch {
	case u.left < 0:
		u.err = errs.TooLarge("File is too large")
	case errors.Is(err, io.ErrUnexpectedEOF):
		u.err = &errs.Error{Status: 400, Message: "The upload is incomplete", Err: err}
	case err != nil && err != io.EOF:
		u.err = fmt.Errorf("receive upload: %w", err)
	default:
		if u.sum != nil {
			u.sum.Write(p[:n])
		}
		if u.err = u.room.Grow(u.ctx, int64(n)); u.err == nil {
			return n, err
		}
	}
	return n, u.err
}

// readerAt fails when its context ends, so that decoding stops when the client disconnects.
type readerAt struct {
	ctx context.Context
	io.ReaderAt
}

func (r readerAt) ReadAt(p []byte, off int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.ReaderAt.ReadAt(p, off)
}
