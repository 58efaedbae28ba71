package server_test

import (
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"svc/app/apptest"
	"svc/server"
)

// TestOpenAPI checks the description of the API against the schema of OpenAPI 3.1, and that it has every endpoint of the API with what it does, takes and
// answers. All tests compare it with what the handlers do (apptest).
func TestOpenAPI(t *testing.T) {
	srv := apptest.Start(t)
	a := srv.As(nil).Get("/api/openapi.json").Want(200)
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(a.Body)))
	if err != nil {
		t.Fatal(err)
	}
	validateJSON(t, "testdata/openapi-3.1.json", document)
	doc := document.(map[string]any)
	ids := make(map[any]string)
	for _, r := range server.Routes() {
		if !r.InDescription() {
			continue
		}
		path := pathTemplate(r.Path)
		item, _ := doc["paths"].(map[string]any)[path].(map[string]any)
		op, _ := item[strings.ToLower(r.Method)].(map[string]any)
		name := r.Method + " " + r.Path
		switch id := op["operationId"]; {
		case op == nil:
			t.Errorf("%s is not described", name)
			continue
		case ids[id] != "":
			t.Errorf("%s and %s have the same operationId", name, ids[id])
		default:
			ids[id] = name
		}
		if op["summary"] == "" || op["summary"] == nil {
			t.Errorf("%s has no summary", name)
		}
		if _, shape := r.Answer(); shape == "" {
			t.Errorf("the answer of %s is not described", name)
		}
	}
	checkSchemas(t, doc)
	for _, ref := range references(doc) {
		if resolve(doc, ref) == nil {
			t.Errorf("%s leads nowhere", ref)
		}
	}
}

// checkSchemas checks the schemas of a description against the dialect of JSON Schema that OpenAPI 3.1 uses: its own schema does not look into them.
func checkSchemas(t *testing.T, doc map[string]any) {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("api.json", doc); err != nil {
		t.Fatal(err)
	}
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	for name := range schemas {
		if _, err := c.Compile("api.json#/components/schemas/" + name); err != nil {
			t.Errorf("the schema of %s: %v", name, err)
		}
	}
}

// validateJSON checks a document against a schema in a file.
func validateJSON(t *testing.T, file string, document any) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	schema, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("file.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("file.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(document); err != nil {
		t.Errorf("%.3000v", err)
	}
}

// pathTemplate returns the path of a route as the description has it.
func pathTemplate(route string) string {
	segments := strings.Split(route, "/")
	for i, s := range segments {
		if at := strings.IndexAny(s, ":*"); at >= 0 {
			segments[i] = s[:at] + "{" + s[at+1:] + "}"
		}
	}
	return strings.Join(segments, "/")
}

// references returns all references in a document.
func references(v any) (list []string) {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			if ref, ok := member.(string); ok && key == "$ref" {
				list = append(list, ref)
				continue
			}
			list = append(list, references(member)...)
		}
	case []any:
		for _, e := range v {
			list = append(list, references(e)...)
		}
	}
	return list
}

// resolve returns what a reference within a document leads to, nil if it leads nowhere.
func resolve(doc any, ref string) any {
	for _, name := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		members, ok := doc.(map[string]any)
		if !ok {
			return nil
		}
		doc = members[name]
	}
	return doc
}
