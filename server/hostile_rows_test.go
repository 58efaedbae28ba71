package server_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/server"
	"svc/server/rest"
)

// Sizes of rows that are larger than anything may be stored, and of the entities that they make: each text stands in a status twice, and a boost
// shows a status twice, too.
const (
	hostileText    = 200 << 10
	hostileNote    = 60 << 10
	hostileEntity  = 5 * (2*hostileText + hostileNote)
	hostileMemory  = 256 << 20
	hostileAnswers = hostileMemory / 8
)

// hostileServer returns a server whose lists have rows that are too large.
func hostileServer(t *testing.T) (srv *apptest.Server, viewer *apptest.User, lists []pagedList, entries map[string][]string) {
	srv = apptest.Start(t, func(c *config.Config) { c.Data.MemoryLimit = hostileMemory })
	viewer, lists = fillLists(srv)
	entries = make(map[string][]string)
	for _, l := range lists {
		entries[l.path], _ = everyEntry(t, viewer, l)
	}
	escaped := strings.Repeat("&amp;", hostileText/len("&amp;"))
	srv.Exec(`UPDATE statuses SET content = ?1, text = ?1 WHERE reblog_of_id IS NULL`, escaped)
	srv.Exec(`UPDATE accounts SET note = ?`, escaped[:hostileNote])
	srv.Exec(`UPDATE chat_messages SET content = ?`, escaped)
	return srv, viewer, lists, entries
}

// TestHostileRows reads lists whose rows are too large. No page is larger than the limit and one entity, and the links lead to each entry once,
// in both directions.
func TestHostileRows(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, viewer, lists, entries := hostileServer(t)
	for _, l := range lists {
		t.Run(l.path, func(t *testing.T) {
			all := entries[l.path]
			down, last := walkLinks(t, viewer, l.with("limit", "80"), "next")
			if !slices.Equal(slices.Concat(down...), all) {
				t.Errorf("the pages have %v, want %v", down, all)
			}
			lowest := last.Links()["prev"]
			u, err := url.Parse(lowest)
			if err != nil || u.Query().Get("min_id") == "" {
				return // the previous page is that since an id
			}
			up, _ := walkLinks(t, viewer, lowest, "prev")
			slices.Reverse(up)
			if rest := all[:len(all)-len(down[len(down)-1])]; !slices.Equal(slices.Concat(up...), rest) {
				t.Errorf("the pages upwards have %v, want %v", up, rest)
			}
		})
	}
	t.Run("every GET route", func(t *testing.T) { everyGET(t, srv, viewer, lists) })
	if used, peak := srv.Memory.Used(); used != 0 || peak == 0 || peak > hostileAnswers {
		t.Errorf("%d bytes are in use, at most there were %d, want 0 and up to %d", used, peak, hostileAnswers)
	}
}

// walkLinks follows links from page to page and returns the keys of the entries of each.
func walkLinks(t *testing.T, as *apptest.User, path, relation string) (pages [][]string, last *apptest.Response) {
	t.Helper()
	for path != "" {
		a := as.Get(path).Want(200)
		if len(a.Body) > rest.MaxPageBytes+hostileEntity {
			t.Errorf("%s: the page has %d bytes", path, len(a.Body))
		}
		keys := pageKeys(a)
		if len(keys) == 0 {
			break
		}
		if len(keys) > 1 && len(a.Body) > rest.MaxPageBytes*11/10 {
			t.Errorf("%s: %d entries have %d bytes", path, len(keys), len(a.Body))
		}
		pages, last = append(pages, keys), a
		path = a.Links()[relation]
	}
	return pages, last
}

