package objects_test

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"svc/internal/objects"
	"svc/internal/objects/objectstest"
)

// TestS3Answers has servers that answer like no server should: each answer is an error after a bounded number of requests and bytes.
func TestS3Answers(t *testing.T) {
	contents := func(key string) string {
		return `<Contents><Key>` + key + `</Key><Size>1</Size><LastModified>2026-01-02T03:04:05Z</LastModified></Contents>`
	}
	text := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, s) }
	}
	listing := func(s string) string { return "<ListBucketResult>" + s + "</ListBucketResult>" }
	with := func(status int, header string, next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			name, value, _ := strings.Cut(header, ": ")
			w.Header().Set(name, value)
			w.WriteHeader(status)
			next(w, r)
		}
	}
	var token atomic.Int64
	for _, tt := range []struct {
		name      string
		operation string
		answer    http.HandlerFunc
		says      string
		requests  int
	}{
		{"endless listing", "list", endless, "larger than 1048576 bytes", 3},
		{"endless uploads", "sweep", endless, "larger than 1048576 bytes", 1},
		{"endless error", "stat missing", with(400, "X: y", endless), "400 Bad Request", 1},
		{"endless error of a listing", "list", with(400, "X: y", endless), "400 Bad Request", 1},
		{"endless header", "list", with(200, "X: "+strings.Repeat("x", 100_000), text("")), "header", 3},
		{"web page", "list", text("<html><body>Welcome</body></html>"), "does not answer like S3", 1},
		{"no XML", "list", text("{}"), "does not answer like S3", 1},
		{"nothing", "list", text(""), "does not answer like S3", 1},
		{"deep", "list", text(strings.Repeat("<ListBucketResult>", 50_000)), "does not answer like S3", 1},
		{"another answer", "sweep", text(listing("")), "does not answer like S3", 1},
		{"no size", "list", text(listing(`<Contents><Key>a/prefix/x</Key><Size>many</Size></Contents>`)), "does not answer like S3", 1},
		{"empty page", "list", text(listing(`<IsTruncated>true</IsTruncated>`)), "does not end", 1},
		{"empty pages", "list", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, listing(fmt.Sprintf(`<IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken>`, token.Add(1))))
		}, "does not end", 101},
		{"same page", "list", text(listing(contents("a/prefix/x") + `<IsTruncated>true</IsTruncated>`)), "order of names", 2},
		{"no order", "list", text(listing(contents("a/prefix/y") + contents("a/prefix/x"))), "order of names", 1},
		{"another prefix", "list", text(listing(contents("a/x"))), "without the prefix", 1},
		{"not encoded", "list", text(listing(`<EncodingType>url</EncodingType>` + contents("a/prefix/%zz"))), "not encoded", 1},
		{"same uploads", "sweep", text(`<ListMultipartUploadsResult><NextKeyMarker>a</NextKeyMarker><IsTruncated>true</IsTruncated></ListMultipartUploadsResult>`), "order of names", 2},
		{"no ETag", "put", text(""), "no ETag", 1},
		{"no upload", "put in parts", text(`<InitiateMultipartUploadResult/>`), "no id", 1},
		{"no time", "stat", with(200, "Content-Length: 5", text("")), "Last-Modified", 1},
		{"no length", "get", with(200, "Transfer-Encoding: chunked", text("")), "Content-Length", 1},
		{"no range and no time", "get range", text("0123456789"), "Last-Modified", 1},
		{"whole object", "get range", with(200, "Last-Modified: Fri, 2 Jan 2026 03:04:05 GMT", text("0123456789")), "ignores the range", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := objectstest.New(t)
			s := s3Place(server.Address).open(t)
			server.Requests = nil
			server.Answer = func(w http.ResponseWriter, r *http.Request) bool { tt.answer(w, r); return true }
			operation := operations[tt.operation]
			switch tt.operation {
			case "stat missing":
				operation = func(t *testing.T, s objects.Store) error { return s.Delete(t.Context(), "missing") } // unlike HEAD, it has a body
			case "get range":
				operation = getRange
			}
			err := operation(t, s)
			if err == nil || !strings.Contains(err.Error(), tt.says) || errors.Is(err, fs.ErrNotExist) || len(err.Error()) > 2000 {
				t.Errorf("got %v, want an error that says %q", err, tt.says)
			}
			if len(server.Requests) != tt.requests {
				t.Errorf("%d requests, want %d", len(server.Requests), tt.requests)
			}
		})
	}
}

