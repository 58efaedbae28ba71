package command_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	slowLogLimit = 8 << 20   // of the write-ahead log of the server under test
	bigAnswer    = 128 << 10 // bytes from which on an answer does not fit into the buffers between the server and a slow client
)

// slowAnswer is an answer that its client reads by one byte a second.
type slowAnswer struct {
	path string
	conn net.Conn
	got  atomic.Int64
	done chan struct{} // closed when nothing reads any more
}

// TestSlowReadersLeaveTheLog checks that no answer holds a read of the database while its client receives it: clients that read one byte a second ask for
// each big answer, and the write-ahead log, which cannot be emptied beyond the snapshot of the oldest read, is emptied meanwhile.
func TestSlowReadersLeaveTheLog(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	p := newWorkspace(t, fmt.Sprintf("[rate_limit]\nenabled = false\n[storage]\nballast = 0\nlimit = %d\n", slowLogLimit*32))
	p.run("user", "create", "alice", "--email", "alice@example.org", "--admin").ok()
	p.addToken("alice", "t")
	p.addBigRows()
	s := p.serve()
	var big []string
	for _, path := range p.readablePaths() {
		if p.answerSize(path) >= bigAnswer {
			big = append(big, path)
		}
	}
	t.Logf("%d big answers: %s", len(big), strings.Join(big, " "))
	if len(big) < 10 {
		t.Fatal("too few answers are big")
	}
	const together = 8 // because the memory of answers is bounded
	clients, waited := 0, 0
	for paths := range slices.Chunk(append(big, "/api/v1/streaming/public"), together) {
		var list []*slowAnswer
		for _, path := range paths {
			clients++
			list = append(list, p.readSlowly(path, net.IPv4(127, 2, byte(clients>>8), byte(clients))))
		}
		s.waitUntil("an answer for each client", func() bool {
			return !slices.ContainsFunc(list, func(a *slowAnswer) bool { return a.got.Load() == 0 })
		})
		p.growLog(2 * slowLogLimit)
		s.waitUntil("the log is emptied", func() bool {
			info, err := os.Stat(p.path("data", "svc.db-wal"))
			return err == nil && info.Size() <= slowLogLimit
		})
		for _, a := range list {
			if a.isOpen() {
				waited++
			} else {
				t.Logf("%s has ended: answers give way if their memory is needed", a.path)
			}
			a.conn.Close()
			<-a.done
		}
	}
	if waited < clients/3 {
		t.Errorf("the server waited for %d of %d clients only", waited, clients)
	}
	for line := range strings.Lines(s.log.String()) {
		// The test itself is another program while it writes.
		if strings.Contains(line, "was open for too long") || strings.Contains(line, "because of a reader") && !strings.Contains(line, "another program") {
			t.Errorf("a read was in the way: %s", line)
		}
	}
}

// addBigRows adds posts of 40 kB, follows and an upload, so that all kinds of answers are big.
func (p *workspace) addBigRows() {
	p.t.Helper()
	s := p.serve()
	for range 40 {
		if p.post("t", "#big hello") == "" {
			p.t.Fatal("not posted")
		}
	}
	s.stop()
	p.openDatabase(func(db *sql.DB) error {
		for _, query := range []string{
			`UPDATE statuses SET content = '<p>' || replace(hex(zeroblob(20000)), '0', 'x') || '</p>'`,
			`UPDATE oauth_tokens SET scopes = 'read write follow push admin'`,
			`WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 4000)
				INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, note, created_at)
				SELECT 1000 + i, 'fan' || i, 'fan' || i, 'remote.example', 'https://remote.example/' || i, 'https://remote.example/' || i, replace(hex(zeroblob(2000)), '0', 'y'), 0 FROM n`,
			`INSERT INTO follows (id, follower_id, target_id) SELECT f.id, a.id, f.id FROM accounts f, accounts a WHERE f.domain = 'remote.example' AND a.nickname = 'alice'`,
			`INSERT INTO follows (id, follower_id, target_id, follower_local) SELECT f.id + 10000, f.id, a.id, 0 FROM accounts f, accounts a WHERE f.domain = 'remote.example' AND a.nickname = 'alice'`,
			`INSERT INTO blocks (account_id, target_id) SELECT a.id, f.id FROM accounts f, accounts a WHERE f.domain = 'remote.example' AND f.id > 4000 AND a.nickname = 'alice'`,
			`UPDATE accounts SET followers_count = 4000, following_count = 4000 WHERE nickname = 'alice'`,
		} {
			if _, err := db.Exec(query); err != nil {
				return fmt.Errorf("%s: %w", query, err)
			}
		}
		return nil
	})
}

