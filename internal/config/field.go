package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// field binds a setting to its field in one Config. Values have the form of Config.Get.
type field interface {
	kind() Kind
	choices() []any
	initial() any
	get() any
	set(any) error // returns an error and changes nothing if the value is not valid
	check() error  // validates the current value
	reset()
	isSize() bool
}

// binding implements field for a Go type T.
type binding[T any] struct {
	formKind     Kind
	options      []any
	at           *T
	defaultValue T
	parse        func(any) (T, error)
	export       func(T) any
	rules        []rule[T]
	inBytes      bool
}

// rule validates a value. Its error is printed after "group.key: ".
type rule[T any] func(T) error

func (p *binding[T]) kind() Kind     { return p.formKind }
func (p *binding[T]) choices() []any { return p.options }
func (p *binding[T]) initial() any   { return p.export(p.defaultValue) }
func (p *binding[T]) get() any       { return p.export(*p.at) }
func (p *binding[T]) check() error   { return p.validate(*p.at) }
func (p *binding[T]) isSize() bool   { return p.inBytes }

// reset uses the generic form, so that a list is copied.
func (p *binding[T]) reset() { *p.at, _ = p.parse(p.export(p.defaultValue)) }

func (p *binding[T]) set(value any) error {
	v, err := p.parse(value)
	if err != nil {
		return err
	}
	if err := p.validate(v); err != nil {
		return err
	}
	*p.at = v
	return nil
}

func (p *binding[T]) validate(v T) error {
	for _, r := range p.rules {
		if err := r(v); err != nil {
			return err
		}
	}
	return nil
}

func text(at *string, first string, rules ...rule[string]) field {
	return &binding[string]{
		formKind: Text, at: at, defaultValue: first, rules: rules,
		parse:  readText,
		export: func(s string) any { return s },
	}
}

// choice is one text of a fixed set.
func choice(at *string, first string, all ...string) field {
	return &binding[string]{
		formKind: Choice, options: suggested(all), at: at, defaultValue: first, rules: []rule[string]{oneOf(all...)},
		parse:  readText,
		export: func(s string) any { return s },
	}
}

func boolean(at *bool, first bool, rules ...rule[bool]) field {
	return &binding[bool]{
		formKind: Boolean, at: at, defaultValue: first, rules: rules,
		parse: func(value any) (bool, error) {
			b, ok := value.(bool)
			if !ok {
				return false, wrongKind("true or false", value)
			}
			return b, nil
		},
		export: func(b bool) any { return b },
	}
}

// number is a whole number from lowest to highest.
func number[T int | int64](at *T, first, lowest, highest T, rules ...rule[T]) field {
	within := func(n T) error {
		if n < lowest || n > highest {
			return fmt.Errorf("must be from %d to %d, not %d", lowest, highest, n)
		}
		return nil
	}
	return &binding[T]{
		formKind: Number, at: at, defaultValue: first, rules: append([]rule[T]{within}, rules...),
		parse: func(value any) (T, error) {
			n, ok := wholeNumber(value)
			if !ok {
				return 0, wrongKind("a whole number", value)
			}
			if int64(T(n)) != n { // int has 32 bits on small machines
				return 0, fmt.Errorf("must be from %d to %d, not %d", lowest, highest, n)
			}
			return T(n), nil
		},
		export: func(n T) any { return int64(n) },
	}
}

func list(at *[]string, first []string, rules ...rule[[]string]) field {
	return &binding[[]string]{
		formKind: List, at: at, defaultValue: first, rules: rules,
		parse:  readList,
		export: func(l []string) any { return append([]string{}, l...) },
	}
}

// duration is a duration from lowest to highest.
func duration(at *time.Duration, first, lowest, highest time.Duration, rules ...rule[time.Duration]) field {
	within := func(d time.Duration) error {
		if d < lowest || d > highest {
			return fmt.Errorf("must be from %s to %s, not %s", formatDuration(lowest), formatDuration(highest), formatDuration(d))
		}
		return nil
	}
	return &binding[time.Duration]{
		formKind: Duration, at: at, defaultValue: first, rules: append([]rule[time.Duration]{within}, rules...),
		parse: func(value any) (time.Duration, error) {
			s, ok := value.(string)
			if !ok {
				return 0, wrongKind(`a duration such as "30s", "5m", "2h" or "7d"`, value)
			}
			return parseDuration(s)
		},
		export: func(d time.Duration) any { return formatDuration(d) },
	}
}

// limit is a Rate, or no limit.
func limit(at *Rate, count int, window time.Duration) field {
	return &binding[Rate]{
		formKind: Limit, at: at, defaultValue: Rate{Count: count, Window: window}, rules: []rule[Rate]{Rate.valid},
		parse: func(value any) (Rate, error) {
			s, ok := value.(string)
			if !ok {
				return Rate{}, wrongKind(`a limit such as "15/1m", or "off"`, value)
			}
			return parseRate(s)
		},
		export: func(r Rate) any { return r.String() },
	}
}

