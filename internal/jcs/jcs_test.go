package jcs_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf16"

	"svc/internal/jcs"
)

// parse reads JSON as documents are read: numbers as they stand there.
func parse(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The numbers of RFC 8785, appendix B.
func TestNumbers(t *testing.T) {
	for _, tt := range []struct {
		bits uint64
		want string
	}{
		{0x0000000000000000, "0"},
		{0x8000000000000000, "0"},
		{0x0000000000000001, "5e-324"},
		{0x8000000000000001, "-5e-324"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"},
		{0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"},
		{0xc340000000000000, "-9007199254740992"},
		{0x4430000000000000, "295147905179352830000"},
		{0x7fffffffffffffff, ""},
		{0x7ff0000000000000, ""},
		{0xfff0000000000000, ""},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"},
		{0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
		{0x444b1ae4d6e2ef4e, "999999999999999700000"},
		{0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
		{0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x41b3de4355555553, "333333333.3333332"},
		{0x41b3de4355555554, "333333333.33333325"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0x41b3de4355555556, "333333333.3333334"},
		{0x41b3de4355555557, "333333333.33333343"},
		{0xbecbf647612f3696, "-0.0000033333333333333333"},
		{0x43143ff3c1cb0959, "1424953923781206.2"},
	} {
		got, err := jcs.Marshal(math.Float64frombits(tt.bits))
		if string(got) != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%016x: got %s, %v, want %q", tt.bits, got, err, tt.want)
		}
	}
}

func TestMarshal(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"RFC 8785, 3.2.2",
			`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
			  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
			  "literals": [null, true, false]}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`},
		{"RFC 8785, 3.2.3",
			`{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
			  "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"}`,
			"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\"," +
				"\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}"},
		{"a name that begins another", `{"ab":1,"a":2,"":3}`, `{"":3,"a":2,"ab":1}`},
		{"a pair after the same pair", "{\"😀\uff5e\":1,\"😀😀\":2,\"😀a\":3}", "{\"😀a\":3,\"😀😀\":2,\"😀\uff5e\":1}"},
		{"pairs that differ in the second unit", `{"😁":1,"😀":2}`, `{"😀":2,"😁":1}`},
		{"every short escape", `"\b\t\n\f\r\"\\\/"`, `"\b\t\n\f\r\"\\/"`},
		{"what is not escaped", "\"\u007f\u2028\u2029<>&é\"", "\"\u007f\u2028\u2029<>&é\""},
		{"other controls", `"\u0000\u001F"`, `"\u0000\u001f"`},
		{"nothing in them", `{"b":[],"a":{}}`, `{"a":{},"b":[]}`},
		{"an integer beyond 2^53", `9007199254740993`, `9007199254740992`},
		{"a fraction of nothing", `-0.0`, `0`},
		{"a coordinate", `[-71.184902,25.273962]`, `[-71.184902,25.273962]`},
		{"a three-digit exponent", `[1e-100,1e100,1e-10]`, `[1e-100,1e+100,1e-10]`},
		{"too small for a double", `1e-400`, `0`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := jcs.Marshal(parse(t, tt.in))
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

// TestBytes compares with the bytes printed in RFC 8785, 3.2.4.
func TestBytes(t *testing.T) {
	want, err := hex.DecodeString(strings.Join(strings.Fields(`
		7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72 75 65 2c 66 61 6c 73 65 5d 2c 22 6e 75 6d 62 65 72 73 22 3a
		5b 33 33 33 33 33 33 33 33 33 2e 33 33 33 33 33 33 33 2c 31 65 2b 33 30 2c 34 2e 35 2c 30 2e 30 30 32 2c 31 65 2d 32 37
		5d 2c 22 73 74 72 69 6e 67 22 3a 22 e2 82 ac 24 5c 75 30 30 30 66 5c 6e 41 27 42 5c 22 5c 5c 5c 5c 5c 22 2f 22 7d`), ""))
	if err != nil {
		t.Fatal(err)
	}
	got, err := jcs.Marshal(parse(t, `{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
		"string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %x, %v\nwant %x", got, err, want)
	}
}

func TestRefused(t *testing.T) {
	var deep any
	for range 300 {
		deep = []any{deep}
	}
	for _, tt := range []struct {
		name  string
		value any
	}{
		{"not a number", math.NaN()},
		{"infinite", math.Inf(1)},
		{"beyond a double", json.Number("1e400")},
		{"a number that is none", json.Number("x")},
		{"an empty number", json.Number("")},
		{"a string that is not UTF-8", "a\xff"},
		{"half of a surrogate pair", "\xed\xa0\x80"},
		{"a name that is not UTF-8", map[string]any{"a\xff": true}},
		{"inside of a list", []any{map[string]any{"a": []any{math.NaN()}}}},
		{"a struct", struct{}{}},
		{"a list of strings", []string{"a"}},
		{"bytes", []byte("a")},
		{"too deep", deep},
	} {
		if got, err := jcs.Marshal(tt.value); err == nil || got != nil {
			t.Errorf("%s: got %q, want an error", tt.name, got)
		}
	}
}

// FuzzMarshal checks that what comes out means the same, is its own canonical form, and has its names in order.
func FuzzMarshal(f *testing.F) {
	f.Add(`{"b":[1,2.5,-0,1e21,1e-7],"a":{"\u00e9":"\ud83d\ude00","\ufb33":null}}`)
	f.Add(`"\u0000\"\\/"`)
	f.Fuzz(func(t *testing.T, text string) {
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			t.Skip()
		}
		first, err := jcs.Marshal(value)
		if err != nil {
			t.Skip()
		}
		d := json.NewDecoder(bytes.NewReader(first))
		d.UseNumber()
		var again any
		if err := d.Decode(&again); err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		second, err := jcs.Marshal(again)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%s became %s, %v", first, second, err)
		}
		if members, ok := value.(map[string]any); ok {
			for a := range members {
				for b := range members {
					checkOrder(t, a, b)
				}
			}
		}
	})
}

// checkOrder compares the order of two names with that of their UTF-16.
func checkOrder(t *testing.T, a, b string) {
	if a == b {
		return
	}
	got, err := jcs.Marshal(map[string]any{a: "1", b: "2"})
	if err != nil {
		t.Fatal(err)
	}
	aFirst := bytes.Index(got, []byte(`:"1"`)) < bytes.Index(got, []byte(`:"2"`))
	if strings.Contains(a, `:"`) || strings.Contains(b, `:"`) {
		return
	}
	if want := lessUnits(utf16.Encode([]rune(a)), utf16.Encode([]rune(b))); aFirst != want {
		t.Errorf("%q before %q: %v, want %v", a, b, aFirst, want)
	}
}

func lessUnits(a, b []uint16) bool {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return len(a) < len(b)
}
