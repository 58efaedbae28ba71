package update

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	unit           = "svc.service"
	serviceTimeout = 3 * time.Minute // of a command that stops or restarts; longer than TimeoutStopSec usually is
)

// service knows how the server is restarted and stopped. Empty commands: it is not known.
type service struct {
	restart, stop string
	systemd       bool
}

// findService returns the service that runs the binary. The commands of the operator come first.
func findService(ctx context.Context, binary, restart, stop string) service {
	if restart != "" || stop != "" {
		return service{restart: restart, stop: stop}
	}
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return service{}
	}
	if exec.CommandContext(ctx, "systemctl", "is-active", "--quiet", unit).Run() != nil {
		return service{}
	}
	text, err := exec.CommandContext(ctx, "systemctl", "show", "--property=ExecStart", "--value", unit).Output()
	if err != nil || !startsBinary(string(text), binary) {
		return service{}
	}
	// A new version that ended again and again has used up the starts that systemd permits.
	return service{"systemctl reset-failed " + unit + "; systemctl restart " + unit, "systemctl stop " + unit, true}
}

// startsBinary returns true if the ExecStart that systemctl shows names the binary.
func startsBinary(text, binary string) bool {
	_, path, found := strings.Cut(text, "path=")
	path, _, _ = strings.Cut(path, " ;")
	path, err := filepath.EvalSymlinks(path)
	return found && err == nil && path == binary
}

// failed returns true if systemd does not try to start the server any more.
func (s service) failed(ctx context.Context) bool {
	if !s.systemd {
		return false
	}
	state, _ := exec.CommandContext(ctx, "systemctl", "show", "--property=ActiveState", "--value", unit).Output()
	return strings.TrimSpace(string(state)) == "failed"
}

// run runs a command of the operator, or systemctl.
func (s service) run(ctx context.Context, command string) error {
	ctx, cancel := context.WithTimeout(ctx, serviceTimeout)
	defer cancel()
	return output(exec.CommandContext(ctx, "sh", "-c", command))
}

// output runs a command. Its error has the last line that it printed.
func output(cmd *exec.Cmd) error {
	cmd.WaitDelay = time.Second // the command may have started a server that holds the pipe
	text, err := cmd.CombinedOutput()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return &commandError{last, err}
	}
	return err
}

// commandError is the error of a command that printed why it failed.
type commandError struct {
	text string
	err  error
}

func (e *commandError) Error() string { return e.text }
func (e *commandError) Unwrap() error { return e.err }
