package federation_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

const storageLimit = 256 << 20

// fill makes a file in the data directory that has no blocks, but whose size counts.
func fill(t *testing.T, srv *apptest.Server, size int64) {
	t.Helper()
	f, err := os.Create(filepath.Join(srv.Dir, "imports", "ballast"))
	if err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	srv.Budget.Remeasure()
}

// TestStorageLimitRefusesPosts fills the data directory of a server: it refuses posts of another with 503 and Retry-After, still accepts what
// deletes, and gets the posts after there is room again.
func TestStorageLimitRefusesPosts(t *testing.T) {
	peers := apptest.StartPeers(t, 2, func(c *config.Config) {
		c.Storage.Limit, c.Storage.Ballast, c.RateLimit.Enabled = storageLimit, 0, false
	})
	far, near := peers[0], peers[1]
	alice, bob := far.SignUp("alice"), near.SignUp("bob")
	bob.AccountAction(bob.FindRemote(alice), "follow")
	apptest.Settle(far, near)
	deleted, edited := alice.Publish("to be deleted"), alice.Publish("to be edited")
	apptest.Settle(far, near)
	bob.WantPost(deleted.Str("uri"))
	bob.WantPost(edited.Str("uri"))

	fill(t, near, storageLimit/100*86) // local files are refused, remote posts are not
	bob.SendForm("POST", "/api/v1/media", apptest.FilePart(apptest.PNG(8, 8))).Want(507)
	early := alice.Publish("before the end")
	apptest.Settle(far, near)
	bob.WantPost(early.Str("uri"))

	fill(t, near, storageLimit/100*92)
	u, err := near.Budget.Usage(t.Context(), true)
	if err != nil || !u.Critical || !u.Full {
		t.Errorf("usage %+v, %v", u, err)
	}
	apptest.WaitFor(t, "the health check to tell", func() bool {
		health := near.As(nil).Get("/api/v1/svc/healthcheck").Object()
		return health.Bool("storage.critical") && health.Bool("storage.full")
	})
	alice.Do("DELETE", "/api/v1/statuses/"+deleted.ID(), "", nil).Want(200)
	apptest.Settle(far, near)
	if bob.FindPost(deleted.Str("uri")) != nil {
		t.Error("a Delete was refused")
	}
	late := alice.Publish("too late")
	alice.EditStatus(edited.ID(), map[string]any{"status": "edited"}).Want(200)
	apptest.Settle(far, near)
	if bob.FindPost(late.Str("uri")) != nil {
		t.Error("a post was received without room for it")
	}
	bob.Publish("local posts have the rest")

	fill(t, near, 0)
	far.Advance(24 * time.Hour)
	near.Advance(24 * time.Hour)
	apptest.Settle(far, near)
	bob.WantPost(late.Str("uri"))
	if got := bob.WantPost(edited.Str("uri")).Str("content"); got != "<p>edited</p>" {
		t.Errorf("the edited post is %s", got)
	}
}

// TestStorageLimitResponses checks what senders get for each type of activity while the storage is used up.
func TestStorageLimitResponses(t *testing.T) {
	srv := apptest.StartWithLoopback(t, func(c *config.Config) {
		c.Storage.Limit, c.Storage.Ballast, c.RateLimit.Enabled = storageLimit, 0, false
	})
	peer := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	fill(t, srv, storageLimit)
	actor := peer.AddActor("mallory")
	for kind, status := range map[string]int{
		"Create": 503, "Announce": 503, "Update": 503, "Like": 503, "EmojiReact": 503, "Follow": 503, "Flag": 503, "Add": 503, "Move": 503,
		"Delete": 202, "Undo": 202, "Accept": 202, "Reject": 202, "Remove": 202, "Block": 202, "Unknown": 202,
	} {
		r := peer.Deliver(srv, "/inbox", actor, peer.Activity(kind, actor, alice.URI()))
		if r.Status != status {
			t.Errorf("%s: got %d %s, want %d", kind, r.Status, r.Body, status)
		}
		if got := r.Header.Get("Retry-After"); (status == 503) != (got == "600") {
			t.Errorf("%s: Retry-After is %q", kind, got)
		}
	}
}

