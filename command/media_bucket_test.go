package command_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"svc/internal/objects/objectstest"
)

// bucketSettings are the settings for media on a place, with a bucket at an address.
func bucketSettings(address, storage string) string {
	return fmt.Sprintf("[media]\nstorage = %q\nbucket = \"s3://bucket/svc?endpoint=http://%s\"\n[s3]\naccess_key = %q\nsecret_key = %q\n",
		storage, address, objectstest.User, objectstest.Secret)
}

// useBucket writes the settings anew.
func (p *workspace) useBucket(address, storage string) {
	p.write("config.toml", fmt.Sprintf("[server]\nlisten = %q\nurl = %q\n%s", strings.TrimPrefix(p.url, "http://"), p.url, bucketSettings(address, storage)))
}

// picture returns a PNG file of a colour.
func picture(n int) []byte {
	m := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	for i := range 64 {
		m.Set(i%8, i/8, color.NRGBA{byte(n), byte(i), 0, 255})
	}
	var b bytes.Buffer
	png.Encode(&b, m)
	return b.Bytes()
}

// mediaOnDisk returns how many files the media folder has.
func (p *workspace) mediaOnDisk() int {
	list, err := filepath.Glob(p.path("data", "media", "??", "*"))
	if err != nil {
		p.t.Fatal(err)
	}
	return len(list)
}

// TestMediaInBucket uploads to the disk, moves the files to a bucket with a server that is killed, checks, backs up, restores and moves them back.
func TestMediaInBucket(t *testing.T) {
	const uploads = 12
	bucket := objectstest.New(t)
	p := newWorkspace(t, bucketSettings(bucket.Address, "disk"))
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.addToken("alice", "t")
	s := p.serve()
	for i := range uploads {
		if status := p.upload("t", picture(i)); status != 200 {
			t.Fatalf("upload: %d", status)
		}
	}
	files := p.mediaOnDisk()
	if n := len(bucket.Keys()); n != 0 || files < uploads {
		t.Fatalf("in the bucket are %d objects, on disk %d files", n, files)
	}
	p.run("media", "move", "--to", "s3").fails(1, "media.storage")
	s.stop()

	p.useBucket(bucket.Address, "s3")
	var puts atomic.Int64
	bucket.Fail(func(w http.ResponseWriter, r *http.Request) bool { // hangs in the middle of the move
		if r.Method == http.MethodPut && puts.Add(1) > uploads/2 {
			return objectstest.Hangs(w, r)
		}
		return false
	})
	s = p.serve()
	if status, _ := p.get("/api/v1/instance", ""); status != 200 {
		t.Errorf("the instance: %d", status)
	}
	p.run("media", "move", "--to", "s3").ok()
	for end := time.Now().Add(time.Minute); puts.Load() <= uploads/2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the move does not begin")
		}
	}
	s.signal(syscall.SIGKILL)
	<-s.done
	bucket.Fail(nil)
	s = p.serve()
	if out := p.run("media", "move", "--to", "s3", "--wait").ok(); !strings.Contains(out, "Moved") {
		t.Errorf("it prints %q", out)
	}
	if n := len(bucket.Keys()); n != files || p.mediaOnDisk() != 0 {
		t.Errorf("in the bucket are %d objects, on disk %d files, want %d", n, p.mediaOnDisk(), files)
	}
	if status := p.upload("t", picture(100)); status != 200 {
		t.Errorf("upload to the bucket: %d", status)
	}
	p.run("media", "verify", "--all").ok()
	p.run("verify", "--all").ok()

	bucket.Fail(objectstest.Down)
	if status := p.upload("t", picture(101)); status != 503 {
		t.Errorf("upload while the bucket is down: %d", status)
	}
	if status, _, err := p.request(t.Context(), "POST", "/api/v1/statuses?status=text", "t", nil); status != 200 || err != nil {
		t.Errorf("a post while the bucket is down: %d, %v", status, err)
	}
	p.run("media", "verify").fails(1, "cannot be reached")
	p.run("backup", "down.tar").fails(1, "cannot be reached")
	bucket.Fail(nil)
	s.waitUntil("upload", func() bool { return p.upload("t", picture(102)) == 200 })
	files = len(bucket.Keys()) // each of one upload, since no picture is uploaded twice

	p.run("backup", "full.tar").ok()
	p.run("verify", "full.tar").ok()
	p.run("backup", "--no-media", "small.tar").ok()
	large, err := os.Stat(p.path("full.tar"))
	if err != nil {
		t.Fatal(err)
	}
	if small, err := os.Stat(p.path("small.tar")); err != nil || small.Size() >= large.Size() {
		t.Errorf("with media %d bytes, without %d, %v", large.Size(), small.Size(), err)
	}
	broken := bucket.Keys()[0]
	bucket.Change(broken, func(b []byte) []byte { b = bytes.Clone(b); b[len(b)-1] ^= 1; return b })
	if out := p.problems(1, "--all"); !strings.Contains(out, "damaged_file") {
		t.Errorf("a damaged object: %s", out)
	}
	bucket.Change(broken, func([]byte) []byte { return nil })
	if out := p.problems(1); !strings.Contains(out, "missing_") {
		t.Errorf("a lost object: %s", out)
	}
	if out := p.run("config", "show").ok() + s.log.String(); strings.Contains(out, objectstest.Secret) {
		t.Error("a secret is printed")
	}
	s.stop()

	p.run("restore", "--force", "full.tar").ok()
	if n := p.mediaOnDisk(); n != files {
		t.Errorf("restored are %d files, want %d", n, files)
	}
	p.useBucket(bucket.Address, "disk")
	if out := p.run("media", "move", "--to", "disk", "--wait").ok(); !strings.Contains(out, "to disk") { // without a server
		t.Errorf("it prints %q", out)
	}
	if n := len(bucket.Keys()); n != 0 {
		t.Errorf("left in the bucket are %d objects", n)
	}
	p.run("media", "verify").ok()
}
