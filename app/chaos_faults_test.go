package app_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"svc/app/apptest"
)

// fillDisk fills the disk under load. Reading goes on, and once there is room again, so does writing.
func (c *chaos) fillDisk() {
	c.t.Helper()
	if !c.mounted {
		c.kill()
		return
	}
	end := c.load(50, true)
	filler := filepath.Join(c.dir, "filler")
	c.fill(filler)
	c.model.count("full disks")
	refused := func() int {
		c.model.mu.Lock()
		defer c.model.mu.Unlock()
		n := 0
		for key, count := range c.model.counts {
			if strings.HasPrefix(key, "answers 5") {
				n += count
			}
		}
		return n
	}
	want := refused() + 30
	c.s.WaitUntil("requests to be refused", func() bool {
		c.fill(filler) // the space of deleted files
		return refused() >= want
	})
	resp, err := c.clients[0].http.Get(c.url + "/api/v1/timelines/public")
	if err != nil || resp.StatusCode != 200 {
		c.t.Errorf("the public timeline while the disk is full: %v %v", resp, err)
	}
	if err == nil {
		resp.Body.Close()
	}
	free := func() {
		if err := os.Remove(filler); err != nil {
			c.t.Fatal(err)
		}
	}
	if c.rand.IntN(2) == 0 {
		c.s.Kill()
		c.model.count("kills")
		end()
		free()
	} else {
		free()
		written := c.model.acknowledged() + 50
		c.s.WaitUntil("requests to be accepted again", func() bool { return c.model.acknowledged() >= written })
		c.s.Signal(syscall.SIGTERM)
		c.s.WaitExit(0)
		end()
	}
	c.database(func(db *sql.DB) error { // retries wait, which the test shortens
		_, err := db.Exec(`UPDATE queued_activities SET run_at = 0`)
		return err
	})
	c.startAndCheck()
}

// fill writes until the disk is full.
func (c *chaos) fill(name string) {
	c.t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return // even the name does not fit
	}
	defer f.Close()
	for size := 1 << 20; size >= 4096; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 4
		} else if err != nil {
			c.t.Fatal(err)
		}
	}
}

// damagePages makes a backup, changes bits in the database of the stopped server, and checks that this is found. Then it restores the backup:
// everything is as it was then.
func (c *chaos) damagePages() {
	c.t.Helper()
	backup := filepath.Join(c.backups, fmt.Sprintf("%d.tar", c.model.counts["rounds"]))
	c.mustRun("backup", backup)
	then := c.model.snapshot()
	end := c.load(100, false)
	c.s.Signal(syscall.SIGTERM)
	c.s.WaitExit(0)
	end()
	c.flipBits(filepath.Join(c.dir, "data", "svc.db"))
	if out, err := c.command("db", "check").CombinedOutput(); err == nil || !strings.Contains(string(out), "restore") && !strings.Contains(string(out), "malformed") {
		c.t.Errorf("the check of a damaged database: %v\n%s", err, out)
	}
	c.startDamaged()
	c.mustRun("restore", backup, "--force")
	c.model.count("restored")
	old, err := filepath.Glob(filepath.Join(c.dir, "data", "before-restore-*")) // what the restore has put aside
	if err != nil || len(old) != 1 {
		c.t.Fatalf("data from before the restore: %q %v", old, err)
	}
	if err := os.RemoveAll(old[0]); err != nil {
		c.t.Fatal(err)
	}
	os.Remove(backup)
	c.forget(then)
	c.startAndCheck()
}

