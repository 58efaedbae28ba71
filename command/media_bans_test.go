package command_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestMediaBanCommands runs svc media ban, bans, unban and purge.
func TestMediaBanCommands(t *testing.T) {
	for _, name := range []string{"without a server", "with a server"} {
		t.Run(name, func(t *testing.T) {
			p := newWorkspace(t)
			p.run("user", "create", "alice", "--email", "alice@example.org").ok()
			if name == "with a server" {
				p.serve()
			}
			const one, two = "https://127.0.0.1:9/One.png", "https://127.0.0.1:9/two.png"
			want := func(want string, args ...string) {
				t.Helper()
				if got := p.run(append([]string{"media"}, args...)...).ok(); got != want {
					t.Errorf("%v: got %q, want %q", args, got, want)
				}
			}
			want("Banned "+one+".\nBanned "+two+".\n", "ban", one, two, one)
			want(one+" is already banned.\n", "ban", one)
			if got := p.run("media", "bans").ok(); strings.Count(got, "\n") != 3 || !strings.HasPrefix(got, "URL") || !strings.Contains(got, one) || !strings.Contains(got, two) {
				t.Errorf("bans: got %s", got)
			}
			if got := p.run("media", "bans", "--search", "one", "--json").ok(); !strings.HasPrefix(got, "[") || !strings.Contains(got, `"url": "`+one+`"`) ||
				!strings.Contains(got, `"sha256": ""`) || strings.Contains(got, two) {
				t.Errorf("bans as JSON: got %s", got)
			}
			want("Purged "+one+".\n", "purge", one)
			want(one+" is not banned any more.\nhttps://remote.example/3 was not banned.\n", "unban", one, "https://remote.example/3")
			if got := p.run("media", "unban", two, "--json").ok(); strings.Join(strings.Fields(got), "") != `{"urls":["`+two+`"],"unchanged":[]}` {
				t.Errorf("unban as JSON: got %s", got)
			}
			want("URL  SHA-256  SINCE\n", "bans")
			for _, args := range [][]string{{"ban"}, {"unban"}, {"purge"}, {"bans", "x"}} {
				p.run(append([]string{"media"}, args...)...).fails(2, "")
			}
			p.run("media", "ban", "picture.png").fails(1, `"picture.png" is not a URL`)
			if got := p.run("log", "moderation", "list").ok(); !strings.Contains(got, "unbanned media: "+one) || !strings.Contains(got, "banned media: "+one+", "+two) || !strings.Contains(got, "purged media: "+one) {
				t.Errorf("the log: %s", got)
			}
		})
	}
}

// TestBannedEmojiImport checks that a pack with a banned picture is not imported, and that the error names the picture.
func TestBannedEmojiImport(t *testing.T) {
	picture := emojiPicture(8)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.Write(picture)
	}))
	defer site.Close()
	p := newWorkspace(t, "[federation]\nallow_loopback = true\n")
	p.writeFiles(map[string][]byte{"pets/cat.png": picture, "pets/dog.png": emojiPicture(9)})
	s := p.serve()
	p.run("media", "ban", site.URL+"/cat.png").ok()
	s.waitUntil("the content of the ban to be known", func() bool {
		return !strings.Contains(p.run("media", "bans", "--json").ok(), `"sha256": ""`)
	})
	p.run("emoji", "import", "pets").fails(1, `"cat.png": it is banned on this server`)
	if list := p.run("emoji", "list").ok(); strings.Contains(list, "pets") {
		t.Errorf("a pack was imported: %s", list)
	}
	p.run("media", "unban", site.URL+"/cat.png").ok()
	p.run("emoji", "import", "pets").ok()
}
