package app_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"svc/app"
	"svc/app/apptest"
)

// clockVariable names a folder with schema.sql and the file clock: the seconds by which the clock of a server is wrong. A test binary that is
// started with it is a server.
const clockVariable = "SVC_CHAOS_CLOCK"

// clockOffsets are how wrong the clock becomes, in order. They are less than what keys of repeated requests and signatures allow: beyond
// that it is right to refuse.
var clockOffsets = []time.Duration{50 * time.Minute, -50 * time.Minute, 10 * time.Minute, -10 * time.Second}

func TestMain(m *testing.M) {
	if dir := os.Getenv(clockVariable); dir != "" {
		if err := serveWithClock(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serveWithClock is svc serve with a clock that follows a file in dir.
func serveWithClock(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	settings, path, err := app.LoadSettings("")
	if err != nil {
		return err
	}
	schema, err := os.ReadFile(filepath.Join(dir, "schema.sql"))
	if err != nil {
		return err
	}
	var offset atomic.Int64
	follow := func() {
		if text, err := os.ReadFile(filepath.Join(dir, "clock")); err == nil {
			if seconds, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
				offset.Store(int64(time.Duration(seconds) * time.Second))
			}
		}
	}
	follow()
	go func() {
		for range time.Tick(5 * time.Millisecond) {
			follow()
		}
	}()
	log, level := app.NewLog(settings, os.Stderr)
	s, err := app.New(ctx, settings, app.Options{
		Schema: string(schema), Log: log, LogLevel: level,
		Now: func() time.Time { return time.Now().Add(time.Duration(offset.Load())) },
	})
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Run(ctx, path)
}

// jumpClock makes the server's clock jump forward and back under load, then ends it. The next start has the right time again.
func (c *chaos) jumpClock() {
	c.t.Helper()
	c.s.Signal(syscall.SIGTERM)
	c.s.WaitExit(0)
	file := filepath.Join(c.backups, "clock")
	set := func(offset time.Duration) {
		if err := os.WriteFile(file+".new", fmt.Appendln(nil, int(offset/time.Second)), 0o600); err != nil {
			c.t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			c.t.Fatal(err)
		}
	}
	set(0)
	schema, err := apptest.Schema()
	if err == nil {
		err = os.WriteFile(filepath.Join(c.backups, "schema.sql"), []byte(schema), 0o600)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := c.command("serve")
	self, err := os.Executable()
	if err != nil {
		c.t.Fatal(err)
	}
	cmd.Path, cmd.Args = self, []string{self}
	cmd.Env = append(cmd.Env, clockVariable+"="+c.backups)
	c.s = apptest.StartProcess(c.t, cmd)
	c.s.WaitForLog("svc is running")
	end := c.load(30, true)
	for _, offset := range clockOffsets {
		set(offset)
		c.model.count("clock jumps")
		want := c.model.acknowledged() + 60
		c.s.WaitUntil("operations after a jump of the clock", func() bool { return c.model.acknowledged() >= want })
	}
	if c.rand.IntN(2) == 0 {
		c.s.Kill()
		c.model.count("kills")
		end()
	} else {
		end()
		c.s.Signal(syscall.SIGTERM)
		c.s.WaitExit(0)
	}
	c.startAndCheck()
}

// checkOrder compares the ids of the posts of each account with the order in which they were acknowledged.
func (c *chaos) checkOrder() {
	c.t.Helper()
	for _, client := range c.clients {
		last := ""
		for _, p := range client.posts {
			if p.id <= last {
				c.t.Errorf("%s: the id %s of post %s follows %s", client.nick, p.id, p.tag, last)
			}
			last = p.id
		}
	}
}
