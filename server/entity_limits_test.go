package server_test

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// raiseLimits lets users write texts whose entities are larger than an entity may be.
func raiseLimits(c *config.Config) {
	c.Statuses.MaxLength, c.Media.DescriptionLength, c.Accounts.BioLength = 100_000, 100_000, 100_000
	c.Accounts.MaxFields, c.Accounts.FieldNameLength, c.Accounts.FieldValueLength = 100, 10_000, 10_000
	c.Polls.MaxOptions, c.Polls.MaxOptionLength = 100, 1000
}

// ownBytes returns the size of a status as JSON without its account.
func ownBytes(t *testing.T, a *apptest.Response) int {
	t.Helper()
	var st map[string]json.RawMessage
	if err := json.Unmarshal(a.Body, &st); err != nil {
		t.Fatal(err)
	}
	return len(a.Body) - len(st["account"])
}

// TestLocalEntitiesAreBounded finds for each way to write a text how long it may be: the entity is then just below the limit, and the answer
// to a longer one names it.
func TestLocalEntitiesAreBounded(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.Start(t, raiseLimits)
	alice, root := srv.SignUp("alice"), srv.SignUpAdmin()
	type params = map[string]any
	text := func(n int) string { return strings.Repeat("&", n) }
	attachments := func(n int) (ids []string) {
		for range 10 {
			ids = append(ids, alice.Upload(apptest.PNG(2, 2), apptest.ValuePart("description", strings.Repeat("\x01", n/10))).ID())
		}
		return ids
	}
	edited := alice.Publish("to be edited").ID()
	described := alice.Upload(apptest.PNG(2, 2)).ID()
	withMedia := alice.SendJSON("POST", "/api/v1/statuses", params{"status": text(20_000), "media_ids": []string{described}}).Want(200).Object().ID()
	show := func(id string) func(*apptest.Response) int {
		return func(*apptest.Response) int { return ownBytes(t, srv.As(nil).Get("/api/v1/statuses/"+id).Want(200)) }
	}
	own := func(a *apptest.Response) int { return ownBytes(t, a) }
	profile := func(*apptest.Response) int {
		return len(srv.As(nil).Get("/api/v1/accounts/" + alice.ID).Want(200).Body)
	}
	change := func(members params) *apptest.Response {
		return alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", members)
	}
	empty := func() {
		change(params{"note": "", "fields_attributes": []params{}, "also_known_as": []string{}, "display_name": "alice"}).Want(200)
	}
	for _, tt := range []struct {
		name  string
		most  int // characters
		limit int
		try   func(n int) *apptest.Response
		size  func(*apptest.Response) int // of the entity after it was accepted; nil: not shown
	}{
		{"a post", 100_000, store.MaxLocalStatus, func(n int) *apptest.Response {
			return alice.SendJSON("POST", "/api/v1/statuses", params{"status": text(n)})
		}, own},
		{"a preview", 100_000, store.MaxLocalStatus, func(n int) *apptest.Response {
			return alice.SendJSON("POST", "/api/v1/statuses", params{"status": text(n), "preview": true})
		}, own},
		{"a scheduled post", 100_000, store.MaxLocalStatus, func(n int) *apptest.Response {
			answer := alice.SendJSON("POST", "/api/v1/statuses", params{"status": text(n), "scheduled_at": apptest.FromNow(time.Hour)})
			srv.Exec(`DELETE FROM scheduled_statuses`) // there is a limit of them
			return answer
		}, nil},
		{"an edit", 100_000, store.MaxLocalStatus, func(n int) *apptest.Response {
			return alice.SendJSON("PUT", "/api/v1/statuses/"+edited, params{"status": text(n)})
		}, show(edited)},
		{"a subject", 100_000, store.MaxLocalStatus, func(n int) *apptest.Response {
			return alice.SendJSON("POST", "/api/v1/statuses", params{"status": text(30_000), "spoiler_text": strings.Repeat("\\", n)})
		}, own},
		{"descriptions", 100_000, store.MaxLocalStatus, func(n int) *apptest.Response {
			return alice.SendJSON("POST", "/api/v1/statuses", params{"status": "look", "media_ids": attachments(n)})
		}, own},
		{"a description afterwards", 100_000, store.MaxLocalStatus, func(n int) *apptest.Response {
			alice.SendJSON("PUT", "/api/v1/media/"+described, params{"description": "short"}).Want(200)
			return alice.SendJSON("PUT", "/api/v1/media/"+described, params{"description": strings.Repeat("日", n)})
		}, show(withMedia)},
		{"a poll", 100_000, store.MaxLocalStatus, func(n int) *apptest.Response {
			var options []string
			for i := range 100 {
				options = append(options, fmt.Sprint(i, strings.Repeat("👩‍🚀", n/1000)))
			}
			return alice.SendJSON("POST", "/api/v1/statuses", params{"status": text(30_000), "poll": params{"options": options, "expires_in": 3600}})
		}, own},
		{"a bio", 100_000, store.MaxLocalAccount, func(n int) *apptest.Response { empty(); return change(params{"note": text(n)}) }, profile},
		{"fields", 100_000, store.MaxLocalAccount, func(n int) *apptest.Response {
			empty()
			var fields []params
			for range 20 {
				fields = append(fields, params{"name": "a", "value": text(n / 20)})
			}
			return change(params{"fields_attributes": fields})
		}, profile},
		{"names of fields", 100_000, store.MaxLocalAccount, func(n int) *apptest.Response {
			empty()
			var fields []params
			for range 20 {
				fields = append(fields, params{"name": strings.Repeat(`"`, n/20), "value": "a"})
			}
			return change(params{"fields_attributes": fields})
		}, profile},
		{"a bio by staff", 100_000, store.MaxLocalAccount, func(n int) *apptest.Response {
			empty()
			return root.SendJSON("PATCH", "/api/v1/svc/admin/users/alice/credentials", params{"bio": text(n)})
		}, profile},
		{"aliases beside a bio", 50, store.MaxLocalAccount, func(n int) *apptest.Response {
			empty()
			change(params{"note": text(10_000)}).Want(200)
			aliases := []string{}
			for i := range n {
				aliases = append(aliases, "https://x.example/"+strings.Repeat(`"`, 1900)+fmt.Sprint(i))
			}
			return change(params{"also_known_as": aliases})
		}, profile},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refused := sort.Search(tt.most, func(n int) bool { return n > 0 && tt.try(n).Status == 422 })
			if refused == tt.most {
				t.Fatalf("%d characters are accepted", tt.most)
			}
			accepted := tt.try(refused - 1).Want(200)
			if tt.size != nil {
				if size := tt.size(accepted); size > tt.limit || size < tt.limit-8_000 {
					t.Errorf("the largest entity has %d bytes, the limit is %d", size, tt.limit)
				}
			}
			message := tt.try(refused).Want(422).Object().Str("error")
			if !strings.Contains(message, fmt.Sprint(tt.limit)) || !strings.Contains(message, "would take") {
				t.Errorf("the error names no limit: %q", message)
			}
		})
	}
	empty()

	settings := func(n int) *apptest.Response {
		return change(params{"svc_settings_store": params{"fe": params{"a": strings.Repeat("x", n)}}})
	}
	settings(490_000).Want(200)
	if answer := settings(510_000); answer.Status != 413 || !strings.Contains(string(answer.Body), "500000") {
		t.Errorf("settings that are too large: %d %s", answer.Status, answer.Body)
	}
}

// TestManyAttachmentsStayAllowed posts more attachments than other servers allow, each with a description.
func TestManyAttachmentsStayAllowed(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	var ids []string
	for i := range 40 {
		ids = append(ids, alice.Upload(apptest.PNG(2, 2), apptest.ValuePart("description", fmt.Sprint(i, strings.Repeat("a picture ", 100)))).ID())
	}
	post := alice.SendJSON("POST", "/api/v1/statuses", map[string]any{"status": "all of them", "media_ids": ids}).Want(200).Object()
	if n := len(alice.Get("/api/v1/statuses/" + post.ID()).Object().At("media_attachments").([]any)); n != 40 {
		t.Errorf("%d attachments are shown, want 40", n)
	}
}
