package rest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"svc/internal/config"
	"svc/internal/enum"
	"svc/internal/errs"
	"svc/server/rest"
	"svc/store"
)

// colour is an enumeration like those of the program.
type colour int

func (c *colour) UnmarshalText(b []byte) error {
	switch string(b) {
	case "red":
		*c = 1
	case "blue":
		*c = 2
	case "black":
		return errs.BadRequest("Unsupported colour")
	default:
		return errors.New("unknown colour")
	}
	return nil
}

type everything struct {
	Text    string          `param:"text"`
	TextP   *string         `param:"text_p"`
	Flag    bool            `param:"flag"`
	FlagP   *bool           `param:"flag_p"`
	Int     int             `param:"int"`
	IntP    *int64          `param:"int_p"`
	Limit   int             `param:"limit"`
	Float   float64         `param:"float"`
	ID      store.StatusID  `param:"id"`
	Colour  colour          `param:"colour"`
	ColourP *colour         `param:"colour_p"`
	When    *time.Time      `param:"when"`
	Texts   []string        `param:"texts"`
	Ints    []int           `param:"ints"`
	Colours []colour        `param:"colours"`
	Poll    *pollParams     `param:"poll"`
	Source  pollParams      `param:"source"`
	Fields  []nameValue     `param:"fields"`
	Raw     json.RawMessage `param:"raw"`
	Object  map[string]any  `param:"object"`
	Objects []map[string]any
	Entries []map[string]any `param:"entries"`
	Theme   string           `param:"svc_theme"`
	Word    string           `param:"word,word"`
	Unnamed string
}

type pollParams struct {
	Options   []string `param:"options"`
	ExpiresIn int      `param:"expires_in"`
	Multiple  bool     `param:"multiple"`
}

type nameValue struct {
	Name  string `param:"name"`
	Value string `param:"value"`
}

// bound returns a server that binds each request to a parameter struct and stores it in *s.
func bound[T any](t testing.TB, s **T, change ...func(*config.Config)) *rest.Server {
	table := rest.Routes{}
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		table[method+" /api/v1/bind"] = rest.Route{Access: rest.Anyone, Handle: func(r *rest.Request) (any, error) {
			p := new(T)
			if err := r.Bind(p); err != nil {
				return nil, err
			}
			*s = p
			return nil, nil
		}}
	}
	return newServer(t, table, change...)
}

func pointer[T any](v T) *T { return &v }

