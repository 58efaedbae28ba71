package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/social"
	"svc/store"
)

// listFile is the part of a form with a list as a file.
func listFile(content string) apptest.FormPart {
	return apptest.FormPart{Name: "list", Content: content, Filename: "list.csv", Type: "text/csv", IsFile: true}
}

// lastImport returns the newest import of a user as "kind state total/imported/skipped", and what it skipped.
func lastImport(m *apptest.User) (result string, skipped []string) {
	m.Server.T.Helper()
	i := m.Get("/api/v1/svc/imports").Want(200).List()[0]
	for _, e := range m.Get("/api/v1/svc/imports/" + i.ID() + "/skipped").Want(200).List() {
		skipped = append(skipped, fmt.Sprintf("%d %s: %s", e.Int("position"), e.Str("entry"), e.Str("reason")))
	}
	return fmt.Sprintf("%s %s %d/%d/%d", i.Str("kind"), i.Str("state"), i.Int("total"), i.Int("imported"), i.Int("skipped")), skipped
}

// TestImportForms imports one list in all forms that clients send.
func TestImportForms(t *testing.T) {
	srv := apptest.Start(t)
	apptest.SignUpMany(srv, 3)
	host := apptest.MustHost(t, srv.URL)
	for n, tt := range []struct {
		name   string
		path   string
		send   func(m *apptest.User, path string) *apptest.Response
		result string
	}{
		{"text", "follow_import", func(m *apptest.User, path string) *apptest.Response {
			return m.Post(path, "list", "p0@"+host+"\np1")
		}, "follows finished 2/2/0"},
		{"JSON", "follow_import", func(m *apptest.User, path string) *apptest.Response {
			return m.SendJSON("POST", path, apptest.Doc{"list": "@p0 @p1"})
		}, "follows finished 2/2/0"},
		{"file", "follow_import", func(m *apptest.User, path string) *apptest.Response {
			return m.SendForm("POST", path, listFile("\uFEFFAccount address,Show boosts\r\np0@"+host+",true\r\n\r\n@p1@"+host+",false\r\np0,true\r\n"))
		}, "follows finished 3/3/0"},
		{"ids and profiles", "follow_import", func(m *apptest.User, path string) *apptest.Response {
			return m.Post(path, "list", srv.URL+"/@p0\n"+srv.URL+"/@p1")
		}, "follows finished 2/2/0"},
		{"blocks", "blocks_import", func(m *apptest.User, path string) *apptest.Response {
			return m.Post(path, "list", "p0 @p1@"+host)
		}, "blocks finished 2/2/0"},
		{"mutes", "mutes_import", func(m *apptest.User, path string) *apptest.Response {
			return m.SendForm("POST", path, listFile(`"p0@`+host+`",true`+"\n"+`p1,"false"`))
		}, "mutes finished 2/2/0"},
		{"the old prefix", "follow_import", func(m *apptest.User, path string) *apptest.Response {
			return m.Post(strings.Replace(path, "/api/v1/svc/", "/api/svc/", 1), "list", "p0\np1")
		}, "follows finished 2/2/0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := srv.SignUp(fmt.Sprintf("form%d", n))
			if got := string(tt.send(m, "/api/v1/svc/"+tt.path).Want(200).Body); strings.TrimSpace(got) != `"job started"` {
				t.Errorf("answer is %s", got)
			}
			srv.RunJobs()
			if got, skipped := lastImport(m); got != tt.result {
				t.Errorf("got %s, want %s; skipped %q", got, tt.result, skipped)
			}
			kind, _, _ := strings.Cut(tt.result, " ")
			field := map[string]string{"follows": "following", "blocks": "blocking", "mutes": "muting"}[kind]
			for _, nick := range []string{"p0", "p1"} {
				id := m.Get("/api/v1/accounts/lookup", "acct", nick).Want(200).Object().ID()
				if !m.Relationship(id).Bool(field) {
					t.Errorf("%s is not %s", nick, field)
				}
			}
		})
	}
}

