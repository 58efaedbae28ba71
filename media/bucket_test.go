package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/objects"
	"svc/internal/objects/objectstest"
)

const testStall = time.Second

// openTestBucket opens a bucket at an address with a short time until the first byte. Its log goes to the buffer.
func openTestBucket(t testing.TB, address string, redirect bool, log *bytes.Buffer) *Bucket {
	t.Helper()
	location, err := objects.ParseLocation("s3://bucket/prefix?endpoint=http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	store, err := objects.Open(t.Context(), location, objects.Options{
		AccessKey: objectstest.User, SecretKey: objectstest.Secret, Stall: testStall, Unchecked: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	if log != nil {
		logger = slog.New(slog.NewTextHandler(log, nil))
	}
	b := newBucket(store, location.String(), redirect, logger)
	t.Cleanup(func() { b.Close() })
	return b
}

// bucketFiles returns a store whose new files go to the bucket at an address.
func bucketFiles(t testing.TB, address string) (*Files, string) {
	t.Helper()
	f, dir := openFiles(t, Limits{})
	f.UseBucket(openTestBucket(t, address, false, nil), true)
	return f, dir
}

// eachS3 runs a test with the server in memory, and with a real one if there is one.
func eachS3(t *testing.T, test func(t *testing.T, address string)) {
	t.Run("in memory", func(t *testing.T) { test(t, objectstest.New(t).Address) })
	t.Run("real", func(t *testing.T) { test(t, objectstest.StartReal(t, t.TempDir())) })
}

func ingest(t testing.TB, f *Files, content []byte) *File {
	t.Helper()
	file, err := f.Ingest(t.Context(), 1, bytes.NewReader(content), Attachment, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	file.Release()
	return file
}

func request(f *Files, method, path string, header map[string]string) *http.Response {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, path, nil)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	f.Handler(netip.Addr{}).ServeHTTP(w, r)
	return w.Result()
}

// TestBucketServesAsDisk compares the answers of a store on disk with those of one in a bucket.
func TestBucketServesAsDisk(t *testing.T) {
	eachS3(t, func(t *testing.T, address string) {
		onDisk, _ := openFiles(t, Limits{})
		inBucket, dir := bucketFiles(t, address)
		content := encodePNG(quarters(200, 300))
		name := ingest(t, onDisk, content).Name
		if got := ingest(t, inBucket, content); got.Name != name {
			t.Fatalf("the names are %s and %s", got.Name, name)
		}
		wantNothingStored(t, dir)
		path := "/media/" + name
		tag := `"` + name[3:len(name)-len(".png")] + `"`
		for _, tt := range []struct {
			method, path string
			header       map[string]string
		}{
			{"GET", path, nil},
			{"HEAD", path, nil},
			{"POST", path, nil},
			{"GET", path + "?name=cat.jpeg", nil},
			{"GET", path, map[string]string{"Range": "bytes=0-3"}},
			{"GET", path, map[string]string{"Range": "bytes=5-"}},
			{"GET", path, map[string]string{"Range": "bytes=-5"}},
			{"GET", path, map[string]string{"Range": "bytes=0-0,5-9,50-"}},
			{"GET", path, map[string]string{"Range": "bytes=999999-"}},
			{"HEAD", path, map[string]string{"Range": "bytes=0-3"}},
			{"GET", path, map[string]string{"Range": "bytes=0-3", "If-Range": `"other"`}},
			{"GET", path, map[string]string{"If-None-Match": tag}},
			{"HEAD", path, map[string]string{"If-None-Match": tag}},
			{"GET", path, map[string]string{"If-None-Match": `"other"`}},
			{"GET", path, map[string]string{"If-Match": `"other"`}},
			{"GET", path, map[string]string{"Accept": "application/activity+json"}},
			{"GET", "/media/00/" + strings.Repeat("0", 40) + ".png", nil},
			{"HEAD", "/media/00/" + strings.Repeat("0", 40) + ".png", nil},
			{"GET", strings.TrimSuffix(path, "png") + "html", nil},
		} {
			want, got := request(onDisk, tt.method, tt.path, tt.header), request(inBucket, tt.method, tt.path, tt.header)
			wantBody, _ := io.ReadAll(want.Body)
			gotBody, _ := io.ReadAll(got.Body)
			if multipart := strings.HasPrefix(want.Header.Get("Content-Type"), "multipart/"); multipart { // the boundary is random
				want.Header.Del("Content-Type")
				got.Header.Del("Content-Type")
				wantBody, gotBody = nil, nil
			}
			// A header that describes the file of an error says nothing, and is left out.
			if want.StatusCode != got.StatusCode || !bytes.Equal(wantBody, gotBody) || fmt.Sprint(want.Header) != fmt.Sprint(got.Header) {
				if want.StatusCode == 404 && got.StatusCode == 404 && bytes.Equal(wantBody, gotBody) {
					continue
				}
				t.Errorf("%s %s %v: from disk %d %v, %d bytes; from the bucket %d %v, %d bytes", tt.method, tt.path, tt.header,
					want.StatusCode, want.Header, len(wantBody), got.StatusCode, got.Header, len(gotBody))
			}
		}
		content2, err := inBucket.OpenFile(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		defer content2.Close()
		if b, err := io.ReadAll(content2); err != nil || !bytes.Equal(b, content) {
			t.Errorf("%d bytes, %v", len(b), err)
		}
	})
}

// TestBucketFaults has a bucket that fails in different ways: reads and writes are refused with a status for which clients try again, missing objects are not
// confused with that, and nothing that was stored is lost.
func TestBucketFaults(t *testing.T) {
	server := objectstest.New(t)
	stored, _ := bucketFiles(t, server.Address)
	content := encodePNG(quarters(40, 30))
	name := ingest(t, stored, content).Name
	lost := ingest(t, stored, encodePNG(quarters(41, 30))).Name
	server.Change("prefix/media/"+lost, func([]byte) []byte { return nil })
	for _, tt := range []struct {
		name            string
		fault           objectstest.Fault
		read, write     int // statuses
		retry, isLogged bool
	}{
		{"down", objectstest.Down, 503, 503, true, true},
		{"hangs", objectstest.Hangs, 503, 503, true, true},
		{"full", objectstest.Full, 200, 507, false, true},
		{"wrong credentials", objectstest.Denies, 503, 503, true, true},
		{"an error of the server", func(w http.ResponseWriter, r *http.Request) bool {
			objectstest.Refuse(w, 500, "InternalError")
			return true
		}, 503, 503, true, true},
		{"no bucket", func(w http.ResponseWriter, r *http.Request) bool {
			objectstest.Refuse(w, 404, "NoSuchBucket")
			return true
		}, 503, 503, true, true},
		{"works", nil, 200, 0, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			f, dir := openFiles(t, Limits{})
			f.UseBucket(openTestBucket(t, server.Address, false, &log), true)
			server.Fail(tt.fault)
			defer server.Fail(nil)
			before := server.Keys()
			begin := time.Now()
			for _, method := range []string{"GET", "HEAD"} {
				answer := request(f, method, "/media/"+name, nil)
				if answer.StatusCode != tt.read || tt.read == 503 && (answer.Header.Get("Retry-After") == "" || answer.Header.Get("Cache-Control") != "no-store" || answer.Header.Get("Etag") != "") {
					t.Errorf("%s: %d %v", method, answer.StatusCode, answer.Header)
				}
			}
			if tt.read == 200 {
				if answer := request(f, "GET", "/media/"+lost, nil); answer.StatusCode != 404 {
					t.Errorf("a lost object: %d", answer.StatusCode)
				}
			}
			_, err := f.Ingest(t.Context(), 1, bytes.NewReader(encodePNG(quarters(50, 50))), Attachment, 1<<20)
			var e *errs.Error
			if errors.As(err, &e); (tt.write == 0) != (err == nil) || err != nil && (e == nil || e.Status != tt.write || tt.retry && e.RetryAfter <= 0 || !errors.Is(err, ErrBucket)) {
				t.Errorf("upload: %v", err)
			}
			if took := time.Since(begin); took > 20*testStall {
				t.Errorf("it took %s", took)
			}
			if len(f.claims) > 0 && err != nil {
				t.Errorf("claims are left: %v", f.claims)
			}
			wantNothingStored(t, dir)
			if after := server.Keys(); tt.write != 0 && len(after) != len(before) {
				t.Errorf("the bucket has %q, had %q", after, before)
			}
			if text := log.String(); (text != "") != tt.isLogged || strings.Contains(text, objectstest.Secret) || strings.Count(text, "level=ERROR") > 2 {
				t.Errorf("the log is %s", text)
			}
			if err != nil && strings.Contains(err.Error(), objectstest.Secret) {
				t.Error(err)
			}
			server.Fail(nil)
			for end := time.Now().Add(time.Minute); request(f, "GET", "/media/"+name, nil).StatusCode != 200; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the file is not served after the bucket works again")
				}
			}
		})
	}
}

