package objects_test

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
	"testing"
	"time"
)

// fakeS3 is the part of S3 that the package uses, in memory. It checks who signs, not the signature, which a real server does.
type fakeS3 struct {
	address string

	mu      sync.Mutex
	objects map[string]fakeObject
	uploads map[string]map[int][]byte
	started map[string]time.Time
	keys    map[string]string // of uploads

	ignoreConditions bool
	discard          bool // keeps sizes instead of bytes
	status           int  // of every PUT; 0: works
	code             string
	requests         []string
	// answer, if it is set, handles the requests for which it returns true. It must not touch the rest.
	answer func(w http.ResponseWriter, r *http.Request) bool
}

type fakeObject struct {
	content []byte
	size    int
	etag    string
	time    time.Time
}

func newFakeS3(t *testing.T) *fakeS3 {
	f := &fakeS3{objects: map[string]fakeObject{}, uploads: map[string]map[int][]byte{}, started: map[string]time.Time{}, keys: map[string]string{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.address = server.Listener.Addr().String()
	return f
}

type fakeError struct {
	XMLName xml.Name `xml:"Error"`
	Code    string
	Message string
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	xml.NewEncoder(w).Encode(fakeError{Code: code, Message: code})
}

func (f *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, inBucket := strings.CutPrefix(r.URL.Path, "/bucket/")
	query := r.URL.Query()
	var body []byte
	var size int
	if f.discard && r.Method == "PUT" {
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
	f.requests = append(f.requests, r.Method+" "+r.URL.String())
	switch {
	case f.answer != nil && f.answer(w, r):
	case r.Method == "PUT" && !f.discard && !intact(r, body):
		refuse(w, 400, "BadDigest")
	case !strings.Contains(r.Header.Get("Authorization"), "Credential="+testUser+"/"):
		refuse(w, 403, "InvalidAccessKeyId")
	case !inBucket:
		refuse(w, 404, "NoSuchBucket")
	case f.status != 0 && r.Method == "PUT":
		refuse(w, f.status, f.code)
	case key == "" && query.Has("uploads"):
		f.listUploads(w, query)
	case key == "":
		f.list(w, query)
	case query.Has("uploads") || query.Has("uploadId"):
		f.upload(w, r, key, body)
	case r.Method == "PUT":
		f.put(w, r, key, fakeObject{content: body, size: size})
	case r.Method == "DELETE":
		delete(f.objects, key)
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

func (f *fakeS3) put(w http.ResponseWriter, r *http.Request, key string, o fakeObject) {
	old, exists := f.objects[key]
	match := strings.Trim(r.Header.Get("If-Match"), `"`)
	switch {
	case f.ignoreConditions:
	case r.Header.Get("If-None-Match") == "*" && exists, match != "" && exists && match != old.etag:
		refuse(w, 412, "PreconditionFailed")
		return
	case match != "" && !exists:
		refuse(w, 404, "NoSuchKey")
		return
	}
	o.etag, o.time = fmt.Sprintf("%x", md5.Sum(o.content)), time.Now()
	f.objects[key] = o
	w.Header().Set("ETag", `"`+o.etag+`"`)
}

func (f *fakeS3) get(w http.ResponseWriter, r *http.Request, key string) {
	o, ok := f.objects[key]
	if !ok {
		refuse(w, 404, "NoSuchKey")
		return
	}
	w.Header().Set("ETag", `"`+o.etag+`"`)
	http.ServeContent(w, r, "", o.time, strings.NewReader(string(o.content)))
}

func (f *fakeS3) list(w http.ResponseWriter, query url.Values) {
	after := max(query.Get("start-after"), query.Get("continuation-token"))
	var keys []string
	for key := range f.objects {
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
		o := f.objects[key]
		fmt.Fprintf(w, `<Contents><Key>%s</Key><Size>%d</Size><ETag>"%s"</ETag><LastModified>%s</LastModified></Contents>`,
			listed(key, query), o.size, o.etag, o.time.UTC().Format("2006-01-02T15:04:05.000Z"))
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

func (f *fakeS3) listUploads(w http.ResponseWriter, query url.Values) {
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

// upload handles requests of an upload in parts.
func (f *fakeS3) upload(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	query := r.URL.Query()
	id := query.Get("uploadId")
	switch {
	case query.Has("uploads"):
		id = strconv.Itoa(len(f.started) + 1)
		f.uploads[id], f.started[id], f.keys[id] = map[int][]byte{}, time.Now(), key
		fmt.Fprintf(w, `<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>`, id)
	case f.uploads[id] == nil:
		refuse(w, 404, "NoSuchUpload")
	case r.Method == "PUT":
		n, _ := strconv.Atoi(query.Get("partNumber"))
		f.uploads[id][n] = body
		sum := md5.Sum(body)
		w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:])+`"`)
	case r.Method == "DELETE":
		f.endUpload(id)
		w.WriteHeader(204)
	default:
		var content []byte
		for n := range len(f.uploads[id]) {
			content = append(content, f.uploads[id][n+1]...)
		}
		f.endUpload(id)
		o := fakeObject{content: content, size: len(content), etag: "parts-" + id, time: time.Now()}
		f.objects[key] = o
		fmt.Fprintf(w, `<CompleteMultipartUploadResult><Bucket>bucket</Bucket><Key>%s</Key><ETag>"%s"</ETag></CompleteMultipartUploadResult>`, escaped(key), o.etag)
	}
}

func (f *fakeS3) endUpload(id string) {
	delete(f.uploads, id)
	delete(f.keys, id)
}
