package federation_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"svc/app/apptest"
	"svc/store"
)

// faultLog keeps the records of a log about faults: panics, errors, and activities that failed for another reason than a fetch.
type faultLog struct {
	mu     sync.Mutex
	faults []string
}

func (l *faultLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *faultLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *faultLog) WithGroup(string) slog.Handler            { return l }

func (l *faultLog) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += " " + a.String()
		return true
	})
	if r.Level < slog.LevelError && !strings.Contains(line, "panic") && !strings.Contains(line, "constraint") {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf("%.3000s", line))
	return nil
}

// take returns the faults since the last call.
func (l *faultLog) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	faults := l.faults
	l.faults = nil
	return faults
}

// rows returns the rows of a query, their columns separated by tabs.
func (w *mutations) rows(query string, args ...any) (list []string) {
	w.t.Helper()
	rows, err := w.db.Query(query, args...)
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		w.t.Fatal(err)
	}
	values, targets := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			w.t.Fatal(err)
		}
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = v.String
		}
		list = append(list, strings.Join(texts, "\t"))
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	return list
}

// protectedRows returns what no activity of peer.example may change: the accounts and posts of this server and of other.example's victim.
func (w *mutations) protectedRows() []string {
	w.t.Helper()
	victim := w.peers["other.example"].URL + "/users/victim"
	return slices.Concat(
		w.rows(`SELECT uri, nickname, url, display_name, note, fields, avatar, header, locked, also_known_as, moved_to_id, unavailable, actor_type
			FROM accounts WHERE domain = '' OR uri = ? ORDER BY id`, victim),
		w.rows(`SELECT uri, account_id, visibility, url, content, text, spoiler_text, sensitive, edited_at, in_reply_to_id, quote_of_id, has_media
			FROM statuses WHERE domain = '' OR account_id = (SELECT id FROM accounts WHERE uri = ?) ORDER BY id`, victim),
		w.rows(`SELECT follower_id, pending FROM follows WHERE target_id = (SELECT id FROM accounts WHERE uri = ?)`, victim),
	)
}

// runOf returns the run that an address belongs to, nil if it is of none.
func (w *mutations) runOf(address string) *mutationRun {
	for _, run := range w.runs {
		if strings.Contains(address, "/"+run.prefix+"/") {
			return run
		}
	}
	return nil
}

// mutationOf names the mutation that an address belongs to, for messages.
func (w *mutations) mutationOf(address string) string {
	if run := w.runOf(address); run != nil {
		return run.String()
	}
	return address
}

