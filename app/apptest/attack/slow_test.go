package attack_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"svc/app/apptest"
)

// heavyPaths are the answers that the stored entities make large: of alice, of everybody, of staff.
func (w *world) heavyPaths() []string {
	a := "/api/v1/accounts/" + w.alice.id
	list := []string{
		"/api/v1/timelines/home?limit=40", "/api/v1/timelines/public?limit=40", "/api/v1/timelines/public?limit=80", "/api/v1/timelines/direct?limit=40", a + "/followers?limit=80",
		a + "/followers?limit=40", a + "/following?limit=80", a + "/statuses?limit=40", "/api/v1/notifications?limit=80", "/api/v2/notifications?limit=80",
		"/api/v1/conversations?limit=40", "/api/v1/bookmarks?limit=40", "/api/v1/favourites?limit=40", "/api/v1/svc/chats", "/api/v2/svc/chats?limit=80",
		"/api/v2/search?q=attacker&limit=40", "/api/v1/accounts/search?q=attacker&limit=80", "/users/" + w.alice.id + "/followers?page=1", "/@alice", "/@alice/followers", "/@alice.rss", "/@alice.atom", "/public",
		"/web", "/web/known", "/web/notifications", "/web/conversations", "/web/@alice/with_replies", "/api/v1/directory?limit=80", "/api/v1/svc/admin/users?page_size=80",
		"/api/v1/admin/accounts?limit=80", "/api/v2/admin/accounts?limit=80", "/api/v1/svc/admin/statuses?page_size=80", "/api/v1/accounts/verify_credentials", "/api/v2/filters", "/api/v1/lists", "/api/v1/scheduled_statuses?limit=40",
		"/api/v1/svc/admin/reports?page_size=80", "/api/v1/follow_requests?limit=80", "/api/v1/svc/bookmark_folders", "/api/v1/trends/statuses?limit=40", "/api/v1/svc/statuses/" + w.ids.some("status") + "/quotes?limit=40",
	}
	for range 8 {
		id := w.ids.some("status")
		list = append(list, "/api/v1/statuses/"+id, "/api/v1/statuses/"+id+"/context", "/@alice/"+id, "/objects/"+id, "/objects/"+id+"/replies?page=1", "/web/statuses/"+id, "/api/v1/accounts/"+w.ids.some("account"))
		list = append(list, "/api/v1/accounts/"+w.ids.some("account")+"/statuses?limit=40", "/api/v1/svc/chats/"+w.ids.some("chat")+"/messages?limit=80", "/api/v1/svc/conversations/"+w.ids.some("conversation")+"/statuses?limit=40")
	}
	return list
}

// getHeavy asks for large answers only.
func (w *world) getHeavy(ctx context.Context, n int, count *tally) {
	client, paths := w.client(w.newHost(), 30*time.Second), w.heavyPaths()
	for turn := n; ctx.Err() == nil; turn++ {
		path := paths[rand.IntN(len(paths))]
		who := []*person{w.alice, nil, w.admin, w.alice, w.mallory[0], nil}[turn%6]
		w.get(ctx, client, who, path, strings.HasPrefix(path, "/web") || strings.HasPrefix(path, "/@"), count)
	}
}

// readSlowly asks for large answers and reads 1 kB a second of each.
func (w *world) readSlowly(ctx context.Context, n int, count *tally) {
	d := dialer(w.newHost())
	for turn := n; ctx.Err() == nil; turn++ {
		paths := w.heavyPaths()
		conn, err := d.Dial("tcp", w.s.address)
		if err != nil {
			count.add(0, 0)
			time.Sleep(50 * time.Millisecond)
			continue
		}
		conn.(*net.TCPConn).SetReadBuffer(4096)
		who := []*person{w.alice, nil, w.admin}[turn%3]
		head := "GET " + paths[turn%len(paths)] + " HTTP/1.1\r\nHost: " + w.s.address + "\r\n"
		if who != nil {
			head += "Authorization: Bearer " + who.token + "\r\nCookie: " + who.cookie + "\r\n"
		}
		io.WriteString(conn, head+"\r\n")
		read(ctx, conn, 30*time.Second, count)
		conn.Close()
	}
}

