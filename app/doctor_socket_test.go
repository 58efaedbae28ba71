package app_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc/internal/doctor"
	"svc/internal/unixsocket"
)

// TestDoctorOfSocket checks what doctor says of a Unix socket, and whether it knows who can connect.
func TestDoctorOfSocket(t *testing.T) {
	p := newPatient(t)
	group, other := uint32(os.Getgid()), uint32(54321)
	if group == 0 {
		group = 12346 // root gives the socket to another group, which can have a proxy in it
	}
	const uid = 12345
	inGroup := doctor.SocketUser{Name: "proxy", UID: uid, Groups: []uint32{other, group}}
	outside := doctor.SocketUser{Name: "proxy", UID: uid, Groups: []uint32{other}}
	for _, tt := range []struct {
		name             string
		dirMode, mode    fs.FileMode // of the directory and the socket; 0: there is no socket
		users            []doctor.SocketUser
		status           doctor.Status
		seen, adviceHas  string
		adviceHasNothing string
	}{
		{"no proxy known", 0o755, 0o660, nil, doctor.OK, "must be in it (usermod -aG ", "", ""},
		{"in the group", 0o750, 0o660, []doctor.SocketUser{inGroup}, doctor.OK, "the proxy's user proxy can connect", "", ""},
		{"one of two", 0o750, 0o660, []doctor.SocketUser{outside, inGroup}, doctor.OK, "the proxy's user proxy can connect", "", ""},
		{"not in the group", 0o755, 0o660, []doctor.SocketUser{outside}, doctor.Warning, "svc.sock)", "Run usermod -aG ", "enter"},
		{"not in the group of the directory", 0o750, 0o660, []doctor.SocketUser{outside}, doctor.Warning, "no user of a reverse proxy", "Run usermod -aG ", "enter"},
		{"a private directory", 0o700, 0o660, []doctor.SocketUser{inGroup}, doctor.Warning, "no user of a reverse proxy", "Let the group enter /", ""},
		{"open to everybody", 0o755, 0o666, []doctor.SocketUser{inGroup}, doctor.Warning, "every user of this machine can connect", "Run chmod 660 ", ""},
		{"closed to the group", 0o755, 0o600, []doctor.SocketUser{inGroup}, doctor.Failure, "cannot connect", "Run chmod 660 ", ""},
		{"no server", 0o755, 0, nil, doctor.Failure, "there is no socket", "Start the server", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "svc") // the path of a socket must be short
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			if err := os.Chmod(dir, tt.dirMode); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "svc.sock")
			if tt.mode != 0 {
				ln, err := unixsocket.Listen(path, tt.mode)
				if err != nil {
					t.Fatal(err)
				}
				defer ln.Close()
				if err := os.Chown(path, -1, int(group)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chown(dir, -1, int(group)); err != nil {
				t.Fatal(err)
			}
			settings := *p.config.Settings
			settings.Server.Listen = path
			c := p.config
			c.Settings, c.ProxyUsers = &settings, func() []doctor.SocketUser { return tt.users }
			report := doctor.Run(t.Context(), c)
			want(t, report, "socket", tt.status, tt.seen)
			for _, r := range report.Results {
				if r.Name == "socket" && (!strings.Contains(r.Advice, tt.adviceHas) || tt.adviceHasNothing != "" && strings.Contains(r.Advice, tt.adviceHasNothing)) {
					t.Errorf("the advice is %q", r.Advice)
				}
			}
		})
	}
}
