package command_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// writeOutbox writes the folder of an archive with so many posts.
func (p *workspace) writeOutbox(folder string, posts int) {
	p.t.Helper()
	const actor = "https://old.example/users/alice"
	var entries []string
	for i := range posts {
		entries = append(entries, fmt.Sprintf(`{"type":"Create","actor":%q,"object":{"type":"Note","id":"%s/statuses/%d","attributedTo":%q,"published":%q,
			"to":["https://www.w3.org/ns/activitystreams#Public"],"content":"<p>post %d</p>"}}`, actor, actor, i, actor,
			time.Date(2019, 1, 1, 0, i, 0, 0, time.UTC).Format(time.RFC3339), i))
	}
	if err := os.MkdirAll(p.path(folder), 0o700); err != nil {
		p.t.Fatal(err)
	}
	p.write(folder+"/actor.json", `{"type":"Person","id":"`+actor+`","preferredUsername":"alice"}`)
	p.write(folder+"/outbox.json", `{"type":"OrderedCollection","orderedItems":[`+strings.Join(entries, ",")+`]}`)
}

// TestUserArchive imports an archive and undoes it, with a running server and without one.
func TestUserArchive(t *testing.T) {
	for _, tt := range []struct {
		name    string
		running bool
	}{{"without a server", false}, {"with a server", true}} {
		t.Run(tt.name, func(t *testing.T) {
			p := newWorkspace(t)
			p.run("user", "create", "alice", "--email", "alice@example.org", "--password", "long enough").ok()
			p.writeOutbox("archive", 3)
			if tt.running {
				p.serve()
			}
			if got := p.run("user", "import", "alice", "archive", p.path("archive"), "--wait").ok(); !strings.Contains(got, "Imported 3 posts with 0 files from @alice@old.example") {
				t.Error(got)
			}
			list := p.run("user", "import", "alice", "--list").ok()
			if !strings.Contains(list, "@alice@old.example  complete  3/3") {
				t.Error(list)
			}
			id, _, _ := strings.Cut(strings.Split(list, "\n")[1], " ")
			if got := p.run("user", "import", "--undo", id, "--wait").ok(); got != "All posts from the archive "+id+" are removed.\n" {
				t.Error(got)
			}
			if n := p.queryInt(`SELECT count(*) FROM imported_statuses`); n != 0 {
				t.Errorf("%d posts", n)
			}
		})
	}
}

// TestArchiveKilled kills the server with SIGKILL while it imports an archive. A new one goes on, and imports each post once.
func TestArchiveKilled(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org", "--password", "long enough").ok()
	const posts = 3000
	p.writeOutbox("archive", posts)
	for kill := range 4 {
		s := p.serve()
		if kill == 0 {
			p.run("user", "import", "alice", "archive", p.path("archive")).ok()
		}
		began := p.queryInt(`SELECT position FROM archives`)
		for deadline := time.Now().Add(time.Minute); kill < 3 && p.queryInt(`SELECT position FROM archives`) < began+100 && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
		if kill < 3 {
			s.signal(syscall.SIGKILL)
			<-s.done
		}
	}
	for deadline := time.Now().Add(2 * time.Minute); p.queryInt(`SELECT count(*) FROM archives WHERE state = 'complete'`) == 0; {
		if time.Now().After(deadline) {
			t.Fatalf("the import stands at %d", p.queryInt(`SELECT position FROM archives`))
		}
		time.Sleep(50 * time.Millisecond)
	}
	for what, query := range map[string]string{"imported posts": `SELECT count(*) FROM imported_statuses`, "posts": `SELECT count(*) FROM statuses`, "counted": `SELECT imported FROM archives`} {
		if n := p.queryInt(query); n != posts {
			t.Errorf("%d %s, want %d", n, what, posts)
		}
	}
}
