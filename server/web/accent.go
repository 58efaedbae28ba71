package web

import (
	"fmt"
	"math"
	"strconv"

	"svc/internal/config"
)

// Accent is the style that has the operator's accent colour (web.accent_colour) in place of the built-in one.
type Accent struct {
	Colour string // "": there is none
	Asset
}

// readableContrast is the least contrast between a text and its background (WCAG 2.2, 1.4.3).
const readableContrast = 4.5

// newAccent returns the style for the setting. Links and buttons have the accent colour, so it is made darker for the light pages and lighter
// for the dark ones until they can be read. Pages of high contrast keep their own colours.
func newAccent(c *config.Config) Accent {
	colour, ok := parseColour(c.Web.AccentColour)
	if !ok {
		return Accent{}
	}
	light := accentRules(colour, white, parsed("#f3f4f7"), black)
	dark := accentRules(colour, parsed("#1b1e26"), parsed("#1b1e26"), white)
	style := fmt.Sprintf(":root { %s }\n@media (prefers-color-scheme: dark) { :root:not([data-theme=light]):not([data-theme=contrast]) { %s } }\n:root[data-theme=dark] { %s }\n", light, dark, dark)
	return Accent{c.Web.AccentColour, newAsset("accent.css", []byte(style))}
}

// accentRules returns the declarations for pages with cards and a background of these colours. extreme is the colour towards which the accent
// is moved to be readable.
func accentRules(accent, card, page, extreme colour) string {
	tint := card.mixed(accent, 0.1)
	for i := 0; i < 50 && min(accent.contrast(card), accent.contrast(page), accent.contrast(tint)) < readableContrast; i++ {
		accent = accent.mixed(extreme, 0.05).rounded()
	}
	on := white
	if accent.contrast(white) < accent.contrast(black) {
		on = black
	}
	return fmt.Sprintf("--accent: %s; --on-accent: %s; --tint: %s;", accent, on, tint)
}

// colour has the parts red, green and blue, from 0 to 255.
type colour [3]float64

var white, black = colour{255, 255, 255}, colour{}

// parseColour reads a colour such as #1d4ed8. config.Web has checked its form.
func parseColour(s string) (c colour, ok bool) {
	if len(s) != 7 {
		return c, false
	}
	n, err := strconv.ParseUint(s[1:], 16, 32)
	return colour{float64(n >> 16 & 255), float64(n >> 8 & 255), float64(n & 255)}, err == nil
}

func parsed(s string) colour {
	c, _ := parseColour(s)
	return c
}

func (c colour) mixed(other colour, share float64) colour {
	for i := range c {
		c[i] += (other[i] - c[i]) * share
	}
	return c
}

func (c colour) rounded() colour {
	for i := range c {
		c[i] = math.Round(c[i])
	}
	return c
}

func (c colour) String() string {
	r := c.rounded()
	return fmt.Sprintf("#%02x%02x%02x", int(r[0]), int(r[1]), int(r[2]))
}

// luminance is the relative luminance of WCAG 2.2.
func (c colour) luminance() float64 {
	weights, sum := [3]float64{0.2126, 0.7152, 0.0722}, 0.0
	for i, part := range c.rounded() {
		if part /= 255; part <= 0.04045 {
			part /= 12.92
		} else {
			part = math.Pow((part+0.055)/1.055, 2.4)
		}
		sum += weights[i] * part
	}
	return sum
}

// contrast is the contrast ratio of WCAG 2.2, from 1 to 21.
func (c colour) contrast(other colour) float64 {
	a, b := c.luminance(), other.luminance()
	return (max(a, b) + 0.05) / (min(a, b) + 0.05)
}

// Accent returns the present style of the accent colour.
func (p *Pages) Accent() Accent { return *p.accent.Load() }
