package staff_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"svc/admin"
	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

const blocksPath = "/api/v1/admin/domain_blocks"

// block adds a block and runs the job that applies it to stored accounts.
func block(srv *apptest.Server, as *apptest.Client, params ...string) *apptest.Object {
	srv.T.Helper()
	o := as.Post(blocksPath, params...).Want(200).Object()
	srv.RunJobs()
	return o
}

// TestDomainBlockEntity checks every field of a block, and every parameter of POST and PUT.
func TestDomainBlockEntity(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	o := block(srv, root.Client, "domain", "Spam.example", "severity", "suspend", "reject_media", "true", "reject_reports", "1",
		"private_comment", "see ticket 4", "public_comment", "spam", "obfuscate", "true")
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte("spam.example")))
	want := apptest.Doc{
		"domain": "spam.example", "digest": digest, "severity": "suspend", "reject_media": true, "reject_reports": true,
		"private_comment": "see ticket 4", "public_comment": "spam", "obfuscate": true,
	}
	wantFields(t, "the answer", o, want)
	id := o.Str("id")
	wantFields(t, "GET", root.Get(blocksPath+"/"+id).Want(200).Object(), want)
	if created := o.Str("created_at"); !strings.HasSuffix(created, "Z") {
		t.Errorf("created_at is %q", created)
	}
	wantLog(t, root.Client, "@root restricted host spam.example (reject, reject_fetches, media_removal, report_removal)")
	simple := root.Get("/api/v1/instance").Want(200).Object().Find("svc.metadata.federation.mrf_simple").(map[string]any)
	if got := fmt.Sprint(simple["reject"]); got != "[]" {
		t.Errorf("an obfuscated block is published: %s", got)
	}

	a := root.Post(blocksPath, "domain", "spam.example").Want(422).Object()
	wantFields(t, "a second block", a, apptest.Doc{
		"error": "You have already imposed limits on spam.example.", "existing_domain_block.id": id, "existing_domain_block.severity": "suspend",
	})
	o = root.SendJSON("PUT", blocksPath+"/"+id, apptest.Doc{"severity": "silence", "obfuscate": false, "public_comment": "rude"}).Want(200).Object()
	wantFields(t, "after PUT", o, apptest.Doc{
		"id": id, "severity": "silence", "reject_media": true, "reject_reports": true, "private_comment": "see ticket 4", "public_comment": "rude", "obfuscate": false,
	})
	federation := root.Get("/api/v1/instance").Want(200).Object()
	if got := fmt.Sprint(federation.Find("svc.metadata.federation.mrf_simple.federated_timeline_removal")); got != "[*.spam.example]" {
		t.Errorf("the published list is %s", got)
	}
	info := federation.Find("svc.metadata.federation.mrf_simple_info").(map[string]any)["federated_timeline_removal"]
	if got := fmt.Sprint(info); got != "map[*.spam.example:map[reason:rude]]" {
		t.Errorf("the published reasons are %s", got)
	}
	if got := fmt.Sprint(federation.Find("svc.metadata.federation.mrf_policies")); !strings.Contains(got, "SimplePolicy") {
		t.Errorf("the published policies are %s", got)
	}
	o = root.SendJSON("PUT", blocksPath+"/"+id, apptest.Doc{"severity": "noop", "reject_media": false, "private_comment": ""}).Want(200).Object()
	wantFields(t, "after PUT", o, apptest.Doc{"severity": "noop", "reject_media": false, "reject_reports": true, "private_comment": nil})
	root.Do("DELETE", blocksPath+"/"+id, "", nil).Want(200).WantFields(apptest.Doc{})
	wantLog(t, root.Client, "@root removed the restrictions of spam.example")
	root.Get(blocksPath+"/"+id).WantError(404, "Record not found")
	root.Do("DELETE", blocksPath+"/"+id, "", nil).WantError(404, "Record not found")
	root.SendJSON("PUT", blocksPath+"/"+id, apptest.Doc{"severity": "noop"}).WantError(404, "Record not found")
	wantFields(t, "the default", block(srv, root.Client, "domain", "a.example"), apptest.Doc{
		"severity": "silence", "reject_media": false, "reject_reports": false, "private_comment": nil, "public_comment": nil, "obfuscate": false,
	})
}

