package server_test

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/social"
)

// These tests repeat the requests that five clients send when they start (client API 2.3), in the encoding of each client, and check
// the members that the client reads without checks. Most of the clients are served from another site.

// boot is the start of a client.
type boot struct {
	t      *testing.T
	srv    *apptest.Server
	origin string            // "": the client is served by this server
	kept   map[string]string // members of earlier responses, by name
}

// step is one request.
type step struct {
	call  string // METHOD PATH; {NAME} stands for a kept value
	body  string // urlencoded, JSON if it begins with a brace, multipart if it begins with "multipart:"
	auth  string // the name of a kept token, "" for an anonymous request
	want  int    // 0: 200
	reads string // required members and their types: "a.b:string c:array"; [] is the first element of a list
	keeps string // members to keep: "name=member"
}

func (b *boot) run(steps ...step) {
	b.t.Helper()
	for _, s := range steps {
		b.take(s)
	}
}

func (b *boot) fill(text string) string {
	for name, value := range b.kept {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

func (b *boot) take(s step) *apptest.Response {
	b.t.Helper()
	method, path, _ := strings.Cut(b.fill(s.call), " ")
	body, kind := b.body(b.fill(s.body))
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.srv.URL+path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if b.origin != "" {
		req.Header.Set("Origin", b.origin)
		req.Header.Set("Sec-Fetch-Site", "cross-site")
		b.preflight(method, path)
	}
	a := (&apptest.Client{Server: b.srv, Token: b.kept[s.auth]}).DoRequest(req)
	if want := max(s.want, 200); a.Status != want {
		b.t.Fatalf("%s: got %d %s, want %d", s.call, a.Status, a.Body, want)
	}
	if b.origin != "" && a.Header.Get("Access-Control-Allow-Origin") != "*" {
		b.t.Errorf("%s: the response has no CORS header", s.call)
	}
	if strings.HasPrefix(path, "/api/") && !strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
		b.t.Errorf("%s: the response has the type %q", s.call, a.Header.Get("Content-Type"))
	}
	if s.reads == "" && s.keeps == "" {
		return a
	}
	var v any
	if err := json.Unmarshal(a.Body, &v); err != nil {
		b.t.Fatalf("%s: %v: %s", s.call, err, a.Body)
	}
	for _, member := range strings.Fields(s.reads) {
		member, kind, _ := strings.Cut(member, ":")
		got := memberOf(v, member)
		if _, isList := got.([]any); isList != (kind == "array") || !isList && JSONKind(got) != kind {
			b.t.Errorf("%s: %s is %v, want a %s", s.call, member, got, kind)
		}
	}
	for _, keep := range strings.Fields(s.keeps) {
		name, member, _ := strings.Cut(keep, "=")
		text, ok := memberOf(v, member).(string)
		if !ok || text == "" {
			b.t.Fatalf("%s: %s is missing: %s", s.call, member, a.Body)
		}
		b.kept[name] = text
	}
	return a
}

// preflight sends the CORS preflight request of a browser.
func (b *boot) preflight(method, path string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), "OPTIONS", b.srv.URL+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Origin", b.origin)
	req.Header.Set("Access-Control-Request-Method", method)
	req.Header.Set("Access-Control-Request-Headers", "authorization,content-type,idempotency-key")
	a := b.srv.As(nil).DoRequest(req)
	allowed := strings.ToLower(a.Header.Get("Access-Control-Allow-Headers"))
	if a.Status >= 300 || !strings.Contains(a.Header.Get("Access-Control-Allow-Methods"), method) ||
		!strings.Contains(allowed, "authorization") || !strings.Contains(allowed, "content-type") || !strings.Contains(allowed, "idempotency-key") {
		b.t.Fatalf("%s %s is not allowed for another site: %d %v", method, path, a.Status, a.Header)
	}
}

