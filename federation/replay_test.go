package federation_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/httpsig"
)

// replay is the traffic of one kind of server in the forms that it uses, written for this test (testdata/peers). In its documents
// https://social.example is this server, https://peer.example and https://other.example are others; PEM is a key, and TIME-5m the time
// five minutes ago.
type replay struct {
	About  string
	Served []apptest.Doc // documents of the other servers, including actors
	Follow []string      // actors that alice follows
	Inbox  []struct {
		Personal bool // to alice's own inbox
		Signer   string
		Activity json.RawMessage
		Serve    []apptest.Doc // documents of the other servers from now on
		Vanish   []string      // addresses that answer 404 from now on
	}
	Show []string // posts that the golden file shows as alice sees them
}

var (
	agoTimes  = regexp.MustCompile(`TIME-(\d+[smh])`)
	proxies   = regexp.MustCompile(`/proxy/[^/"]+/[^/"]+`)
	replayIDs = regexp.MustCompile(`"(id|conversation_id|direct_conversation_id)": "?\d{10,}"?`)
)

// TestReplay sends the activities of other kinds of servers (federation 7.1) and compares the outcome with golden files: the posts that
// alice sees without empty members, her notifications and conversations, and what this server sent and refused.
func TestReplay(t *testing.T) {
	apptest.SkipIfShort(t)
	for name, file := range replayFiles(t, "testdata/peers/*.json") {
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			startReplay(t, apptest.StartWithLoopback(t)).run(name, string(source))
		})
	}
}

// replayFiles returns the names and paths of the replays that match a pattern, in their order.
func replayFiles(t *testing.T, pattern string) iter.Seq2[string, string] {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(name, file string) bool) {
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".json")
			if !strings.HasSuffix(name, ".golden") && !yield(name, file) {
				return
			}
		}
	}
}

// replayer is a server and its peers.
type replayer struct {
	t     *testing.T
	srv   *apptest.Server
	alice *apptest.User
	peers map[string]*apptest.FakeServer // by their host in the documents
	now   time.Time
	names *strings.Replacer // from placeholders to hosts and ids
	back  *strings.Replacer // and as they stand in the documents
}

func startReplay(t *testing.T, srv *apptest.Server) *replayer {
	r := &replayer{
		t: t, srv: srv, alice: srv.SignUp("alice"), now: time.Now().UTC().Truncate(time.Second),
		peers: map[string]*apptest.FakeServer{"peer.example": apptest.StartFake(t), "other.example": apptest.StartFake(t)},
	}
	hello := r.alice.Publish("hello").Str("uri")
	poll := r.alice.PublishPoll([]string{"tea", "coffee"}, "multiple", "true").Str("uri")
	var there, here []string
	add := func(name, is string) { there, here = append(there, name, is), append(here, is, name) }
	add("https://social.example/users/alice", r.alice.URI())
	add("https://social.example/objects/hello", hello)
	add("https://social.example/objects/poll", poll)
	add("https://social.example", srv.URL)
	add("social.example", strings.TrimPrefix(srv.URL, "http://"))
	for _, name := range slices.Sorted(maps.Keys(r.peers)) {
		add("https://"+name, r.peers[name].URL)
		add(name, r.peers[name].Host)
	}
	r.names, r.back = strings.NewReplacer(there...), strings.NewReplacer(here...)
	return r
}

// maxAgo is longer than the times ago in the documents. Fixed times in documents are longer ago, and whole minutes by chance only.
const maxAgo = 30 * 24 * time.Hour

// real returns a document with this run's addresses, keys and times.
func (r *replayer) real(source string) string {
	pem, err := httpsig.FormatPublicKey(apptest.SharedKey().Public())
	if err != nil {
		r.t.Fatal(err)
	}
	quoted, _ := json.Marshal(pem)
	source = strings.ReplaceAll(r.names.Replace(source), `"PEM"`, string(quoted))
	return agoTimes.ReplaceAllStringFunc(source, func(s string) string {
		d, err := time.ParseDuration(strings.TrimPrefix(s, "TIME-"))
		if err != nil {
			r.t.Fatal(err)
		}
		return r.now.Add(-d).Format(time.DateOnly + "T" + time.TimeOnly)
	})
}

func (r *replayer) peer(address string) *apptest.FakeServer {
	p := r.peerOf(address)
	if p == nil {
		r.t.Fatalf("%s is of no server", address)
	}
	return p
}

// peerOf returns the server of an address, nil if it is of none.
func (r *replayer) peerOf(address string) *apptest.FakeServer {
	for _, p := range r.peers {
		if strings.HasPrefix(address, p.URL+"/") {
			return p
		}
	}
	return nil
}

func (r *replayer) run(name, source string) {
	r.t.Helper()
	var script replay
	d := json.NewDecoder(strings.NewReader(r.real(source)))
	d.DisallowUnknownFields()
	if err := d.Decode(&script); err != nil {
		r.t.Fatal(err)
	}
	for _, d := range script.Served {
		r.serve(d)
	}
	for _, actor := range script.Follow {
		r.alice.FollowRemote(actor)
	}
	var refused []string
	for _, in := range script.Inbox {
		for _, d := range in.Serve {
			r.serve(d)
		}
		for _, address := range in.Vanish {
			r.peer(address).Remove(address, http.StatusGone)
		}
		refused = append(refused, r.deliver(in.Signer, in.Personal, in.Activity)...)
	}
	r.compare(name, r.outcome(&script, refused))
}

