package app_test

import (
	"context"
	"testing"
	"time"
)

// TestEndDuringStart ends a server at points of its start, most of them before it serves requests. That is no failure.
func TestEndDuringStart(t *testing.T) {
	c := newDataDir(t)
	c.Server.Listen = "127.0.0.1:0"
	for after := range 40 {
		s, err := open(t, c)
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(after)*50*time.Microsecond, end)
		if err := s.Run(ctx, ""); err != nil {
			t.Errorf("after %d × 50 µs: %v", after, err)
		}
		end()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
