package command_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
)

// placedWorkspace returns a workspace with an account, whose backups go to a folder of an SFTP server, and that folder.
func placedWorkspace(t *testing.T) (p *workspace, place, dir string) {
	t.Helper()
	dir = t.TempDir()
	place = apptest.StartSFTP(t, dir)
	p = newWorkspace(t, fmt.Sprintf("[backup]\nplace = %q\nkeep_daily = 2\n[sftp]\npassword_file = \"password\"", place))
	p.write("password", apptest.SFTPPassword+"\n")
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	return p, place, dir
}

// placed returns the names of the backups in a folder.
func placed(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*.tar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range list {
		names = append(names, filepath.Base(path))
	}
	return names
}

// TestBackupToPlace makes a backup on an SFTP server, checks it there, and restores it on a machine that has the credentials only.
func TestBackupToPlace(t *testing.T) {
	p, place, dir := placedWorkspace(t)
	address, query, _ := strings.Cut(place, "?")
	if out := p.run("backup").ok(); !strings.Contains(out, "Wrote svc-") || !strings.Contains(out, "sftp://svc@127.0.0.1") {
		t.Errorf("it prints %q", out)
	}
	names := placed(t, dir)
	if len(names) != 1 {
		t.Fatalf("at the place are %q", names)
	}
	backup := address + "/" + names[0] + "?" + query
	p.run("verify", backup).ok()
	if left, _ := filepath.Glob(p.path("data", "backups", "*")); len(left) > 0 && fmt.Sprint(left) != fmt.Sprint([]string{p.path("data", "backups", "accounts")}) {
		t.Errorf("in the data directory is left %q", left)
	}

	other := newWorkspaceWithoutSettings(t)
	other.write("credentials.toml", fmt.Sprintf("[server]\nurl = %q\n[sftp]\npassword_file = \"password\"\n", p.url))
	other.write("password", apptest.SFTPPassword)
	other.run("restore", "--from", place, "--data-dir", other.path("data")).fails(1, "sftp")
	out := other.run("restore", "--from", place, "--data-dir", other.path("data"), "--config", other.path("credentials.toml")).ok()
	if !strings.Contains(out, names[0]) {
		t.Errorf("restore prints %q", out)
	}
	if got := other.run("user", "list", "--config", "credentials.toml").ok(); !strings.Contains(got, "alice") {
		t.Errorf("after the restore there are %q", got)
	}

	for _, tt := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"backup", backup}, 1, "already exists"},
		{[]string{"backup", "--keep", "2", backup}, 2, "name a place"},
		{[]string{"backup", "--every", "24h", place}, 1, "settings file"},
		{[]string{"backup", "sftp://svc:secret@127.0.0.1/x"}, 1, "password"},
		{[]string{"backup", address + "?fingerprint=SHA256:" + strings.Repeat("A", 43)}, 1, "fingerprint"},
		{[]string{"backup", address + "/missing/" + "?" + query}, 0, ""}, // it is made
		{[]string{"verify", address + "/svc-20200101T000000Z.tar?" + query}, 1, "svc-20200101T000000Z.tar"},
		{[]string{"restore", "--from", place, "--at", "2020-01-01", "--force"}, 1, "the oldest is " + names[0]},
		{[]string{"restore", "--from", "nowhere", "--at", "2030-01-01"}, 1, "nowhere"},
		{[]string{"restore", "--from", place, "--at", "yesterday"}, 2, "2030-01-02"},
		{[]string{"restore", "--at", "2030-01-01", backup}, 2, "--from"},
		{[]string{"restore", "--from", place, backup}, 2, "not both"},
		{[]string{"restore"}, 2, "--from"},
	} {
		r := p.run(tt.args...)
		if tt.code == 0 {
			r.ok()
		} else {
			r.fails(tt.code, tt.text)
		}
	}
	if _, err := os.Stat(p.path("nowhere")); err == nil {
		t.Error("a restore has made the folder in which it looked for a backup")
	}
	if out := p.run("doctor").out; strings.Contains(out, apptest.SFTPPassword) || !strings.Contains(out, "sftp://") {
		t.Errorf("doctor prints %q", out)
	}
}

// TestKeepAtPlace checks which backups are removed from a place: those of days that are not kept.
func TestKeepAtPlace(t *testing.T) {
	p, _, dir := placedWorkspace(t)
	p.run("backup", "--keep", "1").ok()
	names := placed(t, dir)
	if len(names) != 1 {
		t.Fatalf("at the place are %q", names)
	}
	content, err := os.ReadFile(filepath.Join(dir, names[0]))
	if err != nil {
		t.Fatal(err)
	}
	var old []string
	for days := 1; days <= 3; days++ {
		at := time.Now().UTC().Add(-time.Duration(days) * 24 * time.Hour)
		old = append(old, "svc-auto-"+at.Format("20060102T150405Z")+".tar")
	}
	for _, name := range append(old, "svc-20200101T000000Z.tar", "notes.tar") {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // names have seconds
	out := p.run("backup", "--keep", "1").ok()
	for _, name := range old[1:] {
		if !strings.Contains(out, "Removed the old backup "+name) {
			t.Errorf("it does not remove %s: %q", name, out)
		}
	}
	left := fmt.Sprint(placed(t, dir))
	for _, name := range []string{old[0], "svc-20200101T000000Z.tar", "notes.tar"} {
		if !strings.Contains(left, name) {
			t.Errorf("%s is gone: %s", name, left)
		}
	}
	if n := len(placed(t, dir)); n != 4 {
		t.Errorf("there are %d: %s", n, left)
	}
}

// TestCutAtPlace checks that a backup that was cut off at the place is found by the verification, and refused by a restore.
func TestCutAtPlace(t *testing.T) {
	p, place, dir := placedWorkspace(t)
	p.run("backup").ok()
	path := filepath.Join(dir, placed(t, dir)[0])
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()/2); err != nil {
		t.Fatal(err)
	}
	address, query, _ := strings.Cut(place, "?")
	if r := p.run("verify", address+"/"+filepath.Base(path)+"?"+query); r.code != 3 || !strings.Contains(r.out, "the backup ends in the middle") {
		t.Errorf("verify: %d %s %s", r.code, r.out, r.errOut)
	}
	p.run("restore", "--from", place, "--force").fails(1, "not a complete backup")
	if got := p.run("user", "list").ok(); !strings.Contains(got, "alice") {
		t.Errorf("after a refused restore there are %q", got)
	}
}
