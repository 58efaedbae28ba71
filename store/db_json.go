package store

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
)

// jsonTexts encodes texts for json_each(?).
func jsonTexts(texts []string) string {
	b, _ := json.Marshal(texts) // which cannot fail
	return string(b)
}

// JSON is a column that holds a value as JSON text.
type JSON[T any] struct{ V T }

// Value stores the JSON text.
func (j JSON[T]) Value() (driver.Value, error) {
	b, err := json.Marshal(j.V)
	return string(b), err
}

// Scan reads the JSON text.
func (j *JSON[T]) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("JSON from %T", src)
	}
	return json.Unmarshal([]byte(text), &j.V)
}

// orEmpty replaces a nil slice, which would be stored as null.
func orEmpty[T any](slice *[]T) {
	if *slice == nil {
		*slice = []T{}
	}
}

// jsonArray encodes ids for json_each(?), which keeps the text of a query the same whatever their number.
func jsonArray[T ~int64](ids []T) string {
	b := make([]byte, 0, 2+18*len(ids))
	b = append(b, '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%d", int64(id))
	}
	return string(append(b, ']'))
}
