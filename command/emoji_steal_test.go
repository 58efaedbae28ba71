package command_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestEmojiSteal copies an emoji of another server, without and with a server.
func TestEmojiSteal(t *testing.T) {
	picture := apptest.PNG(8, 8)
	var peer *httptest.Server
	peer = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/custom_emojis":
			w.Header().Set("Content-Type", "application/json")
			var list []map[string]string
			for _, name := range []string{"cat", "dog", "page", "document", "gone"} {
				list = append(list, map[string]string{"shortcode": name, "url": peer.URL + "/" + name + ".png"})
			}
			json.NewEncoder(w).Encode(list)
		case "/cat.png", "/dog.png", "/document.png":
			types := map[string]string{"/cat.png": "image/png", "/dog.png": "application/octet-stream", "/document.png": "application/json"}
			w.Header().Set("Content-Type", types[r.URL.Path])
			w.Write(picture)
		case "/page.png":
			fmt.Fprint(w, "<html>")
		default:
			http.NotFound(w, r)
		}
	}))
	defer peer.Close()
	host := strings.TrimPrefix(peer.URL, "http://")
	for _, name := range []string{"without a server", "with a server"} {
		t.Run(name, func(t *testing.T) {
			p := newWorkspace(t, "[federation]\nallow_loopback = true\n")
			p.run("user", "create", "alice", "--email", "alice@example.org").ok()
			if name == "with a server" {
				p.serve()
			}
			if got := p.run("emoji", "steal", "cat@"+host).ok(); got != "Copied :cat: into the pack stolen.\n" {
				t.Errorf("got %q", got)
			}
			if got := p.run("emoji", "steal", ":dog:@"+host, "--pack", "pets").ok(); got != "Copied :dog: into the pack pets.\n" {
				t.Errorf("got %q", got)
			}
			if log := p.run("log", "moderation", "list").ok(); !strings.Contains(log, "the command line copied emoji dog of "+host+" into pack pets") {
				t.Errorf("the log: %q", log)
			}
			for file, pack := range map[string]string{"cat.png": "stolen", "dog.png": "pets"} {
				if content, err := os.ReadFile(p.path("data", "emoji", pack, file)); string(content) != string(picture) {
					t.Errorf("%s of %s: %d bytes, %v", file, pack, len(content), err)
				}
			}
			if name == "with a server" {
				if _, body := p.get("/api/v1/svc/emoji", ""); !strings.Contains(body, `"cat":{"tags":["pack:stolen"],"image_url":"/emoji/stolen/cat.png"}`) {
					t.Errorf("the server has %s", body)
				}
			}
			for args, want := range map[string]string{
				"cat@" + host:      `An emoji with the "cat" shortcode already exists`,
				"fish@" + host:     "has no emoji :fish:",
				"page@" + host:     "unexpected content type",
				"document@" + host: "unexpected content type",
				"gone@" + host:     "404",
			} {
				p.run("emoji", "steal", args).fails(1, want)
			}
			p.run("emoji", "steal", "cat@"+host, "--pack", "../x").fails(1, "")
			for _, args := range []string{"cat", "@" + host, "cat@"} {
				p.run("emoji", "steal", args).fails(2, "is not of the form SHORTCODE@HOST")
			}
		})
	}
}
