package attack_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// body is a hostile request body.
type body struct {
	name, contentType string
	content           []byte
}

// bodies are costly to parse. They are made once.
var bodies = sync.OnceValue(func() []body {
	const megabyte = 1_000_000
	parts := new(strings.Builder)
	for i := range 12_000 {
		fmt.Fprintf(parts, "--b\r\nContent-Disposition: form-data; name=\"k%d\"\r\n\r\nv\r\n", i)
	}
	keys := make([]string, 100_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("k%d", i)
	}
	short := new(strings.Builder)
	for i := range 100_000 {
		short.WriteString(";" + strconv.FormatInt(int64(i), 36) + "*0=b") // a continuation (RFC 2231), of which each costs a map
	}
	const form, multipart, json = "application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "application/json"
	value := strings.Repeat("&", megabyte)
	return []body{
		{"part-parameters", multipart, []byte("--b\r\nContent-Disposition: form-data; name=a" + short.String() + "\r\n\r\nv\r\n--b--\r\n")},
		{"part-lines", multipart, []byte("--b\r\n" + strings.Repeat("A: b\r\n", 160_000) + "\r\nv\r\n--b--\r\n")},
		{"part-encoded", multipart, []byte("--b\r\nContent-Disposition: form-data; name*0*=utf-8''" + strings.Repeat("%41", 300_000) + "\r\n\r\nv\r\n--b--\r\n")},
		{"parts", multipart, []byte(parts.String() + "--b--\r\n")},
		{"form-keys", form, []byte(strings.Join(keys, "=v&"))},
		{"form-nested", form, []byte("a" + strings.Repeat("[a]", 300_000) + "=v")},
		{"form-list", form, []byte(strings.Repeat("a[]=&", 200_000))},
		{"form-escapes", form, []byte("status=" + strings.Repeat("%26", 330_000))},
		{"json-deep", json, []byte(strings.Repeat(`{"a":`, 160_000) + "1" + strings.Repeat("}", 160_000))},
		{"json-lists", json, []byte(strings.Repeat(`[`, 500_000) + strings.Repeat("]", 500_000))},
		{"json-keys", json, []byte(`{"` + strings.Join(keys, `":1,"`) + `":1}`)},
		{"json-numbers", json, []byte(`{"status":[` + strings.Repeat("1,", 480_000) + "1]}")},
		{"json-text", json, []byte(`{"status":"` + value + `","note":"x","query":"y","password":"z"}`)},
		{"json-escapes", json, []byte(`{"status":"` + strings.Repeat(`\u0026`, 160_000) + `"}`)},
		{"activity", "application/activity+json", []byte(`{"id":"http://127.0.0.1:9/1","type":"Create","actor":"http://127.0.0.1:9/a","object":{"id":"http://127.0.0.1:9/2","type":"Note","content":"` + value[:900_000] + `"}}`)},
		{"type-parameters", "multipart/form-data; boundary=b" + strings.Repeat("; a=b", 5000), []byte("--b--\r\n")},
	}
})

// harmless returns the path of a route that changes something, so that it changes nothing that the other attacks need.
func (r route) harmless(w *world) string {
	i := &ids{map[string][]string{"account": {w.dummy.id}, "nickname": {w.dummy.name}, "status": w.ids.values["status"], "list": w.ids.values["list"],
		"chat": w.ids.values["chat"], "conversation": w.ids.values["conversation"], "tag": w.ids.values["tag"], "file": {"x"}}}
	if r.method == "DELETE" {
		i = &ids{}
	}
	segments := strings.Split(r.fill(i), "/")
	for n, s := range segments {
		if s == "1" {
			segments[n] = "0"
		}
	}
	return strings.Join(segments, "/")
}

// postBodies sends hostile bodies to all routes with a body.
func (w *world) postBodies(ctx context.Context, n int, count *tally) {
	var list []route
	for _, r := range w.routes {
		if r.method != "GET" && !notCalled[r.method+" "+r.path] {
			list = append(list, r)
		}
	}
	who := []*person{nil, w.mallory[n%len(w.mallory)], w.admin}[n%3]
	client := w.client(w.newHost(), 30*time.Second)
	for ctx.Err() == nil {
		r, b := list[rand.IntN(len(list))], bodies()[rand.IntN(len(bodies()))]
		w.postBody(ctx, client, who, r.method, r.harmless(w), b, count)
	}
}

