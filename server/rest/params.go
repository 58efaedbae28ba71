package rest

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"svc/internal/errs"
)

// MaxElements is how many elements the lists in the parameters of one request may have together.
const MaxElements = 1000

// Limits of the parameters of one request. Beyond maxText the answer is 413, beyond the others 400.
const (
	maxDepth  = 16          // nesting
	maxKeys   = MaxElements // keys and list elements
	maxNodes  = 5 * maxKeys // keys of a form, and the levels of their names
	maxValues = 20_000      // of JSON, also where it is stored unread
	maxText   = 1_048_576   // bytes of all parameters without files
)

var (
	errTooDeep     = errs.BadRequest("Parameters are nested too deeply")
	errTooMany     = errs.BadRequest("Too many parameters")
	errUndecodable = errs.BadRequest("Parameters have a percent sign that two hexadecimal digits must follow")
	errEncoding    = errs.BadRequest("Parameters are not valid UTF-8")
)

// params are the parameters of a request from the query and the body, as one tree.
type params struct {
	fields map[string]*value
	keys   int
	nodes  int
	doc    json.RawMessage // the body, if it is a JSON object
	alias  string          // NAME_ if api.name is not svc: NAME_x is read as svc_x
	files  []*Upload
}

// value is a node of the tree.
type value struct {
	kind   valueKind
	text   string
	list   []*value
	object map[string]*value
	file   *Upload
	raw    json.RawMessage // the JSON, if it was JSON; lists and objects are expanded on demand
}

type valueKind int

const (
	nullValue   valueKind = iota
	textValue             // a JSON string, or anything in a form
	numberValue           // a JSON number; text holds it
	boolValue             // a JSON boolean; text holds it
	listValue
	repeatValue // a repeated key: the last value counts if one is wanted
	objectValue
	fileValue
)

func (k valueKind) String() string {
	return [...]string{"null", "string", "number", "boolean", "array", "array", "object", "file"}[k]
}

// textParam returns a top-level parameter as text, "" if it is absent or not a scalar.
func (r *Request) textParam(name string) string {
	p, err := r.parameters()
	if err != nil {
		return ""
	}
	v := p.fields[name].single()
	if v == nil {
		return ""
	}
	return v.text
}

// single returns the value that counts if one is wanted.
func (v *value) single() *value {
	if v != nil && v.kind == repeatValue {
		return v.list[len(v.list)-1]
	}
	return v
}

// Repeated returns the name of a parameter that the query or the body has more than once, "" if there is none. The elements of a list, as in
// scope[]=read, are no repetition, and of a parameter in both, that of the body counts.
func (r *Request) Repeated() (string, error) {
	p, err := r.parameters()
	if err != nil {
		return "", err
	}
	return repeatedIn(p.fields), nil
}

func repeatedIn(fields map[string]*value) string {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch v := fields[name]; {
		case v == nil:
		case v.kind == repeatValue:
			return name
		case v.kind == objectValue:
			if inner := repeatedIn(v.object); inner != "" {
				return inner
			}
		}
	}
	return ""
}

// addQuery adds the pairs of a query or an urlencoded form. It ignores pairs that cannot be decoded if the request reads. Otherwise the default
// would take the place of what they mean, and may be wider.
func (p *params) addQuery(query string, reads bool) error {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		k, v, _ := strings.Cut(pair, "=")
		if k == "" {
			continue
		}
		key, err1 := url.QueryUnescape(k)
		text, err2 := url.QueryUnescape(v)
		if err1 != nil || err2 != nil {
			if reads {
				continue
			}
			return errUndecodable
		}
		if err := p.addText(key, text); err != nil {
			return err
		}
	}
	return nil
}

func (p *params) addText(key, text string) error {
	if !utf8.ValidString(text) {
		return errEncoding
	}
	return p.add(key, &value{kind: textValue, text: text})
}

// add puts a value where a key such as k, k[], k[0], k[a][b] or k[][a] says.
func (p *params) add(key string, v *value) error {
	if !utf8.ValidString(key) {
		return errEncoding
	}
	if p.keys++; p.keys > maxKeys {
		return errTooMany
	}
	if strings.Count(key, "[") > maxDepth {
		return errTooDeep
	}
	name, path := splitKey(key)
	if len(path) >= maxDepth {
		return errTooDeep
	}
	if p.nodes += 1 + len(path); p.nodes > maxNodes {
		return errTooMany
	}
	name = p.canonical(name)
	if p.fields == nil {
		p.fields = make(map[string]*value)
	}
	p.fields[name] = p.fields[name].put(path, v)
	return nil
}

// canonical returns the name of a parameter in the code.
func (p *params) canonical(name string) string {
	if p.alias != "" {
		if rest, ok := strings.CutPrefix(name, p.alias); ok {
			return standardName + "_" + rest
		}
	}
	return name
}

