package command_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/objects/objectstest"
)

// newStandby returns a workspace on another machine, with the settings of a server.
func newStandby(t *testing.T, of *workspace, place *copyPlace) *workspace {
	t.Helper()
	p := newWorkspace(t)
	p.url = "http://" + freeAddress(t)
	p.write("config.toml", fmt.Sprintf("[server]\nlisten = %q\nurl = %q\n%s", strings.TrimPrefix(p.url, "http://"), of.url, place.replica()))
	place.writeSecrets(p)
	return p
}

// standby starts a standby and waits until it could take over.
func (p *workspace) standby() *apptest.Process {
	p.t.Helper()
	process := apptest.StartProcess(p.t, p.command("standby", "--interval", "1s"))
	process.WaitUntil("the standby is ready", func() bool { return p.run("standby", "--status").code == 0 })
	return process
}

// TestStandby takes over from a server that was killed, without Litestream.
func TestStandby(t *testing.T) {
	to := folderPlace(t)
	p, place := to.workspace(t), to.folder
	other := newStandby(t, p, to)
	other.run("standby", "--status").fails(1, "no standby runs")
	other.run("standby", "--promote").fails(1, "no standby runs")
	other.run("standby", "--promote", "--status").fails(2, "not both")
	other.run("standby", "--interval", "1ms").fails(2, "--interval")

	s := p.serve()
	post := p.post("t", "kept")
	if p.uploadSound(sound(2000)) == "" {
		t.Fatal("no upload")
	}
	s.waitUntil("the upload is at the place", func() bool { return countFiles(t, place, "files", "media", "*", "*") == 1 })
	s.waitUntil("the keys are at the place", func() bool { return countFiles(t, place, "sealed", "*") == 1 })
	p.placeDatabase(place)
	if status, seen := p.doctorSays("lease"); status != "ok" || !strings.Contains(seen, "holds the lease") {
		t.Errorf("the lease: %s %s", status, seen)
	}

	p.run("lease").ok()
	other.run("lease").fails(1, "another server holds the lease")

	process := other.standby()
	if status, seen := other.doctorSays("standby"); status != "ok" || !strings.Contains(seen, "behind") {
		t.Errorf("doctor: %s %s", status, seen)
	}
	for path, want := range map[string]string{"/health": "standby: ", "/api/v1/instance": "not available", "/": "not available"} {
		answer, err := http.Get(other.url + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		status, body := other.get(path, "")
		if status != http.StatusServiceUnavailable || !strings.Contains(body, want) || answer.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	other.run("standby").failsAfterLog("in use")
	other.run("serve").failsAfterLog("svc standby --promote")

	s.signal(syscall.SIGKILL)
	<-s.done
	start := time.Now()
	if out := other.run("standby", "--promote").ok(); !strings.Contains(out, "is the server now") {
		t.Errorf("it prints %q", out)
	}
	if d := time.Since(start); d > 30*time.Second {
		t.Errorf("taking over took %s", d)
	}
	if status, _ := other.get("/api/v1/statuses/"+post, "t"); status != http.StatusOK {
		t.Errorf("the post: %d", status)
	}
	if n := countFiles(t, other.path("data", "media", "*", "*")); n != 1 {
		t.Errorf("%d uploads", n)
	}
	other.run("verify").ok()
	p.run("serve").failsAfterLog("--take-over")
	p.run("lease").fails(1, "another server holds the lease")
	other.run("lease").ok()

	process.Signal(syscall.SIGTERM)
	process.WaitExit(0)
	again := apptest.StartProcess(t, other.command("standby"))
	again.WaitForLog("svc is running") // it is the server
	taken := p.start("--take-over")
	taken.waitForLog("svc is running")
	again.WaitExit(1)
	if log := again.Log.String(); !strings.Contains(log, "another server has taken over") {
		t.Errorf("the log is %s", log)
	}
}

// TestStandbyRefuses checks what a standby needs.
func TestStandbyRefuses(t *testing.T) {
	to := folderPlace(t)
	p, place := to.workspace(t), to.folder
	s := p.serve()
	s.waitUntil("the keys are at the place", func() bool { return countFiles(t, place, "sealed", "*") == 1 })
	s.stop()
	p.run("standby").failsAfterLog("has the data of a server")

	other := newStandby(t, p, to)
	process := apptest.StartProcess(t, other.command("standby", "--interval", "1s"))
	process.WaitForLog("no database") // Litestream has written nothing
	other.run("standby", "--status").fails(1, "not ready")
	other.run("standby", "--promote").fails(1, "no files of Litestream")
	p.openDatabase(func(db *sql.DB) error {
		_, err := db.Exec(`PRAGMA user_version = 9999`)
		return err
	})
	p.placeDatabase(place)
	process.WaitForLog("newer version of svc")
	other.run("standby", "--promote").fails(1, "newer version of svc")
	process.Signal(syscall.SIGTERM)
	process.WaitExit(0)

	other.write("passphrase", "not that passphrase\n")
	process = apptest.StartProcess(t, other.command("standby", "--interval", "1s"))
	process.WaitForLog("passphrase is wrong")
	process.Signal(syscall.SIGTERM)
	process.WaitExit(0)
	if err := os.Remove(other.path("passphrase")); err != nil {
		t.Fatal(err)
	}
	other.run("standby").failsAfterLog("replica.passphrase_file")
	newWorkspace(t).run("standby").failsAfterLog("replica.place")
	newWorkspace(t).run("serve", "--take-over").fails(2, "replica.enabled")
}

// TestStandbySettings compares the settings file of a standby with that of the server: what says something about the machine may differ.
func TestStandbySettings(t *testing.T) {
	to := folderPlace(t)
	p, place := to.workspace(t), to.folder
	s := p.serve()
	s.waitUntil("the keys are at the place", func() bool { return countFiles(t, place, "sealed", "*") == 1 })
	s.stop()
	p.placeDatabase(place)

	other := newStandby(t, p, to)
	settings := fmt.Sprintf("[server]\nlisten = %q\nurl = %q\n%s", strings.TrimPrefix(other.url, "http://"), p.url, to.replica())
	end := func(process *apptest.Process) {
		process.Signal(syscall.SIGTERM)
		process.WaitExit(0)
	}
	same := other.standby()
	if out := other.run("standby", "--status").ok(); strings.Contains(out, "Warning") {
		t.Errorf("with the same settings: %s", out)
	}
	end(same)

	other.write("config.toml", settings+"\n[log]\nlevel = \"debug\"\n[instance]\nname = \"Another\"\n[mail]\npassword = \"hidden secret\"\n")
	different := other.standby()
	out := other.run("standby", "--status").ok()
	if !strings.Contains(out, "Warning: settings that differ from those of the server: instance.name, mail.password\n") {
		t.Errorf("with other settings: %s", out)
	}
	status, seen := other.doctorSays("standby")
	if status != "warning" || !strings.Contains(seen, "instance.name") {
		t.Errorf("doctor: %s %s", status, seen)
	}
	if all := out + seen + different.Log.String(); strings.Contains(all, "hidden secret") || strings.Contains(all, "Another") {
		t.Errorf("values are printed: %s", all)
	}
	end(different)

	other.write("config.toml", strings.Replace(settings, p.url, other.url, 1))
	wrong := apptest.StartProcess(t, other.command("standby", "--interval", "1s"))
	wrong.WaitForLog("the accounts belong")
	other.run("standby", "--status").fails(1, "not ready: server.url")
	other.run("standby", "--promote").fails(1, "server.url")
	end(wrong)
}

// TestLease asks for the lease where nobody has it, and while the place cannot be reached.
func TestLease(t *testing.T) {
	bucket := objectstest.New(t)
	place := &copyPlace{
		location: "s3://bucket/svc?endpoint=http://" + bucket.Address,
		settings: fmt.Sprintf("[s3]\naccess_key = %q\nsecret_key = %q\n", objectstest.User, objectstest.Secret),
	}
	p := place.workspace(t)
	if out := p.run("lease").ok(); !strings.Contains(out, "Nobody holds the lease") {
		t.Errorf("before the first start: %s", out)
	}
	p.serve().stop()
	other := newStandby(t, p, place)
	other.run("lease").fails(1, "another server holds the lease")
	bucket.Fail(objectstest.Down)
	if out := p.run("lease").ok(); !strings.Contains(out, "cannot be reached") {
		t.Errorf("while the bucket is down: %s", out)
	}
	other.run("lease").fails(1, "it is not known who holds the lease")
	newWorkspace(t).run("lease").fails(1, "replica.place")
}

// TestStandbyLitestream kills a server and its Litestream under load, takes over, and counts acknowledged posts that are lost.
func TestStandbyLitestream(t *testing.T) {
	program := litestream(t)
	eachCopyPlace(t, func(t *testing.T, place *copyPlace) {
		p := place.workspace(t)
		s := p.serve()
		copying := p.replicate(program, place)
		other := newStandby(t, p, place)
		other.standby()
		a := p.killUnderLoad(s, copying)

		other.run("standby", "--promote").ok()
		took := time.Since(a.until)
		t.Logf("taking over took %s", took.Round(time.Millisecond))
		if took > 30*time.Second {
			t.Errorf("taking over took %s", took)
		}
		a.checkLoss(other)
		p.run("serve").failsAfterLog("--take-over")
	})
}
