package server_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"svc/internal/packed/packedtest"
	"svc/server"
)

const errorsFile = "errors.json"

// TestErrorCodes checks that errors.json has the errors of the endpoints of the API that docs/api-coverage.md names. That these are all, every test checks
// (apptest). With -update it is rewritten.
func TestErrorCodes(t *testing.T) {
	codes := make(map[string][]string)
	for endpoint, row := range coverageRows(t) {
		codes[strings.Trim(endpoint, "`")] = slices.DeleteFunc(strings.Fields(strings.TrimSuffix(row[2], "|")), func(code string) bool {
			n, err := strconv.Atoi(code)
			return err != nil || n < 400
		})
	}
	var want bytes.Buffer
	between := "{\n"
	for _, r := range server.Routes() {
		if list := codes[r.Method+" "+r.Path]; r.InDescription() && len(list) > 0 {
			fmt.Fprintf(&want, "%s\t%q: [%s]", between, r.Method+" "+r.Path, strings.Join(list, ", "))
			between = ",\n"
		}
	}
	want.WriteString("\n}\n")
	if *update {
		packedtest.Write(t, errorsFile, want.Bytes())
	}
	packedtest.Compare(t, errorsFile)
	if got, err := os.ReadFile(errorsFile); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s has other errors than %s: go test ./server -run TestErrorCodes -update (%v)", errorsFile, coverageFile, err)
	}
}
