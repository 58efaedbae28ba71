package server_test

import (
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc/server"
	"svc/server/rest"
)

var update = flag.Bool("update", false, "rewrite docs/api-coverage.md from the records in SVC_API_COVERAGE")

const (
	coverageFile = "../docs/api-coverage.md"

	// maxNamedTests is how many tests of an endpoint the document names.
	maxNamedTests = 3

	// maxTestEndpoints is the number of endpoints from which on a test is about access or paging in general. The document does not
	// name it, and such a test alone does not cover an endpoint.
	maxTestEndpoints = 60
)

const coverageHead = `# Endpoints and their tests

Every endpoint with who may call it, tests that call it, and the status codes that the tests got from it. Of the tests, those are named
that get most codes while they call few other endpoints. ` + "`.ci/api-coverage`" + ` generates this page from the route tables and from the requests of
the tests; ` + "`go test ./server`" + ` fails if an endpoint or a test is missing.

| Endpoint | Access | Tests | Status codes |
|---|---|---|---|
`

// coverage is what the tests got from an endpoint: statuses by test.
type coverage map[string][]string

// TestAPICoverage checks that docs/api-coverage.md has every endpoint with its access and at least one test that exists.
func TestAPICoverage(t *testing.T) {
	routes := server.Routes()
	if dir := os.Getenv("SVC_API_COVERAGE"); *update && dir != "" {
		if err := os.WriteFile(coverageFile, []byte(coverageHead+coverageTable(t, routes, dir)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	rows := coverageRows(t)
	tests := testNames(t)
	for _, r := range routes {
		endpoint, access := coverageCells(r.Method, r.Path, r.Access)
		row, ok := rows[endpoint]
		delete(rows, endpoint)
		if !ok || row[0] != access {
			t.Errorf("%s with access %q is not in %s: run .ci/api-coverage", endpoint, access, coverageFile)
			continue
		}
		for _, name := range strings.Split(row[1], ", ") {
			switch {
			case name == "":
				t.Errorf("%s has no test", endpoint)
			case !tests[name]:
				t.Errorf("%s: there is no test %q: run .ci/api-coverage", endpoint, name)
			}
		}
	}
	for endpoint := range maps.Keys(rows) {
		t.Errorf("%s is in %s, but is no endpoint: run .ci/api-coverage", endpoint, coverageFile)
	}
}

// coverageRows returns the rows of the page by their first cell.
func coverageRows(t *testing.T) map[string][]string {
	t.Helper()
	document, err := os.ReadFile(coverageFile)
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string][]string)
	for line := range strings.Lines(string(document)) {
		if cells := strings.Split(strings.TrimSpace(line), " | "); strings.HasPrefix(line, "| `") && len(cells) == 4 {
			rows[strings.TrimPrefix(cells[0], "| ")] = cells[1:]
		}
	}
	return rows
}

// coverageCells returns the first two cells of a row.
func coverageCells(method, path, access string) (endpoint, allowed string) {
	return "`" + method + " " + path + "`", strings.ReplaceAll(access, "|", " or ")
}

// coverageTable returns the rows of all endpoints.
func coverageTable(t *testing.T, routes []rest.RouteInfo, dir string) string {
	t.Helper()
	endpoints, breadth := readCoverage(t, dir)
	var b strings.Builder
	for _, r := range routes {
		endpoint, access := coverageCells(r.Method, r.Path, r.Access)
		c := endpoints[r.Method+" "+r.Path]
		var statuses []string
		for _, got := range c {
			statuses = append(statuses, got...)
		}
		slices.Sort(statuses)
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", endpoint, access, strings.Join(c.choose(breadth), ", "), strings.Join(slices.Compact(statuses), " "))
	}
	return b.String()
}

// readCoverage reads the records of apptest: what the tests got by endpoint, and how many endpoints each test called.
func readCoverage(t *testing.T, dir string) (endpoints map[string]coverage, breadth map[string]int) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	endpoints, breadth = make(map[string]coverage), make(map[string]int)
	for _, file := range files {
		records, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(records)) {
			var test, method, path, status string
			if _, err := fmt.Sscan(line, &test, &method, &path, &status); err != nil {
				continue // a request without endpoint
			}
			if !strings.HasPrefix(test, "Test") {
				continue
			}
			key := method + " " + path
			if endpoints[key] == nil {
				endpoints[key] = make(coverage)
			}
			if endpoints[key][test] == nil {
				breadth[test]++
			}
			if !slices.Contains(endpoints[key][test], status) {
				endpoints[key][test] = append(endpoints[key][test], status)
			}
		}
	}
	return endpoints, breadth
}

// choose returns the tests to name: again and again the one that gets most statuses that the ones before did not.
func (c coverage) choose(breadth map[string]int) []string {
	tests := slices.DeleteFunc(slices.Collect(maps.Keys(c)), func(test string) bool { return breadth[test] > maxTestEndpoints })
	seen := make(map[string]bool)
	added := func(test string) (n int) {
		for _, status := range c[test] {
			if !seen[status] {
				n++
			}
		}
		return n
	}
	var chosen []string
	for len(tests) > 0 && len(chosen) < maxNamedTests {
		best := slices.MinFunc(tests, func(a, b string) int {
			return cmp.Or(cmp.Compare(added(b), added(a)), cmp.Compare(breadth[a], breadth[b]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
		})
		if added(best) == 0 {
			break
		}
		chosen = append(chosen, best)
		for _, status := range c[best] {
			seen[status] = true
		}
	}
	return chosen
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)

// testNames returns the names of all tests of the module.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := make(map[string]bool)
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case !strings.HasSuffix(file, "_test.go"):
			return nil
		}
		code, err := os.ReadFile(file)
		for _, m := range testFunction.FindAllSubmatch(code, -1) {
			names[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
