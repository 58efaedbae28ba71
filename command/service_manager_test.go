package command_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestServiceManager checks what the server tells systemd.
func TestServiceManager(t *testing.T) {
	p := newWorkspace(t)
	socket := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	t.Setenv("WATCHDOG_USEC", "4000000")
	wait := func(want string) {
		t.Helper()
		conn.SetReadDeadline(time.Now().Add(30 * time.Second))
		buffer := make([]byte, 1000)
		for {
			n, err := conn.Read(buffer)
			if err != nil {
				t.Fatalf("no %s: %v", want, err)
			}
			if got := string(buffer[:n]); strings.HasPrefix(got, want) {
				return
			}
		}
	}
	s := p.start()
	wait("READY=1")
	for _, path := range []string{"/health", "/ready"} {
		if status, _ := p.get(path, ""); status != 200 {
			t.Errorf("it says that it is ready, but %s answers %d", path, status)
		}
	}
	wait("WATCHDOG=1")
	wait("WATCHDOG=1") // again and again
	s.signal(syscall.SIGHUP)
	wait("RELOADING=1\nMONOTONIC_USEC=")
	wait("READY=1")
	s.signal(syscall.SIGTERM)
	wait("STOPPING=1")
	s.waitExit(0)
}

// TestReload changes the settings file of a running server.
func TestReload(t *testing.T) {
	p := newWorkspace(t)
	begin, err := os.ReadFile(p.config)
	if err != nil {
		t.Fatal(err)
	}
	s := p.serve()
	for _, tt := range []struct {
		name, settings string
		log            []string
		title          string // of the instance afterwards
	}{
		{"at once", "[instance]\nname = \"First\"", []string{`read again" changed=instance.name`}, "First"},
		{"after a restart", "[instance]\nname = \"Second\"\n[metrics]\nenabled = true", []string{`after a restart" settings=metrics.enabled`}, "Second"},
		{"invalid", "[instance]\nname = \"Third\"\nnam = 1", []string{"the previous settings are still in effect"}, "Second"},
		{"taken back", "[instance]\nname = \"Fourth\"", []string{`read again" changed=instance.name`}, "Fourth"},
		{"nothing", "[instance]\nname = \"Fourth\"", []string{`read again" changed=""`}, "Fourth"},
	} {
		before := len(s.log.String())
		p.write("config.toml", string(begin)+tt.settings+"\n")
		s.signal(syscall.SIGHUP)
		for _, want := range tt.log {
			s.waitUntil(tt.name+": "+want, func() bool { return strings.Contains(s.log.String()[before:], want) })
		}
		if _, body := p.get("/api/v1/instance", ""); !strings.Contains(body, fmt.Sprintf(`"title":%q`, tt.title)) {
			t.Errorf("%s: the name is not %s", tt.name, tt.title)
		}
		if restart := strings.Contains(s.log.String()[before:], "after a restart"); restart != (tt.name == "after a restart") {
			t.Errorf("%s: a restart is needed: %v", tt.name, restart)
		}
	}
	s.stop()
}

// TestJournal checks that lines for the journal of systemd have a priority and no time of their own.
func TestJournal(t *testing.T) {
	p := newWorkspace(t, "[log]", `level = "debug"`, "[instance]", "registrations_open = true", "account_activation_required = true")
	file, err := os.Create(p.path("journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	of := info.Sys().(*syscall.Stat_t)
	cmd := p.command("serve")
	cmd.Stderr = file
	cmd.Env = append(cmd.Env, fmt.Sprintf("JOURNAL_STREAM=%d:%d", of.Dev, of.Ino))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(30 * time.Second)
	read := func() string { text, _ := os.ReadFile(p.path("journal")); return string(text) }
	for !strings.Contains(read(), "svc is running") && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	ended := cmd.Wait()
	log := read()
	if ended != nil {
		t.Errorf("%v: %s", ended, log)
	}
	for _, want := range []string{`<6>level=INFO msg="svc is running" version=`, "<4>level=WARN msg="} {
		if !strings.Contains(log, want) {
			t.Errorf("no %q in %s", want, log)
		}
	}
	if strings.Contains(log, "time=") {
		t.Errorf("there are times in %s", log)
	}
}

// TestEndDuringStart ends the server by a signal at points of its start. The default of the signal ends it as well, before it is handled.
func TestEndDuringStart(t *testing.T) {
	for i := range 20 {
		p := newWorkspace(t)
		cmd := p.command("serve")
		var log bytes.Buffer
		cmd.Stderr = &log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * 15 * time.Millisecond)
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code > 0 {
			t.Errorf("after %d × 15 ms: exit status %d: %s", i, code, log.String())
		}
	}
}

// TestReloadBelowDatabase checks that settings in the database stay above those of a file that is read again.
func TestReloadBelowDatabase(t *testing.T) {
	p := newWorkspace(t, "[instance]", "configurable_from_database = true", `name = "File"`)
	s := p.serve()
	p.run("config", "set", "instance.name", "Database").ok()
	text, err := os.ReadFile(p.config)
	if err != nil {
		t.Fatal(err)
	}
	p.write("config.toml", strings.ReplaceAll(string(text), `"File"`, `"New file"`)+"description = \"Tea\"\n")
	s.signal(syscall.SIGHUP)
	s.waitForLog(`read again" changed=instance.description`)
	title := func() string { _, body := p.get("/api/v1/instance", ""); return body }
	if !strings.Contains(title(), `"title":"Database"`) {
		t.Error("the file is above the database")
	}
	p.run("config", "unset", "instance.name").ok()
	if !strings.Contains(title(), `"title":"New file"`) {
		t.Errorf("the name is not that of the file that was read again: %s", title())
	}
	s.stop()
}
