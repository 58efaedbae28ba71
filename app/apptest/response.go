package apptest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// WantFields checks members of the response.
func (a *Response) WantFields(members Doc) *Response {
	a.T.Helper()
	var d Doc
	if err := json.Unmarshal(a.Body, &d); err != nil {
		a.T.Fatalf("%s: %v: %s", a.Request, err, a.Body)
	}
	for key, want := range members {
		if got := d[key]; fmt.Sprint(got) != fmt.Sprint(want) {
			a.T.Errorf("%s: %s is %v, want %v", a.Request, key, got, want)
		}
	}
	return a
}

// Document returns the response body as a JSON object.
func (a *Response) Document() Doc {
	a.T.Helper()
	var d Doc
	if err := json.Unmarshal(a.Body, &d); err != nil {
		a.T.Fatalf("%s: %v: %s", a.Request, err, a.Body)
	}
	return d
}

// Find returns a member by path, where numbers index lists; nil if there is none.
func (o *Object) Find(path string) any {
	var v any = o.Fields
	for _, key := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			v = nil
			var i int
			if _, err := fmt.Sscan(key, &i); err == nil && i < len(x) {
				v = x[i]
			}
		default:
			return nil
		}
	}
	return v
}

func WantList(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// WantField checks a member of a document, by path of keys.
func WantField(t *testing.T, d Doc, want any, path ...string) {
	t.Helper()
	var v any = d
	for _, key := range path {
		m, _ := v.(Doc)
		v = m[key]
	}
	if v != want {
		t.Errorf("%v: got %v, want %v, in %v", path, v, want, d)
	}
}

// EntityTypes returns the types of a list of notifications.
func EntityTypes(a *Response) []string {
	a.T.Helper()
	list := []string{}
	for _, n := range a.List() {
		list = append(list, n.Str("type"))
	}
	return list
}

// PollOptions returns the options of a poll with their votes, as in "yes 2, no ?".
func PollOptions(poll *Object) string {
	var list []string
	for _, o := range poll.At("options").([]any) {
		option := o.(map[string]any)
		votes := option["votes_count"]
		if votes == nil {
			votes = "?"
		}
		list = append(list, fmt.Sprint(option["title"], " ", votes))
	}
	return strings.Join(list, ", ")
}

// WantFields checks members of an object.
func WantFields(t *testing.T, what string, o *Object, want Doc) {
	t.Helper()
	for path, value := range want {
		if got := o.At(path); !reflect.DeepEqual(got, value) {
			t.Errorf("%s: %s is %v, want %v", what, path, got, value)
		}
	}
}

// ListField returns one member of each object in a list.
func ListField(o *Object, list, key string) []string {
	o.T.Helper()
	var values []string
	for _, v := range o.At(list).([]any) {
		values = append(values, v.(map[string]any)[key].(string))
	}
	return values
}

// WantTrue checks boolean members: those in set must be true, the others of names false.
func (o *Object) WantTrue(names []string, set ...string) {
	o.T.Helper()
	for _, name := range names {
		if got, want := o.Bool(name), slices.Contains(set, name); got != want {
			o.T.Errorf("%s is %v, want %v: %v", name, got, want, o.Fields)
		}
	}
}

// Usernames returns the usernames in a list of accounts, sorted.
func (o *Object) Usernames(path string) string {
	o.T.Helper()
	var names []string
	for _, a := range o.At(path).([]any) {
		names = append(names, a.(map[string]any)["username"].(string))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func PollOf(o *Object) *Object { return &Object{T: o.T, Fields: o.At("poll").(map[string]any)} }

// WantPages follows the next links of a list to its end and the prev links back, and checks the ids and their order.
func WantPages(t *testing.T, as *User, path string, want []string) {
	t.Helper()
	var got []string
	var last *Response
	a := as.Get(path).Want(200)
	for {
		ids := a.IDs()
		if len(ids) == 0 {
			break
		}
		got, last = append(got, ids...), a
		next := a.Links()["next"]
		if next == "" {
			break
		}
		a = as.Get(next).Want(200)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("by next: got %v, want %v", got, want)
	}
	back := last.IDs()
	for a = last; ; {
		prev := a.Links()["prev"]
		if a = as.Get(prev).Want(200); len(a.IDs()) == 0 {
			break
		}
		back = append(slices.Clone(a.IDs()), back...)
	}
	if !slices.Equal(back, want) {
		t.Fatalf("by prev: got %v, want %v", back, want)
	}
}

// Links returns the URLs of a Link header by rel.
func (a *Response) Links() map[string]string {
	links := make(map[string]string)
	for _, m := range linkForm.FindAllStringSubmatch(a.Header.Get("Link"), -1) {
		links[m[2]] = m[1]
	}
	return links
}

var linkForm = regexp.MustCompile(`<([^<>,;]*)>; rel="(next|prev)"`)

// WantIDs fails the test if the ids of a list differ.
func WantIDs(t testing.TB, what string, a *Response, want ...string) {
	t.Helper()
	if got := a.Want(200).IDs(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Response is a response with its body.
type Response struct {
	T       testing.TB
	Request string
	Status  int
	Header  http.Header
	Body    []byte
}

// Want fails the test if the status differs.
func (a *Response) Want(status int) *Response {
	a.T.Helper()
	if a.Status != status {
		a.T.Fatalf("%s: got %d, want %d: %s", a.Request, a.Status, status, a.Body)
	}
	return a
}

// WantError checks the status and message of an error.
func (a *Response) WantError(status int, message string) {
	a.T.Helper()
	if got := a.Want(status).Object().Str("error"); got != message {
		a.T.Errorf("%s: got error %q, want %q", a.Request, got, message)
	}
}

// WantBusy is WantError for an answer that says when to try again.
func (a *Response) WantBusy(status int, message string) {
	a.T.Helper()
	a.WantError(status, message)
	if seconds, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || seconds < 1 {
		a.T.Errorf("%s: Retry-After is %q, want seconds", a.Request, a.Header.Get("Retry-After"))
	}
}

func (a *Response) Object() *Object {
	a.T.Helper()
	o := &Object{T: a.T}
	if err := json.Unmarshal(a.Body, &o.Fields); err != nil {
		a.T.Fatalf("%s: %v: %s", a.Request, err, a.Body)
	}
	return o
}

func (a *Response) List() []*Object {
	a.T.Helper()
	var rows []map[string]any
	if err := json.Unmarshal(a.Body, &rows); err != nil {
		a.T.Fatalf("%s: %v: %s", a.Request, err, a.Body)
	}
	list := make([]*Object, 0, len(rows))
	for _, m := range rows {
		list = append(list, &Object{T: a.T, Fields: m})
	}
	return list
}

// IDs returns the ids of a list.
func (a *Response) IDs() []string {
	a.T.Helper()
	ids := []string{}
	for _, o := range a.List() {
		ids = append(ids, o.Str("id"))
	}
	return ids
}

// Object is a JSON object. Members are addressed by path: "account.id", "svc.content.text/plain".
type Object struct {
	T      testing.TB
	Fields map[string]any
}

// At returns a member, and fails the test if there is none.
func (o *Object) At(path string) any {
	o.T.Helper()
	var v any = o.Fields
	for _, key := range strings.Split(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			o.T.Fatalf("%s: parent of %q is not an object: %v", path, key, o.Fields)
		}
		if v, ok = m[key]; !ok {
			o.T.Fatalf("%s: there is no %q in %v", path, key, m)
		}
	}
	return v
}

func (o *Object) Has(key string) bool { _, ok := o.Fields[key]; return ok }

func (o *Object) Str(path string) string {
	o.T.Helper()
	s, ok := o.At(path).(string)
	if !ok {
		o.T.Fatalf("%s is not a string: %v", path, o.At(path))
	}
	return s
}

func (o *Object) Int(path string) int {
	o.T.Helper()
	n, ok := o.At(path).(float64)
	if !ok {
		o.T.Fatalf("%s is not a number: %v", path, o.At(path))
	}
	return int(n)
}

func (o *Object) Bool(path string) bool {
	o.T.Helper()
	b, ok := o.At(path).(bool)
	if !ok {
		o.T.Fatalf("%s is not a boolean: %v", path, o.At(path))
	}
	return b
}

func (o *Object) ID() string { o.T.Helper(); return o.Str("id") }
