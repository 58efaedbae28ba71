package server_test

import (
	"crypto/x509"
	"net/http"
	"strings"
	"sync"
	"testing"

	"svc/app/apptest"
	"svc/internal/httpsig"
	"svc/store"
)

const activityAccept = "application/activity+json"

// oldSoftware is how a software forms the addresses of an account, a post, a boost and a file.
type oldSoftware struct {
	name, actor, profile, key    string
	status, activity, page, dead string
	boost, media                 string
	stored                       []string // paths of the post that are stored apart from its uri
}

var oldSoftwares = []oldSoftware{
	{
		name: "Mastodon", actor: "/users/alice", profile: "/@alice", key: "/users/alice#main-key",
		status: "/users/alice/statuses/109612104811129202", activity: "/users/alice/statuses/109612104811129202/activity", page: "/@alice/109612104811129202",
		dead: "/users/alice/statuses/109612104811129999", boost: "/users/alice/statuses/109612104811129203/activity",
		media: "/system/media_attachments/files/109/612/104/811/129/204/original/0123456789abcdef.png", stored: []string{"/@alice/109612104811129202"},
	},
	{
		name: "Mastodon with numbered actors", actor: "/ap/users/115000000000000001", profile: "/@alice", key: "/ap/users/115000000000000001#main-key",
		status: "/ap/users/115000000000000001/statuses/115000000000000002", activity: "/ap/users/115000000000000001/statuses/115000000000000002/activity",
		page: "/@alice/115000000000000002", dead: "/ap/users/115000000000000001/statuses/115000000000000009",
		boost: "/ap/users/115000000000000001/statuses/115000000000000003/activity",
		media: "/system/media_attachments/files/115/000/000/original/0123456789abcdef.png", stored: []string{"/@alice/115000000000000002"},
	},
	{
		name: "GoToSocial", actor: "/users/alice", profile: "/@alice", key: "/users/alice/main-key",
		status: "/users/alice/statuses/01HV8ZC4T2XQ5W0G7R9N3KDM1B", activity: "/users/alice/statuses/01HV8ZC4T2XQ5W0G7R9N3KDM1B/activity",
		page: "/@alice/statuses/01HV8ZC4T2XQ5W0G7R9N3KDM1B", dead: "/users/alice/statuses/01HV8ZC4T2XQ5W0G7R9N3KDM1Z",
		boost: "/users/alice/statuses/01HV8ZC4T2XQ5W0G7R9N3KDM1C",
		media: "/fileserver/01F8MH17FWEB39HZJ76B6VXSKF/attachment/original/01F8MH6NEM8D7527KZAECTCR76.png", stored: []string{"/@alice/statuses/01HV8ZC4T2XQ5W0G7R9N3KDM1B"},
	},
	{
		name: "Pleroma", actor: "/users/alice", profile: "/users/alice", key: "/users/alice#main-key",
		status: "/objects/2c9e4a34-5f4d-4a3e-9d9e-0a4f1c7e6b01", activity: "/activities/7d1c0f7e-1f55-4e0e-8a53-52c9c8f3a402", page: "/notice/AbCdEf0123456789Gh",
		dead: "/objects/2c9e4a34-5f4d-4a3e-9d9e-0a4f1c7e6b99", boost: "/activities/7d1c0f7e-1f55-4e0e-8a53-52c9c8f3a403",
		media:  "/media/0123456789abcdef0123456789abcdef/picture.png",
		stored: []string{"/activities/7d1c0f7e-1f55-4e0e-8a53-52c9c8f3a402", "/notice/AbCdEf0123456789Gh"},
	},
}

// oldServer is a server whose account, post and file have the addresses of other software, as after a takeover.
type oldServer struct {
	oldSoftware
	*apptest.Server
	peer    *apptest.FakeServer
	alice   *apptest.User
	post    *apptest.Object
	mu      sync.Mutex
	signers []string // key ids of deliveries to peer
}

