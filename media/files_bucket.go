package media

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"time"

	"svc/internal/cache"
	"svc/internal/errs"
	"svc/internal/limit"
	"svc/internal/objects"
)

// Files in a bucket have the same names as on disk. A file is looked up on disk first, because that costs nothing, and then in the bucket; the content
// of a name is the same at both. So files can be moved while they are served, and those of a backup that was restored to the disk are found.

// inBucket is the bucket of Files or Archives.
type inBucket struct {
	*Bucket
	newFiles  bool                              // are stored there
	names     *limit.Slots[string]              // held while the object of a name is written, removed or moved
	uncertain *cache.Expiring[string, struct{}] // names whose removal may still be carried out
}

const maxNameLocks = 1000

// UseBucket makes the store read files that are not on disk from a bucket, and store new ones there if newFiles is set. nil: there is none. It must
// be called before anything else uses the store.
func (f *Files) UseBucket(b *Bucket, newFiles bool) {
	if b == nil {
		return
	}
	f.bucket = newInBucket(b, newFiles)
}

func newInBucket(b *Bucket, newFiles bool) *inBucket {
	return &inBucket{b, newFiles, limit.NewSlots[string](maxNameLocks, 1, maxNameLocks), cache.NewExpiring[string, struct{}](maxUncertainNames)}
}

// HasBucket returns true if files may be in a bucket.
func (f *Files) HasBucket() bool { return f != nil && f.bucket != nil }

// openBucket opens a file that was not on disk. One that is not in the bucket either may have been moved to the disk meanwhile.
func (f *Files) openBucket(ctx context.Context, client netip.Addr, name string, whole bool) (*Content, error) {
	content, err := f.bucket.open(ctx, client, mediaObjects+name, whole)
	if !errors.Is(err, fs.ErrNotExist) {
		return content, err
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, err
	}
	return onDisk(file)
}

// claim keeps a file until its release.
func (f *Files) claim(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.claims[name]++
}

func (f *Files) isClaimed(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.claims[name] > 0
}

// upload stores the content in the bucket under its name, and claims it. The caller discards the file.
func (t *temp) upload(ctx context.Context, name string) (err error) {
	info, err := t.Stat()
	if err != nil {
		return err
	}
	f := t.files
	f.claim(name)
	defer func() {
		if err != nil {
			f.release(name)
		}
	}()
	release, err := f.bucket.names.Take(ctx, name)
	if err != nil {
		return busy(ctx, err)
	}
	defer release()
	if _, uncertain := f.bucket.uncertain.Get(name, time.Now()); uncertain {
		return unavailable(uncertainRemoval, errors.New("the removal of the same file got no answer"))
	}
	return f.bucket.put(ctx, mediaObjects+name, io.NewSectionReader(readerAt{ctx, t}, 0, info.Size()), info.Size(), typeOf(name))
}

// removeFromBucket removes a file from the bucket that no upload has claimed and no row has. The lock of its name is held. The time of an object is
// that of another clock, so that the row decides: an upload of the same content has one before it ends its claim.
func (f *Files) removeFromBucket(ctx context.Context, name string) (bool, error) {
	if f.isClaimed(name) {
		return false, nil
	}
	if db := f.bans.Load(); db != nil {
		if used, err := db.HasStoredFile(ctx, name); used || err != nil {
			return false, err
		}
	}
	if err := f.bucket.remove(ctx, mediaObjects+name); err != nil {
		f.bucket.uncertain.Put(name, struct{}{}, uncertainRemoval, time.Now())
		return false, err
	}
	return true, nil
}

// WalkBucket calls fn for the files that are only in the bucket, in the order of their names.
func (f *Files) WalkBucket(ctx context.Context, fn func(Entry) error) error {
	return f.walkBucket(ctx, "", fn)
}

