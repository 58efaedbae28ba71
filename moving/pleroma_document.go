package moving

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"time"
)

// document is a JSON object of another server, as Pleroma has stored it: the activity or object itself. Nothing is certain about its members, so one
// of another type than expected counts as missing. Names are exact, unlike those of the fields of a struct.
type document map[string]json.RawMessage

// document returns a column with a JSON object, nil for everything else.
func (r *row) document(column string) document {
	var d document
	if b := r.raw(column); len(b) == 0 || json.Unmarshal(b, &d) != nil {
		return nil
	}
	return d
}

// text returns a text without NUL, "" if the member is none.
func (d document) text(name string) string { return textOfJSON(d[name]) }

func textOfJSON(b json.RawMessage) string {
	var s string
	if len(b) == 0 || b[0] != '"' || json.Unmarshal(b, &s) != nil {
		return ""
	}
	return strings.ReplaceAll(s, "\x00", "")
}

func (d document) bool(name string) bool { return string(d[name]) == "true" }

// number returns an integer, 0 if the member is none.
func (d document) number(name string) int64 {
	var n float64
	if len(d[name]) == 0 || json.Unmarshal(d[name], &n) != nil || n < 0 || n > 1<<31 {
		return 0
	}
	return int64(n)
}

// time returns Unix milliseconds, 0 if the member is no time.
func (d document) time(name string) int64 {
	s := d.text(name)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			return max(0, t.UnixMilli())
		}
	}
	return 0
}

// list returns the elements of a list, or the only one. Those beyond maxListElements are left out.
func (d document) list(name string) []json.RawMessage {
	b := d[name]
	if len(b) == 0 || string(b) == "null" {
		return nil
	}
	if b[0] != '[' {
		return []json.RawMessage{b}
	}
	var list []json.RawMessage
	elements := json.NewDecoder(bytes.NewReader(b))
	elements.Token() // the bracket
	for elements.More() && len(list) < maxListElements {
		var e json.RawMessage
		if elements.Decode(&e) != nil {
			return nil
		}
		list = append(list, e)
	}
	return list
}

// documents returns the objects of a list.
func (d document) documents(name string) []document {
	var list []document
	for _, b := range d.list(name) {
		var e document
		if b[0] == '{' && json.Unmarshal(b, &e) == nil {
			list = append(list, e)
		}
	}
	return list
}

// document returns a member that is an object, nil if it is none.
func (d document) document(name string) document {
	var e document
	if b := d[name]; len(b) > 0 && b[0] == '{' && json.Unmarshal(b, &e) == nil {
		return e
	}
	return nil
}

// ids returns the ids in a list of texts or objects.
func (d document) ids(name string) []string {
	var list []string
	for _, b := range d.list(name) {
		id := textOfJSON(b)
		if e := (document{"x": b}).document("x"); e != nil {
			id = e.text("id")
		}
		if id != "" {
			list = append(list, id)
		}
	}
	return list
}

// id returns the id of a member that is a text, an object, or a list of them, "" if there is none.
func (d document) id(name string) string {
	if ids := d.ids(name); len(ids) > 0 {
		return ids[0]
	}
	return ""
}

// link returns the first link of a member that is a text, a Link, or a list of them: an http address, or "".
func (d document) link(name string) string {
	for _, b := range d.list(name) {
		address := textOfJSON(b)
		if e := (document{"x": b}).document("x"); e != nil {
			address = e.text("href")
		}
		if u, err := url.Parse(address); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" {
			return address
		}
	}
	return ""
}
