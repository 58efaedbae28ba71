package activity

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	nested := func(depth int) string { return strings.Repeat(`{"a":`, depth) + `1` + strings.Repeat(`}`, depth) }
	for _, tt := range []struct {
		name, document string
		ok             bool
	}{
		{"an activity", `{"@context":"https://www.w3.org/ns/activitystreams","id":"https://a.example/1","type":"Like"}`, true},
		{"several contexts", `{"@context":["https://w3id.org/security/v1","https://www.w3.org/ns/activitystreams",{"Emoji":"toot:Emoji"}]}`, true},
		{"the context by http", `{"@context":"http://www.w3.org/ns/activitystreams"}`, true},
		{"no context", `{"id":"x"}`, true},
		{"a context in a part", `{"object":{"@context":"https://www.w3.org/ns/activitystreams"}}`, true},
		{"a language", `{"@context":["https://www.w3.org/ns/activitystreams",{"@language":"und"}]}`, true},
		{"nothing", ``, false},
		{"null", `null`, false},
		{"an array", `[{"id":"x"}]`, false},
		{"text", `"x"`, false},
		{"a number", `1`, false},
		{"two documents", `{} {}`, false},
		{"rubbish at the end", `{}x`, false},
		{"cut off", `{"id":"x"`, false},
		{"another context", `{"@context":"https://schema.org"}`, false},
		{"a context that only begins alike", `{"@context":"https://www.w3.org/ns/activitystreamsx"}`, false},
		{"a context of a wrong kind", `{"@context":5}`, false},
		{"an empty list of contexts", `{"@context":[]}`, false},
		{"a member twice", `{"actor":"https://a.example/1","actor":"https://b.example/1"}`, false},
		{"a member twice, once escaped", `{"actor":"x","\u0061ctor":"y"}`, false},
		{"a member twice in a part", `{"object":{"id":"x","id":"y"}}`, false},
		{"a member twice in a context", `{"@context":["https://www.w3.org/ns/activitystreams",{"a":"b","a":"c"}]}`, false},
		{"a graph", `{"@graph":[]}`, false},
		{"a graph in a part", `{"object":{"tag":[{"@graph":[]}]}}`, false},
		{"a reverse", `{"@reverse":{}}`, false},
		{"an included", `{"object":{"@included":[]}}`, false},
		{"a graph in a context of a part", `{"object":{"@context":{"@graph":[]}}}`, false},
		{"no UTF-8", "{\"name\":\"\xff\"}", true},
		{"half a surrogate", `{"name":"\ud800"}`, true},
		{"a control character", "{\"name\":\"\x00\"}", true},
		{"a byte order mark", "\ufeff{}", true},
		{"no UTF-8 outside of text", "{\"id\":\xff\"x\"}", false},
		{"a control character outside of text", "{\x00}", false},
		{"two byte order marks", "\ufeff\ufeff{}", false},
		{"a member twice after its repair", `{"a\ud800":1,"a\ud801":2}`, false},
		{"a member twice in broken text", `{"name":"\ud800","id":"x","id":"y"}`, false},
		{"a string that does not end", "{\"name\":\"\x01\\\"}", false},
		{"as deep as may be", nested(maxDepth - 1), true},
		{"too deep", nested(maxDepth), false},
		{"much too deep", nested(9999), false},
		{"deep in the context", `{"@context":["https://www.w3.org/ns/activitystreams",` + nested(9000) + `]}`, false},
		{"many values", `{"to":[` + strings.Repeat(`1,`, maxValues-3) + `1]}`, true},
		{"too many values", `{"to":[` + strings.Repeat(`1,`, maxValues) + `1]}`, false},
		{"too many values in the context", `{"@context":["https://www.w3.org/ns/activitystreams",` + strings.Repeat(`1,`, maxValues) + `1]}`, false},
		{"too long", `{"content":"` + strings.Repeat("a", MaxSize) + `"}`, false},
		{"as many members as may be", `{` + members(maxMembers) + `}`, true},
		{"too many members", `{` + members(maxMembers+1) + `}`, false},
		{"some odd numbers", `{"to":[` + strings.Repeat(`1.2345678901234567e-308,`, 300) + `1]}`, true},
		{"many that take a second", `{"to":[` + strings.Repeat(`1.2345678901234567e-308,`, 40_000) + `1]}`, false},
		{"too many of them", `{"to":[` + strings.Repeat(`1.2345678901234567e-308,`, maxValues/longNumberCost) + `1]}`, false},
		{"a number beyond all", `{"totalItems":1e999}`, false},
		{"NaN", `{"totalItems":NaN}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, err := Parse([]byte(tt.document))
			switch {
			case tt.ok && err != nil:
				t.Error(err)
			case !tt.ok && !errors.Is(err, ErrMalformed):
				t.Errorf("got %d members, %v, want ErrMalformed", len(o), err)
			case !tt.ok && len(err.Error()) > 1000:
				t.Errorf("the error is %d bytes long", len(err.Error()))
			}
		})
	}
}

// TestRepair checks how broken text is read, and that it is never an id.
func TestRepair(t *testing.T) {
	for in, want := range map[string]string{
		`a\ud83db`: "a\ufffdb", "a\xffb": "a\ufffdb", "a\x01b": "a\ufffdb", "a\x00b": "a\ufffdb", `a\u0000b`: "a\ufffdb", `a\u0085b`: "a\ufffdb", "a\x7fb": "a\ufffdb",
		"a\nb": "a\nb", "a\r\n\tb": "a\r\n\tb", "a\\\nb": "a\nb", `a\\` + "\n": "a\\\n", `\"` + "\x01": "\"\ufffd", `\ud83d\ude00`: "\U0001f600",
	} {
		o := parse(t, `{"content":"`+in+`","contentMap":{"en":"`+in+`"},"id":"https://a.example/`+in+`","object":{"id":"`+in+`"},"to":["`+in+`"],"url":{"href":"`+in+`"}}`)
		if got := o.Text("content"); got != want {
			t.Errorf("%q is read as %q, want %q", in, got, want)
		}
		if got, language := o.TextAndLanguage("content"); got != want || language != "en" {
			t.Errorf("%q is read as %q in %q, want %q in en", in, got, language, want)
		}
		if broken := !strings.ContainsRune(want, '\U0001f600'); broken {
			if got := o.ID() + o.Ref("object") + o.Ref("to") + o.Ref("url") + strings.Join(o.Refs("to", 5), ""); got != "" {
				t.Errorf("%q is an id: %q", in, got)
			}
			if _, err := Host("https://a.example/"+want, true); err == nil {
				t.Errorf("%q is a URL", want)
			}
		}
	}
}

