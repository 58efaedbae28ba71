// Package objectstest has servers of S3 for tests: one in memory, and a real one if there is one on this machine.
package objectstest

import (
	"cmp"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// User and Secret are the credentials of the servers.
const (
	User   = "svcuser"
	Secret = "a-long-secret-word"
)

// Server is the part of S3 that svc uses, in memory, with one bucket: bucket. It checks who signs, not the signature, which a real server does.
type Server struct {
	Address string // HOST:PORT

	mu      sync.Mutex
	Objects map[string]Object
	Uploads map[string]map[int][]byte
	started map[string]time.Time
	keys    map[string]string // of uploads

	IgnoreConditions bool
	Discard          bool // keeps sizes instead of bytes
	Status           int  // of every PUT; 0: works
	Code             string
	Requests         []string
	// Answer, if it is set, handles the requests for which it returns true, one at a time. It must not touch the rest.
	Answer func(w http.ResponseWriter, r *http.Request) bool

	fault atomic.Pointer[Fault]
}

// Fault handles a request instead of the server if it returns true. Several run at a time.
type Fault func(w http.ResponseWriter, r *http.Request) bool

// Object is an object of a Server.
type Object struct {
	Content []byte
	Size    int
	ETag    string
	Time    time.Time
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	f := Empty()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.Address = server.Listener.Addr().String()
	return f
}

// Empty returns a server that does not listen.
func Empty() *Server {
	return &Server{Objects: map[string]Object{}, Uploads: map[string]map[int][]byte{}, started: map[string]time.Time{}, keys: map[string]string{}}
}

// Fail makes the server fail in a way, nil: it works.
func (f *Server) Fail(fault Fault) {
	if fault == nil {
		f.fault.Store(nil)
		return
	}
	f.fault.Store(&fault)
}

// Down is a Fault of a server that closes its connections.
func Down(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }

// Hangs is a Fault of a server that sends nothing until the client closes the connection.
func Hangs(_ http.ResponseWriter, r *http.Request) bool {
	io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
	return true
}

// Full is a Fault of a server without space.
func Full(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPut && r.Method != http.MethodPost {
		return false
	}
	io.Copy(io.Discard, r.Body)
	Refuse(w, http.StatusInsufficientStorage, "InsufficientStorage")
	return true
}

// Denies is a Fault of a server that does not accept the credentials.
func Denies(w http.ResponseWriter, r *http.Request) bool {
	io.Copy(io.Discard, r.Body)
	Refuse(w, http.StatusForbidden, "SignatureDoesNotMatch")
	return true
}

// Keys returns the keys of all objects, sorted.
func (f *Server) Keys() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.Objects))
}

// Change changes an object, or removes it if change returns nil.
func (f *Server) Change(key string, change func([]byte) []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.Objects[key]
	if o.Content = change(o.Content); o.Content == nil {
		delete(f.Objects, key)
		return
	}
	o.Size, o.Time = len(o.Content), time.Now()
	f.Objects[key] = o
}

type answerError struct {
	XMLName xml.Name `xml:"Error"`
	Code    string
	Message string
}

// Refuse answers with an error.
func Refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	xml.NewEncoder(w).Encode(answerError{Code: code, Message: code})
}

func (f *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if fault := f.fault.Load(); fault != nil && (*fault)(w, r) {
		return
	}
	key, inBucket := strings.CutPrefix(r.URL.Path, "/bucket/")
	query := r.URL.Query()
	var body []byte
	var size int
	if f.Discard && r.Method == "PUT" {
		n, _ := io.Copy(io.Discard, r.Body)
		size = int(n)
	} else {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return
		}
		size = len(body)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Requests = append(f.Requests, r.Method+" "+r.URL.String())
	switch {
	case f.Answer != nil && f.Answer(w, r):
	case r.Method == "PUT" && !f.Discard && !intact(r, body):
		Refuse(w, 400, "BadDigest")
	case !strings.Contains(r.Header.Get("Authorization"), "Credential="+User+"/") && !strings.HasPrefix(query.Get("X-Amz-Credential"), User+"/"):
		Refuse(w, 403, "InvalidAccessKeyId")
	case !inBucket:
		Refuse(w, 404, "NoSuchBucket")
	case f.Status != 0 && r.Method == "PUT":
		Refuse(w, f.Status, f.Code)
	case key == "" && query.Has("uploads"):
		f.listUploads(w, query)
	case key == "":
		f.list(w, query)
	case query.Has("uploads") || query.Has("uploadId"):
		f.Upload(w, r, key, body)
	case r.Method == "PUT":
		f.put(w, r, key, Object{Content: body, Size: size})
	case r.Method == "DELETE":
		delete(f.Objects, key)
		w.WriteHeader(204)
	default:
		f.get(w, r, key)
	}
}

// intact returns whether the sums of a body are right. The SHA-256 is signed, and can be left out over TLS only.
func intact(r *http.Request, body []byte) bool {
	sum, hash := md5.Sum(body), sha256.Sum256(body)
	if r.Header.Get("Content-MD5") != base64.StdEncoding.EncodeToString(sum[:]) {
		return false
	}
	signed := r.Header.Get("X-Amz-Content-Sha256")
	return signed == hex.EncodeToString(hash[:]) || signed == "UNSIGNED-PAYLOAD" && r.TLS != nil
}

