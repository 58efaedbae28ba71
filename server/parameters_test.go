package server_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc/internal/packed/packedtest"
	"svc/server"
	"svc/server/rest"
)

const parametersFile = "parameters.json"

// TestParameters checks that parameters.json has only endpoints of the API. That it has all that their handlers read, every test checks (apptest). With
// -update it is rewritten from the records in SVC_API_COVERAGE.
func TestParameters(t *testing.T) {
	if dir := os.Getenv("SVC_API_COVERAGE"); *update && dir != "" {
		packedtest.Write(t, parametersFile, formatParameters(t, readParameters(t, dir)))
		return
	}
	packedtest.Compare(t, parametersFile)
	list, err := server.Parameters()
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, r := range server.Routes() {
		known[r.Method+" "+r.Path] = true
	}
	for endpoint := range list {
		if known[endpoint] {
			continue
		}
		t.Errorf("%s has parameters of %s, which is no endpoint: run .ci/api-coverage", parametersFile, endpoint)
	}
}

// formatParameters writes a line for each parameter.
func formatParameters(t *testing.T, list map[string][]rest.Parameter) []byte {
	var b bytes.Buffer
	between := "{\n"
	for _, endpoint := range slices.Sorted(maps.Keys(list)) {
		fmt.Fprintf(&b, "%s\t%q: [", between, endpoint)
		for i, p := range list[endpoint] {
			text, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s\n\t\t%s", map[bool]string{true: ","}[i > 0], text)
		}
		b.WriteString("\n\t]")
		between = ",\n"
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

// readParameters reads the records of apptest: the parameters of the endpoints of the API, sorted by name.
func readParameters(t *testing.T, dir string) map[string][]rest.Parameter {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "parameters.*"))
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	list := make(map[string][]rest.Parameter)
	for _, file := range files {
		records, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(records)) {
			if seen[line] {
				continue
			}
			seen[line] = true
			at := strings.Index(line, " {")
			var p rest.Parameter
			if err := json.Unmarshal([]byte(line[at:]), &p); err != nil {
				t.Fatal(err)
			}
			list[line[:at]] = append(list[line[:at]], p)
		}
	}
	for _, all := range list {
		slices.SortFunc(all, func(a, b rest.Parameter) int {
			x, _ := json.Marshal(a.Schema)
			y, _ := json.Marshal(b.Schema)
			return cmp.Or(strings.Compare(a.Name, b.Name), slices.Compare(x, y))
		})
	}
	return list
}