func TestImportRefused(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	long := make([]string, 10_001)
	for i := range long {
		long[i] = fmt.Sprintf("a%d", i)
	}
	other := srv.NewToken(alice, "read:accounts write:statuses")
	for _, path := range []string{"follow_import", "blocks_import", "mutes_import"} {
		path = "/api/v1/svc/" + path
		for _, tt := range []struct {
			name string
			send *apptest.Response
			want int
		}{
			{"nothing", alice.Post(path), 400},
			{"empty", alice.Post(path, "list", ""), 400},
			{"blank", alice.Post(path, "list", " \n\n"), 400},
			{"null", alice.SendJSON("POST", path, apptest.Doc{"list": nil}), 400},
			{"a wrong type", alice.SendJSON("POST", path, apptest.Doc{"list": apptest.Doc{"a": 1}}), 400},
			{"an empty file", alice.SendForm("POST", path, listFile("")), 400},
			{"a header only", alice.SendForm("POST", path, listFile("Account address,Show boosts\n")), 400},
			{"a binary file", alice.SendForm("POST", path, listFile("PK\x03\x04\x00\x00")), 400},
			{"too many entries", alice.SendForm("POST", path, listFile(strings.Join(long, "\n"))), 422},
			{"too large", alice.SendForm("POST", path, listFile(strings.Repeat("a\n", 600_000))), 413},
			{"nobody", srv.As(nil).Post(path, "list", "bob"), 403},
			{"a token for other things", other.Post(path, "list", "bob"), 403},
		} {
			if tt.send.Status != tt.want {
				t.Errorf("%s %s: got %d, want %d: %s", path, tt.name, tt.send.Status, tt.want, tt.send.Body)
			}
		}
	}
	if n := len(alice.Get("/api/v1/svc/imports").Want(200).List()); n != 0 {
		t.Errorf("refused lists left %d imports", n)
	}
	for range 5 {
		alice.Post("/api/v1/svc/mutes_import", "list", "bob").Want(200)
	}
	if a := alice.Post("/api/v1/svc/mutes_import", "list", "bob").Want(429); a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After while too many imports run")
	}
	for range 15 {
		srv.RunJobs()
		alice.Post("/api/v1/svc/mutes_import", "list", "bob").Want(200)
	}
	srv.RunJobs()
	alice.Post("/api/v1/svc/mutes_import", "list", "bob").WantError(429, "Too many imports today")
	bob.Post("/api/v1/svc/mutes_import", "list", "alice").Want(200)
	id := alice.Get("/api/v1/svc/imports").Want(200).IDs()[0]
	alice.Get("/api/v1/svc/imports/" + id).Want(200)
	alice.Get("/api/v1/svc/imports/" + id + "/skipped").Want(200)
	bob.Get("/api/v1/svc/imports/"+id).WantError(404, "Record not found")
	bob.Get("/api/v1/svc/imports/" + id + "/skipped").Want(404)
	other.Get("/api/v1/svc/imports").Want(403)
}

