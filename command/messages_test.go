package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"os/exec"
)

// TestWrongArguments goes through wrong arguments of commands. Each message names the argument and the right form.
func TestWrongArguments(t *testing.T) {
	p := newWorkspace(t)
	for _, tt := range []struct{ args, want string }{
		{"version extra", `unexpected argument "extra": svc version takes none`},
		{"doctor now please", `unexpected argument "now": svc doctor takes none`},
		{"user list extra", `unexpected argument "extra": svc user list takes none`},
		{"user create alice --email a@example.org --admin=perhaps", `--admin: must be true or false, not "perhaps"`},
		{"user set alice --locked=maybe", `--locked: must be true or false, not "maybe"`},
		{"user list --limit many", `--limit: must be a whole number, not "many"`},
		{"user create alice bob --email a@example.org", `unexpected argument "bob": the command takes one NICK`},
		{"user create", "NICK is missing"},
		{"user create alice --email", "--email needs a value"},
		{"user create alice --emial a@example.org", "unknown flag"},
		{"user list --lim 5", "unknown flag --lim, did you mean --limit?"},
		{"config set instance.name", "VALUE is missing"},
		{"config set", "NAME VALUE is missing"},
		{"config set instance.name a b", `unexpected argument "b": the command takes NAME VALUE`},
		{"config get a b", `unexpected argument "b": the command takes one NAME`},
		{"report note add 5", "TEXT is missing"},
		{"federation unblock", "HOST is missing"},
		{"backup a.tar b.tar", `unexpected argument "b.tar": the command takes one FILE`},
		{"backup --keep 0", "--keep must be at least 1"},
		{"backup --keep few", `--keep: must be a whole number, not "few"`},
		{"backup --keep 3 nowhere.tar", "with --keep, name a folder that exists"},
		{"backup --every daily", "backup.schedule"},
		{"backup --every 5s", "must be 0s, or at least 1m"},
		{"backup --every 24h nowhere", "with --every, name a folder that exists"},
		{"backup --every 24h --no-media", "--no-media"},
		{"restore", "FILE is missing"},
		{"restore a b", `unexpected argument "b": the command takes one FILE`},
		{"verify a b", `unexpected argument "b": the command takes one FILE.tar`},
		{"setup --tls=perhaps", `--tls: must be yes or no, not "perhaps"`},
		{"setup extra", `unexpected argument "extra": svc setup takes none`},
		{"db check extra", `unexpected argument "extra": svc db check takes none`},
		{"db shrink", `unknown command "shrink" for "svc db"`},
		{"serv", `did you mean "serve"?`},
		{"media prune --dry-run=no-way", `--dry-run: must be true or false, not "no-way"`},
		{"serve extra", `unexpected argument "extra": svc serve takes none`},
		{"help bogus", `unknown command "bogus" for "svc"`},
		{"help user bogus", `unknown command "bogus" for "svc user"`},
		{"help user lst", `did you mean "list"?`},
		{"routes extra", `unexpected argument "extra": svc routes takes none`},
	} {
		p.runWithInput("", strings.Fields(tt.args)...).fails(2, tt.want)
	}
	if _, err := os.Stat(p.path("data")); err == nil {
		t.Error("a wrong command has made a data directory")
	}
}

// TestWrongFolder runs commands where there is no server. They say where they looked and what to do, and make nothing.
func TestWrongFolder(t *testing.T) {
	p := newWorkspace(t)
	for _, empty := range []bool{false, true} {
		want := "there is no data directory " + p.path("data") + ";"
		if empty {
			if err := os.Mkdir(p.path("data"), 0o700); err != nil {
				t.Fatal(err)
			}
			want = "there is no database in " + p.path("data") + ";"
		}
		for _, command := range []string{
			"user create alice --email alice@example.org", "user list", "user invite", "emoji list", "emoji import .", "emoji export cats",
			"config get", "config set instance.name x", "backup", "verify", "media verify", "db check", "federation peers",
			"instance stats", "relay list", "frontend list", "user rotate-keys --server", "log moderation export", "federation goodbye --status",
		} {
			r := p.runWithInput("", strings.Fields(command)...)
			r.fails(1, want)
			r.fails(1, "--config FILE, or make a server first with svc setup or svc serve")
		}
		if files, err := os.ReadDir(p.path("data")); empty && err != nil || !empty && !os.IsNotExist(err) || len(files) > 0 {
			t.Errorf("made files: %v, %v", files, err)
		}
	}
}

// TestUnknownPolicy checks that the nearest name is suggested.
func TestUnknownPolicy(t *testing.T) {
	for name, want := range map[string]string{
		"SimplPolicy": `unknown policy "SimplPolicy", did you mean "SimplePolicy"?`,
		"keyword":     `did you mean "KeywordPolicy"?`,
		"Nonsense":    "the policies are ",
	} {
		p := newWorkspace(t, "[mrf]\npolicies = [\""+name+"\"]")
		p.run("config", "check").fails(1, want)
	}
}

