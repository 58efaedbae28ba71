package app_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc/app"
	"svc/internal/config"
)

// TestRepeatedLines checks that equal warnings and errors are summarized, and that others are not affected.
func TestRepeatedLines(t *testing.T) {
	for _, format := range []string{config.LogText, config.LogJSON} {
		synctest.Test(t, func(t *testing.T) {
			c := config.Default()
			c.Log.Format = format
			var out bytes.Buffer
			log, _ := app.NewLog(c, &out)
			for i := range 7000 {
				log.With("part", "jobs").Error("it failed", "job", i, "err", errors.New("the disk is full"))
			}
			log.Error("it failed", "err", errors.New("another cause"))
			log.Warn("a warning")
			for range 20 {
				log.Info("it failed")
			}
			if got := strings.Count(out.String(), "the disk is full"); got != 5 {
				t.Errorf("%s: %d equal lines", format, got)
			}
			for text, want := range map[string]int{"another cause": 1, "a warning": 1, "INFO": 20, "left_out": 0} {
				if got := strings.Count(out.String(), text); got != want {
					t.Errorf("%s: %d lines with %q, want %d", format, got, text, want)
				}
			}
			time.Sleep(time.Minute + time.Second)
			synctest.Wait()
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			last := lines[len(lines)-1]
			if !strings.Contains(last, "left_out") || !strings.Contains(last, "6995") || !strings.Contains(last, "the disk is full") {
				t.Errorf("%s: the last line is %s", format, last)
			}
			out.Reset()
			log.Error("it failed", "err", errors.New("the disk is full"))
			if out.Len() == 0 {
				t.Errorf("%s: nothing is logged in the next minute", format)
			}
			for i := range 200 {
				log.Error("many causes", "err", i)
			}
			if got := strings.Count(out.String(), "many causes"); got != 60 {
				t.Errorf("%s: %d lines with the same message", format, got)
			}
			time.Sleep(time.Hour) // the timers end
		})
	}
}