func TestBind(t *testing.T) {
	for _, tt := range []struct {
		name        string
		method      string // "": POST
		query       string
		contentType string
		body        string
		want        everything
	}{
		{"no parameters", "GET", "", "", "", everything{}},
		{"no body and no type", "", "", "", "", everything{}},
		{"empty JSON", "", "", JSONType, "", everything{}},
		{"blank JSON", "", "", JSONType, " \n ", everything{}},
		{"JSON null", "", "", JSONType, "null", everything{}},
		{"unknown type", "", "text=a", "text/plain", "[object Object]", everything{Text: "a"}},
		{"no type", "", "text=a", "", "text=b", everything{Text: "a"}},
		{"unknown parameters", "", "x=1&y[]=2&z[a]=3", "", "", everything{}},

		{"query", "GET", "text=a+b%20c%C3%A9&int=3", "", "", everything{Text: "a b cé", Int: 3}},
		{"query pairs that are malformed, in a request that reads", "GET", "text=%zz&int=3&=4&&flag", "", "", everything{Int: 3}},
		{"query and body", "", "text=query&int=1", FormType, "text=body", everything{Text: "body", Int: 1}},
		{"lists in the body replace those in the query", "", "texts[]=a&texts[]=b", FormType, "texts[]=c", everything{Texts: []string{"c"}}},
		{"body on DELETE", "DELETE", "", JSONType, `{"text":"a"}`, everything{Text: "a"}},
		{"form on DELETE", "DELETE", "", FormType, `text=a`, everything{Text: "a"}},
		{"body on PATCH", "PATCH", "", FormType, `text=a`, everything{Text: "a"}},
		{"body on GET", "GET", "", JSONType, `{"text":"a"}`, everything{Text: "a"}},
		{"charset", "", "", JSONType + "; charset=utf-8", `{"text":"a"}`, everything{Text: "a"}},
		{"multipart", "", "", multipartType, multipartBody("text", "a\r\nb", "texts[]", "x", "texts[]", "y", "poll[expires_in]", "5"),
			everything{Text: "a\r\nb", Texts: []string{"x", "y"}, Poll: &pollParams{ExpiresIn: 5}}},

		{"text of a number", "", "", JSONType, `{"text":12.50,"texts":["0",1,true]}`, everything{Text: "12.50", Texts: []string{"0", "1", "true"}}},
		{"text of a boolean", "", "", JSONType, `{"text":false}`, everything{Text: "false"}},
		{"escapes", "", "", JSONType, `{"te\u0078t":"a\"\\\u00e9\ud83d\ude00\n"}`, everything{Text: "a\"\\é😀\n"}},
		{"empty text", "", "", JSONType, `{"text_p":""}`, everything{TextP: pointer("")}},
		{"empty text in a form", "", "", FormType, `text_p=`, everything{TextP: pointer("")}},
		{"null is absent", "", "", JSONType, `{"text":null,"text_p":null,"flag_p":null,"int_p":null,"poll":null,"id":null,"raw":null,"object":null}`, everything{}},
		{"empty is absent", "", "", FormType, `flag_p=&int_p=&int=&float=&id=&colour_p=&when=&poll=&object=`, everything{}},
		{"undefined is absent", "", "", FormType, `flag_p=undefined&int_p=undefined&float=undefined&colour_p=undefined&when=undefined&poll=undefined&object=undefined&word=undefined`, everything{}},
		{"undefined in a multipart form", "", "", multipartType, multipartBody("flag", "undefined", "int", "undefined", "poll[multiple]", "undefined", "word", "undefined"),
			everything{Poll: &pollParams{}}},
		{"undefined in lists", "", "", FormType, `ints[]=undefined&colours[]=undefined&colours[]=red`, everything{Colours: []colour{1}}},
		{"undefined is a text", "", "", FormType, `text=undefined&text_p=undefined&texts[]=undefined`,
			everything{Text: "undefined", TextP: pointer("undefined"), Texts: []string{"undefined"}}},
		{"undefined in JSON", "", "", JSONType, `{"word":"undefined"}`, everything{Word: "undefined"}},
		{"a word", "", "", FormType, `word=private`, everything{Word: "private"}},
		{"the last of repeated ones", "", "", FormType, `text=a&text=b&int=1&int=2`, everything{Text: "b", Int: 2}},
		{"the last of repeated JSON members", "", "", JSONType, `{"text":"a","text":"b"}`, everything{Text: "b"}},

		{"integers", "", "", JSONType, `{"int":"12","int_p":-3}`, everything{Int: 12, IntP: pointer(int64(-3))}},
		{"integers with a point", "", "", JSONType, `{"int":3.0,"int_p":1e3}`, everything{Int: 3, IntP: pointer(int64(1000))}},
		{"the largest integer", "", "", FormType, `int_p=9223372036854775807`, everything{IntP: pointer(int64(math.MaxInt64))}},
		{"floats", "", "", JSONType, `{"float":"-0.5"}`, everything{Float: -0.5}},
		{"a malformed limit", "GET", "limit=many", "", "", everything{}},
		{"a huge limit", "GET", "limit=99999999999999999999", "", "", everything{}},
		{"an id", "", "", FormType, "id=junk", everything{ID: 0}},
		{"an enumeration", "", "", FormType, "colour=blue&colour_p=red", everything{Colour: 2, ColourP: pointer(colour(1))}},
		{"a time", "", "", FormType, "when=2024-01-02T03:04:05.678Z", everything{When: pointer(time.Date(2024, 1, 2, 3, 4, 5, 678e6, time.UTC))}},

		{"absent lists", "", "", FormType, "text=a", everything{Text: "a"}},
		{"k[]", "", "", FormType, "texts[]=a&texts[]=b", everything{Texts: []string{"a", "b"}}},
		{"k[] encoded", "", "", FormType, "texts%5B%5D=a&texts%5B%5D=b", everything{Texts: []string{"a", "b"}}},
		{"k repeated", "", "", FormType, "texts=a&texts=b", everything{Texts: []string{"a", "b"}}},
		{"k once", "", "", FormType, "texts=a&ints=7", everything{Texts: []string{"a"}, Ints: []int{7}}},
		{"k and k[]", "", "", FormType, "texts=a&texts[]=b&texts=c&texts[]=d", everything{Texts: []string{"a", "b", "c", "d"}}},
		{"k repeated, then k[]", "", "", FormType, "texts=a&texts=b&texts[]=c", everything{Texts: []string{"a", "b", "c"}}},
		{"k[0]", "", "", FormType, "texts[0]=a&texts[1]=b", everything{Texts: []string{"a", "b"}}},
		{"k[0] out of order", "", "", FormType, "texts[10]=c&texts[2]=b&texts[0]=a", everything{Texts: []string{"a", "b", "c"}}},
		{"JSON list", "", "", JSONType, `{"texts":["a","b"],"ints":["1",2]}`, everything{Texts: []string{"a", "b"}, Ints: []int{1, 2}}},
		{"JSON scalar", "", "", JSONType, `{"texts":"a","ints":1}`, everything{Texts: []string{"a"}, Ints: []int{1}}},
		{"JSON index map", "", "", JSONType, `{"texts":{"1":"b","0":"a"}}`, everything{Texts: []string{"a", "b"}}},
		{"empty JSON list", "", "", JSONType, `{"texts":[],"ints":[ ]}`, everything{Texts: []string{}, Ints: []int{}}},
		{"null for a list", "", "", JSONType, `{"texts":null}`, everything{Texts: []string{}}},
		{"empty text for a list", "", "", JSONType, `{"texts":"","ints":""}`, everything{Texts: []string{}, Ints: []int{}}},
		{"k= for a list", "", "", FormType, `texts=`, everything{Texts: []string{}}},
		{"k[]= for a list", "", "", FormType, `texts[]=&ints[]=`, everything{Texts: []string{}, Ints: []int{}}},
		{"empty elements", "", "", FormType, `texts[]=&texts[]=a&ints[]=&ints[]=1`, everything{Texts: []string{"", "a"}, Ints: []int{1}}},
		{"a JSON list of empty elements", "", "", JSONType, `{"texts":[""],"ints":[null,1]}`, everything{Texts: []string{""}, Ints: []int{1}}},
		{"unknown members of enumerations", "", "", FormType, "colours[]=red&colours[]=green&colours[]=black&colours[]=blue", everything{Colours: []colour{1, 2}}},

		{"nested", "", "", FormType, "poll[options][]=a&poll[options][]=b&poll[expires_in]=60&poll[multiple]=1",
			everything{Poll: &pollParams{Options: []string{"a", "b"}, ExpiresIn: 60, Multiple: true}}},
		{"nested with indexes", "", "", FormType, "source[options][1]=b&source[options][0]=a", everything{Source: pollParams{Options: []string{"a", "b"}}}},
		{"nested JSON", "", "", JSONType, `{"poll": {"options" : ["a" , "b"], "expires_in":"60","multiple":true, "hide_totals":{}}, "source":{"multiple":"on"}}`,
			everything{Poll: &pollParams{Options: []string{"a", "b"}, ExpiresIn: 60, Multiple: true}, Source: pollParams{Multiple: true}}},
		{"an empty object", "", "", JSONType, `{"poll":{}}`, everything{Poll: &pollParams{}}},
		{"k[0][a]", "", "", FormType, "fields[1][name]=c&fields[0][name]=a&fields[0][value]=b", everything{Fields: []nameValue{{"a", "b"}, {"c", ""}}}},
		{"k[][a]", "", "", FormType, "fields[][name]=a&fields[][value]=b&fields[][name]=c&fields[][value]=d", everything{Fields: []nameValue{{"a", "b"}, {"c", "d"}}}},
		{"k[][a], values first", "", "", FormType, "fields[][value]=b&fields[][name]=a&fields[][value]=d", everything{Fields: []nameValue{{"a", "b"}, {"", "d"}}}},
		{"JSON structs", "", "", JSONType, `{"fields":[{"name":"a","value":"b"},null,{"name":"c"}]}`, everything{Fields: []nameValue{{"a", "b"}, {"c", ""}}}},
		{"JSON index map of structs", "", "", JSONType, `{"fields":{"10":{"name":"c"},"9":{"name":"a"}}}`, everything{Fields: []nameValue{{"a", ""}, {"c", ""}}}},
		{"one struct for a list", "", "", JSONType, `{"fields":{"name":"a"}}`, everything{Fields: []nameValue{{"a", ""}}}},
		{"an empty list of structs", "", "", JSONType, `{"fields":[]}`, everything{Fields: []nameValue{}}},
		{"later keys replace earlier ones", "", "", FormType, "source=a&source[expires_in]=1&text[a]=b&text=c", everything{Source: pollParams{ExpiresIn: 1}, Text: "c"}},
		{"brackets that do not match", "", "", FormType, "text[=1&text]=2&[text]=3&texts[a=4&text[[a]]=5", everything{}},

		{"raw JSON", "", "", JSONType, `{"raw": {"a" : [1, null]}}`, everything{Raw: json.RawMessage(`{"a" : [1, null]}`)}},
		{"raw text", "", "", FormType, `raw=<a>`, everything{Raw: json.RawMessage(`"<a>"`)}},
		{"raw form", "", "", FormType, `raw[b][]=1&raw[b][]=2&raw[a]=x`, everything{Raw: json.RawMessage(`{"a":"x","b":["1","2"]}`)}},
		{"an object", "", "", JSONType, `{"object":{"a":{"b":null,"c":1}}}`, everything{Object: map[string]any{"a": map[string]any{"b": nil, "c": 1.0}}}},
		{"an object in a form", "", "", FormType, `object[a][b]=1`, everything{Object: map[string]any{"a": map[string]any{"b": "1"}}}},
		{"a list of objects", "", "", JSONType, `{"entries":[{"a":1},{"b":[]}]}`, everything{Entries: []map[string]any{{"a": 1.0}, {"b": []any{}}}}},

		{"names with the API name", "", "svc_theme=a", "", "", everything{Theme: "a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got *everything
			s := bound(t, &got)
			if tt.method == "" {
				tt.method = "POST"
			}
			w := call(s, tt.method, "/api/v1/bind?"+tt.query, tt.body, "Content-Type", tt.contentType)
			if w.Code != 200 {
				t.Fatalf("got %d %s", w.Code, w.Body)
			}
			if !reflect.DeepEqual(*got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", *got, tt.want)
			}
		})
	}
}

