package server_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"svc/internal/httpsig"
	"svc/store"
)

var update = flag.Bool("update", false, "rewrite testdata from what is there now")

const (
	activityJSON = "application/activity+json"
	linkedJSON   = `application/ld+json; profile="https://www.w3.org/ns/activitystreams"`
)

// fetchAs asks for an address or path, wanting a kind of answer; unsigned if signer is "".
func (p *fakePeer) fetchAs(srv *api, path, signer, accept string) *answer {
	srv.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = srv.url + path
	}
	req := srv.newGet(path, accept)
	if signer != "" {
		p.sign(req, signer)
	}
	return srv.as(nil).request(req)
}

// document asks for a document without a signature.
func (a *api) document(path string) *answer {
	a.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = a.url + path
	}
	return a.as(nil).request(a.newGet(path, activityJSON))
}

var (
	flakes = regexp.MustCompile(`\b[0-9A-Za-z]{18}\b`)
	times  = regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z`)
	pems   = regexp.MustCompile(`-----BEGIN PUBLIC KEY-----[^-]*-----END PUBLIC KEY-----\\n`)
	files  = regexp.MustCompile(`/media/[^"]*(\.\w+)`)
)

// golden returns a document in the form in which testdata has it: what differs each time is named in the order in which it comes.
func (a *api) golden(body []byte) []byte {
	a.t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", "  "); err != nil {
		a.t.Fatalf("%v: %s", err, body)
	}
	text := strings.ReplaceAll(out.String(), a.url, "https://social.example")
	text = strings.ReplaceAll(text, strings.TrimPrefix(a.url, "http://"), "social.example")
	named := make(map[string]string)
	text = flakes.ReplaceAllStringFunc(text, func(s string) string {
		var id store.StatusID
		if id.UnmarshalText([]byte(s)); id == 0 {
			return s
		}
		if named[s] == "" {
			named[s] = fmt.Sprintf("ID%d", len(named)+1)
		}
		return named[s]
	})
	text = times.ReplaceAllString(text, "TIME")
	text = pems.ReplaceAllString(text, "PEM")
	return []byte(files.ReplaceAllString(text, "/media/FILE$1"))
}

// wantGolden compares a document with a file of testdata, but for its @context, which is the same for all.
func (a *api) wantGolden(name string, body []byte) {
	a.t.Helper()
	var d doc
	if err := json.Unmarshal(body, &d); err != nil {
		a.t.Fatalf("%v: %s", err, body)
	}
	if context, ok := d["@context"].([]any); !ok || len(context) == 0 || context[0] != "https://www.w3.org/ns/activitystreams" {
		a.t.Errorf("%s: the context is %v", name, d["@context"])
	}
	if name != "context" {
		delete(d, "@context")
	}
	a.compare(name, d)
}

func (a *api) compare(name string, d doc) {
	a.t.Helper()
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(d); err != nil {
		a.t.Fatal(err)
	}
	got := a.golden(body.Bytes())
	file := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			a.t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			a.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		a.t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		a.t.Errorf("%s is another (-update rewrites it):\n%s", file, got)
	}
}

