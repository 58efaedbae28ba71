package attack_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/server"
)

// route is a line of the route table: METHOD PATH ACCESS.
type route struct{ method, path, access string }

// readRoutes returns the route table of a binary.
func readRoutes(t *testing.T, binary string) (list []route) {
	t.Helper()
	out, err := exec.Command(binary, "routes").Output()
	if err != nil {
		t.Fatalf("svc routes: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) >= 3 {
			list = append(list, route{f[0], f[1], f[2]})
		}
	}
	return list
}

// notCalled are routes that the test cannot call, because they end the server or a session.
var notCalled = map[string]bool{
	"GET /api/v1/svc/admin/restart":  true,
	"POST /api/v1/svc/admin/restart": true,
	"POST /web/admin/server/restart": true,
	"POST /web/sign_out":             true,
	"POST /api/v1/svc/admin/doctor":  true, // asks other servers
	"POST /web/admin/doctor":         true,
}

// parameters are the kinds of ids of the parameters of paths, by the parameter with the segment before it, or else by the parameter alone.
// "=x" is the text x.
var parameters = map[string]string{
	":nickname": "nickname", ":nickname_or_id": "nickname", "accounts/:id": "account", "endorsements/:id": "account", ":account_id": "account",
	"statuses/:id": "status", ":nickname/:id": "status", "objects/:id": "status", "contexts/:id": "status", ":quoting_status_id": "status",
	"polls/:id": "poll", "lists/:id": "list", ":list_id": "list", "chats/:id": "chat", ":chat_id": "chat", ":message_id": "message",
	"by-account-id/:id": "account", "media/:id": "media", "reports/:id": "report", ":report_id": "report", "announcements/:id": "announcement",
	"announcements/:key": "announcement", "scheduled_statuses/:id": "scheduled", "scheduled/:id": "scheduled", "conversations/:id": "conversation",
	"notifications/:id": "notification", "requests/:id": "request", "filtered/:id": "request", "filters/:id": "filter", "edit/:id": "filter",
	"keywords/:id": "keyword", "tags/:name": "tag", ":hashtag": "tag", "follow_requests/:id": "account", "activities/:id": "status",
	"authorizations/:id": "status", "quote_authorizations/:id": "status", "bookmark_folders/:id": "=1", "featured_tags/:id": "=1",
	"interaction_requests/:id": "=1", "collections/:id": "=1", ":collection_id": "=1", "items/:id": "=1", ":item": "=1", "imports/:id": "=1", "archives/:id": "=1", "ip_blocks/:id": "=1", "domain_blocks/:id": "=1", "domain_allows/:id": "=1",
	"email_domain_blocks/:id": "=1", "canonical_email_blocks/:id": "=1", "oauth_app/:id": "=1", "oauth_tokens/:id": "=0", "rules/:id": "=1", "rules/:key": "=1",
	"jobs/:id": "=1", "notes/:id": "=1", ":group_key": "=ungrouped-1", "groups/:key": "=ungrouped-1", ":emoji": "=%E2%9D%A4", ":app": "=app1",
	":permission_group": "=admin", ":document_name": "=terms-of-service", "documents/:name": "=terms-of-service", ":instance": "=127.0.0.1", "domains/:key": "=127.0.0.1",
	"networks/:key": "=1", "apps/:key": "=1", "settings/:key": "=instance", "settings/:name": "=instance.name", "setting/:name": "=instance.name", ":token": "=x", ":user_id": "account",
	":year": "=2025", ":language": "=de", "reactions/:name": "=%E2%9D%A4", "notice/:id": "status", ":date": "=2026-01-01", ":method": "=totp", ":version": "=2.0", "async_refreshes/:id": "=x", "stream/:name": "=home", "exports/:name": "=follows.csv", "backups/:name": "=x.zip",
	"emoji/:name": "=x", "static/*path": "=logo.png", "proxy/*path": "seen", "media/*path": "file", "emoji/*path": "=x.png", "packs/*path": "=x",
	"images/*path": "=x", "instance/*path": "=x", "admin/*path": "=x", "assets/*path": "=1/style.css", "do/*path": "=api/v1/markers",
}

// kindOf returns what a parameter of a path stands for: segment is the one before it.
func kindOf(segment, name string) (string, bool) {
	for _, key := range []string{segment + "/" + name, strings.TrimPrefix(segment, "@") + "/" + name, name} {
		if kind, ok := parameters[key]; ok {
			return kind, true
		}
	}
	return "", false
}

// fill returns the path with ids of what exists.
func (r route) fill(i *ids) string {
	segments := strings.Split(r.path, "/")
	filled := make([]string, len(segments))
	for n, s := range segments {
		name := strings.TrimPrefix(s, "@")
		if !strings.HasPrefix(name, ":") && !strings.HasPrefix(name, "*") {
			filled[n] = s
			continue
		}
		kind, _ := kindOf(segments[n-1], name)
		text, literal := strings.CutPrefix(kind, "=")
		if !literal {
			text = i.some(kind)
		}
		filled[n] = strings.TrimSuffix(s, name) + text
	}
	return strings.Join(filled, "/")
}

