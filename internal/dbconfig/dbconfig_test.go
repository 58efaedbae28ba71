package dbconfig_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"svc/internal/config"
	"svc/internal/dbconfig"
)

type (
	atom   = dbconfig.Atom
	module = dbconfig.Module
	list   = dbconfig.List
	tuple  = dbconfig.Tuple
	object = dbconfig.Map
)

var svc = dbconfig.Codec{Name: "svc"}

// conversions are values that front ends send, their meaning, and the JSON of the answer if it differs.
var conversions = []struct {
	name, sent string
	want       dbconfig.Value
	back       string
}{
	{"rule 1: a module", `"Svc.Upload"`, module("Svc.Upload"), ""},
	{"rule 1: Phoenix", `"Phoenix.Socket.V1.JSONSerializer"`, module("Phoenix.Socket.V1.JSONSerializer"), ""},
	{"rule 1: Tesla", `"Tesla.Adapter.Gun"`, module("Tesla.Adapter.Gun"), ""},
	{"rule 1: a mail adapter", `"Swoosh.Adapters.SMTP"`, module("Swoosh.Adapters.SMTP"), ""},
	{"rule 1: Oban", `"Oban"`, module("Oban"), ""},
	{"rule 1: Ueberauth", `"Ueberauth"`, module("Ueberauth"), ""},
	{"a text with a dot is no module", `"Other.Upload"`, "Other.Upload", ""},
	{"a text that begins like a module", `"Svcs.Upload"`, "Svcs.Upload", ""},
	{"rule 2: an atom", `":unauthenticated"`, atom("unauthenticated"), ""},
	{"rule 2: the group", `":svc"`, atom("svc"), ""},
	{"an atom with a dot", `":tlsv1.2"`, atom("tlsv1.2"), ""},
	{"an atom for true", `":true"`, true, `true`},
	{"an atom for false", `":false"`, false, `false`},
	{"an atom for nil", `":nil"`, nil, `null`},
	{"true", `true`, true, ""},
	{"false", `false`, false, ""},
	{"null", `null`, nil, ""},
	{"a text", `"a <b> text"`, "a <b> text", ""},
	{"blanks around a text", `" x "`, "x", `"x"`},
	{"an empty text", `""`, "", ""},
	{"a number", `5000`, json.Number("5000"), ""},
	{"a fraction", `0.7`, json.Number("0.7"), ""},
	{"a list", `["a",":b",3]`, list{"a", atom("b"), json.Number("3")}, ""},
	{"an empty list", `[]`, list{}, ""},
	{"rule 3: a tuple", `{"tuple":["*.spam.example","spam"]}`, tuple{"*.spam.example", "spam"}, ""},
	{"rule 3: an empty tuple", `{"tuple":[]}`, tuple{}, ""},
	{"a proxy", `{"tuple":[":proxy_url",{"tuple":[":socks5","127.0.0.1",1234]}]}`,
		tuple{atom("proxy_url"), tuple{atom("socks5"), "127.0.0.1", json.Number("1234")}}, ""},
	{"an object with a key tuple and another", `{"a":1,"tuple":[]}`, object{"a": json.Number("1"), "tuple": list{}}, ""},
	{"an object with a key tuple that is no list", `{"tuple":"x"}`, object{"tuple": "x"}, ""},
	{"rule 4: a keyword list", `[{"tuple":[":name","X"]},{"tuple":[":limits",[{"tuple":[":a",1]}]]}]`,
		list{tuple{atom("name"), "X"}, tuple{atom("limits"), list{tuple{atom("a"), json.Number("1")}}}}, ""},
	{"a key that is named nil", `[{"tuple":[":nil",null]},{"tuple":[":true",":false"]}]`, list{tuple{atom("nil"), nil}, tuple{atom("true"), false}},
		`[{"tuple":[":nil",null]},{"tuple":[":true",false]}]`},
	{"a map is no keyword list", `{":max_options":20,"plain":"x"}`, object{":max_options": json.Number("20"), "plain": "x"}, ""},
	{"a regular expression", `"~r/win\\s+big/i"`, dbconfig.Regex{Pattern: `win\s+big`, Flags: "i"}, ""},
	{"a regular expression in bars", `"~r|https?://x|"`, dbconfig.Regex{Pattern: `https?:\/\/x`}, `"~r/https?:\\/\\/x/"`},
	{"a regular expression in brackets", `"~r(a(b)c)iu"`, dbconfig.Regex{Pattern: `a(b)c`, Flags: "iu"}, `"~r/a(b)c/iu"`},
	{"unknown flags", `"~r/x/q"`, "~r/x/q", ""},
	{"code is a text", `"{\"resize\", \"3840x1080>\"}"`, `{"resize", "3840x1080>"}`, ""},
}