// TestBucketEndsEarly has a bucket that closes the connection in the middle of a file: the client does not take what it got for the whole.
func TestBucketEndsEarly(t *testing.T) {
	server := objectstest.New(t)
	f, _ := bucketFiles(t, server.Address)
	name := ingest(t, f, encodePNG(quarters(200, 200))).Name
	size := 0
	server.Change("prefix/media/"+name, func(b []byte) []byte { size = len(b); return b })
	server.Fail(func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Length", fmt.Sprint(size))
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		w.Write(make([]byte, 10))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	front := httptest.NewServer(f.Handler(netip.Addr{}))
	defer front.Close()
	answer, err := http.Get(front.URL + "/media/" + name)
	if err != nil {
		return // the connection was closed before the header was sent
	}
	defer answer.Body.Close()
	if b, err := io.ReadAll(answer.Body); answer.StatusCode == 200 && err == nil {
		t.Errorf("%d bytes of %d look complete", len(b), size)
	}
}

// TestBucketReadsAreBounded has clients that read nothing of what they get: others from other networks are served, and those of the same one get 503.
func TestBucketReadsAreBounded(t *testing.T) {
	server := objectstest.New(t)
	b := openTestBucket(t, server.Address, false, nil)
	if err := b.put(t.Context(), "media/x", strings.NewReader("content"), 7, "image/png"); err != nil {
		t.Fatal(err)
	}
	greedy, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	var open []*Content
	for range readsPerClient {
		c, err := b.open(t.Context(), greedy, "media/x", true)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*readPatience)
	defer cancel()
	if c, err := b.open(ctx, greedy, "media/x", true); !errors.Is(err, ErrBucket) {
		t.Errorf("one more is %v, %v", c, err)
	}
	c, err := b.open(ctx, other, "media/x", true)
	if err != nil {
		t.Fatal(err)
	}
	open = append(open, c)
	for len(open) < maxBucketReads {
		c, err := b.open(ctx, netip.Addr{}, "media/x", false)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	if _, err := b.open(ctx, netip.Addr{}, "media/x", true); !errors.Is(err, ErrBucket) {
		t.Errorf("more than all places: %v", err)
	}
	for _, c := range open {
		c.Close()
	}
	if c, err := b.open(t.Context(), greedy, "media/x", true); err != nil {
		t.Error(err)
	} else {
		c.Close()
	}
}

// TestBucketPutsAreBounded has a bucket that takes nothing: uploads at the same time hold a bounded amount of memory, and further ones are refused.
func TestBucketPutsAreBounded(t *testing.T) {
	server := objectstest.New(t)
	var mu sync.Mutex
	running, most := 0, 0
	server.Fail(func(_ http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		defer func() { mu.Lock(); running--; mu.Unlock() }()
		return objectstest.Hangs(nil, r)
	})
	b := openTestBucket(t, server.Address, false, nil)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			err := b.put(t.Context(), fmt.Sprintf("media/%d", i), bytes.NewReader(make([]byte, 10<<20)), 10<<20, "video/mp4")
			if !errors.Is(err, ErrBucket) {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	all.Wait()
	mu.Lock() // requests whose upload has ended may still run in the server
	defer mu.Unlock()
	if limit := bucketPutMemory / (10 << 20); most > limit {
		t.Errorf("%d uploads at the same time, want %d", most, limit)
	}
}

// TestRedirect has the redirect: the address is signed for type and name, ends within 10 minutes, and is in no shared cache. Files on disk are served.
func TestRedirect(t *testing.T) {
	eachS3(t, func(t *testing.T, address string) {
		f, _ := openFiles(t, Limits{})
		content := encodePNG(quarters(40, 30))
		onDisk := ingest(t, f, content).Name
		f.UseBucket(openTestBucket(t, address, true, nil), true)
		name := ingest(t, f, encodePNG(quarters(20, 20))).Name
		if answer := request(f, "GET", "/media/"+onDisk, nil); answer.StatusCode != 200 {
			t.Errorf("a file on disk: %d", answer.StatusCode)
		}
		answer := request(f, "GET", "/media/"+name+"?name=cat.jpeg", nil)
		location, err := url.Parse(answer.Header.Get("Location"))
		if err != nil || answer.StatusCode != 302 || location.Host != address {
			t.Fatalf("%d to %s", answer.StatusCode, location)
		}
		body, _ := io.ReadAll(answer.Body)
		if strings.Contains(string(body), "X-Amz-Signature") || answer.Header.Get("Cache-Control") != "private, max-age=300" || answer.Header.Get("Referrer-Policy") != "no-referrer" || answer.Header.Get("Etag") != "" {
			t.Errorf("%v %s", answer.Header, body)
		}
		query := location.Query()
		if query.Get("X-Amz-Expires") != "600" || query.Get("response-content-type") != "image/png" || query.Get("response-content-disposition") != "inline; filename=cat.png" {
			t.Errorf("the query is %v", query)
		}
		file, err := http.Get(location.String())
		if err != nil {
			t.Fatal(err)
		}
		defer file.Body.Close()
		if file.StatusCode != 200 || file.Header.Get("Content-Type") != "image/png" || file.Header.Get("Content-Disposition") != "inline; filename=cat.png" {
			t.Errorf("%d %v", file.StatusCode, file.Header)
		}
		if answer := request(f, "GET", strings.TrimSuffix("/media/"+name, "png")+"html", nil); answer.StatusCode != 404 {
			t.Errorf("another type: %d", answer.StatusCode)
		}
	})
}

// TestInertTypes has every type that is served: none of them can be taken for a page or a script.
func TestInertTypes(t *testing.T) {
	for ext, mime := range mimeByExt {
		if !isInert(mime) {
			t.Errorf("%s is served as %s, which browsers may take for something else", ext, mime)
		}
	}
	for _, mime := range []string{"text/html", "image/svg+xml", "application/pdf", "text/plain", ""} {
		if isInert(mime) {
			t.Errorf("%s is inert", mime)
		}
	}
}

// TestRemoveFromBucket removes objects that nothing has claimed.
func TestRemoveFromBucket(t *testing.T) {
	server := objectstest.New(t)
	f, _ := bucketFiles(t, server.Address)
	file, err := f.Ingest(t.Context(), 1, bytes.NewReader(encodePNG(quarters(10, 10))), Attachment, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if removed, err := f.RemoveOlder(t.Context(), file.Name, time.Now().Add(time.Hour)); removed || err != nil {
		t.Errorf("a claimed file: %v, %v", removed, err)
	}
	file.Release()
	server.Fail(objectstest.Down)
	if removed, err := f.RemoveOlder(t.Context(), file.Name, time.Now().Add(time.Hour)); removed || !errors.Is(err, ErrBucket) {
		t.Errorf("without the bucket: %v, %v", removed, err)
	}
	server.Fail(nil)
	f.bucket.backoff.Succeeded(struct{}{})
	if _, err := f.Ingest(t.Context(), 1, bytes.NewReader(encodePNG(quarters(10, 10))), Attachment, 1<<20); !errors.Is(err, ErrBucket) {
		t.Errorf("an upload of what may still be removed: %v", err)
	}
	if removed, err := f.RemoveOlder(t.Context(), file.Name, time.Now().Add(time.Hour)); !removed || err != nil {
		t.Errorf("a file that nobody uses: %v, %v", removed, err)
	}
	if keys := server.Keys(); len(keys) != 0 {
		t.Errorf("left are %q", keys)
	}
}

// TestOpenBucket has the settings: none, and credentials that are missing.
func TestOpenBucket(t *testing.T) {
	c := config.Default()
	if b, err := OpenBucket(t.Context(), c, nil); b != nil || err != nil {
		t.Errorf("without a bucket: %v, %v", b, err)
	}
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID_FILE", "AWS_SECRET_ACCESS_KEY_FILE"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	c.Media.Bucket = "s3://bucket?endpoint=http://127.0.0.1:1"
	if _, err := OpenBucket(t.Context(), c, nil); err == nil || !strings.Contains(err.Error(), "credentials") {
		t.Errorf("without credentials: %v", err)
	}
	c.S3.AccessKey, c.S3.SecretKey = objectstest.User, objectstest.Secret
	b, err := OpenBucket(t.Context(), c, nil) // nobody listens there, and the server starts
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Check(t.Context()); !errors.Is(err, objects.ErrUnreachable) || strings.Contains(err.Error(), objectstest.Secret) {
		t.Error(err)
	}
}
