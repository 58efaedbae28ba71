// Package activity reads ActivityPub documents as plain JSON. There is no JSON-LD processor and no context is ever fetched (federation
// D1): a document is an object whose members are looked at under the names that everybody uses, in whatever of the usual shapes
// they come. What it says is not to be believed for being well-formed: that is the business of the federation package.
package activity

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits of documents.
const (
	MaxSize   = 1 << 20 // bytes
	maxDepth  = 32
	maxValues = 20_000 // values in a document

	maxMembers     = 1000 // of one object
	maxPlainNumber = 17   // characters
	longNumberCost = 50   // values that a longer one counts for
)

// Public is the collection that everybody is in (ActivityPub 5.6).
const Public = "https://www.w3.org/ns/activitystreams#Public"

// Context is what makes a document one of ActivityStreams.
const Context = "https://www.w3.org/ns/activitystreams"

// The media types of documents (ActivityPub 3.2).
const (
	ContentType = "application/activity+json; charset=utf-8"
	MediaType   = "application/activity+json"
	LDMediaType = `application/ld+json`
	LDProfile   = "https://www.w3.org/ns/activitystreams"
	Accept      = MediaType + ", " + LDMediaType + `; profile="` + LDProfile + `"`
)

// ErrMalformed is what documents are refused for that nobody means well with: broken JSON, no object, a member twice, too deep, or
// with a graph of JSON-LD in it.
var ErrMalformed = errors.New("malformed document")

// Object is a document, or a part of one. Its values are those of JSON: string, float64, bool, nil, []any, map[string]any.
type Object map[string]any

// Parse reads a document.
func Parse(b []byte) (Object, error) {
	if len(b) > MaxSize {
		return nil, fmt.Errorf("%w: %d bytes", ErrMalformed, len(b))
	}
	r := parser{
		in:         jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false)),
		valuesLeft: maxValues,
	}
	v, err := r.value(maxDepth, true)
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	o, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%w: no object", ErrMalformed)
	}
	if !isActivityStreams(o["@context"]) {
		return nil, fmt.Errorf("%w: not of ActivityStreams", ErrMalformed)
	}
	return o, nil
}

// parser reads JSON that strangers have sent. It stops at once at what is nested too deep, has too much in it, or could be read as another
// document by who knows JSON-LD (federation 5.6): nobody has signed for it yet.
type parser struct {
	in         *jsontext.Decoder
	valuesLeft int // that may still come
}

// value reads a value. depth is how deep it may be nested, strict that no graph of JSON-LD may be in it.
func (r *parser) value(depth int, strict bool) (any, error) {
	if r.valuesLeft--; r.valuesLeft < 0 {
		return nil, errors.New("too many values")
	}
	if depth == 0 {
		return nil, errors.New("too deep")
	}
	token, err := r.in.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{':
		return r.object(depth, strict)
	case '[':
		return r.array(depth, strict)
	case '"':
		return token.String(), nil
	case '0':
		return r.number(token.String())
	case 't', 'f':
		return token.Bool(), nil
	}
	return nil, nil
}

func (r *parser) object(depth int, strict bool) (any, error) {
	o := make(map[string]any)
	for r.in.PeekKind() != '}' {
		token, err := r.in.ReadToken()
		if err != nil {
			return nil, err
		}
		key := token.String()
		if len(o) == maxMembers {
			return nil, errors.New("too many members")
		}
		if strict && (key == "@graph" || key == "@reverse" || key == "@included") {
			return nil, fmt.Errorf("it has %s", key)
		}
		// What stands in the context says how names are to be understood: we do not ask.
		judged := strict && !(key == "@context" && depth == maxDepth)
		if o[key], err = r.value(depth-1, judged); err != nil {
			return nil, err
		}
	}
	_, err := r.in.ReadToken()
	return o, err
}

func (r *parser) array(depth int, strict bool) (any, error) {
	list := []any{}
	for r.in.PeekKind() != ']' {
		v, err := r.value(depth-1, strict)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := r.in.ReadToken()
	return list, err
}

// end tells whether nothing comes any more.
func (r *parser) end() error {
	if _, err := r.in.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("something comes after the document")
	}
	return nil
}

// number reads a number. Long ones, and very large and small ones, can take as much time as many others.
func (r *parser) number(text string) (any, error) {
	if len(text) > maxPlainNumber || strings.ContainsAny(text, "eE") {
		if r.valuesLeft -= longNumberCost; r.valuesLeft < 0 {
			return nil, errors.New("too many numbers")
		}
	}
	return strconv.ParseFloat(text, 64)
}