func (b *boot) body(text string) (*bytes.Buffer, string) {
	b.t.Helper()
	var buf bytes.Buffer
	fields, isMultipart := strings.CutPrefix(text, "multipart:")
	switch {
	case text == "":
		return &buf, ""
	case strings.HasPrefix(text, "{"):
		buf.WriteString(text)
		return &buf, "application/json"
	case !isMultipart:
		buf.WriteString(text)
		return &buf, "application/x-www-form-urlencoded"
	}
	values, err := url.ParseQuery(fields)
	if err != nil {
		b.t.Fatal(err)
	}
	w := multipart.NewWriter(&buf)
	for name, list := range values {
		for _, v := range list {
			if err := w.WriteField(name, v); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	w.Close()
	return &buf, w.FormDataContentType()
}

// memberOf returns a member of a JSON value, nil if it is missing; [] is the first element of a list.
func memberOf(v any, path string) any {
	for _, key := range strings.Split(path, ".") {
		switch of := v.(type) {
		case map[string]any:
			v = of[key]
		case []any:
			if key != "[]" || len(of) == 0 {
				return nil
			}
			v = of[0]
		default:
			return nil
		}
	}
	return v
}

// signIn submits the sign-in and consent pages and returns the URL of the last redirect.
func (b *boot) signIn(address string) string {
	b.t.Helper()
	page := b.srv.As(nil).Get(b.fill(address)).Want(200)
	if coop := page.Header.Get("Cross-Origin-Opener-Policy"); coop != "" {
		b.t.Errorf("the page isolates itself from the window that opened it: %s", coop)
	}
	form := regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)
	send := func(page *apptest.Response, cookie string, more ...string) *apptest.Response {
		values := apptest.Pairs(more)
		for _, m := range form.FindAllSubmatch(page.Body, -1) {
			values.Set(string(m[1]), unescape(string(m[2])))
		}
		req, err := http.NewRequestWithContext(b.t.Context(), "POST", b.srv.URL+"/oauth/authorize", strings.NewReader(values.Encode()))
		if err != nil {
			b.t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", b.srv.URL)
		if cookie != "" {
			req.Header.Set("Cookie", cookie)
		}
		return b.srv.As(nil).DoRequest(req)
	}
	consent := send(page, "", "authorization[name]", "alice", "authorization[password]", apptest.Password).Want(200)
	cookie, _, _ := strings.Cut(consent.Header.Get("Set-Cookie"), ";")
	return send(consent, cookie, "decision", "approve").Want(302).Header.Get("Location")
}

func unescape(text string) string {
	return strings.NewReplacer("&amp;", "&", "&#43;", "+", "&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">").Replace(text)
}

// codeIn keeps the authorization code of a redirect URL.
func (b *boot) codeIn(location string) {
	b.t.Helper()
	u, err := url.Parse(location)
	if err != nil || u.Query().Get("code") == "" {
		b.t.Fatalf("redirected to %s", location)
	}
	b.kept["CODE"] = u.Query().Get("code")
}

func newBoot(t *testing.T, origin string) *boot {
	t.Helper()
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	bob.Post("/api/v1/accounts/" + alice.ID + "/follow").Want(200)
	alice.Post("/api/v1/accounts/" + bob.ID + "/follow").Want(200)
	post := bob.Publish("@alice hello #world").ID()
	return &boot{t: t, srv: srv, origin: origin, kept: map[string]string{"ALICE": alice.ID, "BOB": bob.ID, "POST": post}}
}

const (
	credentialReads = "id:string acct:string username:string avatar:string header:string source.privacy:string source.fields:array svc:object fqn:string"
	statusReads     = "[].id:string [].account.id:string [].reblog:null [].poll:null [].svc.local:boolean [].filtered:array [].svc.conversation_id:number"
)

func TestPhanpyStarts(t *testing.T) {
	b := newBoot(t, "https://phanpy.example")
	hostMeta := b.take(step{call: "GET /.well-known/host-meta"})
	if !strings.Contains(string(hostMeta.Body), `template="`+b.srv.URL) {
		t.Errorf("host-meta is %s", hostMeta.Body)
	}
	b.run(
		step{call: "POST /api/v1/apps", body: "client_name=Phanpy&redirect_uris=https%3A%2F%2Fphanpy.example%2F&scopes=read+write+follow+push&website=https%3A%2F%2Fphanpy.example",
			reads: "vapid_key:string", keeps: "CLIENT=client_id SECRET=client_secret"},
		step{call: "GET /.well-known/oauth-authorization-server", reads: "code_challenge_methods_supported.[]:string"},
	)
	b.codeIn(b.signIn("/oauth/authorize?client_id={CLIENT}&scope=read+write+follow+push&redirect_uri=https%3A%2F%2Fphanpy.example%2F&response_type=code&force_login=true"))
	b.run(
		step{call: "POST /oauth/token", body: "client_id={CLIENT}&client_secret={SECRET}&redirect_uri=https%3A%2F%2Fphanpy.example%2F&grant_type=authorization_code&code={CODE}&scope=read+write+follow+push",
			keeps: "TOKEN=access_token"},
		step{call: "GET /api/v1/preferences", auth: "TOKEN"},
		step{call: "GET /api/v2/instance", auth: "TOKEN", reads: "domain:string version:string configuration.urls.streaming:string configuration.vapid.public_key:string configuration.statuses.max_characters:number configuration.media_attachments.supported_mime_types:array configuration.polls.max_options:number configuration.timelines_access:object"},
		step{call: "GET /api/v1/accounts/verify_credentials", auth: "TOKEN", reads: credentialReads},
		step{call: "GET /.well-known/nodeinfo", reads: "links.[].href:string"},
		step{call: "GET /nodeinfo/2.0", reads: "software.name:string"},
		step{call: "GET /api/v1/timelines/home?limit=20", auth: "TOKEN", reads: statusReads, keeps: "NEWEST=[].id"},
		step{call: "GET /api/v1/timelines/home?limit=5&since_id={NEWEST}", auth: "TOKEN"},
		step{call: "GET /api/v1/followed_tags?limit=200", auth: "TOKEN"},
		step{call: "GET /api/v1/notifications?limit=80&exclude_types%5B%5D=follow_request", auth: "TOKEN", reads: "[].account.id:string [].svc.is_seen:boolean", keeps: "NOTIFICATION=[].id"},
		step{call: "GET /api/v1/notifications?limit=1&since_id={NOTIFICATION}", auth: "TOKEN"},
		step{call: "GET /api/v1/markers?timeline=notifications", auth: "TOKEN", reads: "notifications.last_read_id:string notifications.version:number"},
		step{call: "POST /api/v1/markers", auth: "TOKEN", body: `{"notifications":{"last_read_id":"{NOTIFICATION}"}}`, reads: "notifications.last_read_id:string"},
		step{call: "GET /api/v1/follow_requests?limit=80", auth: "TOKEN"},
		step{call: "GET /api/v1/announcements", auth: "TOKEN"},
		step{call: "GET /api/v1/statuses/{POST}/context", auth: "TOKEN", reads: "ancestors:array descendants:array"},
		step{call: "GET /api/v2/filters", auth: "TOKEN"},
		step{call: "GET /api/v2/search?q=from%3Ame&type=statuses&limit=1&resolve=false", auth: "TOKEN", reads: "statuses:array accounts:array hashtags:array"},
	)
	if list := b.take(step{call: "GET /api/v1/timelines/home?limit=5&since_id={NEWEST}", auth: "TOKEN"}); string(list.Body) != "[]" {
		t.Errorf("since the newest: %s", list.Body)
	}
	b.streams("user", "user:notification")
}

func TestElkStarts(t *testing.T) {
	b := newBoot(t, "https://elk.example")
	const redirect = "https%3A%2F%2Felk.example%2Fapi%2F127.0.0.1%2Foauth%2Fhttps%253A%252F%252Felk.example"
	b.run(
		step{call: "POST /api/v1/apps", body: `{"client_name":"Elk","website":"https://elk.example","redirect_uris":"https://elk.example/api/127.0.0.1/oauth/https%3A%2F%2Felk.example\nhttps://elk.example/native","scopes":"read write follow push"}`,
			keeps: "CLIENT=client_id SECRET=client_secret"},
		step{call: "GET /api/v2/instance", reads: "configuration.vapid.public_key:string"},
	)
	b.codeIn(b.signIn("/oauth/authorize?client_id={CLIENT}&force_login=true&scope=read+write+follow+push&response_type=code&lang=en&redirect_uri=" + redirect))
	b.run(
		step{call: "POST /oauth/token", body: `{"client_id":"{CLIENT}","client_secret":"{SECRET}","redirect_uri":"https://elk.example/api/127.0.0.1/oauth/https%3A%2F%2Felk.example","grant_type":"authorization_code","code":"{CODE}","scope":"read write follow push"}`,
			keeps: "TOKEN=access_token"},
		step{call: "POST /oauth/token", body: `{"client_id":"gone","client_secret":"{SECRET}","grant_type":"authorization_code","code":"{CODE}"}`, want: 401, reads: "error:string"},
		step{call: "GET /api/v2/instance", auth: "TOKEN", reads: "configuration.urls.streaming:string configuration.statuses.max_media_attachments:number configuration.media_attachments:object configuration.polls:object"},
		step{call: "GET /api/v1/instance", reads: "urls.streaming_api:string"},
		step{call: "GET /nodeinfo/2.0", reads: "software.name:string"},
		step{call: "GET /api/v1/accounts/verify_credentials", auth: "TOKEN", reads: credentialReads},
		step{call: "GET /api/v1/preferences", auth: "TOKEN"},
		step{call: "GET /api/v1/push/subscription", auth: "TOKEN", want: 404, reads: "error:string"},
		step{call: "GET /api/v1/timelines/home?limit=30", auth: "TOKEN", reads: statusReads},
		step{call: "GET /api/v1/followed_tags", auth: "TOKEN"},
		step{call: "GET /api/v1/markers?timeline%5B%5D=notifications", auth: "TOKEN", reads: "notifications.last_read_id:string"},
		step{call: "GET /api/v1/notifications?limit=30", auth: "TOKEN", reads: "[].id:string"},
		step{call: "GET /api/v1/timelines/public?limit=30&local=true", auth: "TOKEN", reads: statusReads},
		step{call: "GET /api/v1/tags/world", auth: "TOKEN", reads: "name:string following:boolean"},
		step{call: "GET /api/v1/timelines/tag/world?limit=30", auth: "TOKEN", reads: statusReads},
		step{call: "GET /api/v1/accounts/lookup?acct=bob", auth: "TOKEN", reads: "id:string header:string"},
		step{call: "GET /api/v1/accounts/lookup?acct=nobody", auth: "TOKEN", want: 404, reads: "error:string"},
		step{call: "GET /api/v1/accounts/relationships?id%5B%5D={BOB}", auth: "TOKEN", reads: "[].requested_by:boolean [].following:boolean"},
		step{call: "GET /api/v1/accounts/{BOB}/statuses?pinned=true", auth: "TOKEN"},
		step{call: "GET /api/v1/accounts/{BOB}/statuses?limit=30&exclude_replies=true", auth: "TOKEN", reads: statusReads},
		step{call: "GET /api/v2/suggestions", auth: "TOKEN"},
		step{call: "GET /api/v1/trends/tags", auth: "TOKEN"},
	)
	b.streams("user", "user:notification")
}

func TestSvcFrontEndStarts(t *testing.T) {
	b := newBoot(t, "")
	for path, want := range map[string]int{"/static/config.json": 404, "/instance/panel.html": 200, "/static/stickers.json": 404, "/static/terms-of-service.html": 200} {
		b.srv.As(nil).Get(path).Want(want)
	}
	b.run(
		step{call: "GET /api/svc/frontend_configurations"},
		step{call: "GET /nodeinfo/2.1.json", reads: "metadata.features:array metadata.uploadLimits:object metadata.suggestions:object metadata.federation:object metadata.staffAccounts:array software:object metadata.fieldsLimits:object metadata.postFormats:array"},
		step{call: "GET /api/v1/instance", reads: "max_toot_chars:number approval_required:boolean svc.vapid_public_key:string svc.metadata:object"},
		step{call: "POST /api/v1/apps", body: "multipart:client_name=FE&redirect_uris=http%3A%2F%2Flocalhost%2Foauth-callback&scopes=read+write+follow+push+admin", keeps: "CLIENT=client_id SECRET=client_secret"},
		step{call: "POST /oauth/token", body: "multipart:client_id={CLIENT}&client_secret={SECRET}&grant_type=client_credentials&redirect_uri=http%3A%2F%2Flocalhost%2Foauth-callback", keeps: "APPTOKEN=access_token"},
		step{call: "GET /api/v1/apps/verify_credentials", auth: "APPTOKEN", reads: "name:string"},
		step{call: "GET /api/v1/timelines/public?local=true&limit=20", auth: "APPTOKEN", reads: statusReads},
		step{call: "POST /oauth/token", body: "multipart:client_id={CLIENT}&client_secret={SECRET}&grant_type=password&username=alice&password=" + url.QueryEscape(apptest.Password), keeps: "TOKEN=access_token"},
		step{call: "GET /api/v1/accounts/verify_credentials", auth: "TOKEN", reads: credentialReads + " svc.is_admin:boolean svc.is_moderator:boolean svc.privileges:array svc.tags:array svc.hide_followers:boolean svc.relationship:object svc.is_active:boolean svc.settings_store:object svc.notification_settings:object svc.unread_conversation_count:number"},
		step{call: "GET /api/svc/emoji.json"},
		step{call: "GET /api/v1/lists", auth: "TOKEN"},
		step{call: "GET /api/v1/svc/bookmark_folders", auth: "TOKEN"},
		step{call: "GET /api/v1/follow_requests", auth: "TOKEN"},
		step{call: "GET /api/v1/mutes/?with_relationships=true", auth: "TOKEN"},
		step{call: "GET /api/v1/blocks/?with_relationships=true", auth: "TOKEN"},
		step{call: "GET /api/v1/accounts/{ALICE}/following?limit=20&with_relationships=true", auth: "TOKEN", reads: "[].svc.relationship.following:boolean"},
		step{call: "GET /api/v1/announcements", auth: "TOKEN"},
		step{call: "GET /api/v1/timelines/home?with_muted=true&limit=20", auth: "TOKEN", reads: statusReads + " [].svc.content:object [].svc.spoiler_text:object [].svc.thread_muted:boolean [].svc.emoji_reactions:array"},
		step{call: "GET /api/v1/notifications?with_muted=true&limit=20&include_types%5B%5D=mention&include_types%5B%5D=follow&include_types%5B%5D=svc:chat_mention&include_types%5B%5D=svc:emoji_reaction", auth: "TOKEN", reads: "[].svc.is_seen:boolean"},
		step{call: "GET /api/v1/svc/chats", auth: "TOKEN"},
		step{call: "GET /api/v1/timelines/direct?limit=20", auth: "TOKEN"},
		step{call: "GET /api/oauth_tokens.json", auth: "TOKEN", reads: "[].id:number [].app_name:string [].valid_until:string"},
	)
	b.streamsLater("user")
}

func TestSemaphoreStarts(t *testing.T) {
	b := newBoot(t, "https://semaphore.example")
	b.run(
		step{call: "POST /api/v1/apps", body: `{"client_name":"Semaphore","redirect_uris":"https://semaphore.example/settings/instances/add","scopes":"read write follow push","website":"https://semaphore.example"}`, keeps: "CLIENT=client_id SECRET=client_secret"},
		step{call: "GET /api/v1/instance", reads: "urls.streaming_api:string max_toot_chars:number configuration.statuses.max_characters:number"},
	)
	b.codeIn(b.signIn("/oauth/authorize?client_id={CLIENT}&redirect_uri=https%3A%2F%2Fsemaphore.example%2Fsettings%2Finstances%2Fadd&response_type=code&scope=read+write+follow+push"))
	b.run(
		step{call: "POST /oauth/token", body: "client_id={CLIENT}&client_secret={SECRET}&redirect_uri=https%3A%2F%2Fsemaphore.example%2Fsettings%2Finstances%2Fadd&grant_type=authorization_code&code={CODE}", keeps: "TOKEN=access_token"},
		step{call: "GET /api/v1/accounts/verify_credentials", auth: "TOKEN", reads: credentialReads + " locked:boolean"},
		step{call: "GET /api/v1/custom_emojis", auth: "TOKEN"},
		step{call: "GET /api/v1/instance", auth: "TOKEN", reads: "urls.streaming_api:string"},
		step{call: "GET /api/v1/lists", auth: "TOKEN"},
		step{call: "GET /api/v1/filters", auth: "TOKEN"},
		step{call: "GET /api/v1/push/subscription", auth: "TOKEN", want: 404},
		step{call: "GET /api/v1/timelines/home?limit=20", auth: "TOKEN", reads: statusReads, keeps: "NEWEST=[].id"},
		step{call: "GET /api/v1/timelines/home?limit=20&since_id={NEWEST}&max_id={NEWEST}", auth: "TOKEN"},
		step{call: "GET /api/v1/search?q=alice&resolve=true&limit=40", auth: "TOKEN", reads: "accounts:array hashtags:array statuses:array"},
		step{call: "PUT /api/v2/media/1", auth: "TOKEN", body: `{"description":"x"}`, want: 404},
	)
	b.streamsByQuery("user")
}

func TestMegalodonStarts(t *testing.T) {
	b := newBoot(t, "")
	b.run(
		step{call: "GET /.well-known/nodeinfo", reads: "links.[].rel:string links.[].href:string"},
		step{call: "GET /nodeinfo/2.0.json", reads: "software.name:string metadata.upstream.name:string"},
		step{call: "POST /api/v1/apps", body: `{"client_name":"M","redirect_uris":"urn:ietf:wg:oauth:2.0:oob","scopes":"read write follow"}`, keeps: "CLIENT=client_id SECRET=client_secret"},
		step{call: "POST /oauth/token", body: `{"client_id":"{CLIENT}","client_secret":"{SECRET}","grant_type":"password","username":"alice","password":"` + apptest.Password + `","scope":"read write follow"}`, keeps: "TOKEN=access_token"},
		step{call: "GET /api/v1/instance", auth: "TOKEN", reads: "urls.streaming_api:string poll_limits.max_options:number poll_limits.max_option_chars:number poll_limits.min_expiration:number poll_limits.max_expiration:number"},
		step{call: "GET /api/v1/accounts/verify_credentials", auth: "TOKEN", reads: credentialReads + " emojis:array"},
		step{call: "GET /api/v1/timelines/home", auth: "TOKEN", reads: statusReads},
		step{call: "GET /api/v1/markers?timeline%5B%5D=notifications", auth: "TOKEN", reads: "notifications.svc.unread_count:number"},
		step{call: "GET /api/v1/accounts/{BOB}/identity_proofs", auth: "TOKEN"},
		step{call: "GET /api/v1/conversations", auth: "TOKEN"},
	)
	b.streamsByQuery("user")
}

// wantEvents checks that each of the streams gets an event for a post that mentions the user.
func (b *boot) wantEvents(l *apptest.StreamClient, streams ...string) {
	b.t.Helper()
	bob, err := b.srv.DB.AccountByName(b.t.Context(), "bob", "")
	if err != nil {
		b.t.Fatal(err)
	}
	c, err := b.srv.Social.Publish(b.t.Context(), bob, social.Draft{Content: social.Content{Text: "@alice hello"}})
	if err != nil {
		b.t.Fatal(err)
	}
	received := map[string]string{}
	for _, s := range l.Events() {
		var v struct {
			ID, Type string
			Status   struct{ ID string }
		}
		if err := json.Unmarshal([]byte(*s.Payload), &v); err != nil || len(s.Stream) == 0 {
			b.t.Fatalf("%v: %v", err, s)
		}
		received[s.Stream[0]+" "+s.Event] = v.ID + v.Status.ID
	}
	for _, stream := range streams {
		if stream == "user" && received["user update"] != c.ID.String() {
			b.t.Errorf("the stream user got no event for the post: %v", received)
		}
		if !strings.HasSuffix(received[stream+" notification"], c.ID.String()) {
			b.t.Errorf("the stream %s got no event for the mention: %v", stream, received)
		}
	}
}

// streams opens one WebSocket for all streams, as the library masto does: the offered protocol is the token, and the response repeats it.
func (b *boot) streams(streams ...string) {
	b.t.Helper()
	conn, input, resp := b.srv.StreamHandshake(nil, "Sec-WebSocket-Protocol", b.kept["TOKEN"])
	if resp.StatusCode != http.StatusSwitchingProtocols || resp.Header.Get("Sec-WebSocket-Protocol") != b.kept["TOKEN"] {
		b.t.Fatalf("streaming: got %d %v", resp.StatusCode, resp.Header)
	}
	l := apptest.NewStreamClient(b.srv, conn, input, resp.Header)
	go l.Read()
	for _, stream := range streams {
		l.Subscribe(stream)
	}
	b.wantEvents(l, streams...)
}

// streamsByQuery opens a WebSocket for one stream, with all parameters in the query.
func (b *boot) streamsByQuery(stream string) {
	b.t.Helper()
	b.wantEvents(b.srv.OpenStream(&apptest.Client{Server: b.srv, Token: b.kept["TOKEN"]}, "stream", stream), stream)
}

// streamsLater opens an anonymous WebSocket, authenticates on it, and subscribes.
func (b *boot) streamsLater(stream string) {
	b.t.Helper()
	l := b.srv.OpenStream(nil)
	if got := l.Ask("type", "svc:authenticate", "token", b.kept["TOKEN"]); got != "success" {
		b.t.Fatalf("authenticating: %s", got)
	}
	b.wantEvents(l.Subscribe(stream), stream)
}