// TestBodiesOfUnknownTypes checks that the parameters of a body are not lost without an error.
func TestBodiesOfUnknownTypes(t *testing.T) {
	for _, tt := range []struct {
		name, method, contentType, body string
		status                          int
	}{
		{"text", "POST", "text/plain;charset=UTF-8", `{"text":"a"}`, 415},
		{"no type", "POST", "", "text=b", 415},
		{"another JSON", "PATCH", "application/merge-patch+json", `{"text":"a"}`, 415},
		{"a malformed type", "PUT", "application/json/x", `{"text":"a"}`, 415},
		{"nothing of an unknown type", "POST", "text/plain", "", 200},
		{"a request that reads", "GET", "text/plain", `{"text":"a"}`, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got *everything
			s := bound(t, &got)
			if w := call(s, tt.method, "/api/v1/bind", tt.body, "Content-Type", tt.contentType); w.Code != tt.status {
				t.Errorf("got %d %s, want %d", w.Code, w.Body, tt.status)
			}
		})
	}
}

func TestBooleans(t *testing.T) {
	var got *everything
	s := bound(t, &got)
	for value, want := range map[string]bool{
		`"0"`: false, `"f"`: false, `"F"`: false, `"false"`: false, `"False"`: false, `"FALSE"`: false, `"off"`: false, `"OFF"`: false, `false`: false, `0`: false,
		`"1"`: true, `"t"`: true, `"on"`: true, `"yes"`: true, `"true"`: true, `"no"`: false, `true`: true, `1`: true,
	} {
		w := call(s, "POST", "/api/v1/bind", `{"flag_p":`+value+`}`, "Content-Type", JSONType)
		if w.Code != 200 || got.FlagP == nil || *got.FlagP != want {
			t.Errorf("JSON %s: got %d, %v, want %v", value, w.Code, got.FlagP, want)
		}
		text := strings.Trim(value, `"`)
		w = call(s, "POST", "/api/v1/bind", "flag="+text+"&flag_p="+text, "Content-Type", FormType)
		if w.Code != 200 || got.FlagP == nil || *got.FlagP != want || got.Flag != want {
			t.Errorf("form %s: got %d, %v, want %v", text, w.Code, got.FlagP, want)
		}
	}
}