// keepLimits runs the check of the storage limits until a condition holds, and the jobs that it caused.
func keepLimits(t *testing.T, srv *apptest.Server, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		srv.Admin.KeepStorageLimits(ctx)
	}()
	apptest.WaitFor(t, what, holds)
	cancel()
	<-ended
	srv.RunJobs()
}

// TestStorageLimitOrder fills the data directory step by step: first copies of remote media go, then old remote posts that nobody has reacted to,
// then files are refused and staff get a mail. Nothing of local accounts is deleted.
func TestStorageLimitOrder(t *testing.T) {
	picture := append(apptest.PNG(4, 4), make([]byte, 12<<20)...)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.Write(picture)
	}))
	t.Cleanup(site.Close)
	peers := apptest.StartPeers(t, 2, apptest.WithMail, func(c *config.Config) {
		c.Storage.Limit, c.Storage.Ballast, c.RateLimit.Enabled = storageLimit, 0, false
	})
	far, near := peers[0], peers[1]
	alice, bob, root := far.SignUp("alice"), near.SignUp("bob"), near.SignUpAdmin()
	bob.AccountAction(bob.FindRemote(alice), "follow")
	apptest.Settle(far, near)
	old, liked := alice.Publish("old").Str("uri"), alice.Publish("liked").Str("uri")
	apptest.Settle(far, near)
	bob.Post("/api/v1/statuses/" + bob.WantPost(liked).ID() + "/favourite").Want(200)

	near.AddEmoji("pets", map[string]string{"cat": "cat.png"})
	own := bob.Publish("own", "media_ids[]", bob.Upload(apptest.PNG(30, 30)).ID())
	unattached := bob.Upload(apptest.PNG(31, 31)).Str("url")
	avatar := bob.SendForm("PATCH", "/api/v1/accounts/update_credentials",
		apptest.FormPart{Name: "avatar", Filename: "a.png", IsFile: true, Content: string(apptest.PNG(32, 32))}).Want(200).Object().Str("avatar")
	near.Advance(31 * 24 * time.Hour)
	far.Advance(31 * 24 * time.Hour)
	young := alice.Publish("young").Str("uri")
	apptest.Settle(far, near)
	near.Mails()

	near.As(nil).Get(near.Proxy.URL(site.URL + "/a.png")).Want(200)
	apptest.WaitFor(t, "the copy", func() bool { return near.Proxy.Bytes() > 12<<20 })
	fill(t, near, storageLimit/100*81)
	keepLimits(t, near, "the copy to be deleted", func() bool { return near.Proxy.Bytes() < 1<<20 })
	bob.WantPost(old)
	bob.Upload(apptest.PNG(33, 33))
	if mails := near.Mails(); len(mails) != 0 {
		t.Errorf("%d mails before files are refused", len(mails))
	}

	fill(t, near, storageLimit/100*86)
	keepLimits(t, near, "the old post to be deleted", func() bool {
		near.RunJobs()
		return bob.FindPost(old) == nil
	})
	mails := near.Mails()
	if len(mails) != 1 || !strings.Contains(mails[0].To, "root@") || !strings.Contains(mails[0].Text, "storage limit is reached") {
		t.Errorf("mails: %+v", mails)
	}
	near.As(nil).Get(near.Proxy.URL(site.URL + "/b.png")).Want(507)
	bob.SendForm("POST", "/api/v1/media", apptest.FilePart(apptest.PNG(34, 34))).WantError(507, "The server has no space left for files: its storage limit is reached")
	root.SendForm("POST", "/api/v1/svc/emoji/packs/files?name=pets",
		apptest.FormPart{Name: "file", Filename: "dog.png", IsFile: true, Content: string(apptest.PNG(8, 8))}).Want(507)
	for _, uri := range []string{liked, young} {
		bob.WantPost(uri)
	}
	shown := bob.Get("/api/v1/statuses/" + own.ID()).Want(200).Object()
	for _, url := range []string{shown.At("media_attachments").([]any)[0].(map[string]any)["url"].(string), unattached, avatar, near.URL + "/emoji/pets/cat.png"} {
		near.As(nil).Get(url).Want(200)
	}

	fill(t, near, 0)
	keepLimits(t, near, "the end of the alert", func() bool { a, err := near.DB.StorageAlert(t.Context()); return a == nil || err != nil })
	bob.Upload(apptest.PNG(35, 35))
}