// TestDeletedNickname checks that the nickname of a deleted account is refused with the reason.
func TestDeletedNickname(t *testing.T) {
	p := newWorkspace(t)
	create := []string{"user", "create", "alice", "--email", "alice@example.org"}
	p.run(create...).ok()
	p.run(create...).fails(1, "There is an account alice already")
	p.run("user", "delete", "alice", "--yes").ok()
	p.run(create...).fails(1, "The nickname alice belonged to an account that was deleted, and is never used again")
}

// TestReadOnlyData runs commands as a user who cannot write the data directory.
func TestReadOnlyData(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to become another user")
	}
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	for dir := p.path("data"); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		os.Chmod(dir, 0o755)
	}
	os.Chmod(p.config, 0o644)
	os.Chmod(filepath.Dir(binary), 0o755)
	for _, args := range [][]string{{"user", "list"}, {"serve"}} {
		cmd := p.command(args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if exit, is := err.(*exec.ExitError); !is || exit.ExitCode() != 1 || !strings.Contains(string(out), "data cannot be written") {
			t.Errorf("%s: %v, %s", args, err, out)
		}
	}
}

// TestDamagedSchema checks that a database with missing tables, and one that is none, are named with what to do.
func TestDamagedSchema(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(*workspace)
		want   string
	}{
		{"a missing table", func(p *workspace) { p.exec(`DROP TABLE markers`) }, "markers is missing"},
		{"a missing index", func(p *workspace) { p.exec(`DROP INDEX statuses_account`) }, "statuses_account is missing"},
		{"no row that identifies it", func(p *workspace) { p.exec(`DELETE FROM meta`) }, "which server it belongs to"},
		{"no database", func(p *workspace) { p.write("data/svc.db", strings.Repeat("nonsense", 1000)) }, "not a database"},
		{"a damaged schema", func(p *workspace) { p.damagePage("sqlite_schema") }, "malformed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newWorkspace(t)
			p.run("user", "create", "alice", "--email", "alice@example.org").ok()
			tt.damage(p)
			r := p.run("user", "list")
			message := r.errOut[strings.LastIndex(r.errOut, "svc: "):]
			if r.code != 1 || !strings.Contains(message, "svc.db is damaged") || !strings.Contains(message, tt.want) || strings.Count(message, "restore a backup: svc restore FILE") != 1 || strings.Count(message, "restore") != 2 {
				t.Errorf("got %d, %q", r.code, r.errOut)
			}
			p.run("serve").failsAfterLog(tt.want)
		})
	}
}

// TestBackupKeeps checks that --keep removes only what it has made.
func TestBackupKeeps(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	for _, name := range []string{"svc-20200101T000000Z.tar", "svc-auto-20200101T000000Z.tar", "svc-auto-20210101T000000Z.tar", "svc-auto-mine.tar", "other.tar"} {
		p.writeFile("data/backups/"+name, "old")
	}
	out := p.run("backup", "--keep", "2").ok()
	if !strings.Contains(out, "Removed the old backup svc-auto-20200101T000000Z.tar") {
		t.Errorf("got %q", out)
	}
	files, err := filepath.Glob(p.path("data/backups/*.tar"))
	if err != nil || len(files) != 5 {
		t.Errorf("left are %v, %v", files, err)
	}
}

// TestBackupSchedule checks that svc backup --every has the running server make backups.
func TestBackupSchedule(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	if err := os.Mkdir(p.path("far"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.run("backup", "--every", "24h", "--keep", "3", "far").fails(1, "[backup]")

	q := newWorkspace(t, "[instance]\nconfigurable_from_database = true")
	q.run("user", "create", "alice", "--email", "alice@example.org").ok()
	if err := os.Mkdir(q.path("far"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := q.serve()
	if got := q.run("backup", "--every", "24h", "--keep", "3", "far").ok(); got != "The running server makes a backup every 24h.\n" {
		t.Errorf("got %q", got)
	}
	var files []string
	s.waitUntil("a backup", func() bool {
		files, _ = filepath.Glob(q.path("far/svc-auto-*.tar"))
		return len(files) == 1
	})
	q.verify(0, files[0])
	for n := range 2 { // the folder of the settings in the database, with and without a server
		if got := q.run("backup").ok(); !strings.Contains(got, "Wrote "+q.path("far")) {
			t.Errorf("got %q", got)
		}
		if n == 0 {
			if err := os.RemoveAll(q.path("far")); err != nil {
				t.Fatal(err)
			}
			s.stop()
		}
	}
	q.serve()
	if got := q.run("backup", "--every", "0s").ok(); got != "The server makes no more backups.\n" {
		t.Errorf("got %q", got)
	}
}