// TestRoutesAreFilled checks that TestMemory knows what each parameter of a route stands for. A new one needs a line in parameters.
func TestRoutesAreFilled(t *testing.T) {
	for _, r := range server.Routes() {
		segments := strings.Split(r.Path, "/")
		for n, s := range segments {
			name := strings.TrimPrefix(s, "@")
			if !strings.HasPrefix(name, ":") && !strings.HasPrefix(name, "*") {
				continue
			}
			kind, ok := kindOf(segments[n-1], name)
			if !ok {
				t.Errorf("%s %s: nothing is known about %s/%s", r.Method, r.Path, segments[n-1], name)
			}
			if _, ok := idQueries[kind]; !ok && !strings.HasPrefix(kind, "=") && kind != "seen" {
				t.Errorf("%s %s: no query selects %q", r.Method, r.Path, kind)
			}
		}
	}
}

// query returns parameters for a path, so that the answer is as large as possible.
func query(path string, i *ids) string {
	limit := []string{"limit=80", "limit=40", "limit=80&count=80&page_size=80&per_page=80"}[rand.IntN(3)]
	list := func(name, kind string) string {
		var parts []string
		for range 40 {
			parts = append(parts, name+"[]="+i.some(kind))
		}
		return strings.Join(parts, "&")
	}
	switch {
	case strings.HasSuffix(path, "/search"):
		return limit + "&q=" + []string{"a", "attacker", "e", "%23a", "mallory"}[rand.IntN(5)]
	case strings.HasSuffix(path, "/relationships"), strings.HasSuffix(path, "/familiar_followers"), path == "/api/v1/accounts":
		return list("id", "account")
	case path == "/api/v1/statuses":
		return list("id", "status") + "&" + list("ids", "status")
	case strings.HasSuffix(path, "/lookup"):
		return "acct=" + i.some("nickname")
	case strings.HasSuffix(path, "/webfinger"):
		return "resource=acct:" + i.some("nickname")
	case strings.HasSuffix(path, "/statuses") && rand.IntN(3) == 0:
		return limit + "&only_media=true"
	case strings.HasSuffix(path, "/outbox"), strings.HasSuffix(path, "/replies"), strings.HasPrefix(path, "/users/"):
		return []string{"page=true", "page=1", ""}[rand.IntN(3)]
	}
	return limit + "&with_muted=true&with_relationships=true"
}

var accepts = []string{"application/json", "text/html", "application/activity+json", "application/rss+xml", "application/atom+xml", "*/*"}

// seen are addresses of the media proxy and of files that answers contain.
type seen struct {
	mu   sync.Mutex
	list []string
}

var addressInAnswer = regexp.MustCompile(`/proxy/([^"'<>\\ ]+)`)

func (s *seen) look(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range addressInAnswer.FindAllSubmatch(b, 5) {
		if len(s.list) < 200 {
			s.list = append(s.list, string(m[1]))
		}
	}
}

func (s *seen) some() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) == 0 {
		return "x"
	}
	return s.list[rand.IntN(len(s.list))]
}

// getRoutes asks for all GET routes again and again: as nobody, as a member, or as staff, by token and by cookie.
func (w *world) getRoutes(ctx context.Context, n int, count *tally) {
	var list []route
	for _, r := range w.routes {
		if r.method == "GET" && !notCalled[r.method+" "+r.path] {
			list = append(list, r)
		}
	}
	client, who := w.client(w.newHost(), 30*time.Second), w.role(n)
	for turn := 0; ctx.Err() == nil; turn++ {
		if turn%len(list) == 0 {
			rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		}
		r := list[turn%len(list)]
		path := r.fill(w.ids)
		if strings.HasPrefix(r.path, "/proxy/") {
			path = "/proxy/" + w.seen.some()
		}
		if strings.HasPrefix(path, "/@") && rand.IntN(3) == 0 {
			path += []string{".rss", ".atom"}[rand.IntN(2)]
		}
		w.get(ctx, client, who, path+"?"+query(path, w.ids), strings.HasPrefix(path, "/web") || rand.IntN(4) == 0, count)
	}
}

// role returns nobody, a member or staff.
func (w *world) role(n int) *person {
	return []*person{nil, w.alice, w.admin, nil, w.mallory[n%len(w.mallory)], w.admin}[n%6]
}

// get sends one request and reads its answer. Streams are left after a second.
func (w *world) get(ctx context.Context, client *http.Client, who *person, path string, byCookie bool, count *tally) {
	wait := 30 * time.Second
	if strings.HasPrefix(path, "/api/v1/streaming") {
		wait = time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", w.url+path, nil)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", path, err))
	}
	req.Header.Set("Accept", accepts[rand.IntN(len(accepts))])
	authorize(req, who, byCookie)
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			count.add(0, 0)
		}
		return
	}
	defer resp.Body.Close()
	head, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	w.seen.look(head)
	rest, _ := io.Copy(io.Discard, resp.Body)
	count.add(resp.StatusCode, int64(len(head))+rest)
	if resp.StatusCode == http.StatusServiceUnavailable {
		select { // as the answer says, only sooner
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}