func startOld(t *testing.T, o oldSoftware) *oldServer {
	srv, peer := apptest.StartWithFake(t)
	s := &oldServer{oldSoftware: o, Server: srv, peer: peer}
	if srv.DB.HasOldAddresses() {
		t.Error("a new server looks for old addresses")
	}
	peer.Check = func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		if r.Method == http.MethodPost {
			s.mu.Lock()
			s.signers = append(s.signers, httpsig.ClaimedKeyID(r))
			s.mu.Unlock()
		}
		return true
	}
	s.alice = srv.SignUp("alice")
	s.addKey(t)
	srv.Exec(`UPDATE accounts SET uri = ?, url = ? WHERE id = ?`, srv.URL+o.actor, srv.URL+o.profile, s.alice.AccountID())
	picture := s.alice.Upload(apptest.PNG(20, 10))
	s.post = s.alice.Publish("hello", "media_ids[]", picture.ID())
	boost := s.alice.Post("/api/v1/statuses/" + s.alice.Publish("boosted").ID() + "/reblog").Want(200).Object()
	apptest.Settle(srv)
	srv.Exec(`UPDATE statuses SET uri = ?, url = ? WHERE id = ?`, srv.URL+o.status, srv.URL+o.page, apptest.StatusID(s.post.ID()))
	srv.Exec(`UPDATE statuses SET uri = ? WHERE id = ?`, srv.URL+o.boost, apptest.StatusID(boost.ID()))
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		for _, path := range o.stored {
			if err := tx.AddOldAddress(t.Context(), path, apptest.StatusID(s.post.ID())); err != nil {
				return err
			}
		}
		if err := tx.AddOldMedia(t.Context(), o.media, strings.TrimPrefix(picture.Str("url"), srv.URL)); err != nil {
			return err
		}
		if err := tx.AddDeadNickname(t.Context(), "Gone"); err != nil {
			return err
		}
		return tx.AddDeadStatus(t.Context(), srv.URL+o.dead, 1_700_000_000_000)
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// addKey stores the key that the account had.
func (s *oldServer) addKey(t *testing.T) {
	private, err := apptest.Key()
	if err != nil {
		t.Fatal(err)
	}
	public, err := httpsig.FormatPublicKey(&private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	key := &store.ActorKey{URI: s.URL + s.key, AccountID: s.alice.AccountID(), Public: public, Private: s.Keys.Seal("actor keys", der), Announced: true}
	if err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.AddActorKey(t.Context(), key) }); err != nil {
		t.Fatal(err)
	}
}

// document fetches a document.
func (s *oldServer) document(t *testing.T, path string) *apptest.Object {
	t.Helper()
	return s.peer.FetchAs(s.Server, path, "", activityAccept).Want(200).Object()
}

func object(t *testing.T, d apptest.Doc) *apptest.Object { return &apptest.Object{T: t, Fields: d} }

// wantText compares a member of a document.
func wantText(t *testing.T, o *apptest.Object, key, want string) {
	t.Helper()
	if got := o.Str(key); got != want {
		t.Errorf("%s is %q, want %q", key, got, want)
	}
}

// TestOldAddresses checks that other servers and browsers reach accounts, posts and files by the addresses that other software gave to them.
func TestOldAddresses(t *testing.T) {
	for _, o := range oldSoftwares {
		t.Run(o.name, func(t *testing.T) {
			s := startOld(t, o)
			s.testDocuments(t)
			s.testPages(t)
			s.testDead(t)
			s.testLookups(t)
			s.testIncoming(t)
			s.testOutgoing(t)
		})
	}
}

func (s *oldServer) testDocuments(t *testing.T) {
	actor := s.document(t, s.actor)
	for key, want := range map[string]string{"id": "", "inbox": "/inbox", "outbox": "/outbox", "followers": "/followers", "following": "/following", "featured": "/collections/featured"} {
		wantText(t, actor, key, s.URL+s.actor+want)
		if key != "id" && key != "inbox" {
			wantText(t, s.document(t, s.actor+want), "id", s.URL+s.actor+want)
		}
	}
	wantText(t, actor, "publicKey.id", s.URL+s.key)
	keyPath, _, _ := strings.Cut(s.key, "#")
	key := s.document(t, keyPath)
	wantText(t, key, "id", s.URL+s.actor)
	wantText(t, key, "publicKey.id", s.URL+s.key)
	note := s.document(t, s.status)
	wantText(t, note, "id", s.URL+s.status)
	wantText(t, note, "attributedTo", s.URL+s.actor)
	wantText(t, note, "url", s.URL+s.page)
	wantText(t, s.document(t, s.page), "id", s.URL+s.status)
	wantText(t, s.document(t, s.status+"/replies"), "id", s.URL+s.status+"/replies")
	create := s.document(t, s.activity)
	wantText(t, create, "type", "Create")
	wantText(t, create, "object.id", s.URL+s.status)
	if strings.Contains(s.activity, "/statuses/") {
		wantText(t, create, "id", s.URL+s.activity)
	}
	if strings.Contains(s.boost, "activit") {
		announce := s.document(t, s.boost)
		wantText(t, announce, "id", s.URL+s.boost)
		wantText(t, announce, "type", "Announce")
	}
	for _, resource := range []string{s.URL + s.actor, s.URL + "/@alice", "acct:alice@" + strings.TrimPrefix(s.URL, "http://")} {
		finger := s.As(nil).Get("/.well-known/webfinger", "resource", resource).Want(200)
		if !strings.Contains(string(finger.Body), `"href":"`+s.URL+s.actor+`"`) {
			t.Errorf("WebFinger names another actor for %s: %s", resource, finger.Body)
		}
	}
}

func (s *oldServer) testPages(t *testing.T) {
	page := s.URL + "/@alice/" + s.post.ID()
	for path, want := range map[string]string{s.page: page, s.status: page, s.activity: page, s.page + "/": page, s.media: s.post.Find("media_attachments.0.url").(string)} {
		r := s.peer.FetchAs(s.Server, path, "", "text/html")
		if got := r.Header.Get("Location"); got != want || r.Status != 302 && r.Status != 301 {
			t.Errorf("%s: %d to %q, want %q", path, r.Status, got, want)
		}
	}
	s.peer.FetchAs(s.Server, page, "", "text/html").Want(200)
	if s.actor != "/@alice" {
		if got := s.peer.FetchAs(s.Server, s.actor, "", "text/html").Header.Get("Location"); got != s.URL+"/@alice" {
			t.Errorf("the actor leads browsers to %q", got)
		}
	}
	if got := s.peer.FetchAs(s.Server, s.media, "", "image/png").Want(301).Header.Get("Location"); !strings.HasPrefix(got, s.URL+"/media/") {
		t.Errorf("the file is at %q", got)
	}
}

