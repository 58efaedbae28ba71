package attack_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"svc/app/apptest"
)

const (
	cgroupLimit = 256 << 20
	memoryLimit = 230 << 20 // that the server may hold
)

// interrupted are what must not stay behind when the test is interrupted.
var interrupted struct {
	sync.Mutex
	steps []func()
}

func onInterrupt(f func()) {
	interrupted.Lock()
	defer interrupted.Unlock()
	interrupted.steps = append(interrupted.steps, f)
}

func TestMain(m *testing.M) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-signals
		interrupted.Lock() // never unlocked: nothing new begins
		for _, f := range slices.Backward(interrupted.steps) {
			f()
		}
		os.Exit(1)
	}()
	os.Exit(m.Run())
}

// program is the program under test, in its cgroup.
type program struct {
	t       *testing.T
	binary  string
	dir     string
	address string
	group   *cgroup

	cmd  *exec.Cmd
	log  *apptest.Output
	done chan struct{} // closed when the process has ended

	stopSampling func()
	peak         atomic.Int64 // bytes held, of all starts
}

// settingsForSetUp are without rate limits; settingsForAttacks have those for requests that write.
const (
	settingsForSetUp   = "enabled = false\n"
	settingsForAttacks = `all = "off"
all_anonymous = "off"
timeline = "off"
search = "off"
search_anonymous = "off"
federation = "off"
`
)

// start starts the server with rate limits, and waits until it answers.
func (s *program) start(limits string) {
	s.t.Helper()
	settings := fmt.Sprintf("[server]\nlisten = %q\nurl = \"http://%s\"\n[federation]\nallow_loopback = true\n[storage]\nballast = 0\nmin_free = 0\n[rate_limit]\n%s", s.address, s.address, limits)
	if err := os.WriteFile(filepath.Join(s.dir, "config.toml"), []byte(settings), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.cmd, s.log, s.done = s.command("serve"), new(apptest.Output), make(chan struct{})
	s.group.enter(s.cmd)
	s.cmd.Stderr = s.log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	cmd, done := s.cmd, s.done
	onInterrupt(func() { cmd.Process.Kill() })
	go func() {
		cmd.Wait()
		close(done)
	}()
	s.sample()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(s.log.String(), "svc is running"); time.Sleep(5 * time.Millisecond) {
		if s.ended() || time.Now().After(deadline) {
			s.t.Fatalf("the server does not start:\n%s", s.logEnd())
		}
	}
}

// command returns a command of the program, which finds config.toml and the data in the server's folder.
func (s *program) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.binary, args...)
	cmd.Dir = s.dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SVC_CONFIG=") && !strings.HasPrefix(v, "GOMEMLIMIT=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	return cmd
}

func (s *program) mustRun(args ...string) {
	s.t.Helper()
	if out, err := s.command(args...).CombinedOutput(); err != nil {
		s.t.Fatalf("svc %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// sample records how much memory is held, until the process ends.
func (s *program) sample() {
	done, stopped := s.done, make(chan struct{})
	s.stopSampling = func() { <-stopped }
	go func() {
		defer close(stopped)
		for {
			s.peak.Store(max(s.peak.Load(), s.group.held()))
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
}

// ended returns whether the process has ended.
func (s *program) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// stop ends the server in good order. It returns false if it had ended before, or does not end.
func (s *program) stop() bool {
	if s.cmd == nil {
		return true
	}
	alive := !s.ended()
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
	case <-time.After(20 * time.Second):
		alive = false
		s.cmd.Process.Kill()
		<-s.done
	}
	s.stopSampling()
	return alive
}

// cpu returns the processor time of the server since its start.
func (s *program) cpu() time.Duration {
	if s.ended() {
		return s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
	}
	content, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(content), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100
}

// logEnd returns the last lines of the log.
func (s *program) logEnd() string {
	lines := strings.Split(strings.TrimSpace(s.log.String()), "\n")
	for i, line := range lines {
		lines[i] = line[:min(len(line), 400)]
	}
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

// logLines returns the lines of the log that contain a text.
func (s *program) logLines(part string) (lines []string) {
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, part) {
			lines = append(lines, line)
		}
	}
	return lines
}

// tally counts answers by status; 0 is none.
type tally struct {
	mu     sync.Mutex
	counts map[int]int
	bytes  int64
}

func (c *tally) add(status int, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = make(map[int]int)
	}
	c.counts[status]++
	c.bytes += n
}

func (c *tally) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(c.counts)) {
		name := strconv.Itoa(status)
		if status == 0 {
			name = "no answer"
		}
		parts = append(parts, fmt.Sprintf("%s×%d", name, c.counts[status]))
	}
	return fmt.Sprintf("%s; %d MB", strings.Join(parts, " "), c.bytes>>20)
}
