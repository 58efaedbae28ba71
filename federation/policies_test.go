package federation_test

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"svc/emoji"
	"svc/federation"
	"svc/federation/policy"
	"svc/internal/config"
	"svc/internal/fetch"
	"svc/media"
	"svc/social"
	"svc/store"
)

// bench is a server without its doors.
type bench struct {
	db     *store.DB
	worker *store.Worker
	emojis *emoji.Packs
	chain  *policy.Chain
}

func newBench(t *testing.T, change func(*config.Config)) *bench {
	t.Helper()
	c := config.Default()
	c.Data.Dir = t.TempDir()
	change(c)
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	db, err := store.Open(t.Context(), store.Options{Dir: c.Data.Dir, Schema: string(schema), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	files, err := media.Open(filepath.Join(c.Data.Dir, "media"), media.Limits{Pixels: 1000})
	if err != nil {
		t.Fatal(err)
	}
	emojis, err := emoji.Open(filepath.Join(c.Data.Dir, "emoji"), log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(db.Close(), files.Close()); err != nil {
			t.Error(err)
		}
	})
	b := &bench{db: db, emojis: emojis}
	out := fetch.New(fetch.Options{UserAgent: "test", AllowLoopback: true})
	b.chain = federation.NewPolicies(c, db, emojis, out, nil, log)
	b.worker = store.NewWorker(db, 1, log)
	social.New(db, files, social.FromSettings(c), log).Register(b.worker)
	return b
}

func (b *bench) account(t *testing.T, nickname, domain, actorType string) *store.Account {
	t.Helper()
	a := &store.Account{Nickname: nickname, Domain: domain, ActorType: actorType, URI: "https://" + domain + "/users/" + nickname}
	if err := b.db.Update(t.Context(), func(tx *store.Tx) error { return tx.AddAccount(t.Context(), a) }); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestFollowBot(t *testing.T) {
	b := newBench(t, func(c *config.Config) {
		c.MRF.Policies, c.MRFFollowBot.FollowerNickname = []string{"FollowBotPolicy"}, "robot"
	})
	bob := b.account(t, "bob", "there.example", "Person")
	see := func() {
		t.Helper()
		p := &policy.Post{Author: bob, ActorID: bob.URI, Host: bob.Domain, ActivityType: "Create", ObjectType: "Note"}
		if err := b.chain.Post(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := b.worker.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	see() // there is no such bot: the post passes all the same
	robot := b.account(t, "robot", "", "Person")
	see()
	if f, err := b.db.FollowOf(t.Context(), robot.ID, bob.ID); f != nil || err != nil {
		t.Errorf("who is no bot follows: %v, %v", f, err)
	}
	robot.ActorType = "Service"
	if err := b.db.Update(t.Context(), func(tx *store.Tx) error { return tx.SaveAccount(t.Context(), robot) }); err != nil {
		t.Fatal(err)
	}
	see()
	see()
	if f, err := b.db.FollowOf(t.Context(), robot.ID, bob.ID); f == nil || err != nil {
		t.Errorf("the bot does not follow: %v", err)
	}
}

func TestStealEmoji(t *testing.T) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/big.png" {
			w.Write(make([]byte, 5000))
		}
		w.Write(picture.Bytes())
	}))
	defer ts.Close()
	b := newBench(t, func(c *config.Config) {
		c.MRF.Policies, c.MRFStealEmoji.Hosts, c.MRFStealEmoji.SizeLimit = []string{"StealEmojiPolicy"}, []string{"there.example"}, 1000
	})
	see := func(code, path string) {
		t.Helper()
		p := &policy.Post{Host: "there.example", Version: policy.Version{Emoji: []policy.Emoji{{Shortcode: code, URL: ts.URL + path}}}}
		if err := b.chain.Post(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	see("big", "/big.png")
	for deadline := time.Now().Add(10 * time.Second); !b.emojis.Has("blobcat"); see("blobcat", "/blobcat.png") {
		if time.Now().After(deadline) {
			t.Fatal("the emoji is not copied")
		}
	}
	if e := b.emojis.Find("blobcat"); e.Path != "/emoji/stolen/blobcat.png" || b.emojis.Has("big") {
		t.Errorf("got %v of %v", e, b.emojis.All())
	}
}
