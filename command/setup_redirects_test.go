package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSetupWithHost checks that svc setup --host stores the host of handles, and prints docs/examples with the hosts of the server.
func TestSetupWithHost(t *testing.T) {
	p := newWorkspaceWithoutSettings(t)
	setup := []string{"setup", "--yes", "--url", "https://fedi.example.com", "--data-dir", p.path("data"), "--host"}
	for _, wrong := range []string{"example.com:4000", "192.0.2.1", "https://example.com", "exa mple.com"} {
		p.run(append(setup, wrong)...).fails(1, "server.host")
	}
	out := p.run(append(setup, "example.com")...).ok()
	hosts := strings.NewReplacer("social.example.org", "fedi.example.com", "block of example.org", "block of example.com")
	for _, file := range []string{"split-domain.nginx.conf", "split-domain.Caddyfile"} {
		example, err := os.ReadFile(filepath.Join("..", "docs", "examples", file))
		if err != nil {
			t.Fatal(err)
		}
		if want := hosts.Replace(string(example)); !strings.Contains(out, want) {
			t.Errorf("docs/examples/%s is not printed: %s", file, out)
		}
	}
	if got := p.run("config", "show").ok(); !strings.Contains(got, `host = "example.com"`) {
		t.Errorf("the settings lack the host: %s", got)
	}
}
