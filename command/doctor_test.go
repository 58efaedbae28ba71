package command_test

import (
	"encoding/json"
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
