package command_test

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra/doc"

	"svc/app"
	"svc/command"
	"svc/store"
)

func TestVersionJSON(t *testing.T) {
	var got struct {
		Name, Version, Go, OS, Arch string
		Schema                      int
		Commit, Date                *string
		Modified                    *bool
	}
	d := json.NewDecoder(strings.NewReader(newWorkspace(t).run("version", "--json").ok()))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil && !strings.Contains(err.Error(), "warning") {
		t.Fatal(err)
	}
	if got.Name != "svc" || got.Version != app.Version || got.Schema != store.SchemaVersion() || got.Go == "" || got.OS == "" || got.Arch == "" || got.Commit == nil || got.Date == nil || got.Modified == nil {
		t.Errorf("got %+v", got)
	}
}

func TestLicenses(t *testing.T) {
	p := newWorkspace(t)
	list := p.run("licenses").ok()
	for _, want := range []string{"svc", "AGPL-3.0-or-later", "modernc.org/sqlite", "photoswipe", "Go library", "Unicode-3.0"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list has no %q", want)
		}
	}
	texts := p.run("licenses", "--texts").ok()
	if want := "Permission is hereby granted, free of charge"; strings.Contains(list, want) || !strings.Contains(texts, want) {
		t.Error("the texts are not those of --texts alone")
	}
	if n := strings.Count(texts, "GNU AFFERO GENERAL PUBLIC LICENSE\n"); n != 1 {
		t.Errorf("the text of the AGPL is there %d times", n)
	}
	if !json.Valid([]byte(p.run("licenses", "--json").ok())) {
		t.Error("--json prints no JSON")
	}
	p.run("licenses", "extra").fails(2, "extra")
}

// TestHealth asks a server that runs, none, and servers with other answers.
func TestHealth(t *testing.T) {
	p := newWorkspace(t)
	p.run("health").fails(1, "no server answers at "+strings.TrimPrefix(p.url, "http://"))
	p.run("health", "extra").fails(2, "extra")
	p.serve()
	if got := p.run("health").ok(); got != "OK\n" {
		t.Errorf("got %q", got)
	}
	for name, tt := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"unhealthy": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "unhealthy", http.StatusServiceUnavailable)
		}, "answers 503: unhealthy"},
		"another program": {func(w http.ResponseWriter, _ *http.Request) { w.Write(bytes.Repeat([]byte("x"), 1<<20)) }, "answers 200: xxx"},
		"a redirect":      {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/health?", http.StatusFound) }, "answers 302"},
		"half of the answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			w.Write([]byte("OK"))
		}, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newWorkspace(t)
			ln, err := net.Listen("tcp", strings.TrimPrefix(q.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			server := &http.Server{Handler: tt.handler, ReadHeaderTimeout: time.Minute}
			go server.Serve(ln)
			t.Cleanup(func() { server.Close() })
			r := q.run("health")
			r.fails(1, tt.want)
			if len(r.errOut) > 400 {
				t.Errorf("the error has %d bytes", len(r.errOut))
			}
		})
	}
}

// TestHealthAddresses asks servers at a Unix socket, at all addresses, and with a certificate for another name.
func TestHealthAddresses(t *testing.T) {
	works := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/health" && r.Host == "social.example.org" {
			w.Write([]byte("OK"))
		}
	})
	listen := func(t *testing.T, network, address string) *httptest.Server {
		t.Helper()
		ln, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewUnstartedServer(works)
		server.Listener.Close()
		server.Listener = ln
		t.Cleanup(server.Close)
		return server
	}
	const url = "url = \"https://social.example.org\"\n"

	socket := newWorkspace(t)
	socket.write("config.toml", "[server]\n"+url+"listen = \""+socket.path("s")+"\"\n")
	socket.run("health").fails(1, "no server answers at "+socket.path("s"))
	listen(t, "unix", socket.path("s")).Start()
	socket.run("health").ok()

	for _, host := range []string{"", "0.0.0.0"} {
		all := newWorkspace(t)
		_, port, err := net.SplitHostPort(freeAddress(t))
		if err != nil {
			t.Fatal(err)
		}
		all.write("config.toml", "[server]\n"+url+"listen = \""+host+":"+port+"\"\n")
		listen(t, "tcp", "127.0.0.1:"+port).Start()
		all.run("health").ok()
	}

	encrypted := newWorkspace(t)
	address := freeAddress(t)
	encrypted.write("config.toml", "[server]\n"+url+"listen = \""+address+"\"\n[server.tls]\nenabled = true\nemail = \"a@example.org\"\n")
	listen(t, "tcp", address).StartTLS()
	encrypted.run("health").ok()
}

// TestManPages makes the manual as .ci/manpages does, and checks that it has each command.
func TestManPages(t *testing.T) {
	dir := t.TempDir()
	root := command.Tree()
	if err := doc.GenManTree(root, &doc.GenManHeader{}, dir); err != nil {
		t.Fatal(err)
	}
	for page, want := range map[string][]string{
		"svc.1": {"Federated microblogging server", `\-\-config`}, "svc-serve.1": {"svc serve"}, "svc-user-create.1": {`\-\-email`}, "svc-licenses.1": {`\-\-texts`},
	} {
		text, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil {
			t.Error(err)
		}
		for _, want := range want {
			if !strings.Contains(string(text), want) && !strings.Contains(string(text), strings.ReplaceAll(want, `\-`, "-")) {
				t.Errorf("%s has no %q", page, want)
			}
		}
	}
}