func TestDomainBlockErrors(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.MRFSimple.Reject = []config.HostReason{{Host: "file.example", Reason: "from the file"}}
	})
	root := srv.SignUpAdmin()
	own := strings.TrimPrefix(srv.URL, "http://")
	for _, tt := range []struct {
		name   string
		params list
		want   string
	}{
		{"no domain", nil, "Validation failed: Domain can't be blank"},
		{"a blank domain", list{"domain", " "}, "Validation failed: Domain can't be blank"},
		{"no host", list{"domain", "a b"}, `"a b" is not a host such as example.org`},
		{"this server", list{"domain", own}, own + " is this server"},
		{"an unknown severity", list{"domain", "a.example", "severity", "kill"}, "Validation failed: Severity is not one of suspend, silence, noop"},
		{"without effect", list{"domain", "a.example", "severity", "noop"}, "Validation failed: Severity noop needs reject_media or reject_reports"},
		{"a long comment", list{"domain", "a.example", "private_comment", strings.Repeat("x", 2001)}, "A comment has at most 2000 characters"},
	} {
		t.Run(tt.name, func(t *testing.T) { root.Post(blocksPath, tt.params...).WantError(422, tt.want) })
	}
	if n := srv.Count(`SELECT count(*) FROM settings`); n != 0 {
		t.Errorf("%d settings are stored", n)
	}
	o := block(srv, root.Client, "domain", "b.example", "severity", "suspend") // also lists the one of the file
	file := root.Get(blocksPath).Want(200).List()[0]
	if o.Str("domain") != "b.example" || len(root.Get(blocksPath).Want(200).List()) != 2 {
		t.Fatalf("the list is %s", root.Get(blocksPath).Body)
	}
	for _, e := range root.Get(blocksPath).Want(200).List() {
		if e.Str("domain") == "file.example" {
			file = e
		}
	}
	root.Do("DELETE", blocksPath+"/"+file.Str("id"), "", nil).WantError(422, "file.example is in the list mrf_simple.reject of the settings file: remove it there")
	root.Do("DELETE", blocksPath+"/"+o.Str("id"), "", nil).Want(200)
}

// TestDomainBlockPages walks the list in both directions.
func TestDomainBlockPages(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	var want list
	for i := range 5 {
		o := block(srv, root.Client, "domain", fmt.Sprintf("h%d.example", i))
		want = append(list{o.Str("id")}, want...)
	}
	if got := root.Get(blocksPath).Want(200).IDs(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the list is %v, want %v", got, want)
	}
	page := root.Get(blocksPath, "limit", "2").Want(200)
	if got := page.IDs(); fmt.Sprint(got) != fmt.Sprint(want[:2]) || !strings.Contains(page.Links()["next"], "max_id="+want[1]) || !strings.Contains(page.Links()["prev"], "min_id="+want[0]) {
		t.Errorf("the page is %v with the links %v", got, page.Links())
	}
	for name, tt := range map[string]struct{ params, want list }{
		"max_id":   {list{"max_id", want[1], "limit", "2"}, want[2:4]},
		"since_id": {list{"since_id", want[3]}, want[:3]},
		"min_id":   {list{"min_id", want[4], "limit", "2"}, want[2:4]},
	} {
		if got := root.Get(blocksPath, tt.params...).Want(200).IDs(); fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}

// TestBlocksActOnStored checks that blocks hide stored accounts and posts, also of subdomains, and that unblocking shows them again.
func TestBlocksActOnStored(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	far := srv.Account(t, srv.AddRemoteAccount("far", "deep.spam.example"))
	near := srv.Account(t, srv.AddRemoteAccount("near", "notspam.example"))
	srv.Exec(`UPDATE accounts SET avatar = 'https://deep.spam.example/a.png', header = 'https://deep.spam.example/h.png' WHERE id = ?`, far.ID)
	post := srv.AddRemoteStatus(far, func(st *store.Status) { st.HasMedia = true })
	other := srv.AddRemoteStatus(near)
	mine := alice.Publish("mine").Str("id")
	if err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		ctx := t.Context()
		if err := tx.AddFollow(ctx, &store.Follow{FollowerID: alice.AccountID(), TargetID: far.ID, FollowerLocal: true, ShowReblogs: true}); err != nil {
			return err
		}
		return tx.AddMedia(ctx, &store.Media{AccountID: far.ID, StatusID: &post.ID, Type: "image", Mime: "image/png", RemoteURL: "https://deep.spam.example/1.png"})
	}); err != nil {
		t.Fatal(err)
	}
	srv.Exec(`INSERT INTO home (account_id, status_id) VALUES (?, ?)`, alice.AccountID(), post.ID)
	srv.Exec(`INSERT INTO notifications (id, account_id, type, from_id, status_id) VALUES (2, ?3, 'favourite', ?1, ?2)`, far.ID, apptest.StatusID(mine), alice.AccountID())

	seen := func() string {
		return fmt.Sprintf("public %d, home %d, notifications %d, search %d, account %d, post %d, following %d",
			len(alice.Get("/api/v1/timelines/public").Want(200).List()),
			len(alice.Get("/api/v1/timelines/home", "max_id", post.ID.String()+"z").Want(200).List()),
			len(alice.Get("/api/v1/notifications").Want(200).List()),
			len(alice.Get("/api/v1/accounts/search", "q", "far").Want(200).List()),
			alice.Get("/api/v1/accounts/"+far.ID.String()).Status, alice.Get("/api/v1/statuses/"+post.ID.String()).Status,
			len(alice.Get("/api/v1/accounts/"+alice.ID+"/following").Want(200).List()))
	}
	before := seen()
	o := block(srv, root.Client, "domain", "spam.example", "severity", "suspend")
	if got := seen(); !strings.Contains(got, "notifications 0, search 0, account 404, post 404") || got == before {
		t.Errorf("while the host is rejected: %s", got)
	}
	alice.Get("/api/v1/statuses/" + other.ID.String()).Want(200)
	if n := srv.Count(`SELECT count(*) FROM accounts WHERE rejected = 1 AND unavailable = 1`); n != 1 {
		t.Errorf("%d accounts are hidden, want 1", n)
	}
	root.SendJSON("PATCH", "/api/v1/svc/admin/users/deactivate", apptest.Doc{"nicknames": list{"far@deep.spam.example"}}).Want(200)
	root.SendJSON("PATCH", "/api/v1/svc/admin/users/activate", apptest.Doc{"nicknames": list{"far@deep.spam.example"}}).Want(200)
	alice.Get("/api/v1/accounts/" + far.ID.String()).Want(404)
	root.Do("DELETE", blocksPath+"/"+o.Str("id"), "", nil).Want(200)
	srv.RunJobs()
	if got := seen(); got != before {
		t.Errorf("after the block: %s, before: %s", got, before)
	}

	statusPath := "/api/v1/statuses/" + post.ID.String()
	if o := alice.Get(statusPath).Want(200).Object(); len(o.At("media_attachments").([]any)) != 1 || o.At("sensitive") == true {
		t.Errorf("before: %s", alice.Get(statusPath).Body)
	}
	standard := alice.Get("/api/v1/accounts/" + near.ID.String()).Want(200).Object()
	srv.BlockHost("*.spam.example", config.RemoveMedia, config.MarkSensitive, config.RemoveAvatars, config.RemoveBanners)
	o = alice.Get(statusPath).Want(200).Object()
	wantFields(t, "with media removal", o, apptest.Doc{
		"sensitive": true, "account.avatar": standard.At("avatar"), "account.avatar_static": standard.At("avatar"),
		"account.header": standard.At("header"), "account.header_static": standard.At("header"),
	})
	if n := len(o.At("media_attachments").([]any)); n != 0 {
		t.Errorf("%d attachments are shown", n)
	}
	srv.UnblockHost("spam.example")
	o = alice.Get(statusPath).Want(200).Object()
	if len(o.At("media_attachments").([]any)) != 1 || o.At("sensitive") == true || o.Find("account.avatar") == standard.At("avatar") {
		t.Errorf("afterwards: %s", alice.Get(statusPath).Body)
	}
}

