package web

import (
	"strconv"
	"strings"
	"time"

	"svc/internal/config"
)

// SettingValue is the value of a setting of the server, as the API has it.
type SettingValue struct {
	Kind  config.Kind
	Size  bool // a number of bytes
	Value any
}

// Bounds of a value that is shown in a sentence.
const (
	maxShownItems = 10
	maxShownText  = 200 // characters
)

// SettingValue returns the value of a setting of the server as people say it.
func (m *Messages) SettingValue(v SettingValue) string {
	switch value := v.Value.(type) {
	case bool:
		if value {
			return m.Text("admin.yes")
		}
		return m.Text("admin.no")
	case float64:
		switch {
		case v.Kind == config.Fraction:
			return strings.Replace(strconv.FormatFloat(value, 'g', -1, 64), ".", m.Text("times.decimal"), 1)
		case v.Size:
			return m.size(int64(value))
		}
		return m.whole(int64(value))
	case string:
		return m.settingText(v.Kind, value)
	case []any:
		return m.settingList(value)
	}
	return m.Text("admin.settings.empty")
}

func (m *Messages) settingText(kind config.Kind, value string) string {
	if value == "" {
		return m.Text("admin.settings.empty")
	}
	if kind == config.Limit {
		count, window, ok := strings.Cut(value, "/")
		n, err := strconv.ParseInt(count, 10, 64)
		if !ok || err != nil {
			return m.Text("admin.settings.no_limit")
		}
		return m.Text("admin.settings.limit", m.whole(n), m.span(window))
	}
	if kind == config.Duration {
		return m.span(value)
	}
	if text := []rune(value); len(text) > maxShownText {
		return string(text[:maxShownText-1]) + "…"
	}
	return value
}

// settingList returns a list of texts with commas, or how many tables it has.
func (m *Messages) settingList(list []any) string {
	if len(list) == 0 {
		return m.Text("admin.settings.empty")
	}
	var texts []string
	for _, item := range list[:min(len(list), maxShownItems)] {
		text, ok := item.(string)
		if !ok {
			return m.Count("admin.settings.entries", len(list))
		}
		texts = append(texts, m.settingText(config.Text, text))
	}
	if more := len(list) - len(texts); more > 0 {
		texts = append(texts, m.Count("admin.settings.more", more))
	}
	return strings.Join(texts, ", ")
}

// spanUnits are the units of time spans, the largest first.
var spanUnits = []struct {
	key  string
	unit time.Duration
}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}, {"millisecond", time.Millisecond}}

// span returns a duration of the settings file, such as 1h30m or 7d, in words.
func (m *Messages) span(text string) string {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(n) * 24 * time.Hour
	}
	switch {
	case err != nil:
		return text
	case d == 0:
		return m.Count("span.second", 0)
	}
	var parts []string
	for _, u := range spanUnits {
		if n := int(d / u.unit); n > 0 {
			parts = append(parts, m.Count("span."+u.key, n))
			d -= time.Duration(n) * u.unit
		}
	}
	return strings.Join(parts, " ")
}

// sizeUnits are the units of sizes, the larger one of a kind first. A size is a whole number of the first that fits.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"GB", 1e9}, {"MB", 1e6}, {"KiB", 1 << 10}, {"kB", 1e3}}

// size returns a number of bytes without rounding.
func (m *Messages) size(n int64) string {
	for _, u := range sizeUnits {
		if n >= u.bytes && n%u.bytes == 0 {
			return m.whole(n/u.bytes) + " " + u.name
		}
	}
	return m.whole(n) + " " + m.Text("admin.settings.bytes")
}

// whole writes a whole number with the separator of thousands of the language.
func (m *Messages) whole(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + m.Text("times.separator") + digits[i:]
	}
	return digits
}
