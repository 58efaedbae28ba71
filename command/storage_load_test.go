package command_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	mathrand "math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"svc/internal/httpsig"
	"svc/internal/keys"
)

// loadTime is how long TestStorageLimitUnderLoad runs at least:
//
//	go test ./command -run StorageLimitUnderLoad -v -timeout 0 -duration 10m
var loadTime = flag.Duration("duration", 0, "how long TestStorageLimitUnderLoad runs at least")

const (
	loadLimit = 256 << 20 // storage.limit
	loadCache = 40 << 20  // media_proxy.cache_size

	loadCacheSpare = 32 * 4096 // downloads are counted in bytes until they end, the disk has blocks

	killAfter    = 100             // answers that wrote something, between two kills
	longestLoad  = 4 * time.Minute // for a slow machine; 10 s are enough for a fast one
	measurements = 10              // in a row, before a folder that changes meanwhile counts as too large
)

// needed is how often each thing must have happened before the test may end.
var needed = map[string]int{"upload: 200": 20, "upload: 507": 10, "proxy: 200": 50, "post: 202": 50, "kills": 3}

// TestStorageLimitUnderLoad uploads files, fetches remote files and receives posts until the data directory is full, kills the server meanwhile,
// and measures the folder all the time: it never takes more than storage.limit, nor the cache more than its size. Nothing of the local account
// is lost.
func TestStorageLimitUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	l := startLoad(t)
	stop := make(chan struct{})
	begin := time.Now()
	var clients sync.WaitGroup
	for _, client := range []struct {
		n    int
		call func()
	}{{2, l.upload}, {3, l.fetch}, {3, l.sendPost}} {
		for range client.n {
			clients.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						client.call()
					}
				}
			})
		}
	}
	clients.Go(func() { l.measure(stop) })
	for time.Since(begin) < *loadTime || !l.sufficient() && time.Since(begin) < *loadTime+longestLoad {
		if l.killDue() {
			l.s.signal(syscall.SIGKILL)
			<-l.s.done
			l.add("kills")
			l.s = l.p.serve()
		}
		time.Sleep(20 * time.Millisecond)
	}
	close(stop)
	clients.Wait()
	l.check()
}

// load is a server under load, and what happened.
type load struct {
	t    *testing.T
	p    *workspace
	s    *server
	peer *httptest.Server
	key  *rsa.PrivateKey // of the remote accounts
	sign []byte          // of addresses of the media proxy

	mu       sync.Mutex
	counts   map[string]int
	killedAt int      // writes before the last kill
	uploads  []string // ids that were answered
	next     int
	maxTotal int64
	atMax    map[string]int64 // parts of maxTotal, by top folder or file
	maxCache int64
	maxPart  map[string]int64 // by top folder or file
}

func startLoad(t *testing.T) *load {
	t.Helper()
	p := newWorkspace(t, fmt.Sprintf("[federation]\nallow_loopback = true\nstore_all = true\n[rate_limit]\nenabled = false\n"+
		"[storage]\nlimit = %d\nremote_posts_min_age = \"0s\"\n[media_proxy]\ncache_size = %d\nmax_file = 8_000_000\n", loadLimit, loadCache))
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.addToken("alice", "t")
	l := &load{t: t, p: p, counts: make(map[string]int), maxPart: make(map[string]int64)}
	var err error
	if l.key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	l.startPeer()
	l.s = p.serve()
	k, err := keys.Open(p.path("data", "keys"))
	if err != nil {
		t.Fatal(err)
	}
	l.sign = k.Secret("media proxy")
	return l
}

// startPeer starts a remote server with accounts and with files of any address: the number in it is the size.
func (l *load) startPeer() {
	text, err := httpsig.FormatPublicKey(l.key.Public())
	if err != nil {
		l.t.Fatal(err)
	}
	l.peer = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if size, ok := strings.CutPrefix(r.URL.Path, "/files/"); ok {
			n, _ := strconv.Atoi(size)
			w.Header().Set("Content-Type", "audio/mpeg")
			w.Write(sound(n))
			return
		}
		name, ok := strings.CutPrefix(r.URL.Path, "/users/")
		if !ok {
			http.NotFound(w, r)
			return
		}
		id := l.peer.URL + r.URL.Path
		w.Header().Set("Content-Type", "application/activity+json")
		json.NewEncoder(w).Encode(map[string]any{
			"@context": "https://www.w3.org/ns/activitystreams", "id": id, "type": "Person", "inbox": id + "/inbox", "preferredUsername": name,
			"publicKey": map[string]any{"id": id + "#main-key", "owner": id, "publicKeyPem": text},
		})
	}))
	l.t.Cleanup(l.peer.Close)
}