// startDamaged starts the server on a damaged database: it refuses, or it runs, and then everything acknowledged is readable, or its health
// check says that it is damaged. It does not hang. In any case svc verify finds the damage, and the server knows of it then.
func (c *chaos) startDamaged() {
	c.t.Helper()
	cmd := c.command("serve")
	out := new(apptest.Output)
	cmd.Stderr = out
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		select {
		case err := <-done:
			c.model.count("damaged databases that the server refused")
			if err == nil {
				c.t.Errorf("the server ended without an error:\n%s", out)
			}
			c.verifyDamaged()
			return
		default:
		}
		if status, _ := c.fetch("/api/v1/timelines/public"); status != 0 {
			c.model.count("damaged databases that the server ran on")
			c.checkDamaged()
			cmd.Process.Kill()
			<-done
			if c.t.Failed() {
				c.t.Logf("log of the server:\n%s", out)
			}
			return
		}
	}
	cmd.Process.Kill()
	<-done
	c.t.Errorf("the server neither refuses a damaged database nor runs:\n%s", out)
}

// checkDamaged reads all posts that were acknowledged from a server on a damaged database.
func (c *chaos) checkDamaged() {
	c.t.Helper()
	unreadable := ""
	for _, client := range c.clients {
		for _, p := range client.posts {
			text := c.model.value("post " + p.tag)
			var st struct{ Content string }
			if status, b := c.fetch("/api/v1/statuses/" + p.id); text != "" && (status != 200 || json.Unmarshal(b, &st) != nil || !strings.Contains(st.Content, text)) {
				unreadable = fmt.Sprintf("post %s: %d %q, want %q", p.id, status, st.Content, text)
			}
		}
	}
	healthy := func() bool {
		status, _ := c.fetch("/health")
		return status == 200
	}
	switch {
	case unreadable == "":
		c.model.count("damaged databases with everything readable")
	case healthy(): // reading has met no error, but something is missing
		c.t.Errorf("the server says that it is healthy, but %s", unreadable)
	default:
		c.model.count("damaged databases that the server reported")
	}
	c.verifyDamaged()
	if healthy() {
		c.t.Error("the server says that it is healthy after svc verify has found damage")
	}
}

// verifyDamaged checks that svc verify finds the damage.
func (c *chaos) verifyDamaged() {
	c.t.Helper()
	cmd := c.command("verify")
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 3 {
		c.t.Errorf("svc verify of a damaged database: %v\n%s", cmd.ProcessState, out)
	}
}

// fetch sends a GET of a client. The status is 0 without an answer.
func (c *chaos) fetch(path string) (status int, body []byte) {
	resp, err := c.clients[0].http.Get(c.url + path)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	body, _ = io.ReadAll(resp.Body)
	return resp.StatusCode, body
}

// flipBits changes bits in the headers of some pages, not of the first, so that the file stays a database.
func (c *chaos) flipBits(name string) {
	c.t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	head := make([]byte, 18)
	if _, err := io.ReadFull(f, head); err != nil {
		c.t.Fatal(err)
	}
	size := int64(head[16])<<8 | int64(head[17])
	info, err := f.Stat()
	if err != nil {
		c.t.Fatal(err)
	}
	for range 12 {
		at := size * (1 + c.rand.Int64N(info.Size()/size-1))
		b := make([]byte, 8) // type, free space, number of cells, start of the content
		if _, err := f.ReadAt(b, at); err != nil {
			c.t.Fatal(err)
		}
		for i := range b {
			b[i] ^= byte(1 << c.rand.IntN(8))
		}
		if _, err := f.WriteAt(b, at); err != nil {
			c.t.Fatal(err)
		}
	}
}

// forget goes back to earlier facts.
func (c *chaos) forget(facts map[string][]string) {
	c.model.mu.Lock()
	c.model.facts = facts
	c.model.mu.Unlock()
	missing := func(p chaosPost) bool { return facts["post "+p.tag] == nil || facts["post "+p.tag][0] == "" }
	for _, client := range c.clients {
		client.posts = slices.DeleteFunc(client.posts, missing)
		client.lost = nil
		client.marker += 1000
	}
	c.shared.posts = slices.DeleteFunc(c.shared.posts, missing)
	c.peer.delivered = slices.DeleteFunc(c.peer.delivered, func(uri string) bool { return facts["remote "+uri] == nil })
}