func (s *oldServer) testDead(t *testing.T) {
	for _, accept := range []string{"text/html", activityAccept} {
		for _, path := range []string{"/users/Gone", "/@Gone"} {
			s.peer.FetchAs(s.Server, path, "", accept).Want(410)
		}
	}
	wantText(t, s.peer.FetchAs(s.Server, s.dead, "", activityAccept).Want(410).Object(), "id", s.URL+s.dead)
	s.peer.FetchAs(s.Server, s.status+"0", "", activityAccept).Want(404)
	s.NewToken(nil, "read write").Post("/api/v1/accounts", "username", "gone", "password", apptest.Password, "agreement", "true").WantError(400, `{"nickname":["has already been taken"]}`)
}

func (s *oldServer) testLookups(t *testing.T) {
	for _, address := range append([]string{s.status, s.activity}, s.stored...) {
		found := s.alice.Get("/api/v2/search", "type", "statuses", "q", s.URL+address).Want(200).Object()
		if found.Find("statuses.0.id") != s.post.ID() {
			t.Errorf("a search for %s finds %v", address, found.Fields)
		}
	}
	found := s.alice.Get("/api/v2/search", "type", "accounts", "q", s.URL+s.actor).Want(200).Object()
	if found.Find("accounts.0.id") != s.alice.ID {
		t.Errorf("a search for the actor finds %v", found.Fields)
	}
	s.alice.Get("/api/v1/statuses/" + s.status[strings.LastIndexByte(s.status, '/')+1:]).Want(404)
}

func (s *oldServer) testIncoming(t *testing.T) {
	bob := s.peer.AddActor("bob")
	s.peer.Deliver(s.Server, s.actor+"/inbox", bob, s.peer.Activity("Follow", bob, s.URL+s.actor)).Want(202)
	for _, d := range []apptest.Doc{
		s.peer.Activity("Like", s.peer.AddActor("carl"), s.URL+s.status),
		s.peer.Activity("Like", s.peer.AddActor("dora"), s.URL+s.page),
		s.peer.Activity("Announce", s.peer.AddActor("emil"), s.URL+s.status, apptest.Doc{"to": []any{apptest.Public}}),
		s.peer.Create(s.peer.Note(s.peer.AddActor("fred"), "<p>hi</p>", apptest.Doc{"inReplyTo": s.URL + s.status, "cc": []any{s.URL + s.actor}, "tag": []any{apptest.Doc{"type": "Mention", "href": s.URL + s.actor}}})),
	} {
		s.peer.PostAndSettle(s.Server, d)
	}
	st := s.alice.Get("/api/v1/statuses/" + s.post.ID()).Want(200).Object()
	if f, b, r := st.Int("favourites_count"), st.Int("reblogs_count"), st.Int("replies_count"); f != 2 || b != 1 || r != 1 {
		t.Errorf("%d favourites, %d boosts, %d replies, want 2, 1, 1", f, b, r)
	}
	if n := s.alice.Get("/api/v1/accounts/" + s.alice.ID).Want(200).Object().Int("followers_count"); n != 1 {
		t.Errorf("%d followers, want 1", n)
	}
	wantText(t, object(t, s.peer.OneDelivered("Accept")), "actor", s.URL+s.actor)
}

func (s *oldServer) testOutgoing(t *testing.T) {
	s.alice.SendJSON("PUT", "/api/v1/statuses/"+s.post.ID(), apptest.Doc{"status": "hello again"}).Want(200)
	apptest.Settle(s.Server)
	wantText(t, object(t, apptest.LastDelivered(t, s.peer, "Update")), "object.id", s.URL+s.status)
	s.alice.Do("DELETE", "/api/v1/statuses/"+s.post.ID(), "", nil).Want(200)
	apptest.Settle(s.Server)
	wantText(t, object(t, apptest.LastDelivered(t, s.peer, "Delete")), "object.id", s.URL+s.status)
	wantText(t, s.peer.FetchAs(s.Server, s.status, "", activityAccept).Want(410).Object(), "id", s.URL+s.status)
	if strings.HasSuffix(s.activity, "/activity") {
		wantText(t, s.peer.FetchAs(s.Server, s.activity, "", activityAccept).Want(410).Object(), "formerType", "Create")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.signers) == 0 {
		t.Error("nothing was delivered")
	}
	for _, id := range s.signers {
		if id != s.URL+s.key && !strings.HasSuffix(id, "#ed25519-key") {
			t.Errorf("a delivery is signed by %s, want %s", id, s.URL+s.key)
		}
	}
}