// everyGET requests every route as anybody may. What its parameters name exists where an id of the lists fits.
func everyGET(t *testing.T, srv *apptest.Server, viewer *apptest.User, lists []pagedList) {
	admin := srv.SignUpAdmin()
	status := viewer.Get("/api/v1/timelines/home?limit=1").Want(200).IDs()[0]
	one := lists[19].path // reblogged_by
	thread := strings.Split(one, "/")[4]
	clients := map[string]*apptest.Client{"anonymous": srv.As(nil), "member": viewer.Client, "admin": admin.Client}
	for _, route := range server.Routes() {
		if route.Method != "GET" || strings.Contains(route.Path, "streaming") || strings.Contains(route.Path, "/stream/") {
			continue
		}
		path := strings.NewReplacer("*path", "x", ":nickname_or_id", viewer.ID, ":nickname", viewer.Nickname, ":account_id", viewer.ID).Replace(route.Path)
		ids := []string{status, thread}
		if strings.Contains(route.Path, "accounts") || strings.Contains(route.Path, "users") {
			ids = []string{viewer.ID}
		}
		for _, id := range ids {
			path := pathParameter.ReplaceAllString(path, id)
			for who, c := range clients {
				a := c.Get(path + "?limit=80&page_size=500&q=hello&ids[]=" + status + "&ids[]=" + thread + "&id[]=" + viewer.ID + "&page=true&godmode=true")
				if a.Status >= 500 && a.Status != 503 {
					t.Errorf("%s as %s: %d", path, who, a.Status)
				}
				most := rest.MaxPageBytes
				if strings.HasSuffix(path, "/context") {
					most = rest.MaxContextBytes
				}
				if len(a.Body) > most+hostileEntity {
					t.Errorf("%s as %s: %d bytes", path, who, len(a.Body))
				}
			}
		}
	}
}

// TestSlowReadersOfLargeAnswers checks that clients without an account, who read nothing of the large answers that they ask for, do not
// keep a member from its home.
func TestSlowReadersOfLargeAnswers(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, viewer, _, _ := hostileServer(t)
	address := strings.TrimPrefix(srv.URL, "http://")
	for range 64 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		if _, err := io.WriteString(conn, "GET /api/v1/timelines/public?limit=40 HTTP/1.1\r\nHost: "+address+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		began := time.Now()
		a := viewer.Get("/api/v1/timelines/home?limit=40").Want(200)
		if len(a.IDs()) == 0 || time.Since(began) > 10*time.Second {
			t.Errorf("home has %d posts after %v", len(a.IDs()), time.Since(began))
		}
	}
	if _, peak := srv.Memory.Used(); peak > hostileAnswers {
		t.Errorf("%d bytes were in use", peak)
	}
}

// TestHostileContext checks that a thread that is too large is cut at posts that are far away, and that its page says so.
func TestHostileContext(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	root := alice.Publish("the root").ID()
	at, chain := root, []string{root}
	for range 30 {
		at = alice.Publish("a reply", "in_reply_to_id", at).ID()
		chain = append(chain, at)
	}
	srv.Exec(`UPDATE statuses SET content = ?`, strings.Repeat("&amp;", hostileText/len("&amp;")))
	middle := 15
	for _, c := range []*apptest.Client{srv.As(nil), alice.Client} {
		a := c.Get("/api/v1/statuses/" + chain[middle] + "/context").Want(200)
		if len(a.Body) > rest.MaxContextBytes {
			t.Errorf("the context has %d bytes", len(a.Body))
		}
		above, below := apptest.ListField(a.Object(), "ancestors", "id"), apptest.ListField(a.Object(), "descendants", "id")
		if n := len(above); n == 0 || !slices.Equal(above, chain[middle-n:middle]) {
			t.Errorf("the ancestors are %v of %v", above, chain)
		}
		if n := len(below); n == 0 || !slices.Equal(below, chain[middle+1:middle+1+n]) {
			t.Errorf("the descendants are %v of %v", below, chain)
		}
	}
	page := srv.As(nil).Get("/@alice/" + chain[middle]).Want(200)
	if !bytes.Contains(page.Body, []byte("The posts nearest to this one are shown")) || len(page.Body) > 2*rest.MaxPageBytes {
		t.Errorf("the page has %d bytes and does not say that it is cut", len(page.Body))
	}
}

// TestOrdinaryPagesAreWhole checks that pages of ordinary posts take no memory of large answers, and are not cut.
func TestOrdinaryPagesAreWhole(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	for range 20 {
		alice.Publish("an ordinary post")
	}
	if n := len(alice.Get("/api/v1/timelines/home?limit=20").Want(http.StatusOK).IDs()); n != 20 {
		t.Errorf("home has %d posts", n)
	}
	if _, peak := srv.Memory.Used(); peak > 128<<10 {
		t.Errorf("%d bytes were in use", peak)
	}
}
