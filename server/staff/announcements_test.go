package staff_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

const announcementsPath = "/api/v1/svc/admin/announcements"

// TestAnnouncements creates, changes and deletes an announcement, and checks every field, the moderation log and streams.
func TestAnnouncements(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	stream := srv.OpenStream(alice.Client, "stream", "user")
	created := root.SendJSON("POST", announcementsPath, apptest.Doc{
		"content": "See https://example.org/ <now>", "ends_at": "2999-01-02T03:04:05.000Z", "starts_at": "2020-01-02T03:04:05", "all_day": true,
	}).Want(200).Object()
	id := created.ID()
	wantFields(t, "the announcement", created, apptest.Doc{
		"starts_at": "2020-01-02T03:04:05.000Z", "ends_at": "2999-01-02T03:04:05.000Z", "all_day": true, "svc.raw_content": "See https://example.org/ <now>",
		"mentions": []any{}, "statuses": []any{}, "tags": []any{}, "emojis": []any{}, "reactions": []any{},
	})
	if content := created.Str("content"); !strings.Contains(content, `<a href="https://example.org/"`) || !strings.Contains(content, "&lt;now&gt;") {
		t.Errorf("content is %q", content)
	}
	for _, member := range []string{"published_at", "updated_at"} {
		if at, err := time.Parse(time.RFC3339, created.Str(member)); err != nil || time.Since(at) > time.Minute {
			t.Errorf("%s is %v, %v", member, created.At(member), err)
		}
	}
	wantLog(t, root.Client, "@root created announcement #"+id)
	stream.WantEvent("user: announcement " + id)
	if got := alice.Get("/api/v1/announcements").Want(200).List(); len(got) != 1 || got[0].ID() != id || got[0].Has("svc") {
		t.Errorf("a user gets %v", got)
	}
	path := announcementsPath + "/" + id
	wantFields(t, "shown", root.Get(path).Want(200).Object(), created.Fields)

	for _, tt := range []struct {
		change, want apptest.Doc
	}{
		{apptest.Doc{"content": "New"}, apptest.Doc{"svc.raw_content": "New", "content": "<p>New</p>", "all_day": true}},
		{apptest.Doc{"all_day": false}, apptest.Doc{"all_day": false, "svc.raw_content": "New"}},
		{apptest.Doc{"starts_at": nil}, apptest.Doc{"starts_at": nil, "ends_at": "2999-01-02T03:04:05.000Z"}},
		{apptest.Doc{"ends_at": nil}, apptest.Doc{"ends_at": nil}},
		{apptest.Doc{"starts_at": "2020-01-02T00:00:00+02:00"}, apptest.Doc{"starts_at": "2020-01-01T22:00:00.000Z"}},
		{apptest.Doc{"starts_at": ""}, apptest.Doc{"starts_at": nil}},
		{apptest.Doc{}, apptest.Doc{"svc.raw_content": "New"}},
	} {
		wantFields(t, fmt.Sprint(tt.change), root.SendJSON("PATCH", path, tt.change).Want(200).Object(), tt.want)
	}
	wantLog(t, root.Client, "@root updated announcement #"+id)
	stream.WantEvent("user: announcement " + id)
	root.SendJSON("PATCH", path, apptest.Doc{"ends_at": "2021-01-01"}).Want(200) // ends it now
	stream.WaitFor(func(e apptest.StreamEvent) bool {
		return e.Event == "announcement.delete" && e.Payload != nil && *e.Payload == id
	})
	if got := alice.Get("/api/v1/announcements").Want(200).List(); len(got) != 0 {
		t.Errorf("after its end: %v", got)
	}
	if got := root.Get(announcementsPath).Want(200).List(); len(got) != 1 {
		t.Errorf("staff get %v after the end", got)
	}
	if got := root.Do("DELETE", path, "", nil).Want(200); string(got.Body) != "{}" {
		t.Errorf("the answer is %s", got.Body)
	}
	wantLog(t, root.Client, "@root deleted announcement #"+id)
	for _, gone := range []string{id, "x", "0"} {
		root.Get(announcementsPath+"/"+gone).WantError(404, "Not found")
		root.SendJSON("PATCH", announcementsPath+"/"+gone, apptest.Doc{"content": "x"}).WantError(404, "Not found")
		root.Do("DELETE", announcementsPath+"/"+gone, "", nil).WantError(404, "Not found")
	}
}

