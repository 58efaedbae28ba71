package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/internal/httpsig"
)

// replay is what one kind of server sends, in the shapes that it uses, of our own making (testdata/peers). In its documents
// https://social.example is this server, https://peer.example and https://other.example are others; PEM is a key, and TIME-5m the time
// five minutes ago.
type replay struct {
	About  string
	Served []doc    // what the other servers have, actors too
	Follow []string // actors whom alice follows
	Inbox  []struct {
		Personal bool // to alice's own inbox
		Signer   string
		Activity json.RawMessage
		Serve    []doc    // what the other servers have from now on
		Vanish   []string // addresses at which there is nothing any more
	}
	Show []string // posts that the golden file shows as alice sees them
}

var (
	agoTimes  = regexp.MustCompile(`TIME-(\d+[smh])`)
	proxies   = regexp.MustCompile(`/proxy/[^/"]+/[^/"]+`)
	replayIDs = regexp.MustCompile(`"(id|conversation_id|direct_conversation_id)": "?\d{10,}"?`)
)

// TestReplay sends what other kinds of servers send (federation 7.1), and compares what comes of it with golden files: what alice sees of
// posts, in full but for what is empty; what she was told; her conversations; what this server has sent back, and what it has refused.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/peers/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if strings.HasSuffix(name, ".golden") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			startReplay(t).run(name, string(source))
		})
	}
}

// replayer is a server and those that it has to do with.
type replayer struct {
	t     *testing.T
	srv   *api
	alice *member
	peers map[string]*fakePeer // by their host in the documents
	now   time.Time
	names *strings.Replacer // of hosts and of things here, as they are
	back  *strings.Replacer // and as they stand in the documents
}

func startReplay(t *testing.T) *replayer {
	srv := startPeers(t, 1)[0]
	r := &replayer{
		t: t, srv: srv, alice: srv.signUp("alice"), now: time.Now().UTC().Truncate(time.Second),
		peers: map[string]*fakePeer{"peer.example": startFake(t), "other.example": startFake(t)},
	}
	hello := r.alice.publish("hello").str("uri")
	poll := r.alice.ask([]string{"tea", "coffee"}, "multiple", "true").str("uri")
	var there, here []string
	add := func(name, is string) { there, here = append(there, name, is), append(here, is, name) }
	add("https://social.example/users/alice", r.alice.uri())
	add("https://social.example/objects/hello", hello)
	add("https://social.example/objects/poll", poll)
	add("https://social.example", srv.url)
	add("social.example", strings.TrimPrefix(srv.url, "http://"))
	for _, name := range slices.Sorted(maps.Keys(r.peers)) {
		add("https://"+name, r.peers[name].url)
		add(name, r.peers[name].host)
	}
	r.names, r.back = strings.NewReplacer(there...), strings.NewReplacer(here...)
	return r
}

// real returns a document as it is sent.
func (r *replayer) real(source string) string {
	pem, err := httpsig.FormatPublicKey(fakeKeys().Public())
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

func (r *replayer) peer(address string) *fakePeer {
	for _, p := range r.peers {
		if strings.HasPrefix(address, p.url+"/") {
			return p
		}
	}
	r.t.Fatalf("%s is of no server", address)
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
		r.alice.follows(actor)
	}
	var refused []string
	for _, in := range script.Inbox {
		for _, d := range in.Serve {
			r.serve(d)
		}
		for _, address := range in.Vanish {
			r.peer(address).remove(address, http.StatusGone)
		}
		refused = append(refused, r.deliver(in.Signer, in.Personal, in.Activity)...)
	}
	r.compare(name, r.outcome(&script, refused))
}

// serve has a document answered at its id, and its actor found.
func (r *replayer) serve(d doc) {
	id := d["id"].(string)
	p := r.peer(id)
	p.serve(d)
	key, _ := d["publicKey"].(doc)
	if key == nil {
		return
	}
	p.keys[id] = fakeKeys()
	if keyID, _ := key["id"].(string); keyID != "" {
		p.keyIDs[id] = keyID
	}
	if nick, _ := d["preferredUsername"].(string); nick != "" {
		p.finger(nick, id)
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
		case doc:
			signer = actor["id"].(string)
		}
	}
	path := "/inbox"
	if personal {
		path = strings.TrimPrefix(r.alice.uri(), r.srv.url) + "/inbox"
	}
	if a := r.peer(signer).deliverRaw(r.srv, path, signer, activity); a.status != http.StatusAccepted {
		refused = append(refused, fmt.Sprintf("%v: %d %s", d.ID, a.status, a.body))
	}
	settle(r.srv)
	if id, _ := d.ID.(string); id != "" {
		if reason := r.srv.refusals(id); reason != "" {
			refused = append(refused, id+": "+reason)
		}
	}
	return refused
}

// outcome returns what has come of all that.
func (r *replayer) outcome(script *replay, refused []string) doc {
	out := doc{"about": script.About}
	if len(refused) > 0 {
		out["refused"] = refused
	}
	posts := doc{}
	for _, uri := range script.Show {
		name := r.back.Replace(uri)
		if posts[name] = nil; r.alice.postOf(uri) != nil {
			posts[name] = slim(r.alice.postOf(uri).m)
		}
	}
	out["posts"] = posts
	for name, path := range map[string]string{"home": "timelines/home", "conversations": "conversations"} {
		var list []any
		for _, o := range r.alice.get("/api/v1/" + path).want(200).list() {
			if name == "conversations" {
				list = append(list, doc{"with": o.names("accounts"), "unread": o.truth("unread"), "last": o.str("last_status.uri")})
			} else if o.str("account.acct") != "alice" {
				list = append(list, o.str("uri"))
			}
		}
		if list != nil {
			out[name] = list
		}
	}
	var told []any
	for _, n := range r.alice.get("/api/v1/notifications").want(200).list() {
		line := n.str("type") + " by " + n.str("account.acct")
		if uri, ok := n.dig("status.uri").(string); ok {
			line += ": " + uri
		}
		told = append(told, line)
	}
	if told != nil {
		out["told"] = told
	}
	sent := []doc{}
	for _, host := range slices.Sorted(maps.Keys(r.peers)) {
		sent = append(sent, r.peers[host].delivered()...)
	}
	for _, d := range sent {
		delete(d, "@context")
	}
	if len(sent) > 0 {
		out["sent"] = sent
	}
	return out
}

// slim leaves out of an entity what is empty, and of accounts all but their name.
func slim(v any) any {
	switch v := v.(type) {
	case doc:
		if acct, ok := v["acct"]; ok && v["followers_count"] != nil {
			return acct
		}
		d := doc{}
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
func (r *replayer) compare(name string, out doc) {
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
		if ago := r.now.Sub(at); ago%time.Minute == 0 && ago != 0 {
			return fmt.Sprintf("TIME-%dm", ago/time.Minute)
		}
		return "TIME"
	})
	text = replayIDs.ReplaceAllString(text, `"$1": "N"`)
	got := r.srv.golden([]byte(proxies.ReplaceAllString(text, "/proxy/KEY/ADDRESS")))
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
