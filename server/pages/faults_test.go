package pages_test

import (
	"testing"

	"svc/app/apptest"
)

// TestErrorsInGerman checks that pages show errors of the API in their own language: beside a form, and as a page.
func TestErrorsInGerman(t *testing.T) {
	srv := apptest.Start(t)
	bob := srv.SignUp("bob")
	private := bob.Publish("psst", "visibility", "private").ID()
	b := srv.SignUp("alice").SignedIn()
	b.Language = "de"
	b.Get("/web/compose").Want(200, "Neuer Beitrag").Press("Veröffentlichen", "status", " ").Want(422, "Ein Beitrag braucht Text oder eine Datei.")
	b.Get("/web/settings/password").Want(200).
		Press("Passwort ändern", "password", "wrong", "new_password", "a new password", "new_password_confirmation", "another one").Want(422, "Die beiden neuen Passwörter sind nicht gleich.")
	b.Get("/web/statuses/"+private+"/more").Want(404, "Nicht gefunden", "Unter dieser Adresse gibt es keine Seite.")
	visitor := srv.Browser()
	visitor.Language = "de"
	visitor.Get("/web/sign_in").Want(200).Press("Anmelden", "name", "alice", "password", "wrong").Want(401, "Name oder Passwort stimmt nicht.")
}