// TestDocuments compares documents with all that they can have with those of testdata.
func TestDocuments(t *testing.T) {
	srv := startPeers(t, 1)[0]
	srv.addEmoji("blobs", map[string]string{"cat": "cat.png", "nod": "nod.gif"})
	alice, bob := srv.signUp("alice"), srv.signUp("bob")

	alice.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{
		"display_name": "Alice :cat:", "note": "about me", "locked": true, "discoverable": true, "birthday": "1990-04-01", "show_birthday": true,
		"also_known_as":     []string{},
		"fields_attributes": []any{map[string]any{"name": "web", "value": "https://alice.example"}},
	}).want(200)
	srv.changeAccount(alice, func(a *store.Account) {
		a.Avatar, a.Header = "avatar.png", "header.jpg"
		a.AlsoKnownAs.V = []string{"https://old.example/users/alice"}
	})
	srv.wantGolden("actor", srv.document("/users/"+alice.id).want(200).body)
	srv.wantGolden("context", []byte(`{"@context":`+contextOf(t, srv.document("/users/"+alice.id))+`}`))
	srv.wantGolden("fetch_actor", srv.document("/internal/fetch").want(200).body)

	quoted := bob.publish("quote me")
	asked := bob.publish("a question", "language", "en")
	picture := alice.upload(pngFile(3, 3), valuePart("description", "three by three")).str("id")
	st := alice.publish("@bob hi :cat: #Test **bold**", "content_type", "text/markdown", "spoiler_text", "a :nod:", "in_reply_to_id", asked.id(),
		"media_ids[]", picture, "language", "en", "quote_id", quoted.id())
	alice.publish("and more", "in_reply_to_id", st.id())
	bob.publish("not the author's", "in_reply_to_id", st.id())
	alice.publish("for few", "in_reply_to_id", st.id(), "visibility", "private")
	alice.send("PUT", "/api/v1/statuses/"+st.id(), map[string]any{
		"status": "@bob hello :cat: #Test", "content_type": "text/plain", "spoiler_text": "a :nod:", "media_ids": []string{picture},
	}).want(200)
	srv.wantGolden("note", srv.document("/objects/"+st.id()).want(200).body)

	poll := alice.publish("tea?", "poll[options][]", "yes :cat:", "poll[options][]", "no", "poll[expires_in]", "86400", "visibility", "unlisted")
	bob.send("POST", "/api/v1/polls/"+poll.str("poll.id")+"/votes", map[string]any{"choices": []int{1}}).want(200)
	srv.wantGolden("question", srv.document("/objects/"+poll.id()).want(200).body)
	srv.endPoll(poll)
	srv.wantGolden("question_ended", srv.document("/objects/"+poll.id()).want(200).body)

	boost := alice.post("/api/v1/statuses/" + quoted.id() + "/reblog").want(200).object()
	srv.wantGolden("announce", srv.document(boost.str("uri")).want(200).body)
	srv.wantGolden("create", srv.document("/activities/"+quoted.id()).want(200).body)
}

// newGet makes a request that wants a kind of answer, any if accept is "".
func (a *api) newGet(address, accept string) *http.Request {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	return req
}

// sign signs a request without a body.
func (p *fakePeer) sign(req *http.Request, signer string) {
	p.t.Helper()
	if err := p.signerOf(signer).Sign(req, nil, httpsig.Options{Scheme: p.scheme, Now: time.Now()}); err != nil {
		p.t.Fatal(err)
	}
}

// contextOf returns the @context of a document.
func contextOf(t *testing.T, a *answer) string {
	t.Helper()
	var d struct {
		Context json.RawMessage `json:"@context"`
	}
	if err := json.Unmarshal(a.want(200).body, &d); err != nil {
		t.Fatal(err)
	}
	return string(d.Context)
}

// TestLongHistory edits a post that is as long as can be: with its earlier versions it stays as small as all servers take it
// (federation 3.2).
func TestLongHistory(t *testing.T) {
	srv := startPeers(t, 1)[0]
	alice := srv.signUp("alice")
	text := func(i int) string { return fmt.Sprint(i) + strings.Repeat("x", srv.settings.Statuses.MaxLength-1) }
	st := alice.publish(text(0)).id()
	for i := range 5 {
		alice.edit(st, jsonBody{"status": text(i + 1)}).want(200)
	}
	a := srv.document("/objects/" + st).want(200)
	if len(a.body) > 60_000 {
		t.Errorf("the document has %d bytes", len(a.body))
	}
	former := a.document()["formerRepresentations"].(doc)["orderedItems"].([]any)
	if len(former) == 0 || len(former) == 5 {
		t.Fatalf("there are %d earlier versions", len(former))
	}
	if last := former[len(former)-1].(doc)["content"].(string); !strings.HasPrefix(last, "<p>4x") {
		t.Errorf("the latest of them is %.10s", last)
	}
}
