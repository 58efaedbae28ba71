package entity_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"svc/server/entity"
)

// sample is an entity with slots (V is entity.Slot) or with plain values (V is json.RawMessage).
type sample[V any] struct {
	ID    string `json:"id"`
	Text  string `json:"text"`
	Count V      `json:"count"`
	Moved any    `json:"moved"`
	Flag  V      `json:"flag"`
	Note  V      `json:"note,omitempty"`
	Tail  string `json:"tail"`
	Last  V      `json:"last,omitempty"`
}

// encode encodes v with encoding/json. Like the API, it does not escape <, > and &.
func encode(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TestDocument compares documents with encoding/json of the same values.
func TestDocument(t *testing.T) {
	type values struct{ count, flag, note, last string }
	usual := values{"0", "false", "", ""}
	for _, tt := range []struct {
		name, text, tail string
		moved            any
		values           values
	}{
		{"usual values", "hello", "end", nil, usual},
		{"all slots differ", "hello", "end", nil, values{"7", "true", `"a note"`, `{"a":[1]}`}},
		{"only the first slot", "hello", "end", nil, values{"7", "false", "", ""}},
		{"only slots that are usually left out", "hello", "end", nil, values{"0", "false", "1", "2"}},
		{"only the last slot", "hello", "end", nil, values{"0", "false", "", "[]"}},
		{"empty values", "", "", nil, values{`""`, "{}", "{}", "{}"}},
		{"quotes and backslashes", `a "b" \ 'c' \" \\`, `\`, nil, values{`"\""`, "true", `"\\"`, ""}},
		{"HTML", "<b>&amp;</b>", "<&>", nil, values{"0", "true", `"<i>"`, ""}},
		{"control characters", "\x00\x1f\t\r\n\x7f", "\u2028\u2029", nil, usual},
		{"invalid UTF-8", "a\xffb", "\xc3", nil, usual},
		{"other scripts", "日本 😀 e\u0301", "ü", nil, values{"0", "false", `"é"`, ""}},
		{"texts that look like slots", `"count":{},"flag":{}`, `,"note":{},"last":{}`, nil, values{"7", "true", `"\"last\":{}"`, "1"}},
		{"a nested entity", "hello", "end", json.RawMessage(`{"count":7,"flag":{},"note":{},"last":{}}`), values{"1", "true", "2", "3"}},
		{"a nested entity, usual values", "hello", "end", json.RawMessage(`{"count":7,"flag":{},"note":{},"last":{}}`), usual},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := tt.values
			slots := []entity.SlotValue{{"count", "0", v.count}, {"flag", "false", v.flag}, {"note", "", v.note}, {"last", "", v.last}}
			open := sample[entity.Slot]{ID: "1", Text: tt.text, Moved: tt.moved, Tail: tt.tail}
			plain := sample[json.RawMessage]{"1", tt.text, json.RawMessage(v.count), tt.moved, json.RawMessage(v.flag), json.RawMessage(v.note), tt.tail, json.RawMessage(v.last)}
			want := "before " + encode(t, plain)
			got, err := entity.Render(open, nil, slots, false)
			if err != nil || string(got) != want {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}

			// A boost has members of its own before the first slot of the boosted status.
			head := sample[entity.Slot]{ID: "22", Text: "boost"}
			plain.ID, plain.Text = head.ID, head.Text
			want = "before " + encode(t, plain)
			if got, err = entity.Render(open, head, slots, false); err != nil || string(got) != want {
				t.Errorf("with another head: got %s, %v, want %s", got, err, want)
			}
		})
	}
}

// TestDocumentCounters renders slots whose values are always written, as those of counters.
func TestDocumentCounters(t *testing.T) {
	open := struct {
		ID        string      `json:"id"`
		Followers entity.Slot `json:"followers"`
		Statuses  entity.Slot `json:"statuses"`
	}{ID: "1"}
	for _, n := range []string{"0", "10", "123456"} {
		got, err := entity.Render(open, nil, []entity.SlotValue{{"followers", "0", n}, {"statuses", "0", "5"}}, true)
		if want := `before {"id":"1","followers":` + n + `,"statuses":5}`; err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

// TestDocumentSlotsInOrder checks that JSON in which a slot is missing, or stands in another order than in the table, is an error.
func TestDocumentSlotsInOrder(t *testing.T) {
	slots := []entity.SlotValue{{"count", "0", "0"}, {"flag", "false", "false"}, {"note", "", ""}, {"last", "", ""}}
	for _, other := range []any{
		struct{}{},
		sample[string]{},
		struct {
			Flag  entity.Slot `json:"flag"`
			Count entity.Slot `json:"count"`
			Note  entity.Slot `json:"note"`
			Last  entity.Slot `json:"last"`
		}{},
	} {
		if got, err := entity.Render(sample[entity.Slot]{}, other, slots, false); err == nil {
			t.Errorf("slots of %T: got %s, want an error", other, got)
		}
	}
}

// TestNewSlots checks that a table that does not have exactly the members of type slot is refused, with the path of the first one.
func TestNewSlots(t *testing.T) {
	type extension struct {
		Count  entity.Slot `json:"count"`
		Policy struct {
			User entity.Slot `json:"user"`
		} `json:"policy"`
	}
	withSlots := func(names []string) any {
		var fields []reflect.StructField
		for i, name := range names {
			tag := reflect.StructTag(`json:"` + name + `"`)
			fields = append(fields, reflect.StructField{Name: fmt.Sprint("M", i), Type: reflect.TypeFor[entity.Slot](), Tag: tag})
		}
		return reflect.New(reflect.StructOf(fields)).Elem().Interface()
	}
	var many []string
	for i := range 65 {
		many = append(many, fmt.Sprint("m", i))
	}
	all := []string{"count", "flag", "note", "last"}
	var base sample[entity.Slot]
	for _, tt := range []struct {
		name            string
		base, extension any
		paths           []string
		order           string // of the slots, if the table is accepted
		want            string // what it is refused with
	}{
		{"all members", base, struct{}{}, all, "count flag note last", ""},
		{"rows in another order", base, struct{}{}, []string{"last", "flag", "count", "note"}, "count flag note last", ""},
		{"the same name in the extension", base, extension{}, append([]string{"svc.policy.user", "svc.count"}, all...), "count flag note last svc.count svc.policy.user", ""},
		{"64 members", withSlots(many[:64]), struct{}{}, many[:64], strings.Join(many[:64], " "), ""},
		{"65 members", withSlots(many), struct{}{}, many, "", "entity: too many slots, from m64"},
		{"a member without a row", base, struct{}{}, []string{"count", "flag", "last"}, "", "entity: no row for the slot note"},
		{"a member of the extension without a row", base, extension{}, append([]string{"svc.count"}, all...), "", "entity: no row for the slot svc.policy.user"},
		{"a row without a member", base, struct{}{}, append([]string{"unknown"}, all...), "", "entity: no member of type slot for the row unknown"},
		{"a row for another type", base, struct{}{}, append([]string{"text"}, all...), "", "entity: no member of type slot for the row text"},
		{"two members of the same name", withSlots([]string{"count", "count"}), struct{}{}, []string{"count"}, "", "entity: two members for the slot count"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if got, _ := recover().(string); got != tt.want {
					t.Errorf("refused with %q, want %q", got, tt.want)
				}
			}()
			if got := strings.Join(entity.SlotOrder(tt.base, tt.extension, tt.paths), " "); got != tt.order {
				t.Errorf("got the slots %s, want %s", got, tt.order)
			}
		})
	}
}

type rendered string

func (r rendered) AppendJSON(dst []byte) []byte { return append(dst, r...) }

func TestList(t *testing.T) {
	for _, tt := range []struct {
		list entity.List[rendered]
		want string
	}{
		{nil, "[]"},
		{entity.List[rendered]{}, "[]"},
		{entity.List[rendered]{`{"id":"1"}`}, `[{"id":"1"}]`},
		{entity.List[rendered]{"1", "null", "[]"}, "[1,null,[]]"},
	} {
		if got := string(tt.list.AppendJSON(nil)); got != tt.want {
			t.Errorf("AppendJSON: got %s, want %s", got, tt.want)
		}
		if got := encode(t, map[string]any{"list": tt.list}); got != `{"list":`+tt.want+"}" {
			t.Errorf("in another entity: got %s, want the list %s", got, tt.want)
		}
	}
}
