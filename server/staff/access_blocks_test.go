package staff_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

const (
	emailDomainsPath = "/api/v1/admin/email_domain_blocks"
	emailsPath       = "/api/v1/admin/canonical_email_blocks"
	ipsPath          = "/api/v1/admin/ip_blocks"
)

// from returns a client whose requests a trusted proxy forwards from an address.
func from(srv *apptest.Server, token, address string) func(method, path string, params ...string) *apptest.Response {
	return func(method, path string, params ...string) *apptest.Response {
		srv.T.Helper()
		req, err := http.NewRequestWithContext(srv.T.Context(), method, srv.URL+path, strings.NewReader(apptest.Pairs(params).Encode()))
		if err != nil {
			srv.T.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if address != "" {
			req.Header.Set("X-Forwarded-For", address)
		}
		return (&apptest.Client{Server: srv, Token: token}).DoRequest(req)
	}
}

// registerFrom registers an account from an address.
func registerFrom(srv *apptest.Server, token, address, nick, email string) *apptest.Response {
	srv.T.Helper()
	return from(srv, token, address)("POST", "/api/v1/accounts", "username", nick, "email", email, "password", "correct horse", "agreement", "true")
}

// appToken returns a token for registrations.
func appToken(srv *apptest.Server) string {
	return srv.Grant(srv.RegisterApp(), "client_credentials").Want(200).Object().Str("access_token")
}

// pages checks that a list of three entries has two pages.
func pages(t *testing.T, c *apptest.Client, path string, newestFirst ...string) {
	t.Helper()
	if got := c.Get(path).Want(200).IDs(); fmt.Sprint(got) != fmt.Sprint(newestFirst) {
		t.Errorf("%s lists %v, want %v", path, got, newestFirst)
	}
	page := c.Get(path, "limit", "2").Want(200)
	if got := page.IDs(); fmt.Sprint(got) != fmt.Sprint(newestFirst[:2]) || !strings.Contains(page.Links()["next"], "max_id="+newestFirst[1]) {
		t.Errorf("the first page of %s has %v and the links %v", path, got, page.Links())
	}
	if got := c.Get(path, "limit", "2", "max_id", newestFirst[1]).Want(200).IDs(); fmt.Sprint(got) != fmt.Sprint(newestFirst[2:]) {
		t.Errorf("the second page of %s has %v", path, got)
	}
	if got := c.Get(path, "min_id", newestFirst[2], "limit", "1").Want(200).IDs(); fmt.Sprint(got) != fmt.Sprint(newestFirst[1:2]) {
		t.Errorf("the page of %s after the oldest has %v", path, got)
	}
}

func TestEmailDomainBlocks(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, app := srv.SignUpAdmin(), srv.SignUp("alice"), appToken(srv)
	for domain, want := range map[string]string{
		"": "Validation failed: Domain can't be blank", "a b": "Validation failed: Domain is not a valid domain name",
		"com": "Validation failed: Domain is not a valid domain name", "a.example:25": "Validation failed: Domain is not a valid domain name",
	} {
		root.Post(emailDomainsPath, "domain", domain).WantError(422, want)
	}
	o := root.Post(emailDomainsPath, "domain", "@Throwaway.example").Want(200).Object()
	id := o.Str("id")
	want := apptest.Doc{"domain": "throwaway.example", "allow_with_approval": false, "history": []any{}}
	wantFields(t, "the answer", o, want)
	wantFields(t, "GET", root.Get(emailDomainsPath+"/"+id).Want(200).Object(), want)
	if _, err := time.Parse(time.RFC3339, o.Str("created_at")); err != nil {
		t.Error(err)
	}
	wantLog(t, root.Client, "@root blocked e-mail domain throwaway.example")
	root.Post(emailDomainsPath, "domain", "throwaway.example").WantError(422, "Validation failed: Domain has already been taken")
	slow := root.Post(emailDomainsPath, "domain", "slow.example", "allow_with_approval", "true").Want(200).Object()
	wantFields(t, "with approval", slow, apptest.Doc{"allow_with_approval": true})

	for _, email := range []string{"x@throwaway.example", "x@MX.Throwaway.example"} {
		if a := registerFrom(srv, app, "", "bob", email); a.Status != 400 || !strings.Contains(string(a.Body), "ERR_BLOCKED") {
			t.Errorf("%s: %d %s", email, a.Status, a.Body)
		}
	}
	alice.Post("/api/v1/svc/change_email", "password", apptest.Password, "email", "x@throwaway.example").Want(200).WantFields(apptest.Doc{"error": "Invalid email."})
	registerFrom(srv, app, "", "carol", "x@slow.example").Want(200).WantFields(apptest.Doc{"identifier": "awaiting_approval"})
	third := root.Post(emailDomainsPath, "domain", "other.example").Want(200).Object().Str("id")
	pages(t, root.Client, emailDomainsPath, third, slow.Str("id"), id)

	root.Do("DELETE", emailDomainsPath+"/"+id, "", nil).Want(200)
	wantLog(t, root.Client, "@root unblocked e-mail domain throwaway.example")
	registerFrom(srv, app, "", "bob", "x@throwaway.example").Want(200)
	root.Get(emailDomainsPath+"/"+id).WantError(404, "Record not found")
	root.Do("DELETE", emailDomainsPath+"/"+id, "", nil).WantError(404, "Record not found")
}

func TestCanonicalEmailBlocks(t *testing.T) {
	srv := apptest.Start(t)
	root, app := srv.SignUpAdmin(), appToken(srv)
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte("mallory@mail.example")))
	for name, tt := range map[string]struct {
		params list
		want   string
	}{
		"nothing":     {nil, "Validation failed: Canonical email hash can't be blank"},
		"no address":  {list{"email", "mallory"}, "Validation failed: Email is invalid"},
		"a short one": {list{"canonical_email_hash", "abc"}, "Validation failed: Canonical email hash is not a SHA-256 in hexadecimal digits"},
	} {
		t.Run(name, func(t *testing.T) { root.Post(emailsPath, tt.params...).WantError(422, tt.want) })
	}
	if got := root.Post(emailsPath+"/test", "email", "mallory@mail.example").Want(200).List(); len(got) != 0 {
		t.Errorf("an address that is not blocked: %v", got)
	}
	o := root.Post(emailsPath, "email", "Mal.lory+spam@Mail.example").Want(200).Object()
	id := o.Str("id")
	wantFields(t, "the answer", o, apptest.Doc{"canonical_email_hash": hash})
	wantFields(t, "GET", root.Get(emailsPath+"/"+id).Want(200).Object(), apptest.Doc{"id": id, "canonical_email_hash": hash})
	wantLog(t, root.Client, "@root blocked e-mail address with hash "+hash)
	root.Post(emailsPath, "canonical_email_hash", strings.ToUpper(hash)).WantError(422, "Validation failed: Canonical email hash has already been taken")
	if got := root.Post(emailsPath+"/test", "email", "M.allory@ma\u00adil.example").Want(200).List(); len(got) != 1 || got[0].Str("id") != id {
		t.Errorf("another spelling: %v", got)
	}
	root.Post(emailsPath+"/test", "email", "x").WantError(422, "Validation failed: Email is invalid")
	root.Post(emailsPath + "/test").Want(400)
	if a := registerFrom(srv, app, "", "mallory", "mallory+2@mail.example"); a.Status != 400 || !strings.Contains(string(a.Body), "ERR_BLOCKED") {
		t.Errorf("a registration: %d %s", a.Status, a.Body)
	}
	second := root.Post(emailsPath, "canonical_email_hash", strings.Repeat("a", 64)).Want(200).Object().Str("id")
	third := root.Post(emailsPath, "email", "eve@mail.example").Want(200).Object().Str("id")
	pages(t, root.Client, emailsPath, third, second, id)
	root.Do("DELETE", emailsPath+"/"+id, "", nil).Want(200)
	wantLog(t, root.Client, "@root unblocked e-mail address with hash "+hash)
	registerFrom(srv, app, "", "mallory", "mallory+2@mail.example").Want(200)
	root.Get(emailsPath+"/"+id).WantError(404, "Record not found")
	root.Do("DELETE", emailsPath+"/"+id, "", nil).WantError(404, "Record not found")
}

