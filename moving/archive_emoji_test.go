package moving_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"svc/admin"
	"svc/app/apptest"
	"svc/store"
)

// TestArchiveEmoji imports an archive whose posts have custom emoji: they are shown from the old server, or, if staff want it, copied into a pack.
func TestArchiveEmoji(t *testing.T) {
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/blob.png" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "image/png")
		w.Write(apptest.PNG(16, 16))
	}))
	t.Cleanup(old.Close)
	emoji := func(code, path string) string {
		return `{"type":"Emoji","name":":` + code + `:","icon":{"type":"Image","url":"` + old.URL + path + `"}}`
	}
	file := mastodon(
		note("1", "2019-01-01T10:00:00Z", "<p>:blob: and :gone:</p>", toAll, `"tag":[`+emoji("blob", "/blob.png")+`,`+emoji("gone", "/gone.png")+`,{"type":"Emoji","name":":bad:","icon":{"url":"javascript:1"}}]`),
		note("2", "2019-01-02T10:00:00Z", "<p>:blob:</p>", toAll, `"tag":[`+emoji("blob", "/blob.png")+`]`),
	).zip(t)
	for _, tt := range []struct {
		name    string
		copied  bool
		skipped int
		pack    string
	}{
		{"shown from the old server", false, 0, ""}, {"copied", true, 1, "imported-alice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, alice, bob := start(t)
			change := func(i *admin.ArchiveImport) { i.Public, i.Emoji = true, tt.copied }
			row := importArchive(t, srv, "alice", file, change)
			if row.State != store.ArchiveComplete || row.Imported != 2 || row.Skipped != tt.skipped {
				t.Errorf("archive: %+v", row)
			}
			first := bob.Get("/api/v1/accounts/" + alice.ID + "/statuses").Want(200).List()[1]
			codes := apptest.ListField(first, "emojis", "shortcode")
			if len(codes) != 2 {
				t.Errorf("emoji: %v", codes)
			}
			if url := fmt.Sprint(first.Find("emojis.0.url")); strings.Contains(url, "/emoji/imported-alice/blob") != tt.copied {
				t.Errorf("the emoji is at %s", url)
			}
			if e := srv.Emojis.Find("blob"); (e != nil) != tt.copied {
				t.Errorf("emoji of the server: %+v", e)
			}
			if tt.copied {
				skips, err := srv.DB.ArchiveSkips(t.Context(), row.ID, 0, 10)
				if err != nil || len(skips) != 1 || !strings.HasPrefix(skips[0].Item, ":gone: "+old.URL) || !strings.Contains(skips[0].Reason, "404") {
					t.Errorf("skipped: %+v, %v", skips, err)
				}
			}
			if again := importArchive(t, srv, "alice", file, change); again.Imported != 0 {
				t.Errorf("again: %+v", again)
			}
		})
	}
}