func TestBindFaults(t *testing.T) {
	type needy struct {
		Email string `param:"email,required"`
		Page  int    `param:"page"`
		Poll  struct {
			Expires int `param:"expires_in"`
		} `param:"poll"`
		IDs    []int          `param:"ids"`
		Shades []colour       `param:"shades"`
		Colour colour         `param:"colour"`
		Object map[string]any `param:"object"`
		Text   string         `param:"text"`
		Float  float64        `param:"float"`
	}
	for _, tt := range []struct {
		name string
		body string
		want string
	}{
		{"missing", `{}`, `{"error":"Missing field: email.","errors":[{"title":"Invalid value","source":{"pointer":"/email"},"message":"Missing field: email"}]}`},
		{"null is missing", `{"email":null}`, `{"error":"Missing field: email.","errors":[{"title":"Invalid value","source":{"pointer":"/email"},"message":"Missing field: email"}]}`},
		{"an integer", `{"email":"","page":"one"}`, `{"error":"page - Invalid integer. Got: string.","errors":[{"title":"Invalid value","source":{"pointer":"/page"},"message":"page - Invalid integer. Got: string"}]}`},
		{"a fraction", `{"email":"","page":1.5}`, `{"error":"page - Invalid integer. Got: number.","errors":[{"title":"Invalid value","source":{"pointer":"/page"},"message":"page - Invalid integer. Got: number"}]}`},
		{"too large", `{"email":"","page":9223372036854775808}`, `{"error":"page - Invalid integer. Got: number.","errors":[{"title":"Invalid value","source":{"pointer":"/page"},"message":"page - Invalid integer. Got: number"}]}`},
		{"nested", `{"email":"a","poll":{"expires_in":[]}}`, `{"error":"expires_in - Invalid integer. Got: array.","errors":[{"title":"Invalid value","source":{"pointer":"/poll/expires_in"},"message":"expires_in - Invalid integer. Got: array"}]}`},
		{"not an object", `{"email":"a","poll":"x"}`, `{"error":"poll - Invalid object. Got: string.","errors":[{"title":"Invalid value","source":{"pointer":"/poll"},"message":"poll - Invalid object. Got: string"}]}`},
		{"not an opaque object", `{"email":"a","object":[1]}`, `{"error":"object - Invalid object. Got: array.","errors":[{"title":"Invalid value","source":{"pointer":"/object"},"message":"object - Invalid object. Got: array"}]}`},
		{"not a text", `{"email":"a","text":{"a":1}}`, `{"error":"text - Invalid string. Got: object.","errors":[{"title":"Invalid value","source":{"pointer":"/text"},"message":"text - Invalid string. Got: object"}]}`},
		{"not a number", `{"email":"a","float":"NaN"}`, `{"error":"float - Invalid number. Got: string.","errors":[{"title":"Invalid value","source":{"pointer":"/float"},"message":"float - Invalid number. Got: string"}]}`},
		{"elements", `{"email":"a","ids":[1,"x"]}`, `{"error":"1 - Invalid integer. Got: string.","errors":[{"title":"Invalid value","source":{"pointer":"/ids/1"},"message":"1 - Invalid integer. Got: string"}]}`},
		{"elements that are objects", `{"email":"a","shades":["red",{"id":1}]}`, `{"error":"1 - Invalid string. Got: object.","errors":[{"title":"Invalid value","source":{"pointer":"/shades/1"},"message":"1 - Invalid string. Got: object"}]}`},
		{"an enumeration", `{"email":"a","colour":"green"}`, `{"error":"colour - Invalid value.","errors":[{"title":"Invalid value","source":{"pointer":"/colour"},"message":"colour - Invalid value"}]}`},
		{"an error of the type", `{"colour":"black"}`, `{"error":"Unsupported colour"}`},
		{"several", `{"page":"x"}`, `{"error":"Missing field: email. page - Invalid integer. Got: string.","errors":[{"title":"Invalid value","source":{"pointer":"/email"},"message":"Missing field: email"},{"title":"Invalid value","source":{"pointer":"/page"},"message":"page - Invalid integer. Got: string"}]}`},
		{"malformed", `{"email":`, `{"error":"The request body is not valid JSON"}`},
		{"trailing text", `{"email":"a"} x`, `{"error":"The request body is not valid JSON"}`},
		{"a list", `["a"]`, `{"error":"The request body is not a JSON object"}`},
		{"a text", `"a"`, `{"error":"The request body is not a JSON object"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got *needy
			w := call(bound(t, &got), "POST", "/api/v1/bind", tt.body, "Content-Type", JSONType)
			if w.Code != 400 || w.Body.String() != tt.want {
				t.Errorf("got  %d %s\nwant 400 %s", w.Code, w.Body, tt.want)
			}
		})
	}
}

func TestBindOtherNames(t *testing.T) {
	var got *everything
	s := bound(t, &got, func(c *config.Config) { c.API.Name = "other" })
	for _, body := range []struct{ contentType, text string }{
		{FormType, "other_theme=dark&text=other_a"},
		{JSONType, `{"other_theme":"dark","text":"other_a"}`},
		{multipartType, multipartBody("other_theme", "dark", "text", "other_a")},
	} {
		call(s, "POST", "/api/v1/bind", body.text, "Content-Type", body.contentType)
		if got.Theme != "dark" || got.Text != "other_a" {
			t.Errorf("%s: got %q, %q", body.contentType, got.Theme, got.Text)
		}
		*got = everything{}
	}
	call(s, "GET", "/api/v1/bind?other_theme=dark", "")
	if got.Theme != "dark" {
		t.Errorf("query: got %q", got.Theme)
	}
}

func TestQuery(t *testing.T) {
	s := newServer(t, rest.Routes{"DELETE /api/v1/q": {rest.Anyone, func(r *rest.Request) (any, error) {
		return map[string]string{"q": r.Query("domain")}, nil
	}}})
	for _, tt := range []struct{ target, contentType, body, want string }{
		{"/api/v1/q", "", "", ""},
		{"/api/v1/q?domain=example.org", "", "", "example.org"},
		{"/api/v1/q?domain=a&domain=b", "", "", "b"},
		{"/api/v1/q?domain=a", FormType, "domain=b", "b"},
		{"/api/v1/q", JSONType, `{"domain":"c"}`, "c"},
		{"/api/v1/q", JSONType, `{"domain":["c"]}`, ""},
		{"/api/v1/q", JSONType, `{`, ""},
	} {
		if got := field(t, call(s, "DELETE", tt.target, tt.body, "Content-Type", tt.contentType), "q"); got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.target, tt.body, got, tt.want)
		}
	}
}

func TestParameterLimits(t *testing.T) {
	nested := func(open, inner, closing string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
	}
	members := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"k%d":0,`, i)
		}
		return "{" + strings.TrimSuffix(b.String(), ",") + "}"
	}
	for _, tt := range []struct {
		name        string
		contentType string
		body        string
		status      int
	}{
		{"keys", FormType, strings.Repeat("a=1&", rest.MaxKeys), 200},
		{"keys + 1", FormType, strings.Repeat("a=1&", rest.MaxKeys+1), 400},
		{"members", JSONType, members(rest.MaxKeys), 200},
		{"members + 1", JSONType, members(rest.MaxKeys + 1), 400},
		{"elements", JSONType, `{"texts":[` + strings.TrimSuffix(strings.Repeat(`"a",`, rest.MaxKeys-1), ",") + `]}`, 200},
		{"elements + 1", JSONType, `{"texts":[` + strings.TrimSuffix(strings.Repeat(`"a",`, rest.MaxKeys), ",") + `]}`, 400},
		{"members of a raw parameter", JSONType, `{"raw":` + members(5*rest.MaxKeys) + `}`, 200},
		{"depth", JSONType, `{"raw":` + nested("[", "", "]", rest.MaxDepth-1) + `}`, 200},
		{"depth + 1", JSONType, `{"raw":` + nested("[", "", "]", rest.MaxDepth) + `}`, 400},
		{"brackets in texts", JSONType, `{"text":"` + strings.Repeat(`[\"{`, 50) + `"}`, 200},
		{"depth of keys", FormType, "raw" + strings.Repeat("[a]", rest.MaxDepth-1) + "=1", 200},
		{"depth of keys + 1", FormType, "raw" + strings.Repeat("[a]", rest.MaxDepth) + "=1", 400},
		{"JSON", JSONType, `{"text":"` + strings.Repeat("a", rest.MaxText-len(`{"text":""}`)) + `"}`, 200},
		{"JSON + 1", JSONType, `{"text":"` + strings.Repeat("a", rest.MaxText-len(`{"text":""}`)+1) + `"}`, 413},
		{"form", FormType, "text=" + strings.Repeat("a", rest.MaxText-len("text=")), 200},
		{"form + 1", FormType, "text=" + strings.Repeat("a", rest.MaxText-len("text=")+1), 413},
		{"value", multipartType, multipartBody("text", strings.Repeat("a", rest.MaxText)), 200},
		{"value + 1", multipartType, multipartBody("text", strings.Repeat("a", rest.MaxText+1)), 413},
		{"values together", multipartType, multipartBody("text", strings.Repeat("a", rest.MaxText), "x", "y"), 413},
		{"a value that cannot be decoded", FormType, "text=%zz", 400},
		{"a key that cannot be decoded", FormType, "%=1", 400},
		{"a value that is not UTF-8", FormType, "text=%FF", 400},
		{"a key that is not UTF-8", FormType, "%FF=1", 400},
		{"a part that is not UTF-8", multipartType, multipartBody("text", "\xff"), 400},
		{"JSON that is not UTF-8", JSONType, "{\"text\":\"\xff\"}", 400},
		{"a raw parameter that is not UTF-8", JSONType, "{\"raw\":{\"a\":\"\xff\"}}", 400},
		{"no boundary", "multipart/form-data", multipartBody("text", "a"), 400},
		{"truncated", multipartType, "--frontier\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\nabc", 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got *everything
			w := call(bound(t, &got), "POST", "/api/v1/bind", tt.body, "Content-Type", tt.contentType, "Authorization", "Bearer alice")
			if w.Code != tt.status || tt.status != 200 && field(t, w, "error") == "" {
				t.Errorf("got %d %.200s, want %d", w.Code, w.Body, tt.status)
			}
		})
	}
}

