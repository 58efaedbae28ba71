package server_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/server"
)

// TestPlainPagesInGerman reads the set-up, remote follows, interactions and the choice of a front end in German.
func TestPlainPagesInGerman(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Frontends.Pickable = []string{"other/1"} })
	b := srv.Browser()
	b.Language = "de"
	page := b.Get(server.SetupURL(srv.Settings, srv.Keys)).Want(200, "Das erste Konto erstellen", "Dieses Konto verwaltet den Server.")
	page.Submit(0, "nickname", "a b", "password", "1", "password_confirmation", "1").Want(422, "Der Nutzername hat ein ungültiges Format", "Das Passwort muss mindestens")
	page.Submit(0, "nickname", "owner", "password", apptest.Password, "password_confirmation", "x").Want(422, "Das zweite Passwort ist nicht dasselbe")
	page.Submit(0, "nickname", "owner", "password", apptest.Password, "password_confirmation", apptest.Password).Follow().Want(200, "Willkommen", "@owner")
	b.Get(server.SetupURL(srv.Settings, srv.Keys)).Want(410, "Dieser Link gilt nicht mehr")

	post := srv.SignUp("alice").Publish("hello", "spoiler_text", "warned")
	follow := b.Get("/ostatus_subscribe", "acct", "alice").Want(200, "Du bist als @owner angemeldet.", "Folgen")
	follow.Press("Folgen").Want(200, "Du folgst diesem Konto.", "Entfolgen")
	reply := b.Get("/ostatus_subscribe", "acct", post.Str("uri")).Want(200, "Ein Beitrag von @alice", "Deine Antwort", "warned", "hello")
	reply.Press("Antworten", "status", "servus").Want(200, "Deine Antwort ist veröffentlicht.")
	reply.Press("Favorisieren").Want(200, "Du hast diesen Beitrag favorisiert.")
	b.Get("/ostatus_subscribe", "acct", "nobody").Want(404, "Nicht gefunden", "kein Konto und kein Beitrag")
	b.Get("/ostatus_subscribe").Want(400, "Die Adresse nennt kein Konto")

	remote := b.Get("/main/ostatus", "nickname", "alice").Want(200, "Auf deinem Server weitermachen", "@alice@"+srv.Settings.Host()+" folgen")
	remote.Submit(0, "profile", "nobody").Want(200, "Dieses Konto wurde nicht gefunden")
	b.Get("/main/ostatus", "status_id", post.ID()).Want(200, "Auf einen Beitrag antworten")
	b.Get("/frontends").Want(200, "Oberfläche wählen", "Die Seiten dieses Servers (Standard)")
}

// TestSetupWithoutPages checks that the set-up ends with a page about apps if the web interface is switched off.
func TestSetupWithoutPages(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Web.Enabled = false })
	page := srv.Browser().Get(server.SetupURL(srv.Settings, srv.Keys)).Want(200)
	page.Submit(0, "nickname", "owner", "password", apptest.Password, "password_confirmation", apptest.Password).
		Want(200, "Welcome, @owner", "It administers the server", "When it asks for your server, enter "+srv.Settings.Host(), "no longer valid")
}

// TestPlainPagesLeadNowhereElse checks that pages between an app and its browser have no navigation and no script, and are not kept.
func TestPlainPagesLeadNowhereElse(t *testing.T) {
	srv := apptest.Start(t)
	app := srv.RegisterApp()
	b := srv.SignUp("alice").SignedIn()
	for path, status := range map[string]int{
		"/oauth/authorize?response_type=code&client_id=" + app.ID:                  200,
		"/oauth/authorize?response_type=code&force_login=true&client_id=" + app.ID: 200,
		"/oauth/authorize": 400, "/auth/sign_up": 200, "/auth/forgot_password": 200, "/main/ostatus?nickname=alice": 200, "/ostatus_subscribe?acct=alice": 200, "/setup/nonsense": 404,
	} {
		page := b.Get(path).Want(status)
		for _, part := range []string{"<nav", "<script", `id="act"`, "/web/notifications"} {
			if strings.Contains(string(page.Body), part) {
				t.Errorf("%s has %s", path, part)
			}
		}
		if page.Header.Get("Cache-Control") != "no-store" || !strings.Contains(page.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s has the headers %v", path, page.Header)
		}
	}
}
