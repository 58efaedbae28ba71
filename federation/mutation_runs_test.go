package federation_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"svc/app"
	"svc/app/apptest"
	"svc/internal/httpsig"
	"svc/store"
)

// mutations makes mutations of one replay on one server. Each runs with addresses of its own, so that a stored row names its mutation.
type mutations struct {
	*replayer
	source string
	log    *faultLog
	db     *sql.DB // reads the database beside the server
	runs   []*mutationRun
	posts  int      // that the replay shows without a mutation
	local  []string // rows of this server's accounts and posts, and of the other server's
}

// mutationRun is one mutation, or the replay without any.
type mutationRun struct {
	mutation
	prefix string // of the paths of its addresses, as in /m12/
	script apptest.Doc
	served map[string]apptest.Doc // documents as they were sent and served
}

func startMutations(t *testing.T, source string) *mutations {
	log := &faultLog{}
	srv := apptest.StartWith(t, app.Options{Log: slog.New(log)}, apptest.AllowLoopback)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(srv.Dir, store.File)+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	w := &mutations{replayer: startReplay(t, srv), source: source, log: log, db: db}
	other := w.peers["other.example"]
	victim := other.AddActor("victim")
	note := other.Note(victim, "<p>untouched</p>", apptest.Doc{"id": other.URL + "/notes/victim"})
	other.Serve(note)
	w.alice.FollowRemote(victim)
	other.PostAndSettle(srv, other.Create(note))
	w.alice.WantPost(note["id"])
	w.local = w.protectedRows()
	first := w.run(mutation{change: "none"})
	w.posts = w.shownPosts(first)
	return w
}

// run makes a mutation and checks what it must not change.
func (w *mutations) run(m mutation) *mutationRun {
	w.t.Helper()
	w.srv.Advance(6 * time.Minute) // past the limits on failed fetches
	w.now = w.srv.DB.Now().UTC().Truncate(time.Second)
	run := &mutationRun{mutation: m, prefix: fmt.Sprintf("m%d", len(w.runs)), served: make(map[string]apptest.Doc)}
	w.runs = append(w.runs, run)
	original := w.tree(run)
	run.script = w.tree(run)
	var raw rawJSON
	if m.path != "" {
		raw = w.mutate(run)
	}
	w.perform(run, original, []byte(raw))
	apptest.Settle(w.srv)
	for _, fault := range w.log.take() {
		w.t.Errorf("%v: logged: %s", m, fault)
	}
	if got := w.protectedRows(); !slices.Equal(got, w.local) {
		w.t.Errorf("%v: rows of others changed:\n%s\n%s", m, strings.Join(w.local, "\n"), strings.Join(got, "\n"))
		w.local = got
	}
	return run
}

// tree returns the replay with the addresses of a run and this server.
func (w *mutations) tree(run *mutationRun) apptest.Doc {
	source := w.source
	for host := range w.peers {
		source = strings.ReplaceAll(source, "https://"+host+"/", "https://"+host+"/"+run.prefix+"/")
	}
	var tree apptest.Doc
	if err := json.Unmarshal([]byte(w.real(source)), &tree); err != nil {
		w.t.Fatal(err)
	}
	renameActors(tree, run.prefix)
	return tree
}

// renameActors appends a text to the names of all actors in a document.
func renameActors(v any, suffix string) {
	switch v := v.(type) {
	case apptest.Doc:
		if name, ok := v["preferredUsername"].(string); ok && v["inbox"] != nil {
			v["preferredUsername"] = name + suffix
		}
		for _, member := range v {
			renameActors(member, suffix)
		}
	case []any:
		for _, item := range v {
			renameActors(item, suffix)
		}
	}
}

// mutate changes the member in the script of the run. It returns the text that replaces mutatedText.
func (w *mutations) mutate(run *mutationRun) (raw rawJSON) {
	w.t.Helper()
	change := func(old any) any {
		v := changes[run.change](old)
		switch text := v.(type) {
		case rawJSON:
			raw = text
			return mutatedText
		case string:
			return w.names.Replace(text)
		}
		return v
	}
	if !replaceMember(run.script, strings.Split(run.path, "."), change) {
		w.t.Fatalf("%v: there is no such member", run.mutation)
	}
	return raw
}

// replaceMember replaces the value at a path by that of change, or removes it if that is nil.
func replaceMember(v any, path []string, change func(any) any) bool {
	switch v := v.(type) {
	case apptest.Doc:
		old, ok := v[path[0]]
		if !ok || len(path) > 1 {
			return ok && replaceMember(old, path[1:], change)
		}
		if v[path[0]] = change(old); v[path[0]] == nil {
			delete(v, path[0])
		}
		return true
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i >= len(v) || len(path) > 1 {
			return err == nil && i < len(v) && replaceMember(v[i], path[1:], change)
		}
		v[i] = change(v[i])
		return true
	}
	return false
}

