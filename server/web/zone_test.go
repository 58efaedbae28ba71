package web

import (
	"testing"
	"time"
)

// TestZones loads each time zone that users can choose.
func TestZones(t *testing.T) {
	for _, name := range ZoneNames() {
		if zone, err := Zone(name); err != nil || zone.String() != name {
			t.Errorf("%s: %v, %v", name, zone, err)
		}
	}
	for _, name := range []string{"", "Mars/Olympus", "../etc/passwd", "europe/berlin", "Local"} {
		if zone, err := Zone(name); err == nil {
			t.Errorf("%q is %v", name, zone)
		}
	}
}

// TestParseLocal reads times as fields have them, with those that do not exist or happen twice.
func TestParseLocal(t *testing.T) {
	for _, tt := range []struct{ zone, text, want string }{
		{"UTC", "2026-07-01T12:00", "2026-07-01T12:00:00Z"},
		{"Europe/Berlin", "2026-07-01T12:00", "2026-07-01T10:00:00Z"},
		{"Europe/Berlin", "2026-12-01T12:00:30", "2026-12-01T11:00:30Z"},
		{"Asia/Kathmandu", "2026-07-01T12:00", "2026-07-01T06:15:00Z"},
		{"Europe/Berlin", "2026-03-29T02:30", "skipped"},
		{"Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30:00Z"},
		{"America/New_York", "2026-03-08T02:00", "skipped"},
		{"America/New_York", "2026-11-01T01:30", "2026-11-01T05:30:00Z"},
		{"Europe/Berlin", "2026-07-01T12:00:00Z", "other"},
		{"Europe/Berlin", "", "other"},
	} {
		zone, err := Zone(tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, ok, err := ParseLocal(tt.text, zone)
		got := at.Format(time.RFC3339)
		switch {
		case err != nil:
			got = "skipped"
		case !ok:
			got = "other"
		}
		if got != tt.want {
			t.Errorf("%s in %s is %s, want %s", tt.text, tt.zone, got, tt.want)
		}
		if err == nil && ok && len(tt.text) == len(localLayouts[0]) && LocalInput(at, zone) != tt.text {
			t.Errorf("%s in %s is entered as %s", tt.text, tt.zone, LocalInput(at, zone))
		}
	}
}

// TestLocalTimes rewrites the times of a page, and nothing else.
func TestLocalTimes(t *testing.T) {
	const day = `<time datetime="2026-07-01T22:30:00Z">2026-07-01</time>`
	const minute = `<time class="quiet" datetime="2026-07-01T22:30:00Z">2026-07-01 22:30 UTC</time>`
	berlin, err := Zone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ page, want string }{
		{"<p>" + minute + day + "</p>", `<p><time class="quiet" datetime="2026-07-01T22:30:00Z">2026-07-02 00:30 CEST</time><time datetime="2026-07-01T22:30:00Z">2026-07-02</time></p>`},
		{`<p>datetime=&#34;2026-07-01T22:30:00Z&#34;&gt;x</p>`, ""},
		{`<time datetime="2026-07-01T22:30:00Z"><b>x</b></time>`, ""},
		{`<time datetime="2026-13-01T22:30:00Z">x</time>`, ""},
		{`<time datetime="2026-07-01`, ""},
		{`datetime="`, ""},
		{"", ""},
	} {
		want := tt.want
		if want == "" {
			want = tt.page
		}
		if got := string(localTimes([]byte(tt.page), MessagesFor("en", ""), berlin)); got != want {
			t.Errorf("%s became %s, want %s", tt.page, got, want)
		}
		if got := string(localTimes([]byte(tt.page), MessagesFor("en", ""), time.UTC)); got != tt.page {
			t.Errorf("%s became %s in UTC", tt.page, got)
		}
	}
}

// TestNumber writes numbers with the decimal separator of the language.
func TestNumber(t *testing.T) {
	for n, want := range map[int][2]string{999: {"999", "999"}, 1234: {"1.2k", "1,2\u00a0Tsd."}, 12_345: {"12k", "12\u00a0Tsd."}, 1_250_000: {"1.2M", "1,2\u00a0Mio."}} {
		for i, language := range []string{"en", "de"} {
			if got := MessagesFor(language, "").Number(n); got != want[i] {
				t.Errorf("%d in %s is %s, want %s", n, language, got, want[i])
			}
		}
	}
}

// TestWholeNumbers checks counts and sizes as they are written in each language.
func TestWholeNumbers(t *testing.T) {
	english, german := MessagesFor("en", ""), MessagesFor("de", "")
	for _, tt := range []struct{ got, want string }{
		{english.Count("front.people", 1), "1 person"}, {german.Count("front.people", 1), "1 Person"},
		{english.Count("front.people", 999), "999 people"}, {german.Count("front.people", 1234), "1.234 Leute"},
		{english.Count("front.people", 1_234_567), "1,234,567 people"}, {german.Count("front.people", 1_234_567), "1.234.567 Leute"},
		{english.Bytes(1_500_000), "1.5 MB"}, {german.Bytes(1_500_000), "1,5 MB"}, {german.Bytes(12), "12 B"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}
