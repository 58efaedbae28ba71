package web

import (
	"strings"
	"testing"

	"svc/internal/config"
)

// TestSettingValues writes values of settings as people say them.
func TestSettingValues(t *testing.T) {
	many := make([]any, 12)
	for i := range many {
		many[i] = "x"
	}
	for _, tt := range []struct {
		value  SettingValue
		en, de string
	}{
		{SettingValue{Kind: config.Boolean, Value: true}, "yes", "ja"},
		{SettingValue{Kind: config.Boolean, Value: false}, "no", "nein"},
		{SettingValue{Kind: config.Text, Value: ""}, "empty", "leer"},
		{SettingValue{Kind: config.Text, Value: "Tea"}, "Tea", "Tea"},
		{SettingValue{Kind: config.Text, Value: strings.Repeat("ä", 300)}, strings.Repeat("ä", 199) + "…", strings.Repeat("ä", 199) + "…"},
		{SettingValue{Kind: config.Choice, Value: "full"}, "full", "full"},
		{SettingValue{Kind: config.Number, Value: 0.0}, "0", "0"},
		{SettingValue{Kind: config.Number, Value: 5000.0}, "5,000", "5.000"},
		{SettingValue{Kind: config.Number, Value: -1234567.0}, "-1,234,567", "-1.234.567"},
		{SettingValue{Kind: config.Number, Size: true, Value: 0.0}, "0 bytes", "0 Bytes"},
		{SettingValue{Kind: config.Number, Size: true, Value: 268435456.0}, "256 MiB", "256 MiB"},
		{SettingValue{Kind: config.Number, Size: true, Value: 4000000.0}, "4 MB", "4 MB"},
		{SettingValue{Kind: config.Number, Size: true, Value: 1234567.0}, "1,234,567 bytes", "1.234.567 Bytes"},
		{SettingValue{Kind: config.Fraction, Value: 0.25}, "0.25", "0,25"},
		{SettingValue{Kind: config.Duration, Value: "0s"}, "0 seconds", "0 Sekunden"},
		{SettingValue{Kind: config.Duration, Value: "1h30m"}, "1 hour 30 minutes", "1 Stunde 30 Minuten"},
		{SettingValue{Kind: config.Duration, Value: "7d"}, "7 days", "7 Tage"},
		{SettingValue{Kind: config.Duration, Value: "36h"}, "1 day 12 hours", "1 Tag 12 Stunden"},
		{SettingValue{Kind: config.Duration, Value: "500ms"}, "500 milliseconds", "500 Millisekunden"},
		{SettingValue{Kind: config.Duration, Value: "soon"}, "soon", "soon"},
		{SettingValue{Kind: config.Limit, Value: "off"}, "no limit", "keine Grenze"},
		{SettingValue{Kind: config.Limit, Value: "1500/5m"}, "1,500 per 5 minutes", "1.500 je 5 Minuten"},
		{SettingValue{Kind: config.List, Value: []any{}}, "empty", "leer"},
		{SettingValue{Kind: config.List, Value: []any{"a", "b"}}, "a, b", "a, b"},
		{SettingValue{Kind: config.List, Value: many}, strings.Repeat("x, ", 10) + "2 more", strings.Repeat("x, ", 10) + "2 weitere"},
		{SettingValue{Kind: config.Rows, Value: []any{map[string]any{"host": "a"}}}, "1 entry", "1 Eintrag"},
		{SettingValue{Kind: config.Rows, Value: nil}, "empty", "leer"},
	} {
		for language, want := range map[string]string{"en": tt.en, "de": tt.de} {
			if got := MessagesFor(language, "").SettingValue(tt.value); got != want {
				t.Errorf("%s: %v is %q, want %q", language, tt.value, got, want)
			}
		}
	}
}