// TestImportSkips checks the reasons for entries that cannot be imported, and that those of a server that does not answer are retried.
func TestImportSkips(t *testing.T) {
	peers := apptest.StartPeers(t, 2)
	here, there := peers[0], peers[1]
	alice, bob, dora, fritz := here.SignUp("alice"), here.SignUp("bob"), here.SignUp("dora"), there.SignUp("fritz")
	dora.AccountAction(alice.ID, "block")
	host := apptest.MustHost(t, there.URL)
	alice.Post("/api/v1/svc/follow_import", "list", strings.Join([]string{
		"bob", "alice", "nobody", "dora", "fritz@" + host, "none@" + host, "not an address%", "x@127.0.0.1:1", "y@127.0.0.1:1", "z@127.0.0.1:1",
	}, "\n")).Want(200)
	here.RunJobs()
	if got, _ := lastImport(alice); got != "follows running 12/2/7" { // "not an address%" has three entries
		t.Errorf("after the first run: %s", got)
	}
	for range social.MaxImportRetries {
		here.Exec(`UPDATE jobs SET run_at = 1000 WHERE kind = 'run_import'`)
		here.RunJobs()
	}
	got, skipped := lastImport(alice)
	if got != "follows finished 12/2/10" {
		t.Errorf("after the last run: %s", got)
	}
	want := []string{
		"2 alice: You cannot do that to yourself", "3 nobody: not found", "4 dora: This action is not allowed", "6 none@" + host + ": not found",
		"7 not: not found", "8 an: not found", "9 address%: not the address of an account", "10 x@127.0.0.1:1: the server could not be reached",
		"11 y@127.0.0.1:1: the server could not be reached", "12 z@127.0.0.1:1: the server could not be reached",
	}
	apptest.WantList(t, "skipped", skipped, want...)
	id := alice.Get("/api/v1/svc/imports").Want(200).IDs()[0]
	page := alice.Get("/api/v1/svc/imports/"+id+"/skipped", "min_id", "9", "limit", "2").Want(200).List()
	if len(page) != 2 || page[0].Int("position") != 10 {
		t.Errorf("page of skipped entries is %v", page)
	}
	apptest.Settle(here, there)
	if !alice.Relationship(bob.ID).Bool("following") || !alice.Relationship(alice.FindRemote(fritz)).Bool("following") {
		t.Error("accounts that exist are not followed")
	}
	here.Exec(`UPDATE imports SET finished_at = 1000`)
	here.Exec(`UPDATE jobs SET run_at = 1000 WHERE kind = 'prune'`)
	if err := here.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.Enqueue(t.Context(), store.Prune{}) }); err != nil {
		t.Fatal(err)
	}
	here.RunJobs()
	if n := len(alice.Get("/api/v1/svc/imports").Want(200).List()); n != 0 {
		t.Errorf("%d old imports are kept", n)
	}
}

// TestImportRetries imports accounts of a server that does not answer: they are retried with growing delays, imported if it answers then,
// and skipped after the last retry.
func TestImportRetries(t *testing.T) {
	remote := apptest.StartFake(t)
	srv := apptest.StartWithLoopback(t)
	alice := srv.SignUp("alice")
	var list []string
	for i := range 50 { // more than a batch
		list = append(list, fmt.Sprintf("n%d@127.0.0.1:1", i))
	}
	list = append(list, "carol@"+remote.Host)
	remote.Remove(remote.AddActor("carol"), 503)
	alice.Post("/api/v1/svc/follow_import", "list", strings.Join(list, "\n")).Want(200)
	srv.RunJobs()
	for i, delay := range []time.Duration{10 * time.Minute, 40 * time.Minute, 160 * time.Minute} {
		if got, skipped := lastImport(alice); got != fmt.Sprintf("follows running 51/%d/0", i/2) {
			t.Fatalf("before retry %d: %s, skipped %q", i+1, got, skipped)
		}
		if i == 1 {
			remote.AddActor("carol") // the server answers again
		}
		srv.Advance(delay - time.Minute)
		srv.RunJobs()
		if n := srv.Count(`SELECT count(*) FROM jobs WHERE kind = 'run_import' AND json_extract(payload, '$.retries') = ?`, i+1); n != 1 {
			t.Errorf("retry %d does not wait for %s", i+1, delay)
		}
		srv.Advance(2 * time.Minute)
		srv.RunJobs()
	}
	got, skipped := lastImport(alice)
	if got != "follows finished 51/1/50" || len(skipped) != 50 || skipped[49] != "50 n49@127.0.0.1:1: the server could not be reached" {
		t.Errorf("after the last retry: %s, skipped %q", got, skipped)
	}
}