// TestConversion checks the conversion rules of spec 4.5 and admin API 7.2 in both directions.
func TestConversion(t *testing.T) {
	for _, tt := range conversions {
		got, err := svc.Parse([]byte(tt.sent))
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %#v, %v, want %#v", tt.name, got, err, tt.want)
		}
		want := tt.back
		if want == "" {
			want = tt.sent
		}
		if back, err := svc.Marshal(got); err != nil || string(back) != want {
			t.Errorf("%s: comes back as %s, %v, want %s", tt.name, back, err, want)
		}
	}
	for name, sent := range map[string]string{
		"no JSON": `{"a"`, "two values": `1 2`, "too deep": strings.Repeat("[", 40) + strings.Repeat("]", 40), "too large": `"` + strings.Repeat("x", 3_000_000) + `"`,
	} {
		if v, err := svc.Parse([]byte(sent)); err == nil {
			t.Errorf("%s: accepted as %v", name, v)
		}
	}
}

// TestServiceName checks that atoms and modules of the service follow api.name, and texts do not.
func TestServiceName(t *testing.T) {
	other := dbconfig.Codec{Name: "my_server"}
	const sent = `[":my_server","MyServer.Upload",":svcs","svc","my_server","MyServer"]`
	got, err := other.Parse([]byte(sent))
	if want := (list{atom("svc"), module("Svc.Upload"), atom("svcs"), "svc", "my_server", "MyServer"}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, %v, want %#v", got, err, want)
	}
	if back, err := other.Marshal(got); err != nil || string(back) != sent {
		t.Errorf("comes back as %s, %v", back, err)
	}
}

func FuzzConversion(f *testing.F) {
	for _, tt := range conversions {
		f.Add(tt.sent)
	}
	f.Fuzz(func(t *testing.T, sent string) {
		v, err := svc.Parse([]byte(sent))
		if err != nil {
			return
		}
		shown, err := svc.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		again, err := svc.Parse(shown)
		if err != nil || !reflect.DeepEqual(again, v) {
			t.Errorf("%q became %#v, then %s and %#v, %v", sent, v, shown, again, err)
		}
		row := dbconfig.RowKey{Group: ":svc", Key: ":instance"}
		if merged := dbconfig.Merge(row, v, v); len(dbconfig.Subkeys(merged)) != len(dbconfig.Subkeys(v)) {
			t.Errorf("%s merged with itself is %v", shown, merged)
		}
		dbconfig.Apply(config.Default(), []dbconfig.Row{{RowKey: row, Value: v}})
	})
}