// read reads 1 kB a second of an answer for some time.
func read(ctx context.Context, conn net.Conn, most time.Duration, count *tally) {
	b := make([]byte, 1024)
	for begin := time.Now(); time.Since(begin) < most && ctx.Err() == nil; {
		conn.SetReadDeadline(time.Now().Add(30 * time.Second))
		stop := context.AfterFunc(ctx, func() { conn.SetReadDeadline(time.Now()) })
		n, err := conn.Read(b)
		stop()
		if n >= 12 && string(b[:5]) == "HTTP/" {
			var status int
			fmt.Sscan(string(b[9:12]), &status)
			count.add(status, 0)
		}
		if err != nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// keepStreams opens streams that are never read, while large posts arrive.
func (w *world) keepStreams(ctx context.Context, _ int, count *tally) {
	var wait sync.WaitGroup
	for i := range 200 {
		wait.Go(func() {
			for ctx.Err() == nil {
				w.keepStream(ctx, i, count)
			}
		})
	}
	wait.Go(func() {
		p := w.remotes[0]
		author := w.actor(p, profile(p))
		tags, text := emojis(p, 200)
		for ctx.Err() == nil {
			note := p.Note(author, text+strings.Repeat("&", 400_000), w.mention())
			note["tag"] = append(tags, note["tag"].([]any)...)
			w.create(p, note)
		}
	})
	wait.Wait()
}

func (w *world) keepStream(ctx context.Context, i int, count *tally) {
	conn, err := dialer(w.newHost()%60_000).Dial("tcp", w.s.address)
	if err != nil {
		count.add(0, 0)
		time.Sleep(50 * time.Millisecond)
		return
	}
	defer conn.Close()
	conn.(*net.TCPConn).SetReadBuffer(4096)
	who := []*person{w.alice, w.admin, w.mallory[0], w.mallory[1], w.mallory[2], w.bob, nil, nil}[i%8]
	stream := []string{"user", "public", "user:notification", "direct"}[i/8%4]
	if who == nil {
		stream = "public"
	}
	head := "GET /api/v1/streaming?stream=" + stream + " HTTP/1.1\r\nHost: " + w.s.address + "\r\n"
	if i%2 == 0 {
		head = "GET /api/v1/streaming/" + strings.ReplaceAll(stream, ":", "/") + " HTTP/1.1\r\nHost: " + w.s.address + "\r\nAccept: text/event-stream\r\n"
	} else {
		head += "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	}
	if who != nil {
		head += "Authorization: Bearer " + who.token + "\r\n"
	}
	io.WriteString(conn, head+"\r\n")
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	defer context.AfterFunc(ctx, func() { conn.SetReadDeadline(time.Now()) })()
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
	if err != nil {
		if ctx.Err() == nil {
			count.add(0, 0)
		}
		return
	}
	count.add(resp.StatusCode, 0)
	wait := 20 * time.Second
	if resp.StatusCode >= 400 {
		wait = 200 * time.Millisecond
	}
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
}

// askForRanges asks for thousands of ranges of files.
func (w *world) askForRanges(ctx context.Context, n int, count *tally) {
	client := w.client(w.newHost(), 30*time.Second)
	for turn := n; ctx.Err() == nil; turn++ {
		path := []string{"/media/" + w.ids.some("file"), "/web/assets/1/app.js", "/web/assets/1/style.css", "/favicon.png", "/proxy/" + w.seen.some(), "/static/logo.png"}[turn%6]
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		req, _ := http.NewRequestWithContext(ctx, "GET", w.url+path, nil)
		req.Header.Set("Range", "bytes="+strings.Repeat("0-0,", 7000)+"-1")
		if resp, err := client.Do(req); err == nil {
			size, _ := io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			count.add(resp.StatusCode, size)
		} else if ctx.Err() == nil {
			count.add(0, 0)
		}
		cancel()
	}
}

// storeFiles uploads files for ranges, and one remote account whose pictures go through the media proxy.
func (w *world) storeFiles() {
	w.upload(w.mallory[0], apptest.PNG(600, 600), "a picture")
	w.actor(w.remotes[0])
}