// serve serves a document at its id, and makes its actor resolvable.
func (r *replayer) serve(d apptest.Doc) {
	id := d["id"].(string)
	p := r.peer(id)
	p.Serve(d)
	key, _ := d["publicKey"].(apptest.Doc)
	if key == nil {
		return
	}
	p.Keys[id] = apptest.SharedKey()
	if keyID, _ := key["id"].(string); keyID != "" {
		p.KeyIDs[id] = keyID
	}
	if nick, _ := d["preferredUsername"].(string); nick != "" {
		p.AddWebFinger(nick, id)
	}
}

// deliver sends an activity, and returns why it was refused.
func (r *replayer) deliver(signer string, personal bool, activity []byte) (refused []string) {
	r.t.Helper()
	var d struct {
		ID    any
		Actor any
	}
	if err := json.Unmarshal(activity, &d); err != nil {
		r.t.Fatal(err)
	}
	if signer == "" {
		switch actor := d.Actor.(type) {
		case string:
			signer = actor
		case apptest.Doc:
			signer = actor["id"].(string)
		}
	}
	path := "/inbox"
	if personal {
		path = strings.TrimPrefix(r.alice.URI(), r.srv.URL) + "/inbox"
	}
	if a := r.peer(signer).DeliverRaw(r.srv, path, signer, activity); a.Status != http.StatusAccepted {
		refused = append(refused, fmt.Sprintf("%v: %d %s", d.ID, a.Status, a.Body))
	}
	apptest.Settle(r.srv)
	if id, _ := d.ID.(string); id != "" {
		if reason := r.srv.Refusals(id); reason != "" {
			refused = append(refused, id+": "+reason)
		}
	}
	return refused
}

// outcome returns the outcome for the golden file.
func (r *replayer) outcome(script *replay, refused []string) apptest.Doc {
	out := apptest.Doc{"about": script.About}
	if len(refused) > 0 {
		out["refused"] = refused
	}
	posts := apptest.Doc{}
	for _, uri := range script.Show {
		name := r.back.Replace(uri)
		if posts[name] = nil; r.alice.FindPost(uri) != nil {
			posts[name] = slim(r.alice.FindPost(uri).Fields)
		}
	}
	out["posts"] = posts
	for name, path := range map[string]string{"home": "timelines/home", "conversations": "conversations"} {
		var list []any
		for _, o := range r.alice.Get("/api/v1/" + path).Want(200).List() {
			if name == "conversations" {
				list = append(list, apptest.Doc{"with": o.Usernames("accounts"), "unread": o.Bool("unread"), "last": o.Str("last_status.uri")})
			} else if o.Str("account.acct") != "alice" {
				list = append(list, o.Str("uri"))
			}
		}
		if list != nil {
			out[name] = list
		}
	}
	var notifications []any
	for _, n := range r.alice.Get("/api/v1/notifications").Want(200).List() {
		line := n.Str("type") + " by " + n.Str("account.acct")
		if uri, ok := n.Find("status.uri").(string); ok {
			line += ": " + uri
		}
		notifications = append(notifications, line)
	}
	if notifications != nil {
		out["notifications"] = notifications
	}
	sent := []apptest.Doc{}
	for _, host := range slices.Sorted(maps.Keys(r.peers)) {
		sent = append(sent, r.peers[host].Delivered()...)
	}
	for _, d := range sent {
		delete(d, "@context")
	}
	if len(sent) > 0 {
		out["sent"] = sent
	}
	return out
}

// slim removes empty members from an entity, and all but the name from accounts.
func slim(v any) any {
	switch v := v.(type) {
	case apptest.Doc:
		if acct, ok := v["acct"]; ok && v["followers_count"] != nil {
			return acct
		}
		d := apptest.Doc{}
		for key, member := range v {
			if member = slim(member); member != nil {
				d[key] = member
			}
		}
		if len(d) > 0 {
			return d
		}
	case []any:
		var list []any
		for _, item := range v {
			list = append(list, slim(item))
		}
		if list != nil {
			return list
		}
	case string:
		if v != "" {
			return v
		}
	case float64:
		if v != 0 {
			return v
		}
	case bool:
		if v {
			return v
		}
	}
	return nil
}

// compare compares the outcome with the golden file.
func (r *replayer) compare(name string, out apptest.Doc) {
	r.t.Helper()
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(out); err != nil {
		r.t.Fatal(err)
	}
	text := r.back.Replace(body.String())
	text = times.ReplaceAllStringFunc(text, func(s string) string {
		at, err := time.Parse(time.RFC3339, s)
		if err != nil {
			r.t.Fatal(err)
		}
		if ago := r.now.Sub(at); ago > 0 && ago < maxAgo && ago%time.Minute == 0 {
			return fmt.Sprintf("TIME-%dm", ago/time.Minute)
		}
		return "TIME"
	})
	text = replayIDs.ReplaceAllString(text, `"$1": "N"`)
	got := golden(r.srv, []byte(proxies.ReplaceAllString(text, "/proxy/KEY/ADDRESS")))
	file := filepath.Join("testdata/peers", name+".golden.json")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		r.t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		r.t.Errorf("%s is another (-update rewrites it):\n%s", file, got)
	}
}
