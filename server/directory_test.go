package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestOptionalEndpoints checks that the endpoints that spec 4.6 leaves out are served only if api.optional names them, that other endpoints of
// their resources are always served, and that pages of this server call them.
func TestOptionalEndpoints(t *testing.T) {
	for _, optional := range [][]string{nil, {"directory"}, {"featured_tags"}, {"directory", "featured_tags"}} {
		t.Run(fmt.Sprint(optional), func(t *testing.T) {
			srv := apptest.Start(t, func(c *config.Config) { c.API.Optional = optional })
			alice := srv.SignUp("alice")
			tag := alice.Post("/api/v1/featured_tags", "name", "cats").Want(200).Object()
			for name, path := range map[string]string{"directory": "/api/v1/directory", "featured_tags": "/api/v1/featured_tags"} {
				served := slices.Contains(optional, name)
				for who, client := range map[string]*apptest.Client{"alice": alice.Client, "a wrong token": {Server: srv, Token: "x"}, "nobody": srv.As(nil)} {
					for _, suffix := range []string{"", "/", ".json", "?limit=1"} {
						switch a := client.Do("GET", path+suffix, "", nil); {
						case !served:
							a.WantError(404, "Record not found")
						case who == "alice" || name == "directory" && who == "nobody":
							a.Want(200)
						}
					}
				}
			}
			alice.Get("/api/v1/featured_tags/suggestions").Want(200)
			alice.Get("/api/v1/accounts/" + alice.ID + "/featured_tags").Want(200)
			alice.SignedIn().Get("/web/settings/featured_tags").Want(200, "cats")
			alice.Do("DELETE", "/api/v1/featured_tags/"+tag.ID(), "", nil).Want(200)
			features := fmt.Sprint(srv.As(nil).Get("/api/v1/instance").Want(200).Object().At("svc.metadata.features"))
			if got := strings.Contains(features, "profile_directory"); got != slices.Contains(optional, "directory") {
				t.Errorf("the features are %s", features)
			}
		})
	}
}

func TestDirectory(t *testing.T) {
	srv := apptest.Start(t)
	var ids []string
	var people []*apptest.User
	for i := range 4 {
		m := srv.SignUp(fmt.Sprintf("p%d", i))
		m.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"discoverable": true}).Want(200)
		ids, people = append(ids, m.ID), append(people, m)
	}
	viewer, hidden, gone := srv.SignUp("viewer"), srv.SignUp("hidden"), srv.SignUp("gone")
	gone.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"discoverable": true}).Want(200)
	srv.MakeUnavailable(gone)
	hidden.Publish("not listed")
	remote := srv.AddRemoteAccount("dave", "example.com")
	srv.Exec(`UPDATE accounts SET discoverable = 1, last_status_at = 1 WHERE nickname = 'dave'`)
	for i, at := range []int{40, 10, 30, 20} {
		srv.Exec(`UPDATE accounts SET last_status_at = ? WHERE id = ?`, at, people[i].AccountID())
	}
	for _, tt := range []struct {
		name   string
		as     *apptest.User
		params []string
		want   []string
	}{
		{"active", nil, nil, []string{ids[0], ids[2], ids[3], ids[1], remote}},
		{"active, local", viewer, []string{"local", "true", "order", "active"}, []string{ids[0], ids[2], ids[3], ids[1]}},
		{"new", viewer, []string{"order", "new"}, []string{remote, ids[3], ids[2], ids[1], ids[0]}},
		{"new, local", nil, []string{"order", "new", "local", "true"}, []string{ids[3], ids[2], ids[1], ids[0]}},
		{"an unknown order", nil, []string{"order", "best", "local", "1"}, []string{ids[0], ids[2], ids[3], ids[1]}},
		{"a page", nil, []string{"order", "new", "local", "true", "limit", "2", "offset", "1"}, []string{ids[2], ids[1]}},
		{"beyond the end", nil, []string{"offset", "5"}, nil},
		{"far beyond the end", nil, []string{"offset", "99999"}, nil},
		{"an invalid offset", nil, []string{"local", "true", "limit", "1", "offset", "-1"}, []string{ids[0]}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			apptest.WantIDs(t, tt.name, srv.As(tt.as).Get("/api/v1/directory", tt.params...), tt.want...)
		})
	}
	viewer.Post("/api/v1/accounts/" + ids[0] + "/block").Want(200)
	viewer.Post("/api/v1/accounts/" + ids[1] + "/mute").Want(200)
	people[2].Post("/api/v1/accounts/" + viewer.ID + "/block").Want(200)
	viewer.Post("/api/v1/domain_blocks", "domain", "example.com").Want(200)
	apptest.WantIDs(t, "without blocked and muted accounts", viewer.Get("/api/v1/directory"), ids[3])

	off := apptest.Start(t, func(c *config.Config) { c.Accounts.ProfileDirectory = false })
	off.As(nil).Get("/api/v1/directory").WantError(404, "Record not found")
	private := apptest.Start(t, func(c *config.Config) { c.Instance.Public = false })
	private.As(nil).Get("/api/v1/directory").Want(401)
}