func readText(value any) (string, error) {
	s, ok := value.(string)
	if !ok {
		return "", wrongKind("text in quotes", value)
	}
	return s, nil
}

func readList(value any) ([]string, error) {
	switch value := value.(type) {
	case []string:
		return slices.Clone(value), nil
	case []any:
		l := make([]string, len(value))
		for i, v := range value {
			s, ok := v.(string)
			if !ok {
				return nil, fmt.Errorf("expected a list of texts, got a list with %s", kindOf(v))
			}
			l[i] = s
		}
		return l, nil
	}
	return nil, wrongKind(`a list of texts such as ["a", "b"]`, value)
}

// wholeNumber accepts the number types of TOML and JSON.
func wholeNumber(value any) (int64, bool) {
	switch n := value.(type) {
	case int64:
		return n, true
	case int:
		return int64(n), true
	case float64:
		const exact = 1 << 53 // larger integers have no exact float64
		return int64(n), n == math.Trunc(n) && math.Abs(n) <= exact
	case json.Number:
		i, err := n.Int64()
		return i, err == nil
	}
	return 0, false
}

func wrongKind(expected string, value any) error {
	return fmt.Errorf("expected %s, got %s", expected, kindOf(value))
}

// kindOf names the type of a value. It omits the value, which may be a misplaced secret.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "nothing"
	case string:
		return "text"
	case bool:
		return "true or false"
	case int, int64, float64, json.Number:
		return "a number"
	case []any, []string, []map[string]any:
		return "a list"
	case map[string]any:
		return "a table"
	case time.Time:
		return "a date"
	}
	return fmt.Sprintf("%T", value)
}

const (
	day     = 24 * time.Hour
	maxDays = 100 * 365
)

// parseDuration extends time.ParseDuration by whole days: "7d".
func parseDuration(s string) (time.Duration, error) {
	if n, ok := strings.CutSuffix(s, "d"); ok {
		days, err := strconv.ParseUint(n, 10, 32)
		if err != nil || days > maxDays {
			return 0, fmt.Errorf("%q is not a number of days up to %d", s, maxDays)
		}
		return time.Duration(days) * day, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf(`%q is not a duration such as "30s", "5m", "2h" or "7d"`, s)
	}
	return d, nil
}

// formatDuration returns the shortest text that parseDuration parses to d.
func formatDuration(d time.Duration) string {
	if d > 0 && d%day == 0 && d/day <= maxDays {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Rate is a maximum number of requests per window. The zero Rate is no limit.
type Rate struct {
	Count  int
	Window time.Duration
}

const (
	maxRateCount  = 1_000_000
	minRateWindow = 10 * time.Millisecond
	maxRateWindow = 30 * day
	rateOff       = "off"
)

// String returns the form of the settings file: "15/1m" or "off".
func (r Rate) String() string {
	if r == (Rate{}) {
		return rateOff
	}
	return strconv.Itoa(r.Count) + "/" + formatDuration(r.Window)
}

func (r Rate) valid() error {
	switch {
	case r == (Rate{}):
		return nil
	case r.Count < 1 || r.Count > maxRateCount:
		return fmt.Errorf(`must allow 1 to %d requests; "off" sets no limit`, maxRateCount)
	case r.Window < minRateWindow || r.Window > maxRateWindow:
		return fmt.Errorf("must have a window from %s to %s", formatDuration(minRateWindow), formatDuration(maxRateWindow))
	}
	return nil
}

// parseRate parses the form of Rate.String. Rate.valid checks the numbers.
func parseRate(s string) (Rate, error) {
	if s == rateOff {
		return Rate{}, nil
	}
	count, window, ok := strings.Cut(s, "/")
	n, err := strconv.ParseUint(count, 10, 31)
	if !ok || err != nil {
		return Rate{}, fmt.Errorf(`%q is not a limit such as "15/1m" (15 a minute), or "off"`, s)
	}
	d, err := parseDuration(window)
	if err != nil {
		return Rate{}, err
	}
	if n == 0 && d == 0 {
		return Rate{}, errors.New(`write "off" for no limit`)
	}
	return Rate{Count: int(n), Window: d}, nil
}

// ParseDuration returns the duration of a setting in the form of Get, 0 if it is not valid.
func ParseDuration(s string) time.Duration {
	d, err := parseDuration(s)
	if err != nil {
		return 0
	}
	return d
}

// ParseRate returns the limit of a setting in the form of Get, no limit if it is not valid.
func ParseRate(s string) Rate {
	r, err := parseRate(s)
	if err != nil {
		return Rate{}
	}
	return r
}