// TestDomainAllows checks the list of the only accepted hosts.
func TestDomainAllows(t *testing.T) {
	const path = "/api/v1/admin/domain_allows"
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	good, bad := srv.AddRemoteAccount("far", "good.example"), srv.AddRemoteAccount("far", "bad.example")
	for name, tt := range map[string]struct{ domain, want string }{
		"no domain": {"", "Validation failed: Domain can't be blank"},
		"no host":   {"a b", `"a b" is not a host such as example.org`},
	} {
		t.Run(name, func(t *testing.T) { root.Post(path, "domain", tt.domain).WantError(422, tt.want) })
	}
	o := root.Post(path, "domain", "Good.example").Want(200).Object()
	srv.RunJobs()
	wantFields(t, "the answer", o, apptest.Doc{"domain": "good.example"})
	wantLog(t, root.Client, "@root accepted host good.example")
	srv.As(nil).Get("/api/v1/accounts/" + good).Want(200)
	srv.As(nil).Get("/api/v1/accounts/" + bad).Want(404)
	again := root.Post(path, "domain", "good.example").Want(200).Object()
	if again.Str("id") != o.Str("id") || again.Str("created_at") != o.Str("created_at") {
		t.Errorf("a second time: %v", again)
	}
	second := root.Post(path, "domain", "fine.example").Want(200).Object().Str("id")
	if got := root.Get(path).Want(200).IDs(); fmt.Sprint(got) != fmt.Sprint(list{second, o.Str("id")}) {
		t.Errorf("the list is %v", got)
	}
	if got := root.Get(path, "max_id", second, "limit", "1").Want(200).IDs(); fmt.Sprint(got) != fmt.Sprint(list{o.Str("id")}) {
		t.Errorf("the second page is %v", got)
	}
	wantFields(t, "GET", root.Get(path+"/"+second).Want(200).Object(), apptest.Doc{"id": second, "domain": "fine.example"})
	for _, id := range []string{second, o.Str("id")} {
		root.Do("DELETE", path+"/"+id, "", nil).Want(200)
	}
	srv.RunJobs()
	wantLog(t, root.Client, "@root removed host good.example from the accepted ones")
	srv.As(nil).Get("/api/v1/accounts/" + bad).Want(200)
	root.Get(path+"/"+second).WantError(404, "Record not found")
	root.Do("DELETE", path+"/"+second, "", nil).WantError(404, "Record not found")
}

