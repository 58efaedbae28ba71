package pages_test

import (
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// germanWorld is a server with rows of each kind. Its users write German, so each English text is one of the server.
type germanWorld struct {
	srv         *apptest.Server
	admin, user *apptest.User
	paths       []string // that nothing links to
}

func newGermanWorld(t *testing.T) *germanWorld {
	srv := apptest.Start(t, apptest.AllowLoopback, apptest.WithMail, func(c *config.Config) {
		c.Instance.ConfigurableFromDatabase, c.Instance.Name, c.Instance.Description = true, "Teestube", "Hier geht es um Tee."
		c.Instance.Email, c.Accounts.ProfileDirectory = "root@example.org", true
	})
	w := &germanWorld{srv: srv, admin: srv.SignUpAdmin(), user: srv.SignUp("anna")}
	ben, cora := srv.SignUp("ben"), srv.SignUp("cora")
	w.post(ben, cora)
	w.notify(ben, cora)
	w.settle(ben, cora)
	w.staff(ben, cora)
	srv.RunJobs()
	srv.Exec(`UPDATE users SET locale = 'de'`)
	return w
}

// post publishes posts with all that a post can have.
func (w *germanWorld) post(ben, cora *apptest.User) {
	anna := w.user
	picture := anna.Upload(apptest.PNG(40, 30)).ID()
	w.paths = append(w.paths, "/@anna/"+anna.Publish("Ein Bild #tee", "media_ids[]", picture, "sensitive", "true").ID())
	w.paths = append(w.paths, "/@anna/"+anna.Publish("Geheimes", "spoiler_text", "Warnung", "visibility", "unlisted").ID())
	poll := anna.Publish("Tee oder Kaffee?", "poll[options][]", "Tee", "poll[options][]", "Kaffee", "poll[expires_in]", "3600")
	ended := ben.Publish("Wann?", "poll[options][]", "Heute", "poll[options][]", "Morgen", "poll[expires_in]", "3600")
	ben.Post("/api/v1/polls/"+poll.Str("poll.id")+"/votes", "choices[]", "0").Want(200)
	anna.Post("/api/v1/polls/"+ended.Str("poll.id")+"/votes", "choices[]", "0").Want(200)
	w.srv.EndPoll(ended)
	edited := anna.Publish("Erste Fassung").ID()
	ben.Post("/api/v1/statuses/" + edited + "/reblog").Want(200)
	anna.SendJSON("PUT", "/api/v1/statuses/"+edited, map[string]string{"status": "Zweite Fassung"}).Want(200)
	anna.Publish("Später", "scheduled_at", "2098-01-01T00:00:00Z", "visibility", "public")
	anna.Post("/api/v1/statuses/" + edited + "/pin").Want(200)
	root := ben.Publish("Eine Frage").ID()
	cora.Publish("@ben Eine Antwort", "in_reply_to_id", root)
	anna.Publish("@ben Noch eine", "in_reply_to_id", root)
	anna.Publish("Schau", "quoted_status_id", root)
	w.paths = append(w.paths, "/@anna/"+edited+"/history", "/@anna/"+edited+"/boosts", "/@anna/"+edited+"/favourites", "/web/statuses/"+edited+"/more", "/web/statuses/"+edited+"/delete", "/web/statuses/"+edited+"/redraft",
		"/web/statuses/"+edited+"/react", "/@ben/"+root, "/@anna/"+poll.ID(), "/@ben/"+ended.ID(), "/web/statuses/"+root+"/more", "/web/accounts/"+ben.ID+"/more", "/web/accounts/"+ben.ID+"/report",
		"/web/compose?in_reply_to_id="+root, "/web/compose?edit="+edited, "/web/compose?quote="+root, "/web/search?q=tee", "/web/search?q=nichts")
}

// notify causes notifications of each kind for anna.
func (w *germanWorld) notify(ben, cora *apptest.User) {
	anna := w.user
	post := anna.Publish("Gesetz", "interaction_policy[can_reply][manual_approval][]", "public", "interaction_policy[can_favourite][manual_approval][]", "public",
		"interaction_policy[can_reblog][manual_approval][]", "public").ID()
	free := anna.Publish("Frei").ID()
	for _, u := range []*apptest.User{ben, cora} {
		u.Post("/api/v1/accounts/" + anna.ID + "/follow").Want(200)
		for _, id := range []string{post, free} {
			u.Post("/api/v1/statuses/" + id + "/favourite").Want(200)
			u.Post("/api/v1/statuses/" + id + "/reblog").Want(200)
		}
		u.Publish("@anna Antwort", "in_reply_to_id", post)
		u.Publish("@anna Hallo")
		u.Publish("@anna Nur dir", "visibility", "direct")
		u.React("PUT", free, "🎉").Want(200)
	}
	anna.Post("/api/v1/accounts/" + ben.ID + "/follow").Want(200)
	quote := ben.Publish("Zitat", "quoted_status_id", free).ID()
	ben.SendJSON("PUT", "/api/v1/statuses/"+quote, map[string]string{"status": "Anderes Zitat"}).Want(200)
	ben.SendChat(ben.Post("/api/v1/svc/chats/by-account-id/"+anna.ID).Want(200).Object().ID(), "Ein Wort")
	anna.UpdateProfile(apptest.Doc{"feature_policy": "public", "locked": true})
	ben.SendJSON("POST", "/api/v1/collections", apptest.Doc{"name": "Leute", "description": "Nette", "discoverable": true, "sensitive": false, "account_ids": []string{anna.ID}}).Want(200)
	w.srv.SignUp("dora").Post("/api/v1/accounts/" + anna.ID + "/follow").Want(200)
}

// settle gives anna settings, lists and filters of each kind.
func (w *germanWorld) settle(ben, cora *apptest.User) {
	anna := w.user
	anna.Post("/api/v1/lists", "title", "Freunde").Want(200)
	anna.Post("/api/v2/filters", "title", "Werbung", "context[]", "home", "context[]", "public", "filter_action", "warn", "keywords_attributes[][keyword]", "Werbung").Want(200)
	anna.Post("/api/v1/accounts/" + cora.ID + "/mute").Want(200)
	anna.Post("/api/v1/accounts/"+ben.ID+"/note", "comment", "Nett").Want(200)
	anna.Post("/api/v1/domain_blocks", "domain", "weit.example").Want(200)
	anna.Post("/api/v1/tags/tee/follow").Want(200)
	anna.Post("/api/v1/featured_tags", "name", "tee").Want(200)
	anna.Post("/api/v1/svc/backups").Want(200)
	anna.Post("/api/v1/svc/bookmark_folders", "name", "Rezepte").Want(200)
	w.paths = append(w.paths, "/web/settings/disable", "/web/settings/delete", "/web/settings/move", "/web/settings/push", "/web/filters/new", "/web/accounts/"+cora.ID+"/more")
	for _, st := range ben.Get("/api/v1/accounts/" + ben.ID + "/statuses").Want(200).List() {
		anna.Post("/api/v1/statuses/" + st.ID() + "/bookmark")
		anna.Post("/api/v1/statuses/" + st.ID() + "/favourite")
	}
}

// staff adds what staff see.
func (w *germanWorld) staff(ben, cora *apptest.User) {
	root, srv := w.admin, w.srv
	rude := cora.Publish("Unsinn").ID()
	ben.Post("/api/v1/reports", "account_id", cora.ID, "status_ids[]", rude, "comment", "Frech", "category", "spam").Want(200)
	report := root.Get("/api/v1/admin/reports").Want(200).List()[0].ID()
	root.Post("/api/v1/svc/admin/reports/"+report+"/notes", "content", "Notiz").Want(204)
	root.Post("/api/v1/admin/accounts/"+cora.ID+"/action", "type", "silence", "report_id", report).Want(200)
	root.Post("/api/v1/svc/admin/rules", "text", "Sei nett").Want(200)
	root.Post("/api/v1/svc/admin/announcements", "content", "Neues").Want(200)
	root.Post("/api/v1/svc/admin/users/invite_token").Want(200)
	root.Post("/api/v1/admin/domain_blocks", "domain", "spam.example", "severity", "suspend", "public_comment", "Werbung").Want(200)
	root.Post("/api/v1/admin/email_domain_blocks", "domain", "mail.example").Want(200)
	root.Post("/api/v1/admin/ip_blocks", "ip", "203.0.113.0/24", "severity", "sign_up_block").Want(200)
	root.SendJSON("PUT", "/api/v1/svc/admin/settings/media.max_pixels", apptest.Doc{"value": "20000000"}).Want(200)
	srv.Exec(`INSERT INTO jobs (id, kind, payload, run_at, attempts, parked, last_error) VALUES (99, 'import', '{}', 1000, 8, 1, 'Zeile 3')`)
	srv.AddRemoteAccount("eva", "weit.example")
	w.paths = append(w.paths, "/web/admin/media", "/web/admin/explain?q=weit.example", "/web/admin/explain?q=@ben", "/web/admin/deliveries?host=weit.example", "/web/admin/accounts?username=ben")
}