// TestImportColumns imports the files of Mastodon's export, with their columns.
func TestImportColumns(t *testing.T) {
	srv := apptest.Start(t)
	alice, p := srv.SignUp("alice"), apptest.SignUpMany(srv, 4)
	host := apptest.MustHost(t, srv.URL)
	alice.SendForm("POST", "/api/v1/svc/follow_import", listFile("Account address,Show boosts,Notify on new posts,Languages\n"+
		"p0@"+host+",false,true,\"de, en\"\np1@"+host+",true,false,\n")).Want(200)
	alice.SendForm("POST", "/api/v1/svc/mutes_import", listFile("Account address,Hide notifications\np2@"+host+",false\np3@"+host+",true\n")).Want(200)
	srv.RunJobs()
	for i, want := range []apptest.Doc{
		{"following": true, "showing_reblogs": false, "notifying": true, "languages": []any{"de", "en"}},
		{"following": true, "showing_reblogs": true, "notifying": false},
		{"muting": true, "muting_notifications": false},
		{"muting": true, "muting_notifications": true},
	} {
		rel := alice.Relationship(p[i].ID)
		for key, value := range want {
			if fmt.Sprint(rel.At(key)) != fmt.Sprint(value) {
				t.Errorf("p%d: %s is %v, want %v", i, key, rel.At(key), value)
			}
		}
	}
	// A file without these columns leaves them as they are.
	alice.Post("/api/v1/svc/follow_import", "list", "p0").Want(200)
	srv.RunJobs()
	if rel := alice.Relationship(p[0].ID); rel.Bool("showing_reblogs") || !rel.Bool("notifying") {
		t.Errorf("importing again changed %s", rel.Fields)
	}
	if got := p[0].NotificationTypes(); len(got) != 1 {
		t.Errorf("p0 has the notifications %v, want one", got)
	}
}

// TestImportResumes stops the server between two batches of an import, and starts another one on the same data.
func TestImportResumes(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	const n = 100
	srv.Exec(fmt.Sprintf(`
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO accounts (id, nickname, nickname_key, uri, url, created_at)
		SELECT i, 'x' || i, 'x' || i, 'https://x.example/' || i, '', 1 FROM n`, n))
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("x%d", i+1))
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	followed := 0
	srv.DB.Subscribe(func(events []store.Event) {
		for _, e := range events {
			if _, ok := e.(store.FollowChanged); ok {
				if followed++; followed == 50 {
					stop()
				}
			}
		}
	})
	alice.Post("/api/v1/svc/follow_import", "list", strings.Join(names, "\n")).Want(200)
	srv.Worker.Run(ctx)
	if got, _ := lastImport(alice); got != "follows running 100/40/0" {
		t.Fatalf("the interrupted import is %s", got)
	}
	again := srv.StartAgain()
	alice.Client.Server = again
	again.RunJobs()
	if got, skipped := lastImport(alice); got != "follows finished 100/100/0" {
		t.Errorf("the import is %s, skipped %q", got, skipped)
	}
	if got := alice.Get("/api/v1/accounts/" + alice.ID).Want(200).Object().Int("following_count"); got != n {
		t.Errorf("alice follows %d accounts, want %d", got, n)
	}
}

// TestImportOfDeletedAccount checks that an import ends with its account.
func TestImportOfDeletedAccount(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	alice.Post("/api/v1/svc/follow_import", "list", "carol").Want(200)
	bob.Post("/api/v1/svc/follow_import", "list", "carol").Want(200)
	srv.DeleteOrDeactivate(alice, true)
	srv.DeleteOrDeactivate(bob, false)
	srv.RunJobs()
	if got := carol.Get("/api/v1/accounts/" + carol.ID).Want(200).Object().Int("followers_count"); got != 0 {
		t.Errorf("carol has %d followers", got)
	}
	imports, err := srv.DB.Imports(t.Context(), alice.AccountID(), 10)
	if err != nil || len(imports) != 0 {
		t.Errorf("the deleted account has the imports %v, %v", imports, err)
	}
	imports, err = srv.DB.Imports(t.Context(), bob.AccountID(), 10)
	if err != nil || len(imports) != 1 || imports[0].FinishedAt == nil || imports[0].Skipped != 1 {
		t.Errorf("the deactivated account has the imports %v, %v", imports, err)
	}
}