func (w *world) postBody(ctx context.Context, client *http.Client, who *person, method, path string, b body, count *tally) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, w.url+path, bytes.NewReader(b.content))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", b.contentType)
	if b.contentType == "application/activity+json" {
		req.Header.Set("Signature", `keyId="http://127.0.0.1:9/a#main-key",algorithm="rsa-sha256",headers="(request-target) host date digest",signature="YWJj"`)
		req.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	}
	authorize(req, who, strings.HasPrefix(path, "/web"))
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			count.add(0, 0)
		}
		return
	}
	defer resp.Body.Close()
	size, _ := io.Copy(io.Discard, resp.Body)
	count.add(resp.StatusCode, size)
}

// partHeaders lets 24 part headers with many parameters end at the same time, on routes that anybody may call.
func (w *world) partHeaders(ctx context.Context, _ int, count *tally) {
	b := named("part-parameters")
	w.together(ctx, 24, count, func(i int) (*held, error) {
		return w.hold(nil, openRoutes[i%len(openRoutes)], b.contentType, b.content, len(b.content), 1)
	})
}

// openRoutes take a form of anybody.
var openRoutes = []string{"/api/v1/apps", "/oauth/token", "/web/sign_in", "/auth/password", "/oauth/revoke", "/auth/sign_up", "/oauth/authorize", "/api/v1/svc/password_reset"}

// held is a request whose body is not sent completely.
type held struct {
	conn  net.Conn
	input *bufio.Reader
	rest  []byte
}

// hold sends a request up to the end of its body but for the last bytes.
func (w *world) hold(who *person, path, contentType string, content []byte, length, missing int) (*held, error) {
	conn, err := dialer(w.newHost()%60_000).Dial("tcp", w.s.address)
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n", path, w.s.address, contentType, length)
	if who != nil {
		head += "Authorization: Bearer " + who.token + "\r\n"
	}
	if contentType == "application/activity+json" {
		head += "Signature: keyId=\"http://127.0.0.1:9/a#main-key\",headers=\"(request-target) host date digest\",signature=\"YWJj\"\r\nDate: " + time.Now().UTC().Format(http.TimeFormat) + "\r\n"
	}
	sent := len(content) - missing
	if _, err := conn.Write(append([]byte(head+"\r\n"), content[:sent]...)); err != nil {
		conn.Close()
		return nil, err
	}
	return &held{conn, bufio.NewReader(conn), content[sent:]}, nil
}

// finish sends the rest and returns the status of the answer, 0 for none.
func (h *held) finish() int {
	defer h.conn.Close()
	h.conn.SetDeadline(time.Now().Add(20 * time.Second))
	h.conn.Write(h.rest) // the answer may have been sent before
	resp, err := http.ReadResponse(h.input, nil)
	if err != nil {
		return 0
	}
	io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// heldBody returns a body of 1 MB that a handler reads whole, and who sends it where.
func (w *world) heldBody(turn int) (who *person, path string, b body) {
	path = []string{"/oauth/token", "/web/sign_in", "/api/v1/apps", "/inbox", "/api/v1/statuses"}[turn%5]
	b = map[string]body{"/inbox": named("activity"), "/api/v1/apps": named("form-keys"), "/oauth/token": named("form-escapes"), "/web/sign_in": named("form-escapes")}[path]
	if path == "/api/v1/statuses" {
		who, b = w.mallory[turn%len(w.mallory)], named("json-text")
	}
	return who, path, b
}

func named(name string) body {
	for _, b := range bodies() {
		if b.name == name {
			return b
		}
	}
	panic(name)
}

// endTogether lets 200 bodies of 1 MB end at the same time.
func (w *world) endTogether(ctx context.Context, _ int, count *tally) {
	w.together(ctx, 200, count, func(i int) (*held, error) {
		who, path, b := w.heldBody(i)
		return w.hold(who, path, b.contentType, b.content, len(b.content), 1)
	})
}

// together opens n requests, and ends them when all are open, again and again.
func (w *world) together(ctx context.Context, n int, count *tally, open func(int) (*held, error)) {
	for ctx.Err() == nil {
		var wait sync.WaitGroup
		requests := make([]*held, n)
		for i := range requests {
			wait.Go(func() { requests[i], _ = open(i) })
		}
		wait.Wait()
		for _, h := range requests {
			if h == nil {
				count.add(0, 0)
				continue
			}
			wait.Go(func() { count.add(h.finish(), 0) })
		}
		wait.Wait()
	}
}

// neverEnd keeps 220 bodies of 1 MB open.
func (w *world) neverEnd(ctx context.Context, _ int, count *tally) {
	w.keepOpen(ctx, 220, count, func(i int) (*held, error) {
		who, path, b := w.heldBody(i)
		return w.hold(who, path, b.contentType, b.content, len(b.content), 1)
	})
}

// neverEndParts keeps 24 part headers of 9.8 MB of a member open.
func (w *world) neverEndParts(ctx context.Context, _ int, count *tally) {
	content := []byte("--b\r\nContent-Disposition: form-data; name=file; filename=\"" + strings.Repeat("a", 9_800_000))
	w.keepOpen(ctx, 24, count, func(i int) (*held, error) {
		return w.hold(w.mallory[i%len(w.mallory)], "/api/v1/media", "multipart/form-data; boundary=b", content, len(content)+1000, 0)
	})
}

// keepOpen keeps requests open until ctx ends, and opens a new one for each that the server ends.
func (w *world) keepOpen(ctx context.Context, n int, count *tally, open func(int) (*held, error)) {
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			for ctx.Err() == nil {
				h, err := open(i)
				if err != nil {
					count.add(0, 0)
					time.Sleep(50 * time.Millisecond)
					continue
				}
				stop := context.AfterFunc(ctx, func() { h.conn.SetReadDeadline(time.Now()) })
				h.conn.SetReadDeadline(time.Now().Add(time.Minute))
				resp, err := http.ReadResponse(h.input, nil)
				status := 0
				if err == nil {
					status = resp.StatusCode
				}
				if ctx.Err() == nil {
					count.add(status, 0)
				}
				stop()
				h.conn.Close()
			}
		})
	}
	wait.Wait()
}

