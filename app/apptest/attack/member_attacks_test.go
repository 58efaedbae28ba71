package attack_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"svc/app/apptest"
)

// What members store: the largest that they are permitted to.

const wide = "\U0001f600" // one character, four bytes

// upload uploads a picture with the longest description, and returns its id.
func (w *world) upload(p *person, picture []byte, description string) string {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	form.WriteField("description", description)
	part, _ := form.CreateFormFile("file", "a.png")
	part.Write(picture)
	form.Close()
	req, err := http.NewRequest("POST", w.url+"/api/v1/media", &b)
	if err != nil {
		return ""
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	authorize(req, p, false)
	status, answer := w.do(setUpClient, req)
	var m struct{ ID string }
	if status != 200 || json.Unmarshal(answer, &m) != nil {
		w.failed.Add(1)
	}
	return m.ID
}

func (w *world) storeMemberPosts() {
	picture := apptest.PNG(8, 8)
	for n := range w.many(9) {
		p := w.mallory[n%len(w.mallory)]
		var files []string
		for range 60 {
			files = append(files, w.upload(p, picture, strings.Repeat(wide, 5000)))
		}
		w.sendJSON(p, "POST", "/api/v1/statuses", doc{"status": strings.Repeat("&", 4900) + fmt.Sprint(n), "media_ids": files})
	}
	var options []string
	for i := range 20 {
		options = append(options, fmt.Sprint(i, strings.Repeat(wide, 190)))
	}
	parent := ""
	for n := range 60 {
		p := w.mallory[n%len(w.mallory)]
		post := doc{"status": strings.Repeat("<", 4990) + fmt.Sprint(n), "spoiler_text": "", "poll": doc{"options": options, "expires_in": 86400}}
		if parent != "" {
			post["in_reply_to_id"] = parent
			post["quote_id"] = parent
		}
		parent = w.sendJSON(p, "POST", "/api/v1/statuses", post)
	}
}

func (w *world) storeMemberProfiles() {
	for i, p := range w.mallory {
		var fields []doc
		for range 10 {
			fields = append(fields, doc{"name": strings.Repeat(wide, 512), "value": strings.Repeat("&", 2048)})
		}
		w.sendJSON(p, "PATCH", "/api/v1/accounts/update_credentials", doc{"display_name": strings.Repeat(wide, 100), "note": strings.Repeat("<", 5000), "fields_attributes": fields})
		for n := range 4 { // 500 kB in all
			w.sendJSON(p, "PATCH", "/api/v1/accounts/update_credentials", doc{"svc_settings_store": doc{fmt.Sprint("front", n): doc{"draft": strings.Repeat("&", 120_000)}}})
		}
		w.call(p, "POST", "/api/v1/accounts/"+w.alice.id+"/follow", nil)
		w.call(p, "POST", "/api/v1/accounts/"+w.mallory[(i+1)%3].id+"/follow", nil)
	}
}

func (w *world) storeMemberLists() {
	p := w.mallory[0]
	for n := range 100 {
		w.sendJSON(p, "POST", "/api/v1/lists", doc{"title": fmt.Sprint(n, strings.Repeat(wide, 250))})
		var keywords []doc
		for i := range 100 {
			keywords = append(keywords, doc{"keyword": fmt.Sprint(n, "-", i, strings.Repeat(wide, 240))})
		}
		w.sendJSON(p, "POST", "/api/v2/filters", doc{"title": fmt.Sprint(n, strings.Repeat(wide, 250)), "context": []string{"home", "public", "thread"}, "keywords_attributes": keywords})
		w.sendJSON(p, "POST", "/api/v1/statuses", doc{"status": strings.Repeat("&", 4990), "scheduled_at": apptest.FromNow(time.Duration(n/20+1) * 24 * time.Hour)})
		w.sendJSON(p, "POST", "/api/v1/svc/bookmark_folders", doc{"name": fmt.Sprint(n, strings.Repeat(wide, 250))})
		w.sendJSON(p, "POST", "/api/v1/accounts/"+w.dummy.id+"/note", doc{"comment": strings.Repeat(wide, 2000)})
		w.sendJSON(p, "POST", "/api/v1/svc/scrobble", doc{"title": strings.Repeat(wide, 490), "artist": strings.Repeat(wide, 490), "album": strings.Repeat(wide, 490)})
		w.sendJSON(p, "POST", "/api/v1/apps", doc{"client_name": strings.Repeat(wide, 190), "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "website": "https://" + strings.Repeat("a", 1900)})
		w.sendJSON(p, "POST", "/api/v1/reports", doc{"account_id": w.dummy.id, "comment": strings.Repeat(wide, 1000)})
		w.sendJSON(p, "POST", "/api/v1/svc/chats/by-account-id/"+w.alice.id, doc{})
	}
}

// storeSaved lets alice save what is in her home timeline: large posts of all kinds, when other attacks have stored them.
func (w *world) storeSaved() {
	w.settle()
	w.readIDs()
	for _, id := range w.ids.values["status"][:min(40, len(w.ids.values["status"]))] {
		for _, action := range []string{"bookmark", "favourite", "reblog"} {
			w.call(w.alice, "POST", "/api/v1/statuses/"+id+"/"+action, nil)
		}
	}
}

// rowsOfEarlierVersions makes rows as large as an earlier version stored them, whose limits were characters before sanitising: of other servers, 2 MB
// of content, 200 emoji, 50 fields; of members, what its settings permitted.
func rowsOfEarlierVersions(db *sql.DB) error {
	ampersands := strings.Repeat("&amp;", 400_000) // 2 MB
	emoji := `{"shortcode":"e%d","url":"http://127.0.0.1:9/` + strings.Repeat("x", 1900) + `"}`
	var emojis, names []string
	for i := range 200 {
		emojis = append(emojis, fmt.Sprintf(emoji, i))
		names = append(names, fmt.Sprintf(":e%d:", i))
	}
	list, text := "["+strings.Join(emojis, ",")+"]", strings.Join(names, " ")
	field := `{"name":"` + strings.Repeat("&", 2000) + `","value":"` + strings.Repeat("&amp;", 2000) + `"}`
	fields := "[" + strings.Repeat(field+",", 49) + field + "]"
	ownFields := "[" + strings.Repeat(field+",", 9) + field + "]"
	for _, q := range []struct {
		text string
		args []any
	}{
		{`UPDATE statuses SET content = ?, emojis = ?, spoiler_text = ?, text = ? WHERE id IN (SELECT id FROM statuses WHERE reblog_of_id IS NULL ORDER BY id DESC LIMIT 100)`,
			[]any{ampersands + text, list, strings.Repeat("&", 20_000), strings.Repeat("&", 20_000)}},
		{`UPDATE accounts SET note = ?, emojis = ?, fields = ?, display_name = ?, also_known_as = ? WHERE domain != ''`,
			[]any{strings.Repeat("&amp;", 20_000) + text, list, fields, strings.Repeat("&", 2000), `["http://127.0.0.1:9/` + strings.Repeat("a", 500_000) + `"]`}},
		{`UPDATE accounts SET note = ?, fields = ? WHERE nickname LIKE 'mallory%'`, []any{strings.Repeat("&amp;", 5000), ownFields}},
		{`UPDATE users SET note = ? WHERE account_id IN (SELECT id FROM accounts WHERE nickname LIKE 'mallory%')`, []any{strings.Repeat("&", 5000)}},
		{`UPDATE frontend_settings SET settings = ? WHERE name = 'front0'`, []any{`"` + strings.Repeat("&", 499_000) + `"`}},
		{`UPDATE media SET description = ?`, []any{strings.Repeat("&", 200_000)}},
		{`UPDATE polls SET options = ?`, []any{`[` + strings.Repeat(`{"title":"`+strings.Repeat("&", 20_000)+`","votes":1},`, 40) + `{"title":"b","votes":1}]`}},
		{`UPDATE chat_messages SET content = ?`, []any{ampersands}},
		{`UPDATE reports SET comment = ?`, []any{ampersands}},
		{`UPDATE filters SET title = ?`, []any{strings.Repeat("&", 100_000)}},
		{`UPDATE lists SET title = ?`, []any{strings.Repeat("&", 100_000)}},
	} {
		if _, err := db.Exec(q.text, q.args...); err != nil {
			return fmt.Errorf("%.60s: %w", q.text, err)
		}
	}
	return nil
}
