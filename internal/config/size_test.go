package config

import (
	"strings"
	"testing"
)

func TestSizes(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  int64  // if there is no error
		err   string // part of the message
	}{
		{"10GiB", 10 << 30, ""},
		{"10 gib", 10 << 30, ""},
		{"1.5 GB", 1_500_000_000, ""},
		{"300MiB", 300 << 20, ""},
		{"1000000000", 1_000_000_000, ""},
		{"1000000000 B", 1_000_000_000, ""},
		{int64(300 << 20), 300 << 20, ""},
		{float64(1 << 30), 1 << 30, ""},
		{int64(0), 0, ""},
		{"0", 0, ""},
		{"200MiB", 0, "must be 0 (no limit), or at least 268_435_456 bytes"},
		{int64(1), 0, "must be 0 (no limit)"},
		{int64(-1), 0, "must be from 0"},
		{"-1GiB", 0, `is not a size such as "10GiB"`},
		{"1e9", 0, "is not a size"},
		{"10 GiBs", 0, "is not a size"},
		{"GiB", 0, "is not a size"},
		{"", 0, "is not a size"},
		{"0.3 B", 0, "is not a whole number of bytes"},
		{"9999999 TiB", 0, "is not a whole number of bytes"},
		{1.5, 0, `expected a number of bytes, or a size such as "10GiB", got a number`},
		{true, 0, "expected a number of bytes"},
	} {
		c := Default()
		err := c.Set("storage", "limit", tt.value)
		switch {
		case tt.err == "" && (err != nil || c.Storage.Limit != tt.want):
			t.Errorf("%v: got %d, %v, want %d", tt.value, c.Storage.Limit, err, tt.want)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err) || c.Storage.Limit != 0):
			t.Errorf("%v: got %d, %v, want %q", tt.value, c.Storage.Limit, err, tt.err)
		}
	}
}
