package command_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
)

// frontendArchive writes a zip archive of a front end whose index has a text.
func (p *workspace) frontendArchive(name, text string) {
	p.t.Helper()
	p.write(name, string(apptest.Zip(p.t, map[string]string{"dist/index.html": text})))
}

// TestFrontendUse chooses front ends by command, with and without a running server, while only the settings file has settings.
func TestFrontendUse(t *testing.T) {
	p := newWorkspace(t, "[frontends]\nadmin = \"fe/1\"\n")
	p.run("user", "create", "alice", "--email", "alice@example.org", "--admin").ok()
	p.frontendArchive("one.zip", "this is one")
	p.frontendArchive("two.zip", "this is two")
	p.run("frontend", "install", "fe", "--ref", "1", "--file", "one.zip").ok()
	p.write("bad.zip", string(apptest.Zip(t, map[string]string{"README": "x"})))
	p.run("frontend", "install", "fe", "--ref", "1", "--file", "bad.zip").fails(1, "Could not install frontend: the archive has no index.html")
	p.run("frontend", "install", "fe", "--ref", "1", "--file", "none.zip").fails(1, "none.zip: no such file")
	p.run("frontend", "install", "fe", "--ref", "a/b", "--file", "one.zip").fails(1, "Could not install frontend: \"fe\" and \"a/b\" are not a valid name and ref")
	p.run("frontend", "use", "fe").fails(1, `"fe" is not NAME/REF`)
	p.run("frontend", "use", "fe/2").fails(1, "fe/2 is not installed")
	p.run("frontend", "use").fails(2, "NAME/REF")
	if out := p.run("frontend", "use", "fe/1").ok(); out != "In use: fe/1. Before: none.\n" {
		t.Errorf("use fe/1 printed %q", out)
	}
	if out := p.run("frontend", "use", "fe/1").ok(); out != "Already in use: fe/1.\n" {
		t.Errorf("the second use printed %q", out)
	}
	p.serve()
	shows := func(path, want string) {
		t.Helper()
		if _, body := p.get(path, ""); !strings.Contains(body, want) {
			t.Errorf("%s shows %.200q, want %q", path, body, want)
		}
	}
	shows("/", "this is one") // the choice without a server
	p.run("frontend", "install", "fe", "--ref", "3", "--file", "bad.zip").fails(1, "Could not install frontend: the archive has no index.html")
	shows("/svc/admin/", "this is one")
	p.run("frontend", "install", "fe", "--ref", "2", "--file", "two.zip").ok()
	shows("/", "this is one")
	if out := p.run("frontend", "use", "fe/2").ok(); out != "In use: fe/2. Before: fe/1.\n" {
		t.Errorf("use fe/2 printed %q", out)
	}
	shows("/", "this is two")
	shows("/svc/admin/", "this is one")
	p.run("frontend", "use", "fe/2", "--admin").ok()
	shows("/svc/admin/", "this is two")
	p.run("frontend", "remove", "fe/2").fails(1, "fe/2 is the primary front end")
	if out := p.run("frontend", "list", "--json").ok(); !strings.Contains(out, `"primary_ref": "2"`) || !strings.Contains(out, `"admin_ref": "2"`) {
		t.Errorf("the list is %s", out)
	}
	p.run("frontend", "use", "fe/1").ok() // roll back
	shows("/", "this is one")
	p.run("frontend", "use", "none").ok()
	shows("/", "/web/sign_in")
	p.run("frontend", "use", "fe/1", "--admin").ok() // as in the file: the row goes
	p.run("frontend", "remove", "fe/2").ok()
	log := p.run("log", "moderation", "list").ok()
	for _, want := range []string{
		"chose front end fe/2 to be shown to visitors", "chose front end fe/2 to be shown to administrators",
		"chose the pages of the server to be shown to visitors",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the moderation log lacks %q: %s", want, log)
		}
	}
	if n := strings.Count(log, "chose "); n != 6 {
		t.Errorf("the moderation log has %d choices: %s", n, log)
	}
}