// TestInvalidAnnouncements checks that invalid announcements are refused and change nothing.
func TestInvalidAnnouncements(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	for _, tt := range []struct {
		body apptest.Doc
		want string
	}{
		{apptest.Doc{}, "Missing field: content."},
		{apptest.Doc{"content": nil}, "Missing field: content."},
		{apptest.Doc{"content": " "}, "An announcement needs a text"},
		{apptest.Doc{"content": list{}}, "content - Invalid string. Got: array."},
		{apptest.Doc{"content": strings.Repeat("x", 10_001)}, "The announcement is longer than 10000 characters"},
		{apptest.Doc{"content": "x", "starts_at": "soon"}, "starts_at - Invalid format. Expected date-time."},
		{apptest.Doc{"content": "x", "ends_at": "2020-13-01"}, "ends_at - Invalid format. Expected date-time."},
		{apptest.Doc{"content": "x", "ends_at": "2020-01-01"}, "The announcement would end in the past"},
		{apptest.Doc{"content": "x", "starts_at": "2990-01-02", "ends_at": "2990-01-01"}, "The announcement would end before it starts"},
		{apptest.Doc{"content": "x", "all_day": list{"a", "b"}}, "all_day - Invalid boolean. Got: array."},
	} {
		root.SendJSON("POST", announcementsPath, tt.body).WantError(400, tt.want)
	}
	if n := srv.Count("SELECT count(*) FROM announcements"); n != 0 {
		t.Fatalf("%d announcements", n)
	}
	id := root.Post(announcementsPath, "content", "x").Want(200).Object().ID()
	for _, body := range []apptest.Doc{{"content": ""}, {"ends_at": "x"}, {"starts_at": "2990-01-02", "ends_at": "2990-01-01"}} {
		root.SendJSON("PATCH", announcementsPath+"/"+id, body).Want(400)
	}
	wantFields(t, "the announcement", root.Get(announcementsPath+"/"+id).Want(200).Object(), apptest.Doc{"svc.raw_content": "x", "starts_at": nil})
}

// TestListAnnouncements checks limit and offset, and the bound of announcements.
func TestListAnnouncements(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	var ids list
	for i := range 100 {
		ids = append(list{root.Post(announcementsPath, "content", fmt.Sprint(i)).Want(200).Object().ID()}, ids...)
	}
	root.Post(announcementsPath, "content", "x").WantError(400, "There are 100 announcements already: delete some")
	for _, tt := range []struct {
		params []string
		want   list
	}{
		{nil, ids[:20]},
		{list{"limit", "2"}, ids[:2]},
		{list{"limit", "2", "offset", "3"}, ids[3:5]},
		{list{"limit", "1000"}, ids},
		{list{"offset", "99"}, ids[99:]},
		{list{"offset", "1000"}, nil},
	} {
		apptest.WantList(t, fmt.Sprint(tt.params), root.Get(announcementsPath, tt.params...).Want(200).IDs(), tt.want...)
	}
	root.Get(announcementsPath, "limit", "0").WantError(400, "limit - 0 is smaller than inclusive minimum 1.")
	root.Get(announcementsPath, "limit", "x").WantError(400, "limit - Invalid integer. Got: string.")
	root.Get(announcementsPath, "offset", "-1").WantError(400, "offset - -1 is smaller than inclusive minimum 0.")
	root.Get(announcementsPath, "offset", "x").WantError(400, "offset - Invalid integer. Got: string.")
}

// TestAnnouncementPrivilege checks that moderators need the privilege, and admins, too.
func TestAnnouncementPrivilege(t *testing.T) {
	for _, privileged := range []bool{true, false} {
		srv := apptest.Start(t, func(c *config.Config) {
			c.Instance.AdminPrivileges, c.Instance.ModeratorPrivileges = nil, nil
			if privileged {
				c.Instance.ModeratorPrivileges = list{"announcements_manage_announcements"}
			}
		})
		moderator := srv.SignUp("moderator")
		srv.SetRole(moderator, false, true)
		want := map[bool]int{true: 200, false: 403}[privileged]
		staff := srv.NewToken(moderator, "admin")
		staff.Get(announcementsPath).Want(want)
		staff.Post(announcementsPath, "content", "x").Want(want)
		srv.SignUpAdmin().Get(announcementsPath).WantError(403, "User isn't privileged.")
		srv.NewToken(moderator, "admin:read").Post(announcementsPath, "content", "x").Want(403)
		srv.SignUp("alice").Get(announcementsPath).WantError(403, "User is not a staff member.")
		srv.As(nil).Get(announcementsPath).WantError(403, "Invalid credentials.")
	}
}
