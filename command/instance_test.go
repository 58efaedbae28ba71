package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInstanceDocumentCommands(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	file := filepath.Join(t.TempDir(), "terms.html")
	if err := os.WriteFile(file, []byte("<p>Our terms</p>"), 0o600); err != nil {
		t.Fatal(err)
	}
	set := []string{"instance", "document", "set"}
	p.run(append(set, "terms-of-service")...).fails(2, "takes NAME and FILE")
	p.run(append(set, "terms", file)...).fails(1, `There is no document "terms"`)
	p.run(append(set, "terms-of-service", file+"x")...).fails(1, "no such file")
	p.run("instance", "document", "delete", "terms-of-service").fails(1, "There is no terms-of-service but the default")
	p.serve()
	p.run(append(set, "terms-of-service", file)...).ok()
	if _, body := p.get("/terms", ""); !strings.Contains(body, "<p>Our terms</p>") {
		t.Errorf("/terms is %q", body)
	}
	if got := p.run("instance", "document", "show", "terms-of-service").ok(); got != "<p>Our terms</p>" {
		t.Errorf("show prints %q", got)
	}
	p.run("instance", "document", "delete", "terms-of-service").ok()
	if got := p.run("instance", "document", "show", "terms-of-service").ok(); got != "" {
		t.Errorf("show prints %q after the deletion", got)
	}
}
