// Package activity reads ActivityPub documents as plain JSON, without a JSON-LD processor and without fetching contexts (federation
// D1). Members are read under their usual names, in any of the usual shapes. Whether a document can be trusted is decided in package
// federation.
//
// Limits: 1 MiB, 32 levels, 20 000 values per document, 1000 members per object.
package activity

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
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

	maxMembers     = 1000 // per object
	maxPlainNumber = 17   // characters
	longNumberCost = 50   // a longer number counts as so many values
)

// Public is the collection of everybody (ActivityPub 5.6).
const Public = "https://www.w3.org/ns/activitystreams#Public"

// Context is the JSON-LD context of ActivityStreams.
const Context = "https://www.w3.org/ns/activitystreams"

// The media types of documents (ActivityPub 3.2).
const (
	ContentType = "application/activity+json; charset=utf-8"
	MediaType   = "application/activity+json"
	LDMediaType = `application/ld+json`
	LDProfile   = "https://www.w3.org/ns/activitystreams"
	Accept      = MediaType + ", " + LDMediaType + `; profile="` + LDProfile + `"`
)

// ErrMalformed is the error for documents that are not processed at all: no JSON, not an object, a duplicate member, too large or
// deep, or containing a JSON-LD graph.
var ErrMalformed = errors.New("malformed document")

// Object is a document or a part of one. Its values are string, float64, bool, nil, []any and map[string]any.
type Object map[string]any

// Parse reads a document. Broken text in it is repaired with U+FFFD, because one bad post, name or bio must not hide an account: see IsBroken.
func Parse(b []byte) (Object, error) {
	if len(b) > MaxSize {
		return nil, fmt.Errorf("%w: %d bytes", ErrMalformed, len(b))
	}
	v, err := readDocument(b, jsontext.AllowInvalidUTF8(false))
	if syntax := (*jsontext.SyntacticError)(nil); errors.As(err, &syntax) && !errors.Is(err, jsontext.ErrDuplicateName) {
		v, err = readDocument(repair(b), jsontext.AllowInvalidUTF8(true))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	o, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%w: not an object", ErrMalformed)
	}
	if !isActivityStreams(o["@context"]) {
		return nil, fmt.Errorf("%w: not an ActivityStreams document", ErrMalformed)
	}
	return o, nil
}

func readDocument(b []byte, texts jsontext.Options) (any, error) {
	r := parser{in: jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(false), texts), valuesLeft: maxValues}
	v, err := r.value(maxDepth, true)
	if err == nil {
		err = r.end()
	}
	return v, err
}

// parser reads JSON of other servers. It stops at once if the document is too deep, has too many values, or could have another meaning
// as JSON-LD (federation 5.6), because nothing is verified yet.
type parser struct {
	in         *jsontext.Decoder
	valuesLeft int // remaining of maxValues
}

// value reads a value that may be nested by depth levels. If strict, JSON-LD graphs in it are an error.
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
			return nil, fmt.Errorf("member %s", key)
		}
		// The context is not interpreted, so it may contain anything.
		strict := strict && !(key == "@context" && depth == maxDepth)
		if o[key], err = r.value(depth-1, strict); err != nil {
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

// end returns an error if anything follows the document.
func (r *parser) end() error {
	if _, err := r.in.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("data after the document")
	}
	return nil
}

// number reads a number. Long ones, and those with an exponent, take as much time as many others.
func (r *parser) number(text string) (any, error) {
	if len(text) > maxPlainNumber || strings.ContainsAny(text, "eE") {
		if r.valuesLeft -= longNumberCost; r.valuesLeft < 0 {
			return nil, errors.New("too many numbers")
		}
	}
	return strconv.ParseFloat(text, 64)
}

// isActivityStreams returns whether a context contains that of ActivityStreams or is missing, because some relays send none.
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

// Bytes returns the document as JSON with sorted members.
func (o Object) Bytes() ([]byte, error) {
	var b bytes.Buffer
	if err := json.MarshalWrite(&b, o, json.Deterministic(true)); err != nil {
		return nil, fmt.Errorf("write document: %w", err)
	}
	return b.Bytes(), nil
}

