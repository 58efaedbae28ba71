package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// column is a key of the tables in a list of tables. at returns a *string or a *[]string.
type column[T any] struct {
	name     string
	optional bool
	at       func(*T) any
}

// rows is a list of tables. A text in place of a table is the value of its first key, if the other keys are optional.
func rows[T any](at *[]T, columns []column[T], rules ...rule[[]T]) *binding[[]T] {
	return &binding[[]T]{
		formKind: Rows, at: at, rules: append(rules, maxItems[T](maxEntries)),
		parse: func(value any) ([]T, error) { return readRows(columns, value) },
		export: func(list []T) any {
			exported := make([]map[string]any, len(list))
			for i := range list {
				exported[i] = make(map[string]any, len(columns))
				for _, c := range columns {
					switch at := c.at(&list[i]).(type) {
					case *string:
						exported[i][c.name] = *at
					case *[]string:
						exported[i][c.name] = append([]string{}, *at...)
					}
				}
			}
			return exported
		},
	}
}

func readRows[T any](columns []column[T], value any) ([]T, error) {
	switch value := value.(type) {
	case []map[string]any:
		return readEach(columns, value)
	case []any:
		return readEach(columns, value)
	case []string:
		return readEach(columns, value)
	}
	return nil, wrongKind("a list of tables such as "+example(columns), value)
}

func readEach[T, E any](columns []column[T], entries []E) ([]T, error) {
	var list []T
	for _, entry := range entries {
		var row T
		if err := readRow(columns, &row, entry); err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, nil
}

func readRow[T any](columns []column[T], row *T, entry any) error {
	if s, ok := entry.(string); ok && !slices.ContainsFunc(columns[1:], func(c column[T]) bool { return !c.optional }) {
		entry = map[string]any{columns[0].name: s}
	}
	table, ok := entry.(map[string]any)
	if !ok {
		return fmt.Errorf("expected a list of tables such as %s, got a list with %s", example(columns), kindOf(entry))
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if !slices.ContainsFunc(columns, func(c column[T]) bool { return c.name == name }) {
			return fmt.Errorf("has a table with unknown key %q: write %s", name, example(columns))
		}
	}
	for _, c := range columns {
		value, ok := table[c.name]
		if !ok {
			if !c.optional {
				return fmt.Errorf("has a table without %q: write %s", c.name, example(columns))
			}
			continue
		}
		var err error
		switch at := c.at(row).(type) {
		case *string:
			*at, err = readText(value)
		case *[]string:
			*at, err = readList(value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// example returns the form of a list of tables, for error messages.
func example[T any](columns []column[T]) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		var row T
		parts[i] = c.name + ` = "…"`
		if _, list := c.at(&row).(*[]string); list {
			parts[i] = c.name + ` = ["…"]`
		}
	}
	return "[{ " + strings.Join(parts, ", ") + " }]"
}

// formatRows returns a list of tables as TOML, one table a line if there are several. It omits empty texts.
func formatRows(list []map[string]any) string {
	lines := make([]string, len(list))
	for i, row := range list {
		keys := slices.SortedFunc(maps.Keys(row), func(a, b string) int {
			_, aText := row[a].(string)
			_, bText := row[b].(string)
			if aText != bText { // texts first
				if aText {
					return -1
				}
				return 1
			}
			return strings.Compare(a, b)
		})
		var parts []string
		for _, key := range keys {
			if row[key] != "" {
				parts = append(parts, key+" = "+format(row[key]))
			}
		}
		lines[i] = "{ " + strings.Join(parts, ", ") + " }"
	}
	if len(lines) > 1 {
		return "[\n    " + strings.Join(lines, ",\n    ") + ",\n]"
	}
	return "[" + strings.Join(lines, "") + "]"
}

// fraction is a number from 0 to 1.
func fraction(at *float64, first float64) field {
	return &binding[float64]{
		formKind: Fraction, at: at, defaultValue: first, rules: []rule[float64]{func(f float64) error {
			if !(f >= 0 && f <= 1) {
				return fmt.Errorf("must be from 0 to 1, not %s", strconv.FormatFloat(f, 'g', -1, 64))
			}
			return nil
		}},
		parse: func(value any) (float64, error) {
			if f, ok := value.(float64); ok && !math.IsNaN(f) {
				return f, nil
			}
			if n, ok := wholeNumber(value); ok {
				return float64(n), nil
			}
			if n, ok := value.(interface{ Float64() (float64, error) }); ok {
				return n.Float64()
			}
			return 0, wrongKind("a number from 0 to 1", value)
		},
		export: func(f float64) any { return f },
	}
}

// maxEntries bounds lists that a policy searches for each activity.
const maxEntries = 10_000

func maxItems[T any](limit int) rule[[]T] {
	return func(l []T) error {
		if len(l) > limit {
			return fmt.Errorf("must have at most %d entries", limit)
		}
		return nil
	}
}
