package web_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestAccent checks that the operator's colour is served to all pages, and that texts of it and on it can be read whatever it is.
func TestAccent(t *testing.T) {
	plain := apptest.Start(t)
	if a := plain.Browser().Get("/web/accent.css", "v", "1d4ed8"); a.Status != 404 {
		t.Errorf("without a colour: %d", a.Status)
	}
	if body := string(plain.Browser().Get("/about").Body); strings.Contains(body, "accent.css") {
		t.Error("without a colour, pages have its style")
	}
	for _, colour := range []string{"#000000", "#ffffff", "#ffe14d", "#ff0000", "#0f766e", "#1d4ed8", "#777777", "#e5c0ff"} {
		srv := apptest.Start(t, func(c *config.Config) { c.Web.AccentColour = colour })
		link := regexp.MustCompile(`href="(/web/accent\.css\?v=[0-9a-f]{6})"`).FindSubmatch(srv.Browser().Get("/about").Want(200).Body)
		if link == nil {
			t.Fatalf("%s: no link", colour)
		}
		a := srv.Browser().Get(string(link[1])).Want(200)
		if !strings.Contains(a.Header.Get("Cache-Control"), "immutable") || a.Header.Get("Content-Type") != "text/css; charset=utf-8" {
			t.Errorf("%s: %v", colour, a.Header)
		}
		if to, _ := srv.Browser().Get("/web/accent.css", "v", "123456").Location(); to != "/web/accent.css" {
			t.Errorf("%s: an old address leads to %q", colour, to)
		}
		rules := regexp.MustCompile(`--accent: (#\w{6}); --on-accent: (#\w{6}); --tint: (#\w{6});`).FindAllSubmatch(a.Body, -1)
		if len(rules) != 3 {
			t.Fatalf("%s: %s", colour, a.Body)
		}
		for i, backgrounds := range [][]string{{"#ffffff", "#f3f4f7"}, {"#1b1e26", "#111318"}} {
			accent, on, tint := string(rules[i][1]), string(rules[i][2]), string(rules[i][3])
			for _, background := range append(backgrounds, on, tint) {
				if c := contrast(t, accent, background); c < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", colour, accent, background, c)
				}
			}
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(colour string) (sum float64) {
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			part := float64(n) / 255
			if part <= 0.04045 {
				part /= 12.92
			} else {
				part = math.Pow((part+0.055)/1.055, 2.4)
			}
			sum += weight * part
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestAccentSetting sets colours as an administrator does.
func TestAccentSetting(t *testing.T) {
	for value, valid := range map[string]bool{"": true, "#0f766e": true, "#0F766E": false, "0f766e": false, "#fff": false, "red": false, "#0f766e; }": false, "#0f766g": false} {
		c := config.Default()
		if err := c.Set("web", "accent_colour", value); (err == nil) != valid {
			t.Errorf("%q: %v", value, fmt.Sprint(err))
		}
	}
}