// TestIPBlocks checks every severity, with the addresses that a trusted proxy reports.
func TestIPBlocks(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Server.TrustedProxies = []string{"127.0.0.1"} })
	root, app := srv.SignUpAdmin(), appToken(srv)
	for name, tt := range map[string]struct {
		params list
		want   string
	}{
		"no network":        {list{"severity", "no_access"}, "Validation failed: IP can't be blank"},
		"no severity":       {list{"ip", "192.0.2.1"}, "Validation failed: Severity can't be blank"},
		"an unknown one":    {list{"ip", "192.0.2.1", "severity", "x"}, "Validation failed: Severity is not one of sign_up_requires_approval, sign_up_block, no_access"},
		"not a network":     {list{"ip", "192.0.2.1/40", "severity", "no_access"}, "Validation failed: IP is not an address or network such as 192.0.2.0/24"},
		"expires_in, text":  {list{"ip", "192.0.2.1", "severity", "no_access", "expires_in", "x"}, "Validation failed: Expires in is not a number of seconds"},
		"expires_in, small": {list{"ip", "192.0.2.1", "severity", "no_access", "expires_in", "-1"}, "Validation failed: Expires in must be 0 to 315360000 seconds"},
		"expires_at, past":  {list{"ip", "192.0.2.1", "severity", "no_access", "expires_at", "2020-01-01T00:00"}, "Validation failed: Expires at must be in the next ten years"},
		"expires_at, late":  {list{"ip", "192.0.2.1", "severity", "no_access", "expires_at", "2999-01-01"}, "Validation failed: Expires at must be in the next ten years"},
		"a long comment":    {list{"ip", "192.0.2.1", "severity", "no_access", "comment", strings.Repeat("x", 2001)}, "Validation failed: Comment is too long"},
	} {
		t.Run(name, func(t *testing.T) { root.Post(ipsPath, tt.params...).WantError(422, tt.want) })
	}
	from(srv, root.Client.Token, "198.51.100.7")("POST", ipsPath, "ip", "198.51.100.0/24", "severity", "no_access").
		WantError(422, "Validation failed: IP includes your own address 198.51.100.7")

	o := root.Post(ipsPath, "ip", "192.0.2.77/24", "severity", "no_access", "comment", "scraper", "expires_in", "3600").Want(200).Object()
	id := o.Str("id")
	want := apptest.Doc{"ip": "192.0.2.0/24", "severity": "no_access", "comment": "scraper"}
	wantFields(t, "the answer", o, want)
	wantFields(t, "GET", root.Get(ipsPath+"/"+id).Want(200).Object(), want)
	created, errA := time.Parse(time.RFC3339, o.Str("created_at"))
	expires, errB := time.Parse(time.RFC3339, o.Str("expires_at"))
	if errA != nil || errB != nil || expires.Sub(created).Round(time.Minute) != time.Hour {
		t.Errorf("created_at is %s, expires_at %s", o.Str("created_at"), o.Str("expires_at"))
	}
	wantLog(t, root.Client, "@root blocked network 192.0.2.0/24 (no_access)")
	root.Post(ipsPath, "ip", "192.0.2.0/24", "severity", "sign_up_block").WantError(422, "Validation failed: IP has already been taken")
	for address, status := range map[string]int{
		"192.0.2.9": 403, "::ffff:192.0.2.9": 403, "192.0.3.9": 200, "": 200, "192.0.2.9, 203.0.113.5": 200, // the client's own part is not trusted
	} {
		if a := from(srv, "", address)("GET", "/api/v1/instance"); a.Status != status {
			t.Errorf("a client at %q gets %d, want %d", address, a.Status, status)
		}
	}
	from(srv, root.Client.Token, "192.0.2.9")("GET", "/api/v1/timelines/home").WantError(403, "Access from your network is blocked")

	o = root.SendJSON("PUT", ipsPath+"/"+id, apptest.Doc{"severity": "sign_up_block", "expires_in": ""}).Want(200).Object()
	wantFields(t, "after PUT", o, apptest.Doc{"ip": "192.0.2.0/24", "severity": "sign_up_block", "comment": "scraper", "expires_at": nil})
	wantLog(t, root.Client, "@root changed the block of network 192.0.2.0/24 (sign_up_block)")
	from(srv, "", "192.0.2.9")("GET", "/api/v1/instance").Want(200)
	registerFrom(srv, app, "192.0.2.9", "bob", "bob@example.org").WantError(403, "Registrations from your network are not accepted")
	second := root.Post(ipsPath, "ip", "192.0.2.8", "severity", "no_access").Want(200).Object() // the severest counts
	from(srv, "", "192.0.2.8")("GET", "/api/v1/instance").Want(403)
	root.SendJSON("PUT", ipsPath+"/"+second.Str("id"), apptest.Doc{"ip": "192.0.2.0/24"}).WantError(422, "Validation failed: IP has already been taken")
	slow := root.Post(ipsPath, "ip", "2001:db8::1/64", "severity", "sign_up_requires_approval", "expires_in", "60").Want(200).Object()
	wantFields(t, "an IPv6 network", slow, apptest.Doc{"ip": "2001:db8::/64", "comment": ""})
	registerFrom(srv, app, "2001:db8::5", "carol", "carol@example.org").Want(200).WantFields(apptest.Doc{"identifier": "awaiting_approval"})
	registerFrom(srv, app, "2001:db8:1::5", "dave", "dave@example.org").Want(200)
	pages(t, root.Client, ipsPath, slow.Str("id"), second.Str("id"), id)
	end := slow.Str("expires_at")
	year := strconv.Itoa(time.Now().Year() + 5)
	wantFields(t, "a later end", root.SendJSON("PUT", ipsPath+"/"+slow.ID(), apptest.Doc{"expires_at": year + "-05-06T07:08"}).Want(200).Object(), apptest.Doc{"expires_at": year + "-05-06T07:08:00.000Z"})
	wantFields(t, "no end", root.SendJSON("PUT", ipsPath+"/"+slow.ID(), apptest.Doc{"expires_at": ""}).Want(200).Object(), apptest.Doc{"expires_at": nil})
	root.SendJSON("PUT", ipsPath+"/"+slow.ID(), apptest.Doc{"expires_at": "soon"}).WantError(400, "expires_at - Invalid format. Expected date-time.")
	wantFields(t, "the old end", root.SendJSON("PUT", ipsPath+"/"+slow.ID(), apptest.Doc{"expires_at": end}).Want(200).Object(), apptest.Doc{"expires_at": end})

	srv.Advance(2 * time.Minute)
	wantFields(t, "an expired block", root.SendJSON("PUT", ipsPath+"/"+slow.ID(), apptest.Doc{"comment": "over", "expires_at": end[:19] + "Z"}).Want(200).Object(), apptest.Doc{"comment": "over", "expires_at": end})
	registerFrom(srv, app, "2001:db8::5", "erin", "erin@example.org").Want(200).Object().Str("access_token")
	root.Do("DELETE", ipsPath+"/"+id, "", nil).Want(200)
	wantLog(t, root.Client, "@root unblocked network 192.0.2.0/24")
	registerFrom(srv, app, "192.0.2.9", "bob", "bob@example.org").Want(200)
	root.Get(ipsPath+"/"+id).WantError(404, "Record not found")
	root.Do("DELETE", ipsPath+"/"+id, "", nil).WantError(404, "Record not found")
	root.SendJSON("PUT", ipsPath+"/"+id, apptest.Doc{"severity": "no_access"}).WantError(404, "Record not found")
}