// Values returns the values of a member: the items of an array, a single value, or none.
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

// ID returns the id of the document, "" if it has none, or it is not a string or broken.
func (o Object) ID() string {
	id, _ := o["id"].(string) // an id in an array would be ambiguous (federation 5.6)
	return unbroken(id)
}

// Type returns the first type that is in known, or the first type if known is empty. It returns "" if there is none.
func (o Object) Type(known ...string) string {
	for _, v := range o.Values("type") {
		if s, ok := v.(string); ok && (len(known) == 0 || slices.Contains(known, s)) {
			return s
		}
	}
	return ""
}

// Is returns whether the document has one of the types.
func (o Object) Is(types ...string) bool { return o.Type(types...) != "" }

// Text returns a member that is a string, or the first string of an array; "" otherwise. Control characters in it are replaced by U+FFFD.
func (o Object) Text(key string) string {
	for _, v := range o.Values(key) {
		if s, ok := v.(string); ok {
			return withoutControls(s)
		}
	}
	return ""
}

// TextAndLanguage returns a member that may be in several languages, and its language if it is known: the text under key, or the first
// entry of the map under key and "Map".
func (o Object) TextAndLanguage(key string) (text, language string) {
	text = o.Text(key)
	in, _ := o[key+"Map"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(in)) {
		s, ok := in[name].(string)
		s = withoutControls(s)
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

// Reference returns the id that a value refers to: a string, the id of an object, or the href of a link; "" otherwise, or if it is broken.
func Reference(v any) string {
	switch v := v.(type) {
	case string:
		return unbroken(v)
	case map[string]any:
		if id, ok := v["id"].(string); ok {
			return unbroken(id)
		}
		href, _ := v["href"].(string)
		return unbroken(href)
	}
	return ""
}

// Ref returns the first reference of a member, "" if it has none.
func (o Object) Ref(key string) string {
	for _, v := range o.Values(key) {
		if ref := Reference(v); ref != "" {
			return ref
		}
	}
	return ""
}

// Refs returns the distinct references of a member, at most a number.
func (o Object) Refs(key string, max int) []string {
	var refs []string
	seen := make(map[string]bool)
	for _, v := range o.Values(key) {
		if ref := Reference(v); ref != "" && !seen[ref] && len(refs) < max {
			seen[ref] = true
			refs = append(refs, ref)
		}
	}
	return refs
}

// Object returns a member that is an object, or the first object of an array; nil otherwise.
func (o Object) Object(key string) Object {
	for _, v := range o.Values(key) {
		if m, ok := v.(map[string]any); ok {
			return m
		}
	}
	return nil
}

// Objects returns the objects of a member, at most a number.
func (o Object) Objects(key string, max int) []Object {
	var list []Object
	for _, v := range o.Values(key) {
		if m, ok := v.(map[string]any); ok && len(list) < max {
			list = append(list, m)
		}
	}
	return list
}

// Bool returns a boolean member; known is false if it is none.
func (o Object) Bool(key string) (value, known bool) {
	switch v := o[key].(type) {
	case bool:
		return v, true
	case string: // some servers send "sensitive" as a string
		return v == "true", v == "true" || v == "false"
	}
	return false, false
}

// Count returns a member that is a non-negative number, 0 if it is none.
func (o Object) Count(key string) int {
	n, ok := o[key].(float64)
	if !ok || !(n > 0) {
		return 0
	}
	return int(min(n, math.MaxInt32))
}

// maxTime is the length of the longest text that is parsed as a time, in bytes.
const maxTime = 64

// Time returns a member that is a time, the zero time if it is none.
func (o Object) Time(key string) time.Time {
	s := o.Text(key)
	if s == "" || len(s) > maxTime {
		return time.Time{}
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04Z07:00", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// IsPublic returns whether an address is the public collection, in any of its spellings (federation 4.1).
func IsPublic(address string) bool {
	return address == Public || address == "as:Public" || address == "Public"
}