func TestUserInfo(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"display_name": "Alice A."}).Want(200)
	account := alice.Get("/api/v1/accounts/verify_credentials").Want(200).Object()
	token := srv.NewToken(alice, "profile")
	for _, method := range []string{"GET", "POST"} {
		o := token.Do(method, "/oauth/userinfo", "", nil).Want(200).Object()
		apptest.WantFields(t, method, o, apptest.Doc{
			"iss": srv.URL, "sub": account.At("svc.ap_id"), "name": "Alice A.", "preferred_username": "alice",
			"profile": account.At("url"), "picture": account.At("avatar_static"),
		})
		srv.As(nil).Do(method, "/oauth/userinfo", "", nil).Want(401)
	}
	srv.NewToken(alice, "write").Get("/oauth/userinfo").Want(403)
}

// TestInstanceTexts checks the texts with and without their files.
func TestInstanceTexts(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Instance.Description, c.Instance.Languages = "<p>Short.</p>", []string{"de", "pt-BR"}
	})
	const path = "/api/v1/instance/"
	for _, name := range []string{"terms_of_service", "terms_of_service/2024-05-06", "privacy_policy"} {
		srv.As(nil).Get(path+name).WantError(404, "Record not found")
	}
	apptest.WantFields(t, "description", srv.As(nil).Get(path+"extended_description").Want(200).Object(), apptest.Doc{"updated_at": nil, "content": "<p>Short.</p>"})

	dir := filepath.Join(srv.Settings.Data.Dir, "static")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	for _, name := range []string{"terms-of-service", "privacy-policy", "extended-description"} {
		file := filepath.Join(dir, name+".html")
		if err := os.WriteFile(file, []byte("<p>"+name+"</p>"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	terms := apptest.Doc{"effective_date": "2024-05-06", "effective": true, "content": "<p>terms-of-service</p>", "succeeded_by": nil}
	for name, want := range map[string]apptest.Doc{
		"terms_of_service":            terms,
		"terms_of_service/2024-05-06": terms,
		"privacy_policy":              {"updated_at": "2024-05-06T07:08:09.000Z", "content": "<p>privacy-policy</p>"},
		"extended_description":        {"updated_at": "2024-05-06T07:08:09.000Z", "content": "<p>extended-description</p>"},
	} {
		apptest.WantFields(t, name, srv.As(nil).Get(path+name).Want(200).Object(), want)
	}
	for _, date := range []string{"2024-05-05", "yesterday"} {
		srv.As(nil).Get(path+"terms_of_service/"+date).WantError(404, "Record not found")
	}
	if got := string(srv.As(nil).Get(path + "languages").Want(200).Body); got != `[{"code":"de","name":"German"},{"code":"pt-BR","name":"Portuguese (BR)"}]` {
		t.Errorf("languages are %s", got)
	}
}

// TestAllowedMentions checks that a status that mentions others than allowed is not published.
func TestAllowedMentions(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	for _, tt := range []struct {
		name    string
		allowed any
		more    map[string]any
		want    []string // unexpected accounts
	}{
		{"all", []string{bob.ID, carol.ID}, nil, nil},
		{"absent", nil, nil, nil},
		{"one of two", []string{bob.ID}, nil, []string{carol.ID}},
		{"none", []string{}, nil, []string{bob.ID, carol.ID}},
		{"invalid ids", []string{"nobody"}, nil, []string{bob.ID, carol.ID}},
		{"in a preview", []string{bob.ID}, map[string]any{"preview": true}, []string{carol.ID}},
		{"in a scheduled status", []string{bob.ID}, map[string]any{"scheduled_at": time.Now().Add(time.Hour).Format(time.RFC3339)}, []string{carol.ID}},
		{"with explicit recipients", []string{bob.ID}, map[string]any{"to": []string{"carol"}}, []string{carol.ID}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := map[string]any{"status": "hello @bob and @carol"}
			if tt.allowed != nil {
				body["allowed_mentions"] = tt.allowed
			}
			for k, v := range tt.more {
				body[k] = v
			}
			before := srv.Count(`SELECT (SELECT count(*) FROM statuses) + (SELECT count(*) FROM scheduled_statuses)`)
			a := alice.SendJSON("POST", "/api/v1/statuses", body)
			if tt.want == nil {
				a.Want(200)
				return
			}
			a.WantError(422, "Post would be sent to unexpected accounts")
			var got []string
			for _, account := range a.Object().At("unexpected_accounts").([]any) {
				got = append(got, account.(map[string]any)["id"].(string))
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if after := srv.Count(`SELECT (SELECT count(*) FROM statuses) + (SELECT count(*) FROM scheduled_statuses)`); after != before {
				t.Error("something was stored")
			}
		})
	}
}