// sound returns a sound of a size that is like no other.
func sound(size int) []byte {
	b := make([]byte, size)
	rand.Read(b)
	copy(b, "\xff\xfb\x90\x64")
	return b
}

func (l *load) add(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[what]++
}

// answered counts a response. It returns false if there was none, because the server was killed.
func (l *load) answered(what string, status int, err error) bool {
	if err != nil {
		l.add(what + ": no answer")
		time.Sleep(100 * time.Millisecond)
		return false
	}
	l.add(fmt.Sprintf("%s: %d", what, status))
	return true
}

// sufficient returns whether everything that the test checks has happened.
func (l *load) sufficient() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for what, n := range needed {
		if l.counts[what] < n {
			return false
		}
	}
	return l.maxTotal >= loadLimit*80/100
}

// killDue returns whether enough was written since the last kill.
func (l *load) killDue() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	writes := l.counts["upload: 200"] + l.counts["proxy: 200"] + l.counts["post: 202"]
	if writes < l.killedAt+killAfter {
		return false
	}
	l.killedAt = writes
	return true
}

func (l *load) number() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	return l.next
}

func (l *load) do(req *http.Request) (status int, body []byte, err error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// upload uploads a file. Once there are some, it deletes an old one as often, so that files come and go.
func (l *load) upload() {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	part, _ := form.CreateFormFile("file", "a.mp3")
	part.Write(sound(200_000 + mathrand.IntN(4_000_000)))
	form.Close()
	req, _ := http.NewRequestWithContext(context.Background(), "POST", l.p.url+"/api/v1/media", &b)
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("Authorization", "Bearer t")
	status, body, err := l.do(req)
	if !l.answered("upload", status, err) {
		return
	}
	var m struct{ ID string }
	if status == 200 && json.Unmarshal(body, &m) == nil {
		l.mu.Lock()
		l.uploads = append(l.uploads, m.ID)
		l.mu.Unlock()
		return
	}
	l.mu.Lock()
	oldest := ""
	if len(l.uploads) > 10 {
		oldest, l.uploads = l.uploads[0], l.uploads[1:]
	}
	l.mu.Unlock()
	if oldest != "" {
		status, _, err := l.p.request(context.Background(), "DELETE", "/api/v1/media/"+oldest, "t", nil)
		l.answered("delete", status, err)
	}
	time.Sleep(50 * time.Millisecond)
}

// fetch fetches a remote file through the media proxy.
func (l *load) fetch() {
	address := fmt.Sprintf("%s/files/%d?%d", l.peer.URL, 100_000+mathrand.IntN(3_000_000), mathrand.IntN(1000))
	encoded := base64.RawURLEncoding.EncodeToString([]byte(address))
	mac := hmac.New(sha256.New, l.sign)
	mac.Write([]byte(encoded))
	proxied := l.p.url + "/proxy/" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16]) + "/" + encoded
	req, _ := http.NewRequestWithContext(context.Background(), "GET", proxied, nil)
	status, _, err := l.do(req)
	if l.answered("proxy", status, err) && status != 200 {
		time.Sleep(20 * time.Millisecond)
	}
}

// sendPost sends a public post of a remote account.
func (l *load) sendPost() {
	n := l.number()
	actor := fmt.Sprintf("%s/users/bob%d", l.peer.URL, n%7)
	uri := fmt.Sprintf("%s/notes/%d", l.peer.URL, n)
	words := base64.StdEncoding.EncodeToString(sound(6000))
	activity, _ := json.Marshal(map[string]any{
		"@context": "https://www.w3.org/ns/activitystreams", "id": uri + "/create", "type": "Create", "actor": actor,
		"to": []any{"https://www.w3.org/ns/activitystreams#Public"},
		"object": map[string]any{
			"id": uri, "type": "Note", "attributedTo": actor, "to": []any{"https://www.w3.org/ns/activitystreams#Public"}, "content": words,
		},
	})
	req, _ := http.NewRequestWithContext(context.Background(), "POST", l.p.url+"/inbox", bytes.NewReader(activity))
	req.Header.Set("Content-Type", "application/activity+json")
	signer := httpsig.Signer{KeyID: actor + "#main-key", Key: l.key}
	if err := signer.Sign(req, activity, httpsig.Options{Scheme: httpsig.Cavage, Now: time.Now()}); err != nil {
		l.t.Error(err)
		return
	}
	status, _, err := l.do(req)
	if l.answered("post", status, err) && status != 202 {
		time.Sleep(100 * time.Millisecond)
	}
}