func FuzzForm(f *testing.F) {
	for _, seed := range []string{"text=a&texts[]=b&texts=c", "poll[options][]=a&poll[options][0]=b", "fields[][name]=a&fields[][value]=b&fields[][name]=c",
		"raw[a][][b]=1&raw[a][][b]=2&raw[a]=3", "fields[0]=a&fields[][x]=b&fields=1", "%5B%5D=%FF&a[b]c=d"} {
		f.Add(seed)
	}
	var got *everything
	s := bound(f, &got)
	f.Fuzz(func(t *testing.T, body string) {
		got = nil
		w := call(s, "POST", "/api/v1/bind", body, "Content-Type", FormType)
		if w.Code != 200 && w.Code != 400 && w.Code != 413 {
			t.Fatalf("got %d %s", w.Code, w.Body)
		}
		if got != nil && got.Raw != nil && !json.Valid(got.Raw) {
			t.Errorf("raw is not JSON: %s", got.Raw)
		}
		// A form of plain pairs is parsed like by the standard library.
		if values, err := url.ParseQuery(body); err == nil && got != nil && !strings.ContainsAny(body, "[%;") && len(values["text"]) > 0 {
			if all := values["text"]; got.Text != all[len(all)-1] {
				t.Errorf("got %q, want %q", got.Text, all)
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"text":"a"}`, `{"poll":{"options":["a","b"],"expires_in":1}}`, `{ "fields" : [ { "name" : "a\"]}" } , null ] }`,
		`{"raw":{"a":[1,2,{"b":null}]},"objects":[{}],"ints":[-1.5e3]}`, `{"texts":{"1":"b","0":"a"},"flag":true}`} {
		f.Add(seed)
	}
	var got *everything
	s := bound(f, &got)
	f.Fuzz(func(t *testing.T, body string) {
		got = nil
		w := call(s, "POST", "/api/v1/bind", body, "Content-Type", JSONType)
		if w.Code != 200 && w.Code != 400 && w.Code != 413 {
			t.Fatalf("got %d %s", w.Code, w.Body)
		}
		if got == nil {
			return
		}
		// Accepted JSON has the same values as with encoding/json.
		var want struct {
			Raw   json.RawMessage `json:"raw"`
			Texts any             `json:"texts"`
			Other map[string]any
		}
		var members map[string]json.RawMessage
		if strings.TrimSpace(body) == "" {
			return
		}
		if err := json.Unmarshal([]byte(body), &members); err != nil {
			t.Fatalf("%q was accepted: %v", body, err)
		}
		if raw, ok := members["raw"]; ok && string(raw) != "null" && string(raw) != string(got.Raw) {
			t.Errorf("raw is %s, want %s", got.Raw, raw)
		}
		if json.Unmarshal(members["texts"], &want.Texts) == nil {
			if list, ok := want.Texts.([]any); ok && len(got.Texts) > len(list) {
				t.Errorf("texts are %q, want %v", got.Texts, list)
			}
		}
		var text string
		if json.Unmarshal(members["text"], &text) == nil && got.Text != text {
			t.Errorf("text is %q, want %q", got.Text, text)
		}
	})
}

func TestBindRefusesUnknownTypes(t *testing.T) {
	var got *struct {
		Ch chan int `param:"ch"`
	}
	w := call(bound(t, &got), "GET", "/api/v1/bind?ch=1", "")
	if w.Code != 500 {
		t.Errorf("got %d %s, want the 500 of a panic", w.Code, w.Body)
	}
}

// size is a word of a fixed set.
type size string

func (s *size) UnmarshalText(b []byte) error { return enum.Read(s, b, "small", "large") }

// TestBindWords checks that a word that is none of a fixed set is refused, wherever it stands, and never a default.
func TestBindWords(t *testing.T) {
	type dress struct {
		Size  size   `param:"size"`
		SizeP *size  `param:"size_p"`
		Sizes []size `param:"sizes"`
		Flag  bool   `param:"flag"`
		Part  *struct {
			Size *size `param:"size"`
		} `param:"part,closed"`
	}
	for _, tt := range []struct {
		method, query, body string
		status              int
		want                string
	}{
		{"POST", "", `{"size":"small","size_p":"large","sizes":["small","large"],"part":{"size":"small"}}`, 200, ""},
		{"POST", "", `{"size":"","size_p":null,"sizes":[null,""],"part":null,"flag":""}`, 200, ""},
		{"POST", "", `{"size":"Small"}`, 422, `size - Invalid value "Small": must be small or large.`},
		{"POST", "", `{"size_p":" small"}`, 422, `size_p - Invalid value " small": must be small or large.`},
		{"POST", "", `{"size":7}`, 422, `size - Invalid value "7": must be small or large.`},
		{"POST", "", `{"sizes":["small","huge"]}`, 422, `sizes - Invalid value "huge": must be small or large.`},
		{"POST", "", `{"part":{"size":"huge"}}`, 422, `part[size] - Invalid value "huge": must be small or large.`},
		{"POST", "", `{"part":{"siez":"small"}}`, 422, `part - Invalid value "siez": must be size.`},
		{"POST", "", `{"size":["small"]}`, 400, `size - Invalid string. Got: array.`},
		{"POST", "", `{"flag":"maybe"}`, 422, `flag - Invalid value "maybe": must be true or false.`},
		{"POST", "", `{"flag":2,"size":"x"}`, 422, `size - Invalid value "x": must be small or large. flag - Invalid value "2": must be true or false.`},
		{"GET", "flag=maybe", "", 200, ""},
		{"GET", "size=huge", "", 422, `size - Invalid value "huge": must be small or large.`},
		{"POST", "size=huge", "", 422, `size - Invalid value "huge": must be small or large.`},
		{"POST", "sizes[]=huge", "", 422, `sizes - Invalid value "huge": must be small or large.`},
		{"POST", "size=undefined", "", 200, ""},
		{"POST", "", `{"size":"` + strings.Repeat("x", 200) + `"}`, 422, `size - Invalid value "` + strings.Repeat("x", 49) + `…": must be small or large.`},
	} {
		var got *dress
		w := call(bound(t, &got), tt.method, "/api/v1/bind?"+tt.query, tt.body, "Content-Type", JSONType)
		var answer struct{ Error string }
		json.Unmarshal(w.Body.Bytes(), &answer)
		if w.Code != tt.status || answer.Error != tt.want {
			t.Errorf("%s %s %s: got %d %q, want %d %q", tt.method, tt.query, tt.body, w.Code, answer.Error, tt.status, tt.want)
		}
	}
}