// TestMerge checks rule 6 of spec 4.5.
func TestMerge(t *testing.T) {
	for _, tt := range []struct{ name, group, key, old, sent, want string }{
		{"pairs are merged, mentioned ones at the end", ":svc", ":instance", `[{"tuple":[":a",1]},{"tuple":[":b",2]}]`, `[{"tuple":[":a",3]}]`,
			`[{"tuple":[":b",2]},{"tuple":[":a",3]}]`},
		{"nested keyword lists are merged", ":svc", ":x", `[{"tuple":[":a",[{"tuple":[":b",1]}]]}]`, `[{"tuple":[":a",[{"tuple":[":c",2]}]]}]`,
			`[{"tuple":[":a",[{"tuple":[":b",1]},{"tuple":[":c",2]}]]}]`},
		{"lists are replaced", ":svc", ":x", `[{"tuple":[":a",["x","y"]]}]`, `[{"tuple":[":a",["z"]]}]`, `[{"tuple":[":a",["z"]]}]`},
		{"objects are replaced", ":svc", ":x", `[{"tuple":[":a",{":b":1}]}]`, `[{"tuple":[":a",{":c":2}]}]`, `[{"tuple":[":a",{":c":2}]}]`},
		{"a value that is no keyword list is replaced", ":svc", ":admin_token", `"a"`, `"b"`, `"b"`},
		{"a list of values is replaced", ":svc", ":x", `["a"]`, `["b"]`, `["b"]`},
		{":ecto_repos", ":svc", ":ecto_repos", `[{"tuple":[":a",1]}]`, `[{"tuple":[":b",2]}]`, `[{"tuple":[":b",2]}]`},
		{":meta of :quack", ":quack", ":meta", `[{"tuple":[":a",1]}]`, `[{"tuple":[":b",2]}]`, `[{"tuple":[":b",2]}]`},
		{":types of :mime", ":mime", ":types", `[{"tuple":[":a",1]}]`, `[{"tuple":[":b",2]}]`, `[{"tuple":[":b",2]}]`},
		{":max_age of :cors_plug", ":cors_plug", ":max_age", `[{"tuple":[":a",1]}]`, `[{"tuple":[":b",2]}]`, `[{"tuple":[":b",2]}]`},
		{":methods of :cors_plug", ":cors_plug", ":methods", `[{"tuple":[":a",1]}]`, `[{"tuple":[":b",2]}]`, `[{"tuple":[":b",2]}]`},
		{":expose of :cors_plug", ":cors_plug", ":expose", `[{"tuple":[":a",1]}]`, `[{"tuple":[":b",2]}]`, `[{"tuple":[":b",2]}]`},
		{":headers of :cors_plug", ":cors_plug", ":headers", `[{"tuple":[":a",1]}]`, `[{"tuple":[":b",2]}]`, `[{"tuple":[":b",2]}]`},
		{":opts of :auto_linker", ":auto_linker", ":opts", `[{"tuple":[":a",1]}]`, `[{"tuple":[":b",2]}]`, `[{"tuple":[":b",2]}]`},
		{":node_blacklist of :swarm", ":swarm", ":node_blacklist", `[{"tuple":[":a",1]}]`, `[{"tuple":[":b",2]}]`, `[{"tuple":[":b",2]}]`},
		{":backends of :logger", ":logger", ":backends", `[{"tuple":[":a",1]}]`, `[{"tuple":[":b",2]}]`, `[{"tuple":[":b",2]}]`},
		{":mascots of :assets", ":svc", ":assets", `[{"tuple":[":mascots",[{"tuple":[":a",1]}]]}]`, `[{"tuple":[":mascots",[{"tuple":[":b",2]}]]}]`,
			`[{"tuple":[":mascots",[{"tuple":[":b",2]}]]}]`},
		{":groups of :emoji", ":svc", ":emoji", `[{"tuple":[":groups",[{"tuple":[":a",1]}]]},{"tuple":[":x",1]}]`, `[{"tuple":[":groups",[{"tuple":[":b",2]}]]}]`,
			`[{"tuple":[":x",1]},{"tuple":[":groups",[{"tuple":[":b",2]}]]}]`},
		{":retries of :workers", ":svc", ":workers", `[{"tuple":[":retries",[{"tuple":[":a",1]}]]}]`, `[{"tuple":[":retries",[{"tuple":[":b",2]}]]}]`,
			`[{"tuple":[":retries",[{"tuple":[":b",2]}]]}]`},
		{":match_actor of :mrf_subchain", ":svc", ":mrf_subchain", `[{"tuple":[":match_actor",[{"tuple":[":a",1]}]]}]`,
			`[{"tuple":[":match_actor",[{"tuple":[":b",2]}]]}]`, `[{"tuple":[":match_actor",[{"tuple":[":b",2]}]]}]`},
		{":replace of :mrf_keyword", ":svc", ":mrf_keyword", `[{"tuple":[":replace",[{"tuple":[":a",1]}]]}]`,
			`[{"tuple":[":replace",[{"tuple":[":b",2]}]]}]`, `[{"tuple":[":replace",[{"tuple":[":b",2]}]]}]`},
		{"the last of two equal keys counts", ":svc", ":x", `[]`, `[{"tuple":[":a",1]},{"tuple":[":a",2]}]`, `[{"tuple":[":a",2]}]`},
	} {
		got, err := svc.Marshal(dbconfig.Merge(dbconfig.RowKey{Group: tt.group, Key: tt.key}, parse(t, tt.old), parse(t, tt.sent)))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

func parse(t *testing.T, doc string) dbconfig.Value {
	t.Helper()
	v, err := svc.Parse([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestCatalog checks that each setting comes back from its place, described with a type.
func TestCatalog(t *testing.T) {
	c := config.Default()
	c.MRFSimple.Reject = []config.HostReason{{Host: "*.spam.example", Reason: "spam"}}
	c.MRFKeyword.Replace = []config.Replacement{{Pattern: "~r/a/i", Replacement: "b"}}
	c.MRFSubchain.MatchActor = []config.Subchain{{Pattern: "bot", Policies: []string{"ForceBotUnlistedPolicy"}}}
	c.MRFUserAllowlist.Hosts = []config.AllowedActors{{Host: "a.example", Actors: []string{"https://a.example/1"}}}
	c.Frontends.Primary = "fe/main"
	c.Frontends.Configurations = []config.FrontendConfiguration{{Name: "svc_fe", Configuration: `{"theme":"dark"}`}}
	c.Accounts.BirthdayMinAge = 16
	c.Mail.Enabled, c.Mail.Host, c.Mail.Password = true, "mail.example.org", "secret"
	var rows []dbconfig.Row
	for _, e := range dbconfig.Entries(c, nil) {
		shown, err := svc.Marshal(e.Value)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(shown), `"secret"`) {
			t.Errorf("a secret is shown: %s", shown)
		}
		rows = append(rows, dbconfig.Row{RowKey: e.RowKey, Value: dbconfig.Unmasked(e.RowKey, parse(t, string(shown)), nil)})
	}
	base := config.Default()
	base.Mail.Password = "secret"
	got, err := dbconfig.Apply(base, rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range config.Settings() {
		a, _ := got.Get(s.Group, s.Key)
		b, _ := c.Get(s.Group, s.Key)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: got %v, want %v", s.Name(), a, b)
		}
	}
	for _, d := range svc.Describe() {
		if d.Group == "" || d.Key == "" || d.Label == "" || d.Type != "group" || d.Description == "" || len(d.Children) == 0 {
			t.Errorf("group %+v", d)
		}
		for _, child := range d.Children {
			if child.Key == "" || child.Label == "" || child.Type == nil || child.Description == "" {
				t.Errorf("%s: %+v", d.Key, child)
			}
		}
	}
}

// TestChosenFrontend checks the forms in which front ends send the chosen one.
func TestChosenFrontend(t *testing.T) {
	for _, tt := range []struct{ value, want string }{
		{`{"name":"fe","ref":"main"}`, "fe/main"},
		{`{":name":"fe",":ref":"main"}`, "fe/main"},
		{`"fe/main"`, "fe/main"},
		{`{}`, ""},
		{`""`, ""},
		{`null`, ""},
		{`{"name":"fe"}`, "error"},
		{`{"name":"..","ref":"main"}`, "error"},
		{`{"name":5,"ref":"main"}`, "error"},
		{`["fe"]`, "error"},
	} {
		row := dbconfig.Row{RowKey: dbconfig.RowKey{Group: ":svc", Key: ":frontends"}, Value: parse(t, `[{"tuple":[":primary",`+tt.value+`]}]`)}
		c, err := dbconfig.Apply(config.Default(), []dbconfig.Row{row})
		if got := c.Frontends.Primary; (err != nil) != (tt.want == "error") || err == nil && got != tt.want {
			t.Errorf("%s: got %q, %v, want %q", tt.value, got, err, tt.want)
		}
	}
}