// readablePaths returns the paths of all routes without parameters that read, and those of what belongs to alice and her newest post.
func (p *workspace) readablePaths() (list []string) {
	p.t.Helper()
	for line := range strings.Lines(p.run("routes").ok()) {
		f := strings.Fields(line)
		if f[0] == "GET" && !strings.ContainsAny(f[1], ":*") && !strings.Contains(f[1], "streaming") && !strings.HasSuffix(f[1], "/restart") {
			list = append(list, f[1]+"?limit=80&page_size=80&q=hello&acct=alice&resource=acct:alice")
		}
	}
	var me struct{ ID string }
	p.getJSON("/api/v1/accounts/verify_credentials", &me)
	var posts []struct{ ID string }
	p.getJSON("/api/v1/accounts/"+me.ID+"/statuses?limit=1", &posts)
	if len(posts) != 1 {
		p.t.Fatal("alice has no post")
	}
	account := "/api/v1/accounts/" + me.ID
	list = append(list, account+"/statuses?limit=40", account+"/followers?limit=80", account+"/following?limit=80", "/api/v1/statuses/"+posts[0].ID+"/context",
		"/api/v1/timelines/tag/big?limit=40", "/users/"+me.ID+"/outbox?page=true", "/users/"+me.ID+"/followers?page=1", "/@alice", "/@alice.rss", "/@alice.atom", "/tags/big", "/tags/big.rss")
	id := p.uploadSound(sound(4 << 20))
	if id == "" {
		p.t.Fatal("not uploaded")
	}
	var upload struct{ URL string }
	p.getJSON("/api/v1/media/"+id, &upload)
	return append(list, strings.TrimPrefix(upload.URL, p.url))
}

// answerSize returns how many bytes the body of an answer has.
func (p *workspace) answerSize(path string) int {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
	defer cancel()
	_, body, err := p.request(ctx, "GET", path, "t", nil)
	if err != nil {
		p.t.Fatalf("%s: %v", path, err)
	}
	return len(body)
}

// readSlowly asks for a path from an address, and reads a byte a second.
func (p *workspace) readSlowly(path string, from net.IP) *slowAnswer {
	p.t.Helper()
	// Large segments, as loopback has them, would give the server buffers for a whole answer.
	options := []struct{ level, name, value int }{{syscall.SOL_SOCKET, syscall.SO_RCVBUF, 2048}, {syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 500}}
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Control: func(_, _ string, c syscall.RawConn) error {
		var errs []error
		err := c.Control(func(fd uintptr) {
			for _, o := range options {
				errs = append(errs, syscall.SetsockoptInt(int(fd), o.level, o.name, o.value))
			}
		})
		return errors.Join(append(errs, err)...)
	}}
	host := strings.TrimPrefix(p.url, "http://")
	conn, err := d.DialContext(p.t.Context(), "tcp", host)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer t\r\nAccept: */*\r\nConnection: close\r\n\r\n", path, host)
	a := &slowAnswer{path: path, conn: conn, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		for b := make([]byte, 1); ; {
			n, err := conn.Read(b)
			a.got.Add(int64(n))
			if err != nil {
				return
			}
			time.Sleep(time.Second) // the pace of the client
		}
	}()
	return a
}

// isOpen returns true if the server has not closed its end of the connection, because it has not sent everything.
func (a *slowAnswer) isOpen() bool {
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return true // not Linux
	}
	port := func(a net.Addr) string { return fmt.Sprintf(":%04X", a.(*net.TCPAddr).Port) }
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line) // number, local address, remote address, state
		if len(f) > 3 && strings.HasSuffix(f[1], port(a.conn.RemoteAddr())) && strings.HasSuffix(f[2], port(a.conn.LocalAddr())) {
			const established = "01"
			return f[3] == established
		}
	}
	return false
}

// getJSON reads an answer for alice.
func (p *workspace) getJSON(path string, to any) {
	p.t.Helper()
	status, body := p.get(path, "t")
	if err := json.Unmarshal([]byte(body), to); err != nil || status != http.StatusOK {
		p.t.Fatalf("%s: %d, %v: %s", path, status, err, body)
	}
}

// growLog writes bytes through the write-ahead log, as another process.
func (p *workspace) growLog(bytes int) {
	p.t.Helper()
	p.openDatabase(func(db *sql.DB) error {
		db.SetMaxOpenConns(1)
		for _, query := range []string{"PRAGMA wal_autocheckpoint = 0", "CREATE TABLE IF NOT EXISTS _big (b BLOB)"} {
			if _, err := db.Exec(query); err != nil {
				return err
			}
		}
		for range bytes >> 20 {
			if _, err := db.Exec("INSERT INTO _big VALUES (zeroblob(?))", 1<<20); err != nil {
				return err
			}
		}
		_, err := db.Exec("DELETE FROM _big")
		return err
	})
}