// splitKey splits a[b][][c] into a and b, "", c. Brackets that do not match are part of the name.
func splitKey(key string) (name string, path []string) {
	open := strings.IndexByte(key, '[')
	if open <= 0 || key[len(key)-1] != ']' {
		return key, nil
	}
	for _, part := range strings.Split(key[open+1:len(key)-1], "][") {
		if strings.ContainsAny(part, "[]") {
			return key, nil
		}
		path = append(path, part)
	}
	return key[:open], path
}

// put returns v with leaf added at path. If two keys disagree about the kind of v, the later one wins.
func (v *value) put(path []string, leaf *value) *value {
	switch {
	case len(path) == 0:
		return v.repeat(leaf)
	case path[0] == "":
		return v.add(path[1:], leaf)
	}
	if v == nil || v.kind != objectValue {
		v = &value{kind: objectValue, object: make(map[string]*value)}
	}
	v.object[path[0]] = v.object[path[0]].put(path[1:], leaf)
	return v
}

// repeat is put for a key that ends here.
func (v *value) repeat(leaf *value) *value {
	switch {
	case v == nil || v.kind == objectValue:
		return leaf
	case v.kind == listValue || v.kind == repeatValue:
		v.list = append(v.list, leaf)
		return v
	}
	return &value{kind: repeatValue, list: []*value{v, leaf}}
}

// add is put for a list. k[][a]=1&k[][b]=2&k[][a]=3 makes two elements: a repeated key begins a new one.
func (v *value) add(path []string, leaf *value) *value {
	switch {
	case v == nil || v.kind == objectValue:
		v = &value{kind: listValue}
	case v.kind == repeatValue:
		v.kind = listValue
	case v.kind != listValue:
		v = &value{kind: listValue, list: []*value{v}}
	}
	if n := len(v.list); n > 0 && len(path) > 0 && v.list[n-1].kind == objectValue && !v.list[n-1].has(path) {
		v.list[n-1].put(path, leaf)
		return v
	}
	v.list = append(v.list, (*value)(nil).put(path, leaf))
	return v
}

// has returns true if an object has a value at path that put would replace.
func (v *value) has(path []string) bool {
	child := v.object[path[0]]
	switch {
	case child == nil:
		return false
	case len(path) == 1 || child.kind != objectValue:
		return len(path) == 1 || path[1] != ""
	case path[1] == "":
		return false
	}
	return child.has(path[1:])
}

// elements returns v as a list: the elements of a list, the values of an index-keyed object in the order of the indexes, or a single
// value.
func (v *value) elements() []*value {
	switch v.kind {
	case listValue, repeatValue:
		return v.list
	case objectValue:
		if keys, ok := indexes(v.object); ok {
			list := make([]*value, len(keys))
			for i, k := range keys {
				list[i] = v.object[k]
			}
			return list
		}
	}
	return []*value{v}
}

// indexes returns the keys of an index-keyed object in numeric order.
func indexes[T any](object map[string]T) (keys []string, ok bool) {
	for k := range object {
		if _, err := strconv.ParseUint(k, 10, 32); err != nil {
			return nil, false
		}
	}
	return slices.SortedFunc(maps.Keys(object), func(a, b string) int {
		m, _ := strconv.ParseUint(a, 10, 32)
		n, _ := strconv.ParseUint(b, 10, 32)
		return cmp.Or(cmp.Compare(m, n), strings.Compare(a, b))
	}), len(object) > 0
}

// appendJSON appends v as JSON: raw JSON unchanged, text of forms as strings, files as null.
func (v *value) appendJSON(dst []byte) []byte {
	switch {
	case v == nil || v.kind == nullValue || v.kind == fileValue:
		return append(dst, "null"...)
	case v.raw != nil:
		return append(dst, v.raw...)
	case v.kind == textValue:
		return AppendString(dst, v.text)
	case v.kind == objectValue:
		dst = append(dst, '{')
		for i, k := range slices.Sorted(maps.Keys(v.object)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(AppendString(dst, k), ':')
			dst = v.object[k].appendJSON(dst)
		}
		return append(dst, '}')
	}
	dst = append(dst, '[')
	for i, e := range v.list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = e.appendJSON(dst)
	}
	return append(dst, ']')
}

// Entered returns the text that a form sent under a name such as a, a[b] or a[0][b], and false if it sent none. Of several it is the last.
func (r *Request) Entered(name string) (string, bool) {
	p, err := r.parameters()
	if err != nil {
		return "", false
	}
	name, path := splitKey(name)
	v := p.fields[p.canonical(name)].single()
	for _, key := range path {
		if v == nil {
			return "", false
		}
		v = v.object[key].single()
	}
	if v == nil || v.kind != textValue {
		return "", false
	}
	return v.text, true
}