// longHeaders sends headers of 1 MB on many connections, slowly at the end.
func (w *world) longHeaders(ctx context.Context, _ int, count *tally) {
	line := []byte("X-A: " + strings.Repeat("a", 1_000_000))
	w.keepOpen(ctx, 200, count, func(int) (*held, error) {
		conn, err := dialer(w.newHost()%60_000).Dial("tcp", w.s.address)
		if err != nil {
			return nil, err
		}
		conn.SetDeadline(time.Now().Add(10 * time.Second))
		io.WriteString(conn, "GET /api/v1/instance HTTP/1.1\r\nHost: "+w.s.address+"\r\n")
		conn.Write(line) // an error comes with the answer
		return &held{conn, bufio.NewReader(conn), nil}, nil
	})
}

// uploadPictures uploads large and hostile pictures in parallel.
func (w *world) uploadPictures(ctx context.Context, n int, count *tally) {
	client := w.client(w.newHost(), 60*time.Second)
	for turn := n; ctx.Err() == nil; turn++ {
		content := pictures()[turn%len(pictures())]
		path := []string{"/api/v1/media", "/api/v2/media"}[turn%2]
		method, name := "POST", "file"
		if turn%5 == 4 {
			method, path, name = "PATCH", "/api/v1/accounts/update_credentials", "avatar"
		}
		head := fmt.Sprintf("--b\r\nContent-Disposition: form-data; name=%q; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n", name)
		b := body{"picture", "multipart/form-data; boundary=b", append(append([]byte(head), content...), "\r\n--b--\r\n"...)}
		w.postBody(ctx, client, w.mallory[n%len(w.mallory)], method, path, b, count)
	}
}

// pictures are one of 15 MB, and small ones that claim to be huge.
var pictures = sync.OnceValue(func() [][]byte {
	noise := make([]byte, 15_000_000)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	large := append(pngHead(3000, 3000), chunk("IDAT", noise)...)
	return [][]byte{large, append(pngHead(60_000, 60_000), chunk("IDAT", noise[:1000])...), append(pngHead(7000, 7000), chunk("IDAT", noise[:1000])...),
		append(append(pngHead(100, 100), chunk("tEXt", append([]byte("a\x00"), noise[:10_000_000]...))...), chunk("IDAT", noise[:1000])...)}
})

func pngHead(width, height uint32) []byte {
	b := binary.BigEndian.AppendUint32(nil, width)
	b = binary.BigEndian.AppendUint32(b, height)
	return append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(b, 8, 6, 0, 0, 0))...)
}

func chunk(kind string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}
