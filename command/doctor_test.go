package command_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"svc/internal/doctor"
)

// TestDoctorCommand runs the command without a server and with one.
func TestDoctorCommand(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	down := p.run("doctor")
	if down.code != 1 || down.errOut != "svc: at least one check failed\n" || !strings.Contains(down.out, "failure  port ") {
		t.Errorf("without a server: exit code %d, %s%s", down.code, down.out, down.errOut)
	}
	p.run("doctor", "now").fails(2, `unexpected argument "now"`)
	p.serve()
	if out := p.run("doctor").ok(); !strings.Contains(out, "ok       federation   a signed request to the public address was verified") {
		t.Errorf("the output is %s", out)
	}
	var report doctor.Report
	if err := json.Unmarshal([]byte(p.run("doctor", "--json").ok()), &report); err != nil || report.Failed || len(report.Results) < 19 {
		t.Errorf("the report is %+v, %v", report, err)
	}
}

// TestDoctorWithoutData checks that what keeps the data directory from being opened is reported as that, and nothing else.
func TestDoctorWithoutData(t *testing.T) {
	for _, tt := range []struct {
		name, file, content string // written over a file of the data directory; "": removed
		want, not           []string
	}{
		{
			"damaged database", "svc.db", strings.Repeat("no database ", 100),
			[]string{"failure  database     the data directory cannot be opened", "warning  keys         not checked"}, []string{"from a backup with svc restore, or, if"},
		},
		{
			"lost keys", "keys/secret", "",
			[]string{"failure  keys         the keys in ", "svc setup --new-keys", "warning  database     not checked"}, []string{"failure  database"},
		},
		{
			"damaged keys", "keys/secret", "short",
			[]string{"failure  keys         keys: ", "svc setup --new-keys"}, []string{"failure  database"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newWorkspace(t)
			p.run("user", "create", "alice", "--email", "alice@example.org").ok()
			if tt.content == "" {
				if err := os.Remove(p.path("data", tt.file)); err != nil {
					t.Fatal(err)
				}
			} else {
				p.writeFile("data/"+tt.file, tt.content)
			}
			r := p.run("doctor")
			for _, want := range tt.want {
				if !strings.Contains(r.out, want) {
					t.Errorf("no %q in:\n%s", want, r.out)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(r.out, not) {
					t.Errorf("%q in:\n%s", not, r.out)
				}
			}
		})
	}
}