// walkBucket is WalkBucket for a folder of names, "" for all.
func (f *Files) walkBucket(ctx context.Context, folder string, fn func(Entry) error) error {
	if f.bucket == nil {
		return nil
	}
	return f.bucket.each(ctx, mediaObjects, folder, func(name string, o objects.Object) error {
		if !validName(name) {
			return nil
		}
		if _, err := f.root.Lstat(name); err == nil {
			return nil // being moved
		}
		return fn(Entry{Name: name, Size: o.Size, ModTime: o.Modified, InBucket: true})
	})
}

// statBucket returns the entry of a file in the bucket, nil if it does not exist.
func (f *Files) statBucket(ctx context.Context, name string) (*Entry, error) {
	o, err := f.bucket.stat(ctx, mediaObjects+name)
	if errors.Is(err, fs.ErrNotExist) {
		if info, err := f.root.Lstat(name); err == nil { // it was moved meanwhile
			return &Entry{Name: name, Size: info.Size(), ModTime: info.ModTime()}, nil
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Entry{Name: name, Size: o.Size, ModTime: o.Modified, InBucket: true}, nil
}

// SweepBucket removes what interrupted uploads have left in the bucket invisibly.
func (f *Files) SweepBucket(ctx context.Context) error {
	if f.bucket == nil {
		return nil
	}
	return f.bucket.sweep(ctx)
}

// serveBucket serves a file that is not on disk. The headers of a success are set.
func (f *Files) serveBucket(w http.ResponseWriter, r *http.Request, client netip.Addr, name string) {
	if f.bucket.redirect && isInert(typeOf(name)) {
		f.redirect(w, r, name)
		return
	}
	content, err := f.openBucket(r.Context(), client, name, wantsWhole(r))
	if err != nil {
		dropFileHeaders(w.Header())
		if r.Context().Err() == nil {
			serveError(w, err)
		}
		return
	}
	defer content.Close()
	http.ServeContent(w, r, "", time.Time{}, content)
}

// redirect sends the client to a signed address, which nothing keeps longer than it is valid.
func (f *Files) redirect(w http.ResponseWriter, r *http.Request, name string) {
	h := w.Header()
	address, err := f.bucket.sign(r.Context(), mediaObjects+name, h.Get("Content-Type"), h.Get("Content-Disposition"))
	dropFileHeaders(h)
	if err != nil {
		serveError(w, err)
		return
	}
	h.Set("Location", address.String())
	h.Set("Cache-Control", "private, max-age="+wholeSeconds(redirectCacheTime))
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(http.StatusFound)
}

// isInert returns whether browsers never take content of a type for a page or a script, although a bucket sends no X-Content-Type-Options: content
// declared as a picture, sound or video stays one (MIME Sniffing, section 7), and SVG is none of the accepted types.
func isInert(mime string) bool {
	major, minor, _ := strings.Cut(mime, "/")
	return (major == "image" || major == "video" || major == "audio") && !strings.Contains(minor, "xml")
}

// dropFileHeaders removes the headers that describe a file.
func dropFileHeaders(h http.Header) {
	for _, name := range []string{"Content-Type", "Content-Disposition", "Cache-Control", "Etag"} {
		h.Del(name)
	}
}

// serveError answers with an error of a file that could not be opened.
func serveError(w http.ResponseWriter, err error) {
	var e *errs.Error
	switch {
	case errors.Is(err, fs.ErrNotExist):
		http.Error(w, "Not found", http.StatusNotFound)
	case errors.As(err, &e):
		w.Header().Set("Cache-Control", "no-store")
		if e.RetryAfter > 0 {
			w.Header().Set("Retry-After", wholeSeconds(e.RetryAfter))
		}
		http.Error(w, e.Message, e.Status)
	default:
		http.Error(w, "Internal server error", http.StatusInternalServerError)
	}
}

// wholeSeconds returns a duration as headers have it.
func wholeSeconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }

// typeOf returns the content type of a stored name.
func typeOf(name string) string { return mimeByExt[strings.TrimPrefix(path.Ext(name), ".")] }