func getRange(t *testing.T, s objects.Store) error {
	body, _, err := s.Get(t.Context(), "object", 3, 4)
	if err == nil {
		body.Close()
	}
	return err
}

// endless writes XML until the client closes the connection.
func endless(w http.ResponseWriter, _ *http.Request) {
	io.WriteString(w, "<ListBucketResult>")
	for {
		if _, err := io.WriteString(w, strings.Repeat("<X>x</X>", 1000)); err != nil {
			return
		}
	}
}

// TestAnswerSize has answers of the largest size that is read, and of one byte more.
func TestAnswerSize(t *testing.T) {
	server := objectstest.New(t)
	s := s3Place(server.Address).open(t)
	for size, ok := range map[int]bool{1 << 20: true, 1<<20 + 1: false} {
		server.Answer = func(w http.ResponseWriter, _ *http.Request) bool {
			const open, end = "<ListBucketResult>", "</ListBucketResult>"
			io.WriteString(w, open+strings.Repeat(" ", size-len(open+end))+end)
			return true
		}
		if _, err := s.List(t.Context(), "", "", 1); (err == nil) != ok {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// TestContentRange has servers that send another range than the one requested.
func TestContentRange(t *testing.T) {
	for header, ok := range map[string]bool{
		"bytes 3-6/10": true, "bytes 3-5/6": true, "bytes 0-3/10": false, "bytes 3-2/10": false, "bytes 3-6/6": false, "bytes 3-6/*": false, "x": false, "bytes 3-6/-1": false,
	} {
		server := objectstest.New(t)
		s := s3Place(server.Address).open(t)
		server.Answer = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Last-Modified", "Fri, 02 Jan 2026 03:04:05 GMT")
			w.Header().Set("Content-Range", header)
			w.WriteHeader(206)
			io.WriteString(w, "3456")
			return true
		}
		if err := getRange(t, s); (err == nil) != ok {
			t.Errorf("%q: %v", header, err)
		}
	}
}

// TestComplete has servers that fail when an upload is completed.
func TestComplete(t *testing.T) {
	failure := `<?xml version="1.0" encoding="UTF-8"?>` + "\n   \n" + `<Error><Code>%s</Code><Message>x</Message></Error>`
	for _, tt := range []struct {
		name     string
		answer   func(w http.ResponseWriter, number int) (handled bool) // of the attempts to complete, counted from 1
		want     error
		attempts int
		objects  int
	}{
		{"error in a success", func(w http.ResponseWriter, _ int) bool { fmt.Fprintf(w, failure, "InternalError"); return true }, objects.ErrUnreachable, 3, 0},
		{"error once", func(w http.ResponseWriter, n int) bool {
			if n == 1 {
				fmt.Fprintf(w, failure, "InternalError")
			}
			return n == 1
		}, nil, 2, 1},
		{"full", func(w http.ResponseWriter, _ int) bool { fmt.Fprintf(w, failure, "QuotaExceeded"); return true }, objects.ErrFull, 1, 0},
		{"gone", func(w http.ResponseWriter, _ int) bool { objectstest.Refuse(w, 404, "NoSuchUpload"); return true }, fs.ErrNotExist, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := objectstest.New(t)
			s := s3Place(server.Address).open(t)
			count := 0
			server.Answer = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != "POST" || !r.URL.Query().Has("uploadId") {
					return false
				}
				count++
				return tt.answer(w, count)
			}
			if err := operations["put in parts"](t, s); !errors.Is(err, tt.want) || count != tt.attempts {
				t.Errorf("after %d attempts: %v", count, err)
			}
			if len(server.Objects) != tt.objects || len(server.Uploads) != 0 {
				t.Errorf("left are %d objects and %d uploads", len(server.Objects), len(server.Uploads))
			}
		})
	}
}

// TestLostAnswer loses the answer to a request that completed an upload. The next attempt finds no upload: that must not look like a missing object.
func TestLostAnswer(t *testing.T) {
	server := objectstest.New(t)
	s := s3Place(server.Address).open(t)
	first := true
	server.Answer = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != "POST" || !r.URL.Query().Has("uploadId") || !first {
			return false
		}
		first = false
		server.Upload(httptest.NewRecorder(), r, strings.TrimPrefix(r.URL.Path, "/bucket/"), nil)
		panic(http.ErrAbortHandler)
	}
	if err := operations["put in parts"](t, s); !errors.Is(err, objects.ErrUnreachable) || errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if got := len(get(t, s, "new")); got != 30<<20 {
		t.Errorf("the object has %d bytes", got)
	}
}

