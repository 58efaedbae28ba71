package stream_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

const pushPath = "/api/v1/push/subscription"

// alerts returns the alerts of a subscription that are set.
func alerts(o *apptest.Object) []string {
	o.T.Helper()
	set := []string{}
	for name, on := range o.At("alerts").(map[string]any) {
		if on.(bool) {
			set = append(set, name)
		}
	}
	slices.Sort(set)
	return set
}

func TestPushSubscription(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	service := apptest.StartPushService(t)
	alice := srv.SignUp("alice")
	alice.Get(pushPath).WantError(404, "Record not found")
	alice.SendJSON("PUT", pushPath, map[string]any{"data": map[string]any{"alerts": map[string]any{"mention": true}}}).WantError(404, "Record not found")
	if a := alice.Do("DELETE", pushPath, "", nil).Want(200); string(a.Body) != "{}" {
		t.Errorf("got %s, want {}", a.Body)
	}

	d := service.NewDevice()
	made := alice.SendJSON("POST", pushPath, d.SubscribeParams("mention", "svc:chat_mention", "nonsense")).Want(200).Object()
	check := func(when string, o *apptest.Object, endpoint, policy string, set ...string) {
		t.Helper()
		if got := alerts(o); !slices.Equal(got, set) {
			t.Errorf("%s: alerts are %v, want %v", when, got, set)
		}
		if o.Str("endpoint") != endpoint || o.Str("policy") != policy || o.Str("server_key") != srv.Keys.VAPIDPublic() || o.Str("id") == "" {
			t.Errorf("%s: got %v", when, o.Fields)
		}
		names := slices.Sorted(maps.Keys(o.At("alerts").(map[string]any)))
		want := slices.Sorted(slices.Values(apptest.PushAlerts()))
		if !slices.Equal(names, want) {
			t.Errorf("%s: it names the alerts %v, want %v", when, names, want)
		}
	}
	endpoint := service.URL + d.Path
	check("made", made, endpoint, "all", "mention", "svc:chat_mention")
	check("shown", alice.Get(pushPath).Want(200).Object(), endpoint, "all", "mention", "svc:chat_mention")

	change := func(params map[string]any) *apptest.Object {
		return alice.SendJSON("PUT", pushPath, params).Want(200).Object()
	}
	check("other alerts", change(map[string]any{"data": map[string]any{"alerts": map[string]any{"reblog": true, "poll": "1", "mention": false, "status": 1, "favourite": "off", "move": nil}}}),
		endpoint, "all", "poll", "reblog", "status")
	check("only a policy", change(map[string]any{"policy": "followed"}), endpoint, "followed", "poll", "reblog", "status")
	check("no change", change(nil), endpoint, "followed", "poll", "reblog", "status")
	check("follow implies follow_request", change(map[string]any{"data": map[string]any{"policy": "all", "alerts": map[string]any{"follow": true}}}),
		endpoint, "all", "follow", "follow_request")
	check("unless follow_request is set", change(map[string]any{"data": map[string]any{"alerts": map[string]any{"follow": true, "follow_request": false}}}),
		endpoint, "all", "follow")
	check("an endpoint does not change", change(map[string]any{"subscription": map[string]any{"endpoint": "https://example.com/"}}), endpoint, "all", "follow")
	check("no alerts", change(map[string]any{"data": map[string]any{"alerts": map[string]any{}}}), endpoint, "all")

	// As a form, with keys in standard base64 with padding, and a slash at the end of the path.
	e := service.NewDevice()
	std := base64.StdEncoding
	check("in a form", alice.Post(pushPath+"/", "subscription[endpoint]", service.URL+e.Path,
		"subscription[keys][p256dh]", std.EncodeToString(e.Key.PublicKey().Bytes()), "subscription[keys][auth]", std.EncodeToString(e.Auth),
		"data[alerts][favourite]", "true", "data[alerts][mention]", "false", "data[alerts][svc:emoji_reaction]", "1", "data[policy]", "follower").Want(200).Object(),
		service.URL+e.Path, "follower", "favourite", "svc:emoji_reaction")
	if alice.Get(pushPath).Object().Bool("standard") || !made.Bool("standard") {
		t.Error("standard differs from the request")
	}
	if made.Str("id") == alice.Get(pushPath).Object().Str("id") {
		t.Error("another subscription has the same id")
	}
	if n := srv.Count(`SELECT count(*) FROM push_subscriptions`); n != 1 {
		t.Errorf("there are %d subscriptions of one token", n)
	}

	// Each token has its own subscription.
	other := srv.NewToken(alice, "push")
	other.Get(pushPath).Want(404)
	other.SubscribePush(service)
	other.Do("DELETE", pushPath, "", nil).Want(200)
	other.Get(pushPath).Want(404)
	alice.Get(pushPath).Want(200)
	srv.NewToken(alice, "read write").Get(pushPath).Want(403)
	srv.As(nil).Get(pushPath).Want(401)
}

