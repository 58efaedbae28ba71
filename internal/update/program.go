package update

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"svc/internal/release"
)

const (
	tryTimeout    = 30 * time.Second // of a command that reads no data
	damagedUpload = 3                // exit code of svc backup: complete, but uploads are damaged
)

// program is one of the two binaries. What it does with the data, it does as their owner, also if root runs the update.
type program struct {
	path     string
	settings string // the settings file; "": none
	as       *syscall.Credential
}

// dataOwner returns the user that root becomes for commands on a data directory; nil: none.
func dataOwner(dir string) *syscall.Credential {
	info, err := os.Stat(dir)
	if err != nil || os.Geteuid() != 0 {
		return nil
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Uid == 0 {
		return nil
	}
	return &syscall.Credential{Uid: stat.Uid, Gid: stat.Gid}
}

func (p program) command(ctx context.Context, args ...string) *exec.Cmd {
	if p.settings != "" {
		args = append(args, "--config", p.settings)
	}
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // a backup removes what it has written
	cmd.WaitDelay = 10 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	return cmd
}

// check runs the binary and compares what it says of itself with the release.
func (p program) check(ctx context.Context, m *release.Manifest) error {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	var is struct {
		Name, Version string
		Schema        int
	}
	text, err := p.command(ctx, "version", "--json").Output()
	if err == nil {
		err = json.Unmarshal(text, &is)
	}
	if err != nil {
		return fmt.Errorf("the new binary does not run: %w", err)
	}
	if is.Name != m.Name || is.Version != m.Version || is.Schema != m.Schema {
		return fmt.Errorf("the new binary is %s %s with schema %d, the release says %s %s with schema %d", is.Name, is.Version, is.Schema, m.Name, m.Version, m.Schema)
	}
	return nil
}

// backup makes a backup and returns its path.
func (p program) backup(ctx context.Context) (file, warning string, err error) {
	var out, errOut bytes.Buffer
	cmd := p.command(ctx, "backup")
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	var exit *exec.ExitError
	lines := strings.Split(strings.TrimSpace(errOut.String()), "\n")
	if errors.As(err, &exit) && exit.ExitCode() == damagedUpload {
		err, warning = nil, lines[len(lines)-1]
	}
	if err != nil {
		return "", "", fmt.Errorf("backup: %w: %s", err, lines[len(lines)-1])
	}
	line, _, _ := strings.Cut(out.String(), "\n")
	file, found := strings.CutPrefix(line, "Wrote ")
	if i := strings.LastIndex(file, " ("); found && i > 0 {
		return file[:i], warning, nil
	}
	return "", "", fmt.Errorf("backup: unexpected answer %q", line)
}

// fits returns an error if the binary cannot use the database as it is now. No server may run.
func (p program) fits(ctx context.Context) error { return output(p.command(ctx, "job", "list")) }

// restore replaces the data by those of a backup. The data of now stay in a subfolder.
func (p program) restore(ctx context.Context, file string) error {
	return output(p.command(ctx, "restore", "--force", file))
}

// health returns an error if no server works.
func (p program) health(ctx context.Context) error { return output(p.command(ctx, "health")) }