// perform serves and delivers the documents of a script up to the mutated one. original has the ids and signers.
func (w *mutations) perform(run *mutationRun, original apptest.Doc, raw []byte) {
	w.t.Helper()
	for i, d := range listOf(original["served"]) {
		w.serveMutated(run, d.(apptest.Doc), listOf(run.script["served"])[i], raw)
	}
	for _, actor := range listOf(original["follow"]) {
		if _, err := w.srv.Federation.Actors.Actor(w.t.Context(), actor.(string)); err == nil {
			w.alice.FollowRemote(actor.(string))
		}
	}
	inbox := listOf(original["inbox"])
	mutatedIndex := slices.IndexFunc(inboxPrefixes(len(inbox)), func(prefix string) bool { return strings.HasPrefix(run.path, prefix) })
	for i, in := range inbox {
		in, mutated := in.(apptest.Doc), listOf(run.script["inbox"])[i].(apptest.Doc)
		for j, d := range listOf(in["serve"]) {
			w.serveMutated(run, d.(apptest.Doc), listOf(mutated["serve"])[j], raw)
		}
		for _, address := range listOf(in["vanish"]) {
			w.peer(address.(string)).Remove(address.(string), http.StatusGone)
		}
		last := i == mutatedIndex
		if last && run.fetched {
			w.fetchMutated(run, in["activity"].(apptest.Doc)["object"].(apptest.Doc), mutated["activity"].(apptest.Doc)["object"], raw)
			return
		}
		if mutatedIndex < 0 || last || sharesObject(in, inbox[mutatedIndex].(apptest.Doc)) {
			w.deliverMutated(run, in, mutated["activity"], raw)
		}
		if last {
			return
		}
	}
}

// inboxPrefixes returns how the paths of the activities of a script begin.
func inboxPrefixes(count int) []string {
	list := make([]string, count)
	for i := range list {
		list[i] = fmt.Sprintf("inbox.%d.activity.", i)
	}
	return list
}

// sharesObject returns whether two activities are about the same object, so that the second may need the first.
func sharesObject(in, other apptest.Doc) bool {
	id := reference(in["activity"].(apptest.Doc)["object"])
	return id != "" && bytes.Contains(apptest.MustJSON(other["activity"]), apptest.MustJSON(id))
}

// serveMutated serves a document at the id of the original.
func (w *mutations) serveMutated(run *mutationRun, original apptest.Doc, d any, raw []byte) {
	id := original["id"].(string)
	w.serve(original)
	w.respond(id, d, raw)
	if d, ok := d.(apptest.Doc); ok {
		run.served[id] = d
	}
}

// respond answers fetches of an address with a document.
func (w *mutations) respond(address string, d any, raw []byte) {
	if m, ok := d.(apptest.Doc); ok && m["@context"] == nil {
		d = apptest.With(m, apptest.Doc{"@context": "https://www.w3.org/ns/activitystreams"})
	}
	p := w.peer(address)
	p.Respond(strings.TrimPrefix(address, p.URL), http.StatusOK, "application/activity+json", withRaw(apptest.MustJSON(d), raw))
}

func withRaw(body, raw []byte) []byte {
	return bytes.ReplaceAll(body, []byte(`"`+mutatedText+`"`), raw)
}

// deliverMutated delivers an activity, signed by the actor of the original.
func (w *mutations) deliverMutated(run *mutationRun, in apptest.Doc, activity any, raw []byte) {
	w.t.Helper()
	original := in["activity"].(apptest.Doc)
	signer, _ := in["signer"].(string)
	if signer == "" {
		signer = reference(original["actor"])
	}
	path := "/inbox"
	if in["personal"] == true {
		path = strings.TrimPrefix(w.alice.URI(), w.srv.URL) + "/inbox"
	}
	body := withRaw(apptest.MustJSON(activity), raw)
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.srv.URL+path, bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", apptest.ActivityJSON)
	p := w.peer(signer)
	if err := p.Signer(signer).Sign(req, body, httpsig.Options{Scheme: p.Scheme, Now: w.srv.DB.Now()}); err != nil {
		w.t.Fatal(err)
	}
	if a := w.srv.As(nil).DoRequest(req); a.Status >= 500 {
		w.t.Errorf("%v: %v is answered with %d: %s", run.mutation, original["id"], a.Status, a.Body)
	}
	apptest.Settle(w.srv)
}

// fetchMutated serves an object and looks it up as a user.
func (w *mutations) fetchMutated(run *mutationRun, original apptest.Doc, object any, raw []byte) {
	w.t.Helper()
	id, ok := original["id"].(string)
	if !ok || w.peerOf(id) == nil {
		return
	}
	w.respond(id, object, raw)
	a := w.alice.Get("/api/v2/search", "q", id, "resolve", "true")
	if a.Status != http.StatusOK {
		w.t.Errorf("%v: the search is answered with %d: %s", run.mutation, a.Status, a.Body)
	}
}

// reference returns the id of a value that is an id or an object.
func reference(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case apptest.Doc:
		id, _ := v["id"].(string)
		return id
	}
	return ""
}

// shownPosts returns how many posts of a run alice sees.
func (w *mutations) shownPosts(run *mutationRun) (n int) {
	w.t.Helper()
	for _, uri := range listOf(run.script["show"]) {
		if w.alice.FindPost(uri) != nil {
			n++
		}
	}
	return n
}

// finish checks that the server still does what it did before, and all that can be read.
func (w *mutations) finish() {
	w.t.Helper()
	if last := w.run(mutation{change: "none"}); w.shownPosts(last) != w.posts {
		w.t.Errorf("after the mutations, the replay shows %d posts, before %d", w.shownPosts(last), w.posts)
	}
	w.checkStored()
	w.checkEntities()
	w.checkPages()
	for _, fault := range w.log.take() {
		w.t.Errorf("logged while reading: %s", fault)
	}
}