func TestInvalidPushSubscription(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	service := apptest.StartPushService(t)
	alice := srv.SignUp("alice")
	kept := alice.SubscribePush(service)
	for _, tt := range []struct {
		name   string
		change func(p, subscription, keys map[string]any)
		status int
		err    string
	}{
		{"no endpoint", func(_, s, _ map[string]any) { delete(s, "endpoint") }, 422, "Validation failed: Endpoint can't be blank"},
		{"no subscription", func(p, _, _ map[string]any) { delete(p, "subscription") }, 422, "Validation failed: Endpoint can't be blank"},
		{"not a URL", func(_, s, _ map[string]any) { s["endpoint"] = "nonsense" }, 422, "Validation failed: Endpoint is not a valid URL"},
		{"no host", func(_, s, _ map[string]any) { s["endpoint"] = "https:///path" }, 422, "Validation failed: Endpoint is not a valid URL"},
		{"http", func(_, s, _ map[string]any) { s["endpoint"] = "http://example.com/push" }, 422, "Validation failed: Endpoint is not a valid URL"},
		{"another scheme", func(_, s, _ map[string]any) { s["endpoint"] = "file:///etc/passwd" }, 422, "Validation failed: Endpoint is not a valid URL"},
		{"a user", func(_, s, _ map[string]any) { s["endpoint"] = "https://a:b@example.com/push" }, 422, "Validation failed: Endpoint is not a valid URL"},
		{"a line feed", func(_, s, _ map[string]any) { s["endpoint"] = "https://example.com/\r\nHost: x" }, 422, "Validation failed: Endpoint is not a valid URL"},
		{"a long endpoint", func(_, s, _ map[string]any) { s["endpoint"] = "https://example.com/" + strings.Repeat("x", 2048) }, 422, "Validation failed: Endpoint is not a valid URL"},
		{"an endpoint of another type", func(_, s, _ map[string]any) { s["endpoint"] = []string{"https://example.com"} }, 400, ""},
		{"no key", func(_, _, k map[string]any) { delete(k, "p256dh") }, 422, "Validation failed: Key p256dh is not a public key of P-256"},
		{"not a point of the curve", func(_, _, k map[string]any) {
			k["p256dh"] = base64.RawURLEncoding.EncodeToString(append([]byte{4}, make([]byte, 64)...))
		}, 422, "Validation failed: Key p256dh is not a public key of P-256"},
		{"not base64", func(_, _, k map[string]any) { k["p256dh"] = "!!!" }, 422, "Validation failed: Key p256dh is not a public key of P-256"},
		{"a short secret", func(_, _, k map[string]any) { k["auth"] = "c2hvcnQ" }, 422, "Validation failed: Key auth is not 16 bytes long"},
		{"no secret", func(_, _, k map[string]any) { delete(k, "auth") }, 422, "Validation failed: Key auth is not 16 bytes long"},
		{"another policy", func(p, _, _ map[string]any) { p["policy"] = "some" }, 422, `policy - Invalid value "some": must be all, followed, follower or none.`},
		{"alerts of another type", func(p, _, _ map[string]any) { p["data"] = map[string]any{"alerts": "all"} }, 400, ""},
		{"an alert that is neither true nor false", func(p, _, _ map[string]any) {
			p["data"] = map[string]any{"alerts": map[string]any{"mention": "maybe"}}
		}, 422, `data[alerts][mention] - Invalid value "maybe": must be true or false`},
		{"an alert of another type", func(p, _, _ map[string]any) {
			p["data"] = map[string]any{"alerts": map[string]any{"follow": []string{"true"}}}
		}, 422, `data[alerts][follow] - Invalid value "[true]": must be true or false`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := kept.SubscribeParams()
			subscription := p["subscription"].(map[string]any)
			tt.change(p, subscription, subscription["keys"].(map[string]any))
			a := alice.SendJSON("POST", pushPath, p).Want(tt.status)
			if tt.err != "" {
				a.WantError(tt.status, tt.err)
			}
			if got := alice.Get(pushPath).Want(200).Object().Str("endpoint"); got != service.URL+kept.Path {
				t.Errorf("the subscription changed to %s", got)
			}
		})
	}
	alice.SendJSON("PUT", pushPath, map[string]any{"policy": "some"}).WantError(422, `policy - Invalid value "some": must be all, followed, follower or none.`)

	// A request without a token cannot subscribe, because messages contain the token.
	body, err := json.Marshal(kept.SubscribeParams())
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+pushPath, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.SetBasicAuth("alice", apptest.Password)
	srv.As(nil).DoRequest(req).WantError(403, "Push subscriptions belong to an access token")

	// So may a browser that is signed in to the pages; its session is not in the messages.
	browser := alice.SignedIn()
	req, err = http.NewRequestWithContext(t.Context(), "POST", srv.URL+pushPath, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	for _, c := range browser.Cookies {
		req.AddCookie(c)
	}
	srv.As(nil).DoRequest(req).Want(200)
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	srv.As(nil).DoRequest(req).Want(403)

	strict := apptest.Start(t)
	strict.SignUp("bob").SendJSON("POST", pushPath, kept.SubscribeParams()).WantError(422, "Validation failed: Endpoint is not a valid URL")
}

// TestPushAlertNames checks that names of alerts follow api.name.
func TestPushAlertNames(t *testing.T) {
	srv := apptest.StartWithLoopback(t, func(c *config.Config) { c.API.Name = "other" })
	o := srv.SignUp("alice").SendJSON("POST", pushPath, apptest.StartPushService(t).NewDevice().SubscribeParams("other:chat_mention", "svc:emoji_reaction")).Want(200).Object()
	if got := alerts(o); !slices.Equal(got, []string{"other:chat_mention"}) {
		t.Errorf("alerts are %v", got)
	}
}

// TestMaxPushSubscriptions adds more subscriptions than an account may have: the oldest is deleted.
func TestMaxPushSubscriptions(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.StartWithLoopback(t)
	service := apptest.StartPushService(t)
	alice := srv.SignUp("alice")
	first := srv.NewToken(alice, "push")
	first.SubscribePush(service)
	for i := range 50 {
		srv.NewToken(alice, fmt.Sprint("push ", i)).SubscribePush(service)
	}
	first.Get(pushPath).Want(404)
	if n := srv.Count(`SELECT count(*) FROM push_subscriptions`); n != 50 {
		t.Errorf("there are %d subscriptions, want 50", n)
	}
}
