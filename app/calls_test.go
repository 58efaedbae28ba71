package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app"
	"svc/app/apptest"
)

// notSent are members of arguments that do not go through the control socket.
var notSent = map[string]string{
	"admin.FrontendInstall.Archive": "the file is sent as the body",
	"admin.FrontendInstall.File":    "only the API installs from imports/",
	"admin.StatusChange.NoWider":    "only the API refuses a greater audience",
}

// notPrinted are calls whose result no command prints as JSON.
var notPrinted = map[string]bool{"steal emoji": true, "recount data": true}

// sentFile names, in the second process, the file of the values that the first one has sent.
const sentFile = "SVC_TEST_SENT_CALLS"

// TestCallsSurviveJSON sends a filled argument and a filled result of each call to another process as JSON, as the control socket does: a
// command must get the same, whether a server runs or not. The other process has not opened the database.
func TestCallsSurviveJSON(t *testing.T) {
	sent := make(map[string]json.RawMessage)
	file := os.Getenv(sentFile)
	if file != "" {
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &sent)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if file == "" { // the flakes of this process have the number of a database, as those of a server
		openNewDatabase(t)
	}
	for name, types := range app.CallTypes() {
		for i, typ := range types {
			key := fmt.Sprint(name, ": ", []string{"argument", "result"}[i])
			want := reflect.New(typ)
			fill(t, key, want.Elem())
			if file == "" {
				text, err := json.Marshal(want.Interface())
				if err != nil {
					t.Errorf("%s: %v", key, err)
				}
				sent[key] = text
				continue
			}
			got := reflect.New(typ)
			if err := json.Unmarshal(sent[key], got.Interface()); err != nil {
				t.Errorf("%s: %v", key, err)
			}
			compare(t, key, want.Elem(), got.Elem())
		}
	}
	if file == "" && !t.Failed() {
		receiveCalls(t, sent)
	}
}

func openNewDatabase(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	apptest.CreateData(t, dir)
}

// receiveCalls runs this test in a second process with what the first one has sent.
func receiveCalls(t *testing.T, sent map[string]json.RawMessage) {
	t.Helper()
	if len(sent) < 200 {
		t.Fatalf("there are %d arguments and results", len(sent))
	}
	file := filepath.Join(t.TempDir(), "sent.json")
	text, err := json.Marshal(sent)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCallsSurviveJSON$")
	cmd.Env = append(os.Environ(), sentFile+"="+file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("in the process of a command: %v\n%s", err, out)
	}
}

// fill gives every member of a value something that is not its zero value.
func fill(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32:
		v.SetInt(7)
	case reflect.Int64:
		v.SetInt(1_893_456_000_000<<10 | 5) // valid as an id, too
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1.5)
	case reflect.String:
		v.SetString("text")
	case reflect.Pointer:
		if v.Type().Elem().Kind() == reflect.Struct && strings.Count(path, v.Type().Elem().Name()+"·") > 1 {
			return // a type that contains itself
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, path, v.Elem())
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`"text"`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, path, v.Index(0))
		fill(t, path, v.Index(1))
	case reflect.Array:
		for i := range v.Len() {
			fill(t, path, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, path, key)
		fill(t, path, value)
		v.SetMapIndex(key, value)
	case reflect.Interface:
		if v.NumMethod() > 0 {
			t.Errorf("%s: JSON cannot hold a %v", path, v.Type())
			return
		}
		v.Set(reflect.ValueOf("text"))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2030, 1, 2, 3, 4, 5, 6_000_000, time.UTC)))
			return
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if notSent[v.Type().String()+"."+f.Name] != "" {
				continue
			}
			if !f.IsExported() && !f.Anonymous {
				t.Errorf("%s.%s: a member that is not exported is not sent", path, f.Name)
				continue
			}
			if f.Tag.Get("json") == "" && !f.Anonymous && strings.Contains(path, ": result") && !notPrinted[strings.Split(path, ":")[0]] {
				t.Errorf("%s.%s: --json prints this member without the name of the API", path, f.Name)
			}
			fill(t, path+"."+v.Type().Name()+"·"+f.Name, v.Field(i))
		}
	default:
		t.Errorf("%s: JSON cannot hold a %v", path, v.Type())
	}
}

// compare reports the members of a value that differ.
func compare(t *testing.T, path string, want, got reflect.Value) {
	t.Helper()
	if want.Kind() == reflect.Struct && want.Type() != reflect.TypeFor[time.Time]() {
		for i := range want.NumField() {
			compare(t, path+"."+want.Type().Field(i).Name, want.Field(i), got.Field(i))
		}
		return
	}
	if slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Interface}, want.Kind()) && !want.IsNil() && !got.IsNil() {
		compare(t, path, want.Elem(), got.Elem())
		return
	}
	if want.Kind() == reflect.Slice && want.Len() > 0 && got.Len() == want.Len() {
		compare(t, path+"[0]", want.Index(0), got.Index(0))
		return
	}
	if want.CanInterface() && !reflect.DeepEqual(want.Interface(), got.Interface()) {
		t.Errorf("%s: sent %v, received %v", path, want, got)
	}
}
