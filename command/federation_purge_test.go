package command_test

import (
	"database/sql"
	"strings"
	"syscall"
	"testing"

	"svc/store"
)

// addInstance stores accounts of a server and their posts, while no server runs.
func (p *workspace) addInstance(host string, accounts, posts int) {
	p.t.Helper()
	db, err := sql.Open("sqlite", "file:"+p.path("data/"+store.File)+"?_pragma=foreign_keys(1)")
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2) `
	for _, statement := range []string{
		numbers + `
			INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, created_at, statuses_count)
			SELECT 1700000000000000 + i, 'a' || i, 'a' || i, ?1, 'https://' || ?1 || '/users/' || i, '', 1700000000000, ?3 / ?2
			FROM n`,
		strings.Replace(numbers, "?2", "?3", 1) + `
			INSERT INTO statuses (id, account_id, visibility, conversation_id, domain, created_at, uri, content)
			SELECT 1700000001000000 + i, 1700000000000001 + i % ?2, 0, i, ?1, 1700000000000, 'https://' || ?1 || '/notes/' || i, 'x'
			FROM n`,
	} {
		if _, err := db.ExecContext(p.t.Context(), statement, host, accounts, posts); err != nil {
			p.t.Fatal(err)
		}
	}
}

func TestFederationPurge(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.addInstance("spam.example", 3, 30)
	p.run("federation", "purge", "spam.example").fails(2, "this cannot be undone")
	p.run("federation", "purge").fails(2, "HOST")
	p.run("federation", "purge", "a b", "--yes").fails(1, "is not a host such as example.org")
	p.run("federation", "purge", strings.TrimPrefix(p.url, "http://"), "--yes").fails(1, "is this server")
	if got := p.run("federation", "purge", "spam.example", "--yes").ok(); !strings.Contains(got, "will be purged") {
		t.Errorf("without --wait it prints %q", got)
	}
	if got := p.run("federation", "purges").ok(); !strings.Contains(got, "spam.example") || !strings.Contains(got, "0/0") {
		t.Errorf("purges prints %q", got)
	}
	if got := p.run("federation", "purge", "Spam.example", "--yes", "--wait").ok(); got != "Purged spam.example: 3 accounts, 30 posts.\n" {
		t.Errorf("with --wait it prints %q", got)
	}
	for _, want := range []string{`"host": "spam.example"`, `"accounts_done": 3`, `"statuses_done": 30`, `"accounts": 3`, `"statuses": 30`, `"finished_at": "2`, `"requested_at": "2`} {
		if got := p.run("federation", "purges", "--json").ok(); !strings.Contains(got, want) {
			t.Errorf("purges --json prints %s, want %s in it", got, want)
		}
	}
	if got := p.run("federation", "purge", "spam.example", "--yes", "--wait", "--json").ok(); !strings.Contains(got, `"accounts_done": 0`) {
		t.Errorf("a second purge prints %q", got)
	}
	if n := p.queryInt(`SELECT count(*) FROM statuses`) + p.queryInt(`SELECT count(*) FROM accounts WHERE domain <> ''`) + p.queryInt(`SELECT count(*) FROM jobs WHERE kind = 'purge_instance'`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	if got := p.run("log", "moderation", "list").ok(); !strings.Contains(got, "the command line deleted all accounts and posts of instance spam.example") {
		t.Errorf("the moderation log is %q", got)
	}
}

// TestPurgeAfterKill kills the server in the middle of a purge. The next one continues it.
func TestPurgeAfterKill(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	const accounts, posts = 20, 3000
	p.addInstance("spam.example", accounts, posts)
	p.run("federation", "purge", "spam.example", "--yes").ok()
	s := p.serve()
	s.waitUntil("the first posts", func() bool { return p.queryInt(`SELECT statuses_done FROM instance_purges`) > 0 })
	s.signal(syscall.SIGKILL)
	<-s.done
	left := p.queryInt(`SELECT count(*) FROM statuses`)
	if left == 0 || left+p.queryInt(`SELECT statuses_done FROM instance_purges`) != posts {
		t.Fatalf("%d posts are left after the kill, %d are counted as removed", left, p.queryInt(`SELECT statuses_done FROM instance_purges`))
	}
	p.serve()
	if got := p.run("federation", "purge", "spam.example", "--yes", "--wait").ok(); got != "Purged spam.example: 20 accounts, 3000 posts.\n" {
		t.Errorf("the end is %q", got)
	}
	if n := p.queryInt(`SELECT count(*) FROM statuses`) + p.queryInt(`SELECT count(*) FROM accounts WHERE domain <> ''`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}
