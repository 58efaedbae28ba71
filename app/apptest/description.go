package apptest

import (
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"

	"svc/internal/config"
	"svc/internal/enum"
	"svc/server"
	"svc/server/entity"
	"svc/server/rest"
)

// observer returns a function that compares what handlers read and answer with the description of the API, and fails the test if that does not have it.
// For .ci/api-coverage it records the parameters instead. The description has the standard names, so a server with another api.name is not compared, nor one
// in a benchmark, which measures what a server does by itself.
func observer(t testing.TB, apiName string) func(rest.Observation) {
	if _, measured := t.(*testing.B); measured || apiName != config.Default().API.Name {
		return nil
	}
	d := described()
	if d.err != nil {
		t.Fatal(d.err)
	}
	record := recordParameters(t)
	return func(o rest.Observation) {
		endpoint := o.Method + " " + o.Path
		answer, ok := d.answers[endpoint]
		switch {
		case !ok: // a page for browsers
		case o.Status != 0 && o.Answer == nil:
			if record == nil && !slices.Contains(answer.errors, o.Status) {
				t.Errorf("%s answers with the error %d, which its description does not have: run .ci/api-coverage", endpoint, o.Status)
			}
		case o.Status == answer.status:
			if fault := answer.fault(o.Answer); fault != "" {
				t.Errorf("%s: %s", endpoint, fault)
			}
		case o.Status != 0:
		case record != nil:
			record(endpoint, observedParameters(o))
		default:
			for _, p := range observedParameters(o) {
				if !d.has(endpoint, p) {
					t.Errorf("%s reads a parameter %q, which its description does not have or has otherwise: run .ci/api-coverage", endpoint, p.Name)
				}
			}
		}
	}
}

// describedAPI is what the description has of endpoints, by method and path.
type describedAPI struct {
	answers    map[string]describedAnswer
	parameters map[string][]rest.Parameter
	err        error
}

type describedAnswer struct {
	status int
	shape  string
	errors []int
}

var described = sync.OnceValue(func() (d describedAPI) {
	d.answers = make(map[string]describedAnswer)
	var description rest.Description
	if description.Parameters, d.err = server.Parameters(); d.err != nil {
		return d
	}
	if description.Errors, d.err = server.ErrorCodes(); d.err != nil {
		return d
	}
	d.parameters = description.Parameters
	for _, r := range server.Routes() {
		if r.InDescription() {
			status, shape := r.Answer()
			d.answers[r.Method+" "+r.Path] = describedAnswer{status, shape, description.ErrorCodes(r)}
		}
	}
	return d
})

// has returns whether an endpoint is described to have a parameter like this one.
func (d *describedAPI) has(endpoint string, p rest.Parameter) bool {
	for _, known := range d.parameters[endpoint] {
		if known.Name != p.Name {
			continue
		}
		a, err1 := json.Marshal(known.Schema)
		b, err2 := json.Marshal(p.Schema)
		if err1 == nil && err2 == nil && string(a) == string(b) {
			return true
		}
	}
	return false
}

// maxChecked is the size in bytes of an answer above which its shape is not checked, because tests of large answers count time.
const maxChecked = 256 << 10

// fault returns how an answer differs from its shape, "" if it does not.
func (a describedAnswer) fault(answer []byte) string {
	if len(answer) > maxChecked {
		return ""
	}
	var v any
	if err := json.Unmarshal(answer, &v); err != nil {
		return err.Error()
	}
	for _, fault := range ShapeFaults(entity.Shapes, "the answer", v, a.shape) {
		return fault
	}
	return ""
}

// observedParameters describes what a handler reads.
func observedParameters(o rest.Observation) []rest.Parameter {
	switch {
	case o.Form != nil:
		return formParameters(o.Form)
	case o.Flag:
		return []rest.Parameter{{Name: o.Parameter, Schema: map[string]any{"type": "boolean"}}}
	case o.Parameter != "":
		return []rest.Parameter{{Name: o.Parameter, Schema: map[string]any{"type": "string"}}}
	}
	limit := map[string]any{"type": "integer", "minimum": 1, "maximum": o.Maximum, "default": o.Standard}
	list := []rest.Parameter{{Name: "limit", Schema: limit}}
	for _, name := range []string{"max_id", "since_id", "min_id"} {
		list = append(list, rest.Parameter{Name: name, Schema: map[string]any{"type": "string"}})
	}
	return append(list, rest.Parameter{Name: "offset", Schema: map[string]any{"type": "integer", "minimum": 0}})
}

// formParameters returns the parameters of a struct that is bound, in the order of its fields.
func formParameters(t reflect.Type) (list []rest.Parameter) {
	for _, f := range reflect.VisibleFields(t) {
		name, option, ok := rest.ParamTag(f)
		if !ok {
			continue
		}
		s := typeSchema(f.Type)
		if option == "closed" {
			s["additionalProperties"] = false
		}
		list = append(list, rest.Parameter{Name: name, Required: option == "required", Schema: s})
	}
	return list
}

var (
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	upload          = reflect.TypeFor[rest.Upload]()
)

// typeSchema returns the JSON schema of the values of a field.
func typeSchema(t reflect.Type) map[string]any {
	switch {
	case t == upload:
		return map[string]any{"type": "string", "contentMediaType": "application/octet-stream"}
	case t == reflect.TypeFor[json.RawMessage]():
		return map[string]any{}
	case reflect.PointerTo(t).Implements(textUnmarshaler):
		return wordSchema(t)
	}
	switch t.Kind() {
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Pointer:
		return typeSchema(t.Elem())
	case reflect.Slice:
		return map[string]any{"type": "array", "items": typeSchema(t.Elem()), "maxItems": rest.MaxElements}
	case reflect.Map:
		return map[string]any{"type": "object"}
	case reflect.Struct:
		return structSchema(t)
	}
	return map[string]any{"type": "string"}
}

func structSchema(t reflect.Type) map[string]any {
	properties, required := make(map[string]any), []string{}
	for _, p := range formParameters(t) {
		properties[p.Name] = p.Schema
		if p.Required {
			required = append(required, p.Name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// wordSchema returns the schema of a type that reads itself. One of a fixed set names the words in its error.
func wordSchema(t reflect.Type) map[string]any {
	s := map[string]any{"type": "string"}
	var unknown *enum.Error
	if err := reflect.New(t).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte("\x00")); errors.As(err, &unknown) {
		s["enum"] = unknown.Permitted
	}
	return s
}