// TestLongListing lists names of which a page is larger than an answer may be.
func TestLongListing(t *testing.T) {
	server := objectstest.New(t)
	s := s3Place(server.Address).open(t)
	long := strings.Repeat("é", 95)
	var want []string
	for i := range 1500 {
		name := fmt.Sprintf("%s/%s/%04d", long, long, i)
		want = append(want, name)
		server.Objects["a/prefix/"+name] = objectstest.Object{Size: 1, Time: time.Now()}
	}
	if got := names(t, s, ""); !slices.Equal(got, want) {
		t.Errorf("%d names are listed, want %d", len(got), len(want))
	}
}

// TestOddNames lists and sweeps names with characters that mean something in XML and in URLs, and more uploads than fit into an answer.
func TestOddNames(t *testing.T) {
	odd := []string{"a b", "a%20b", "a%zz", "a&b<c>\"d'", "a+b", "a=b;c,d:e@f!g*h(i)", "a?b#c", "a~é日", "{a}[b]|c^`"}
	eachPlace(t, func(t *testing.T, p place) {
		s := p.open(t)
		for _, name := range odd {
			put(t, s, "odd/"+name, name)
			if got := get(t, s, "odd/"+name); got != name {
				t.Errorf("%q has %q", name, got)
			}
		}
		var want []string
		for _, name := range odd {
			want = append(want, "odd/"+name)
		}
		slices.Sort(want)
		if got := names(t, s, "odd/a"); !slices.Equal(got, want[:len(want)-1]) {
			t.Errorf("listed are %q", got)
		}
		for i, name := range want {
			if page, err := s.List(t.Context(), "", name, 1); err != nil || i+1 < len(want) && page[0].Name != want[i+1] {
				t.Errorf("after %q: %v, %v", name, page, err)
			}
		}
		if p.name == "s3" {
			beginUploads(t, p, want)
			if n, err := s.Sweep(t.Context(), time.Hour); n != 0 || err != nil {
				t.Errorf("Sweep aborted %d that are younger, %v", n, err)
			}
			if n, err := s.Sweep(t.Context(), 0); n != 450 || err != nil {
				t.Errorf("Sweep aborted %d, %v", n, err)
			}
			if n := uploads(t, p); n != 1 {
				t.Errorf("%d uploads are left, want that of another place", n)
			}
		}
		wantNothingElse(t, p, s, len(odd))
	})
}

// beginUploads begins 450 uploads and one without the prefix of the place, which is not its own.
func beginUploads(t *testing.T, p place, names []string) {
	t.Helper()
	c, err := minio.NewCore(p.server, &minio.Options{Creds: credentials.NewStaticV4(testUser, testSecret, ""), Region: "us-east-1"})
	if err != nil {
		t.Fatal(err)
	}
	begin := func(key string) {
		if _, err := c.NewMultipartUpload(t.Context(), "bucket", key, minio.PutObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 450 {
		begin("a/prefix/" + names[i%len(names)])
	}
	begin("a/other")
}

// TestTLS stores objects with the real server over TLS, where the hash of their content is not signed.
func TestTLS(t *testing.T) {
	example := httptest.NewTLSServer(nil) // has a certificate for 127.0.0.1
	defer example.Close()
	pair := example.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	save := func(name, kind string, b []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	p := realPlaceIn(t, dir, "--cert", save("cert.pem", "CERTIFICATE", pair.Certificate[0]), "--key", save("key.pem", "PRIVATE KEY", key))
	p.location = strings.Replace(p.location, "http:", "https:", 1)
	p.options.RootCAs = x509.NewCertPool()
	p.options.RootCAs.AddCert(example.Certificate())
	s := p.open(t)
	for name, size := range map[string]int64{"empty": 0, "small": 5, "parts": 30 << 20} {
		if _, err := s.Put(t.Context(), name, zeros(size), size, objects.PutOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := int64(len(get(t, s, name))); got != size {
			t.Errorf("%s has %d bytes", name, got)
		}
	}
	if _, err := s.Put(t.Context(), "small", strings.NewReader("x"), 1, objects.PutOptions{IfNone: true}); !errors.Is(err, objects.ErrCondition) {
		t.Errorf("a condition: %v", err)
	}
	wantNothingElse(t, p, s, 3)
}
