package federation_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

var update = flag.Bool("update", false, "rewrite testdata from the current output")

var (
	flakes    = regexp.MustCompile(`\b[0-9A-Za-z]{18}\b`)
	times     = regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z`)
	pems      = regexp.MustCompile(`-----BEGIN PUBLIC KEY-----[^-]*-----END PUBLIC KEY-----\\n`)
	multikeys = regexp.MustCompile(`z6Mk[1-9A-HJ-NP-Za-km-z]{44}`)
	files     = regexp.MustCompile(`/media/[^"]*(\.\w+)`)
)

// golden returns a document in the form that testdata has: values that differ in each run are numbered in order of appearance.
func golden(a *apptest.Server, body []byte) []byte {
	a.T.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", "  "); err != nil {
		a.T.Fatalf("%v: %s", err, body)
	}
	text := strings.ReplaceAll(out.String(), a.URL, "https://social.example")
	text = strings.ReplaceAll(text, strings.TrimPrefix(a.URL, "http://"), "social.example")
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
	text = multikeys.ReplaceAllString(text, "MULTIKEY")
	return []byte(files.ReplaceAllString(text, "/media/FILE$1"))
}

// wantGolden compares a document with a file of testdata, without its @context, which has a file of its own.
func wantGolden(a *apptest.Server, name string, body []byte) {
	a.T.Helper()
	var d apptest.Doc
	if err := json.Unmarshal(body, &d); err != nil {
		a.T.Fatalf("%v: %s", err, body)
	}
	if context, ok := d["@context"].([]any); !ok || len(context) == 0 || context[0] != "https://www.w3.org/ns/activitystreams" {
		a.T.Errorf("%s: the context is %v", name, d["@context"])
	}
	if name != "context" {
		delete(d, "@context")
	}
	compareGolden(a, name, d)
}

func compareGolden(a *apptest.Server, name string, d apptest.Doc) {
	a.T.Helper()
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(d); err != nil {
		a.T.Fatal(err)
	}
	got := golden(a, body.Bytes())
	file := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			a.T.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			a.T.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		a.T.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		a.T.Errorf("%s is another (-update rewrites it):\n%s", file, got)
	}
}

// TestDocuments compares complete documents with those in testdata.
func TestDocuments(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.StartPeers(t, 1)[0]
	srv.AddEmoji("blobs", map[string]string{"cat": "cat.png", "nod": "nod.gif"})
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")

	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{
		"display_name": "Alice :cat:", "note": "about me", "locked": true, "discoverable": true, "birthday": "1990-04-01", "show_birthday": true,
		"also_known_as":     []string{},
		"fields_attributes": []any{map[string]any{"name": "web", "value": "https://alice.example"}},
	}).Want(200)
	srv.ChangeAccount(alice, func(a *store.Account) {
		a.Avatar, a.Header = "avatar.png", "header.jpg"
		a.AlsoKnownAs.V = []string{"https://old.example/users/alice"}
	})
	wantGolden(srv, "actor", srv.GetDocument("/users/"+alice.ID).Want(200).Body)
	wantGolden(srv, "context", []byte(`{"@context":`+contextOf(t, srv.GetDocument("/users/"+alice.ID))+`}`))
	wantGolden(srv, "fetch_actor", srv.GetDocument("/internal/fetch").Want(200).Body)

	quoted := bob.Publish("quote me")
	question := bob.Publish("a question", "language", "en")
	picture := alice.Upload(apptest.PNG(3, 3), apptest.ValuePart("description", "three by three")).Str("id")
	st := alice.Publish("@bob hi :cat: #Test **bold**", "content_type", "text/markdown", "spoiler_text", "a :nod:", "in_reply_to_id", question.ID(),
		"media_ids[]", picture, "language", "en", "quote_id", quoted.ID())
	alice.Publish("and more", "in_reply_to_id", st.ID())
	bob.Publish("not the author's", "in_reply_to_id", st.ID())
	alice.Publish("private", "in_reply_to_id", st.ID(), "visibility", "private")
	alice.SendJSON("PUT", "/api/v1/statuses/"+st.ID(), map[string]any{
		"status": "@bob hello :cat: #Test", "content_type": "text/plain", "spoiler_text": "a :nod:", "media_ids": []string{picture},
	}).Want(200)
	wantGolden(srv, "note", srv.GetDocument("/objects/"+st.ID()).Want(200).Body)

	poll := alice.Publish("tea?", "poll[options][]", "yes :cat:", "poll[options][]", "no", "poll[expires_in]", "86400", "visibility", "unlisted")
	bob.SendJSON("POST", "/api/v1/polls/"+poll.Str("poll.id")+"/votes", map[string]any{"choices": []int{1}}).Want(200)
	wantGolden(srv, "question", srv.GetDocument("/objects/"+poll.ID()).Want(200).Body)
	srv.EndPoll(poll)
	wantGolden(srv, "question_ended", srv.GetDocument("/objects/"+poll.ID()).Want(200).Body)

	boost := alice.Post("/api/v1/statuses/" + quoted.ID() + "/reblog").Want(200).Object()
	wantGolden(srv, "announce", srv.GetDocument(boost.Str("uri")).Want(200).Body)
	wantGolden(srv, "create", srv.GetDocument("/activities/"+quoted.ID()).Want(200).Body)
}

// contextOf returns the @context of a document.
func contextOf(t *testing.T, a *apptest.Response) string {
	t.Helper()
	var d struct {
		Context json.RawMessage `json:"@context"`
	}
	if err := json.Unmarshal(a.Want(200).Body, &d); err != nil {
		t.Fatal(err)
	}
	return string(d.Context)
}

// TestLongHistory edits a post of maximal length: with its earlier versions, its document stays within the size that all servers accept
// (federation 3.2).
func TestLongHistory(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	alice := srv.SignUp("alice")
	text := func(i int) string { return fmt.Sprint(i) + strings.Repeat("x", srv.Settings.Statuses.MaxLength-1) }
	st := alice.Publish(text(0)).ID()
	for i := range 5 {
		alice.EditStatus(st, apptest.Doc{"status": text(i + 1)}).Want(200)
	}
	a := srv.GetDocument("/objects/" + st).Want(200)
	if len(a.Body) > 60_000 {
		t.Errorf("the document has %d bytes", len(a.Body))
	}
	former := a.Document()["formerRepresentations"].(apptest.Doc)["orderedItems"].([]any)
	if len(former) == 0 || len(former) == 5 {
		t.Fatalf("there are %d earlier versions", len(former))
	}
	if last := former[len(former)-1].(apptest.Doc)["content"].(string); !strings.HasPrefix(last, "<p>4x") {
		t.Errorf("the latest of them is %.10s", last)
	}
}