// checkStored checks that posts and accounts are on the host of their id, and that no post is readable by more accounts than it is
// addressed to.
func (w *mutations) checkStored() {
	w.t.Helper()
	for _, row := range w.rows(`SELECT uri, domain FROM accounts WHERE domain <> ''`) {
		uri, domain, _ := strings.Cut(row, "\t")
		if hostOf(uri) != domain {
			w.t.Errorf("%s: the account %s is of %s", w.mutationOf(uri), uri, domain)
		}
	}
	query := `SELECT s.uri, s.url, s.domain, a.uri, coalesce(s.pending_visibility, s.visibility) FROM statuses s JOIN accounts a ON a.id = s.account_id WHERE a.domain <> ''`
	for _, row := range w.rows(query) {
		columns := strings.Split(row, "\t")
		uri, domain, author := columns[0], columns[2], columns[3]
		if hostOf(uri) != domain || hostOf(author) != domain {
			w.t.Errorf("%s: the post %s of %s is of %s", w.mutationOf(uri), uri, author, domain)
		}
		run := w.runOf(uri)
		if run == nil {
			continue
		}
		allowed := widest(run.script, uri, run.fetched)
		if visibility := columns[4]; visibility < fmt.Sprint(int(allowed)) {
			w.t.Errorf("%v: the post %s has visibility %s, but is addressed for %d", run.mutation, uri, visibility, allowed)
		}
	}
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// widest returns the largest audience that a script addresses an object to. For an object whose id is not in the script, because the
// mutation took it away, that is the largest of all. One that is fetched without addresses is unlisted.
func widest(script apptest.Doc, uri string, fetched bool) store.Visibility {
	audienceOf := func(d apptest.Doc) store.Visibility {
		if fetched && isEmpty(d["to"]) && isEmpty(d["cc"]) {
			return store.Unlisted
		}
		return audienceOf(d)
	}
	found, isKnown := store.Direct, false
	visitDocuments(script, func(d apptest.Doc) {
		if inner, _ := d["object"].(apptest.Doc); reference(d) == uri || inner != nil && reference(inner) == uri {
			found, isKnown = min(found, audienceOf(d)), true
		}
	})
	if !isKnown {
		visitDocuments(script, func(d apptest.Doc) { found = min(found, audienceOf(d)) })
	}
	return found
}

// visitDocuments calls visit for each object at all depths.
func visitDocuments(v any, visit func(apptest.Doc)) {
	switch v := v.(type) {
	case apptest.Doc:
		visit(v)
		for _, member := range v {
			visitDocuments(member, visit)
		}
	case []any:
		for _, item := range v {
			visitDocuments(item, visit)
		}
	}
}

// audienceOf returns the audience of a document. A boost is for followers at least, and for all without addressing.
func audienceOf(d apptest.Doc) store.Visibility {
	to, cc := addresses(d["to"]), addresses(d["cc"])
	isPublic := func(address string) bool {
		return slices.Contains([]string{apptest.Public, "as:Public", "Public"}, address)
	}
	switch {
	case slices.ContainsFunc(to, isPublic), d["type"] == "Announce" && d["to"] == nil && d["cc"] == nil:
		return store.Public
	case slices.ContainsFunc(cc, isPublic):
		return store.Unlisted
	case slices.ContainsFunc(slices.Concat(to, cc), func(address string) bool { return strings.Contains(address, "/followers") }), d["type"] == "Announce":
		return store.Private
	}
	return store.Direct
}

func isEmpty(v any) bool {
	list, isList := v.([]any)
	return v == nil || isList && len(list) == 0
}

// addresses returns the ids in a member, at all depths.
func addresses(v any) (list []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case apptest.Doc:
		return addresses(v["id"])
	case []any:
		for _, item := range v {
			list = append(list, addresses(item)...)
		}
	}
	return list
}

// checkEntities reads every account, post and list that the mutations could change, as alice and as a visitor.
func (w *mutations) checkEntities() {
	w.t.Helper()
	var paths []string
	for _, row := range w.rows(`SELECT id FROM accounts WHERE domain <> ''`) {
		id := w.apiID(row)
		paths = append(paths, "accounts/"+id, "accounts/"+id+"/statuses", "accounts/"+id+"/statuses?pinned=true")
	}
	for _, row := range w.rows(`SELECT id FROM statuses`) {
		paths = append(paths, "statuses/"+w.apiID(row))
	}
	for _, row := range w.rows(`SELECT max(id) FROM statuses GROUP BY conversation_id`) {
		paths = append(paths, "statuses/"+w.apiID(row)+"/context")
	}
	paths = append(paths, "timelines/home?limit=80", "timelines/public?limit=80", "notifications?limit=80", "conversations?limit=80", "svc/chats", "custom_emojis", "follow_requests")
	for _, path := range paths {
		for _, as := range []*apptest.Client{w.alice.Client, w.srv.As(nil)} {
			a := as.Get("/api/v1/" + path)
			if a.Status >= 500 {
				w.t.Errorf("%s is answered with %d: %s", path, a.Status, a.Body)
			}
			if a.Status == http.StatusOK {
				w.checkJSON(path, a.Body)
			}
		}
	}
}

// apiID returns the id of a row as the client API has it.
func (w *mutations) apiID(row string) string {
	var id store.StatusID
	fmt.Sscan(row, (*int64)(&id))
	return id.String()
}

// maxEntity is the size of a response that no document of a peer may exceed.
const maxEntity = 2 << 20

// checkJSON checks a response of the client API.
func (w *mutations) checkJSON(path string, body []byte) {
	w.t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil || !utf8.Valid(body) || len(body) > maxEntity {
		w.t.Errorf("%s: %d bytes, %v: %.500s", path, len(body), err, body)
		return
	}
	w.checkMembers(path, "", v)
}

// Members that have a URL, and members that have HTML.
var (
	urlMembers = []string{"url", "uri", "avatar", "avatar_static", "header", "header_static", "preview_url", "remote_url", "preview_remote_url", "static_url", "ap_id",
		"text_url", "favicon", "background_image", "provider_url", "author_url", "embed_url", "quote_url"}
	htmlMembers = []string{"content", "note", "value"}
)