// measure measures the folder until the end.
func (l *load) measure(stop chan struct{}) {
	for {
		total, parts := l.diskUsage()
		cache := parts["cache"]
		for i := 0; i < measurements && (total > loadLimit || cache > loadCache); i++ {
			// Files that are removed and added while the folder is read count twice. What stays is really there.
			n, again := l.diskUsage()
			if n < total {
				total, parts = n, again
			}
			cache = min(cache, again["cache"])
			l.add("measured again")
		}
		l.mu.Lock()
		l.counts["measurements"]++
		if total > l.maxTotal {
			l.maxTotal, l.atMax = total, parts
		}
		l.maxCache = max(l.maxCache, cache)
		for name, n := range parts {
			l.maxPart[name] = max(l.maxPart[name], n)
		}
		l.mu.Unlock()
		select {
		case <-stop:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// diskUsage returns what the data directory takes, and each part of it. It counts the blocks of the data of a file: fewer than its size fills if
// it has holes, but not those in which the file system keeps where the data are.
func (l *load) diskUsage() (total int64, parts map[string]int64) {
	parts = make(map[string]int64)
	data := l.p.path("data")
	seen := make(map[uint64]bool) // numbers of files: one that is renamed meanwhile counts once
	filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // removed meanwhile
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		n := info.Size()
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			if seen[st.Ino] {
				return nil
			}
			seen[st.Ino] = true
			n = min(st.Blocks*512, (n+4095)/4096*4096)
		}
		rel, _ := filepath.Rel(data, path)
		top, _, _ := strings.Cut(rel, "/")
		parts[top] += n
		total += n
		return nil
	})
	return total, parts
}

// check compares the measured sizes with the limits, and checks that no upload lost its file.
func (l *load) check() {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, what := range slices.Sorted(maps.Keys(l.counts)) {
		l.t.Logf("%-20s %d", what, l.counts[what])
	}
	for _, name := range slices.Sorted(maps.Keys(l.maxPart)) {
		l.t.Logf("%-20s at most %6.1f MiB; when all is largest: %6.1f MiB", name, float64(l.maxPart[name])/(1<<20), float64(l.atMax[name])/(1<<20))
	}
	l.t.Logf("in all at most %.1f of %d MiB", float64(l.maxTotal)/(1<<20), loadLimit>>20)
	if l.maxTotal > loadLimit {
		l.t.Errorf("the data directory took %d bytes, the limit is %d", l.maxTotal, loadLimit)
	}
	if l.maxCache > loadCache+loadCacheSpare {
		l.t.Errorf("the cache took %d bytes, its size is %d", l.maxCache, loadCache)
	}
	for what, n := range needed {
		if l.counts[what] < n {
			l.t.Errorf("%q: %d, not %d times: the load was too small", what, l.counts[what], n)
		}
	}
	if l.maxTotal < loadLimit*80/100 {
		l.t.Errorf("the data directory took only %d bytes: the load was too small", l.maxTotal)
	}
	r := l.p.run("media", "verify", "--json")
	var report struct{ Problems []struct{ Kind, File string } }
	if err := json.Unmarshal([]byte(r.out), &report); err != nil {
		l.t.Fatalf("%s: %v %s", r.what, err, r.errOut)
	}
	for _, p := range report.Problems {
		if p.Kind != "unused_file" { // of an upload that was interrupted: removed by the clean-up after a day
			l.t.Errorf("%s: %s", p.Kind, p.File)
		}
	}
	rows := make(map[string]bool)
	for _, id := range l.uploads {
		rows[id] = true
	}
	for id := range rows {
		if status, body := l.p.get("/api/v1/media/"+id, "t"); status != 200 {
			l.t.Errorf("upload %s was answered, but it is not there: %d %s", id, status, body)
		}
	}
}