// TestBlockAccess checks who may use the endpoints of blocks.
func TestBlockAccess(t *testing.T) {
	srv := apptest.Start(t)
	root, moderator, alice := srv.SignUpAdmin(), srv.SignUp("moderator"), srv.SignUp("alice")
	srv.SetRole(moderator, false, true)
	for _, name := range []string{"domain_blocks", "domain_allows", "email_domain_blocks", "canonical_email_blocks", "ip_blocks"} {
		path := "/api/v1/admin/" + name
		srv.As(nil).Get(path).WantError(401, "The access token is invalid")
		alice.Get(path).WantError(403, "User is not a staff member.")
		moderator.Get(path).WantError(403, "User is not an admin.")
		srv.NewToken(root, "read write admin:write:"+name).Get(path).WantError(403, "This action is outside the authorized scopes")
		reader := srv.NewToken(root, "admin:read:"+name)
		reader.Get(path).Want(200)
		reader.Post(path).WantError(403, "This action is outside the authorized scopes")
	}
}

// TestBlocksLimitStored checks that silenced hosts lose the place of their stored posts in public timelines, and get it back, also if the job
// is interrupted.
func TestBlocksLimitStored(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	far := srv.Account(t, srv.AddRemoteAccount("far", "deep.spam.example"))
	near := srv.Account(t, srv.AddRemoteAccount("near", "notspam.example"))
	public := srv.AddRemoteStatus(far)
	unlisted := srv.AddRemoteStatus(far, func(st *store.Status) { st.Visibility = store.Unlisted })
	chosen := srv.AddRemoteStatus(far)
	other := srv.AddRemoteStatus(near)
	state := func() string {
		var all list
		for _, st := range []*store.Status{public, unlisted, chosen, other} {
			a := root.Get("/api/v1/svc/admin/statuses/" + st.ID.String()).Want(200).Object()
			all = append(all, a.Str("visibility"))
		}
		return fmt.Sprintf("%s, %d in the public timeline, %d readable", strings.Join(all, " "),
			len(alice.Get("/api/v1/timelines/public").Want(200).List()), len(alice.Get("/api/v1/accounts/"+far.ID.String()+"/statuses").Want(200).List()))
	}
	want := func(when, want string) {
		t.Helper()
		srv.RunJobs()
		if got := state(); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	const before = "public unlisted public public, 3 in the public timeline, 3 readable"
	want("before", before)
	srv.BlockHost("*.spam.example", config.Unlist)
	want("silenced", "unlisted unlisted unlisted public, 1 in the public timeline, 3 readable")
	srv.BlockHost("*.spam.example", config.Unlist, config.FollowersOnly)
	want("followers-only", "private private private public, 1 in the public timeline, 0 readable")
	if _, err := srv.Admin.BlockHost(t.Context(), admin.BlockChange{Host: "*.spam.example", Rules: []config.HostRule{config.Unlist}, Replace: true}); err != nil {
		t.Fatal(err)
	}
	want("silenced again", "unlisted unlisted unlisted public, 1 in the public timeline, 3 readable")

	srv.Exec(`UPDATE accounts SET limiting = 1 WHERE id = ?`, far.ID) // as after a kill in the middle
	srv.Exec(`UPDATE statuses SET visibility = 0 WHERE id = ?`, public.ID)
	if err := srv.Admin.CheckHostRules(t.Context()); err != nil {
		t.Fatal(err)
	}
	want("after an interruption", "unlisted unlisted unlisted public, 1 in the public timeline, 3 readable")
	root.SendJSON("PUT", "/api/v1/svc/admin/statuses/"+chosen.ID.String(), apptest.Doc{"visibility": "private"}).Want(200)
	if _, err := srv.Admin.UnblockHosts(t.Context(), list{"spam.example"}); err != nil {
		t.Fatal(err)
	}
	want("unblocked", "public unlisted private public, 2 in the public timeline, 2 readable")
	if n := srv.Count(`SELECT (SELECT count(*) FROM limited_statuses) + (SELECT count(*) FROM accounts WHERE max_visibility > 0 OR limiting = 1)`); n != 0 {
		t.Errorf("%d limits are left", n)
	}
}