// isActivityStreams tells whether a context is one of ActivityStreams, or missing: some relays send none.
func isActivityStreams(context any) bool {
	is := func(v any) bool {
		s, ok := v.(string)
		s = strings.TrimPrefix(strings.TrimPrefix(s, "https"), "http")
		end, found := strings.CutPrefix(s, strings.TrimPrefix(Context, "https"))
		return ok && found && slices.Contains([]string{"", "#", ".jsonld"}, end)
	}
	switch v := context.(type) {
	case nil:
		return true
	case []any:
		return slices.ContainsFunc(v, is)
	}
	return is(context)
}

// Bytes writes the document.
func (o Object) Bytes() ([]byte, error) {
	var b bytes.Buffer
	if err := json.MarshalWrite(&b, o, json.Deterministic(true)); err != nil {
		return nil, fmt.Errorf("write document: %w", err)
	}
	return b.Bytes(), nil
}

// Values returns the values of a member: the items of an array, a value that stands alone, or none.
func (o Object) Values(key string) []any {
	switch v := o[key].(type) {
	case nil:
		return nil
	case []any:
		return v
	default:
		return []any{v}
	}
}

// ID returns the document's id, "" if there is none, or none that is text.
func (o Object) ID() string {
	id, _ := o["id"].(string) // not one in an array: that could be read as another (federation 5.6)
	return id
}

// Type returns the first type that is one of known; with none given, the first.
func (o Object) Type(known ...string) string {
	for _, v := range o.Values("type") {
		if s, ok := v.(string); ok && (len(known) == 0 || slices.Contains(known, s)) {
			return s
		}
	}
	return ""
}

// Is tells whether the document has one of these types.
func (o Object) Is(types ...string) bool { return o.Type(types...) != "" }

// Text returns a member that is text, the first one of an array; "" otherwise.
func (o Object) Text(key string) string {
	for _, v := range o.Values(key) {
		if s, ok := v.(string); ok {
			return s
		}
	}
	return ""
}

// TextAndLanguage returns a member that may come in several languages, and which one it is where that is told: the text under key, or the
// first of the map under key and "Map".
func (o Object) TextAndLanguage(key string) (text, language string) {
	text = o.Text(key)
	in, _ := o[key+"Map"].(map[string]any)
	names := make([]string, 0, len(in))
	for name := range in {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		s, ok := in[name].(string)
		switch {
		case !ok:
		case text == "":
			return s, name
		case s == text || len(in) == 1:
			return text, name
		}
	}
	return text, ""
}

// Reference returns what a value refers to: itself if it is text, the id of an object, or where a link leads; "" otherwise.
func Reference(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		if id, ok := v["id"].(string); ok {
			return id
		}
		href, _ := v["href"].(string)
		return href
	}
	return ""
}

// Ref returns what a member refers to, the first of several; "" if nothing.
func (o Object) Ref(key string) string {
	for _, v := range o.Values(key) {
		if ref := Reference(v); ref != "" {
			return ref
		}
	}
	return ""
}

// Refs returns what a member refers to, each once and at most so many.
func (o Object) Refs(key string, most int) []string {
	var refs []string
	seen := make(map[string]bool)
	for _, v := range o.Values(key) {
		if ref := Reference(v); ref != "" && !seen[ref] && len(refs) < most {
			seen[ref] = true
			refs = append(refs, ref)
		}
	}
	return refs
}

// Object returns a member that is an object, the first one of an array; nil otherwise.
func (o Object) Object(key string) Object {
	for _, v := range o.Values(key) {
		if m, ok := v.(map[string]any); ok {
			return m
		}
	}
	return nil
}

// Objects returns the objects among the values of a member, at most so many.
func (o Object) Objects(key string, most int) []Object {
	var list []Object
	for _, v := range o.Values(key) {
		if m, ok := v.(map[string]any); ok && len(list) < most {
			list = append(list, m)
		}
	}
	return list
}

// Bool returns a member that is true or false; known is false if it is neither.
func (o Object) Bool(key string) (value, known bool) {
	switch v := o[key].(type) {
	case bool:
		return v, true
	case string: // some send sensitive like this
		return v == "true", v == "true" || v == "false"
	}
	return false, false
}

// Count returns a member that counts something, 0 if it is missing or no number that can be one.
func (o Object) Count(key string) int {
	n, ok := o[key].(float64)
	if !ok || !(n > 0) {
		return 0
	}
	return int(min(n, math.MaxInt32))
}

// Time returns a member that is a time, the zero time if it is none.
func (o Object) Time(key string) time.Time {
	s := o.Text(key)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04Z07:00", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// IsPublic tells whether an address is the collection that everybody is in, in one of its spellings (federation 4.1).
func IsPublic(address string) bool {
	return address == Public || address == "as:Public" || address == "Public"
}