func (f *Server) put(w http.ResponseWriter, r *http.Request, key string, o Object) {
	old, exists := f.Objects[key]
	match := strings.Trim(r.Header.Get("If-Match"), `"`)
	switch {
	case f.IgnoreConditions:
	case r.Header.Get("If-None-Match") == "*" && exists, match != "" && exists && match != old.ETag:
		Refuse(w, 412, "PreconditionFailed")
		return
	case match != "" && !exists:
		Refuse(w, 404, "NoSuchKey")
		return
	}
	o.ETag, o.Time = fmt.Sprintf("%x", md5.Sum(o.Content)), time.Now()
	f.Objects[key] = o
	w.Header().Set("ETag", `"`+o.ETag+`"`)
}

func (f *Server) get(w http.ResponseWriter, r *http.Request, key string) {
	o, ok := f.Objects[key]
	if !ok {
		Refuse(w, 404, "NoSuchKey")
		return
	}
	w.Header().Set("ETag", `"`+o.ETag+`"`)
	for parameter, name := range map[string]string{"response-content-type": "Content-Type", "response-content-disposition": "Content-Disposition"} {
		if v := r.URL.Query().Get(parameter); v != "" {
			w.Header().Set(name, v)
		}
	}
	http.ServeContent(w, r, "", o.Time, strings.NewReader(string(o.Content)))
}

func (f *Server) list(w http.ResponseWriter, query url.Values) {
	after := max(query.Get("start-after"), query.Get("continuation-token"))
	var keys []string
	for key := range f.Objects {
		if strings.HasPrefix(key, query.Get("prefix")) && key > after {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	n, err := strconv.Atoi(query.Get("max-keys"))
	if err != nil {
		n = 1000
	}
	truncated := len(keys) > n
	keys = keys[:min(n, len(keys))]
	fmt.Fprintf(w, `<ListBucketResult><EncodingType>%s</EncodingType>`, query.Get("encoding-type"))
	for _, key := range keys {
		o := f.Objects[key]
		fmt.Fprintf(w, `<Contents><Key>%s</Key><Size>%d</Size><ETag>"%s"</ETag><LastModified>%s</LastModified></Contents>`,
			listed(key, query), o.Size, o.ETag, o.Time.UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	if truncated {
		fmt.Fprintf(w, `<IsTruncated>true</IsTruncated><NextContinuationToken>%s</NextContinuationToken>`, escaped(keys[n-1]))
	}
	fmt.Fprint(w, `</ListBucketResult>`)
}

// listed returns a key as it is in a listing.
func listed(key string, query url.Values) string {
	if query.Get("encoding-type") == "url" {
		key = url.QueryEscape(key)
	}
	return escaped(key)
}

func escaped(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s))
	return b.String()
}

func (f *Server) listUploads(w http.ResponseWriter, query url.Values) {
	ids := slices.SortedFunc(maps.Keys(f.keys), func(a, b string) int { return cmp.Or(strings.Compare(f.keys[a], f.keys[b]), strings.Compare(a, b)) })
	ids = slices.DeleteFunc(ids, func(id string) bool { return f.keys[id] <= query.Get("key-marker") })
	fmt.Fprintf(w, `<ListMultipartUploadsResult><EncodingType>%s</EncodingType>`, query.Get("encoding-type"))
	n, err := strconv.Atoi(query.Get("max-uploads"))
	if err == nil && len(ids) > n {
		ids = ids[:n]
		fmt.Fprintf(w, `<IsTruncated>true</IsTruncated><NextKeyMarker>%s</NextKeyMarker>`, listed(f.keys[ids[n-1]], query))
	}
	for _, id := range ids {
		fmt.Fprintf(w, `<Upload><Key>%s</Key><UploadId>%s</UploadId><Initiated>%s</Initiated></Upload>`, listed(f.keys[id], query), id, f.started[id].UTC().Format(time.RFC3339))
	}
	fmt.Fprint(w, `</ListMultipartUploadsResult>`)
}

// Upload handles requests of an upload in parts. The lock of the server is held.
func (f *Server) Upload(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	query := r.URL.Query()
	id := query.Get("uploadId")
	switch {
	case query.Has("uploads"):
		id = strconv.Itoa(len(f.started) + 1)
		f.Uploads[id], f.started[id], f.keys[id] = map[int][]byte{}, time.Now(), key
		fmt.Fprintf(w, `<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>`, id)
	case f.Uploads[id] == nil:
		Refuse(w, 404, "NoSuchUpload")
	case r.Method == "PUT":
		n, _ := strconv.Atoi(query.Get("partNumber"))
		f.Uploads[id][n] = body
		sum := md5.Sum(body)
		w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:])+`"`)
	case r.Method == "DELETE":
		f.endUpload(id)
		w.WriteHeader(204)
	default:
		var content []byte
		for n := range len(f.Uploads[id]) {
			content = append(content, f.Uploads[id][n+1]...)
		}
		f.endUpload(id)
		o := Object{Content: content, Size: len(content), ETag: "parts-" + id, Time: time.Now()}
		f.Objects[key] = o
		fmt.Fprintf(w, `<CompleteMultipartUploadResult><Bucket>bucket</Bucket><Key>%s</Key><ETag>"%s"</ETag></CompleteMultipartUploadResult>`, escaped(key), o.ETag)
	}
}

func (f *Server) endUpload(id string) {
	delete(f.Uploads, id)
	delete(f.keys, id)
}