// checkMembers checks the members of an entity at all depths. owner is the uri of the innermost entity that has one.
func (w *mutations) checkMembers(path, owner string, v any) {
	w.t.Helper()
	switch v := v.(type) {
	case map[string]any:
		if uri, ok := v["uri"].(string); ok {
			owner = uri
		}
		for key, member := range v {
			text, _ := member.(string)
			fault := ""
			switch {
			case strings.ContainsFunc(text, isControl):
				fault = "has control characters"
			case slices.Contains(urlMembers, key) && text != "" && !isWebURL(text):
				fault = "is no URL"
			case slices.Contains(htmlMembers, key):
				fault = htmlFault(text)
			}
			if fault != "" {
				w.t.Errorf("%s, %s: %s %s: %.300q", w.mutationOf(owner), path, key, fault, text)
			}
			w.checkMembers(path, owner, member)
		}
	case []any:
		for _, item := range v {
			w.checkMembers(path, owner, item)
		}
	}
}

func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// sanitizedElements are the elements that sanitized HTML may have, besides void ones.
var sanitizedElements = strings.Fields("a abbr acronym b bdo bdi blockquote code del dd dfn div dl dt em h1 h2 h3 h4 h5 h6 i ins kbd li ol p pre q rp rt ruby s samp " +
	"small span strike strong sub sup tt u ul var summary details mark time cite")

// htmlFault returns the fault of sanitized HTML: elements that are not closed or not allowed, and attributes that do something.
func htmlFault(source string) string {
	var open []string
	z := html.NewTokenizer(strings.NewReader(source))
	for {
		switch z.Next() {
		case html.ErrorToken:
			switch {
			case z.Err() != io.EOF:
				return z.Err().Error()
			case len(open) > 0:
				return "leaves open: " + strings.Join(open, " ")
			}
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			for _, a := range t.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src" || a.Key == "href" && strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") {
					return "has the attribute " + a.Key + "=" + a.Val
				}
			}
			switch {
			case t.Data == "br" || t.Data == "hr" || t.Data == "wbr":
			case !slices.Contains(sanitizedElements, t.Data):
				return "has the element " + t.Data
			default:
				open = append(open, t.Data)
			}
		case html.EndTagToken:
			name := z.Token().Data
			if len(open) == 0 || open[len(open)-1] != name {
				return "closes " + name
			}
			open = open[:len(open)-1]
		case html.CommentToken, html.DoctypeToken:
			return "has a comment"
		}
	}
}

// checkPages reads the pages that show what the mutations stored, and its feeds and documents.
func (w *mutations) checkPages() {
	w.t.Helper()
	paths := []string{"/public", "/web", "/web/known", "/web/notifications", "/web/conversations", "/web/requests", "/@alice", "/@alice.rss"}
	for _, row := range w.rows(`SELECT nickname || '@' || domain FROM accounts WHERE domain <> ''`) {
		paths = append(paths, "/@"+url.PathEscape(row))
	}
	for _, row := range w.rows(`SELECT s.id, a.nickname || '@' || a.domain FROM statuses s JOIN accounts a ON a.id = s.account_id WHERE a.domain <> '' AND s.reblog_of_id IS NULL`) {
		id, acct, _ := strings.Cut(row, "\t")
		paths = append(paths, "/@"+url.PathEscape(acct)+"/"+w.apiID(id))
	}
	signedIn := w.alice.SignedIn()
	for _, path := range paths {
		page := signedIn.Get(path)
		if page.Status >= 500 || !utf8.Valid(page.Body) || bytes.ContainsRune(page.Body, 0) {
			w.t.Errorf("the page %s is answered with %d: %.300s", path, page.Status, page.Body)
		}
		if fault := pageFault(page.Body); fault != "" {
			w.t.Errorf("the page %s %s", path, fault)
		}
	}
}

// pageFault returns an attribute of a page that would run something.
func pageFault(source []byte) string {
	doc, err := html.Parse(bytes.NewReader(source))
	if err != nil {
		return err.Error()
	}
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || slices.Contains([]string{"href", "src", "action", "poster"}, a.Key) && strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") {
				return "has " + n.Data + " " + a.Key + "=" + a.Val
			}
		}
	}
	return ""
}