// members returns a number of members of an object.
func members(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`"m%d":1`, i))
	}
	return strings.Join(list, ",")
}

func parse(t *testing.T, document string) Object {
	t.Helper()
	o, err := Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestMembers(t *testing.T) {
	o := parse(t, `{
		"id": "https://a.example/1", "type": ["Strange", "Note"], "summary": null, "content": ["first", "second"],
		"to": "https://a.example/2", "cc": ["https://a.example/3", {"id": "https://a.example/4"}, {"href": "https://a.example/5"}, 5, null, "https://a.example/3", ""],
		"tag": {"type": "Mention"}, "attachment": [{"type": "Image"}, "https://a.example/i", {"type": "Video"}],
		"url": [{"type": "Link", "href": "https://a.example/page"}, "https://a.example/other"],
		"sensitive": "true", "locked": false, "votersCount": 12.9, "negative": -1, "huge": 1e300, "word": "12",
		"empty": [], "inner": [5, {"id": "x"}], "nothing": {}
	}`)
	for _, tt := range []struct {
		name      string
		got, want any
	}{
		{"id", o.ID(), "https://a.example/1"},
		{"first type", o.Type(), "Strange"},
		{"known type", o.Type("Article", "Note"), "Note"},
		{"is", o.Is("Note"), true},
		{"is not", o.Is("Person"), false},
		{"null text", o.Text("summary"), ""},
		{"first text", o.Text("content"), "first"},
		{"no text", o.Text("tag"), ""},
		{"values of one", len(o.Values("to")), 1},
		{"values of none", len(o.Values("missing")), 0},
		{"ref", o.Ref("to"), "https://a.example/2"},
		{"ref of a link", o.Ref("url"), "https://a.example/page"},
		{"no ref", o.Ref("votersCount"), ""},
		{"refs", o.Refs("cc", 10), []string{"https://a.example/3", "https://a.example/4", "https://a.example/5"}},
		{"few refs", o.Refs("cc", 2), []string{"https://a.example/3", "https://a.example/4"}},
		{"object", o.Object("tag").Type(), "Mention"},
		{"object in a list", o.Object("inner").ID(), "x"},
		{"no object", o.Object("to") == nil, true},
		{"members of no object", o.Object("to").ID(), ""},
		{"empty object", o.Object("nothing") == nil, false},
		{"objects", len(o.Objects("attachment", 10)), 2},
		{"few objects", len(o.Objects("attachment", 1)), 1},
		{"count", o.Count("votersCount"), 12},
		{"negative count", o.Count("negative"), 0},
		{"huge count", o.Count("huge"), math.MaxInt32},
		{"count of text", o.Count("word"), 0},
	} {
		if !reflect.DeepEqual(tt.got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	for key, want := range map[string][2]bool{"sensitive": {true, true}, "locked": {false, true}, "votersCount": {}, "missing": {}, "id": {}} {
		if value, known := o.Bool(key); value != want[0] || known != want[1] {
			t.Errorf("%s is %v, %v", key, value, known)
		}
	}
}

func TestLanguage(t *testing.T) {
	for _, tt := range []struct{ document, text, language string }{
		{`{"content":"hallo"}`, "hallo", ""},
		{`{"content":"hallo","contentMap":{"de":"hallo"}}`, "hallo", "de"},
		{`{"content":"hallo","contentMap":{"de":"hallo ","en":"hello"}}`, "hallo", ""},
		{`{"content":"hello","contentMap":{"de":"hallo","en":"hello"}}`, "hello", "en"},
		{`{"contentMap":{"en":"hello","de":"hallo"}}`, "hallo", "de"},
		{`{"content":null,"contentMap":{"de":5,"en":"hello"}}`, "hello", "en"},
		{`{"content":"","contentMap":["hello"]}`, "", ""},
		{`{}`, "", ""},
	} {
		if s, language := parse(t, tt.document).TextAndLanguage("content"); s != tt.text || language != tt.language {
			t.Errorf("%s: got %q in %q", tt.document, s, language)
		}
	}
}

func TestTime(t *testing.T) {
	want := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	for _, s := range []string{"2024-05-06T07:08:09Z", "2024-05-06T09:08:09+02:00", "2024-05-06T07:08:09.000Z", "2024-05-06T07:08:09+0000", "2024-05-06T07:08:09"} {
		if got := parse(t, `{"published":"`+s+`"}`).Time("published"); !got.Equal(want) {
			t.Errorf("%s: got %s", s, got)
		}
	}
	for _, document := range []string{`{}`, `{"published":5}`, `{"published":"yesterday"}`, `{"published":"2024-13-01T00:00:00Z"}`, `{"published":""}`} {
		if got := parse(t, document).Time("published"); !got.IsZero() {
			t.Errorf("%s: got %s", document, got)
		}
	}
}

func TestBytes(t *testing.T) {
	b, err := Object{"b": "<&>", "a": []string{"x"}, "@context": Context}.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"@context":"https://www.w3.org/ns/activitystreams","a":["x"],"b":"<&>"}`; string(b) != want {
		t.Errorf("got %s", b)
	}
}

func TestIsPublic(t *testing.T) {
	for address, want := range map[string]bool{
		Public: true, "as:Public": true, "Public": true, "": false, "public": false, Public + "/": false, "https://a.example/#Public": false,
	} {
		if IsPublic(address) != want {
			t.Errorf("%q: %v", address, !want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"@context":"https://www.w3.org/ns/activitystreams","id":"https://a.example/1","type":["Note"],"to":["as:Public"],"contentMap":{"de":"x"}}`,
		`{"a":{"@graph":1}}`, `{"a":[[[{}]]],"b":1e300,"published":"2024-05-06T07:08:09Z"}`, `[]`, `{"a":"\ud83d\ude00"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := Parse(b)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("%v is no ErrMalformed", err)
			}
			return
		}
		for key := range o {
			o.Text(key)
			o.Ref(key)
			o.Object(key).Type()
			o.Objects(key, 3)
			o.TextAndLanguage(strings.TrimSuffix(key, "Map"))
			o.Bool(key)
			o.Time(key)
			if n := o.Count(key); n < 0 {
				t.Errorf("%s counts %d", key, n)
			}
			if refs := o.Refs(key, 3); len(refs) > 3 {
				t.Errorf("%d refs", len(refs))
			}
		}
		written, err := o.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if len(written) > MaxSize {
			return // blanks and escapes may be shorter than what stands for them
		}
		again, err := Parse(written)
		if err != nil || !reflect.DeepEqual(o, again) {
			t.Errorf("%s is read as something else than %s: %v", written, b, err)
		}
	})
}
