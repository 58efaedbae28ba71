package attack_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cgroup is a memory cgroup of its own, of version 1 or 2.
type cgroup struct {
	version int
	dir     string
}

// newCgroup makes a cgroup with a memory limit below the one of this process, or skips the test, saying why.
func newCgroup(t *testing.T, limit int64) *cgroup {
	t.Helper()
	var reasons []error
	for _, c := range cgroupParents(t) {
		g, err := c.child(limit)
		if err == nil {
			onInterrupt(g.remove)
			t.Cleanup(g.remove)
			return g
		}
		reasons = append(reasons, err)
	}
	t.Skipf("SKIPPED: no memory cgroup can be made, so that nothing was tested: %v", errors.Join(reasons...))
	return nil
}

// cgroupParents returns the cgroups in which one may be made: that of this process and those above, of both versions.
func cgroupParents(t *testing.T) (list []*cgroup) {
	t.Helper()
	content, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skipf("SKIPPED: this system has no cgroups, so that nothing was tested: %v", err)
	}
	for line := range strings.Lines(string(content)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		version, mount := 0, ""
		switch {
		case parts[1] == "memory":
			version, mount = 1, "/sys/fs/cgroup/memory"
		case parts[0] == "0":
			version, mount = 2, "/sys/fs/cgroup"
		default:
			continue
		}
		for group := parts[2]; ; group = filepath.Dir(group) {
			list = append(list, &cgroup{version, filepath.Join(mount, group)})
			if group == "/" || group == "." {
				break
			}
		}
	}
	return list
}

// child makes a cgroup in g.
func (g *cgroup) child(limit int64) (*cgroup, error) {
	if g.version == 2 {
		os.WriteFile(filepath.Join(g.dir, "cgroup.subtree_control"), []byte("+memory"), 0) // it may be on already, or be refused: seen below
	}
	c := &cgroup{g.version, filepath.Join(g.dir, fmt.Sprintf("svc-attack-%d", os.Getpid()))}
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		return nil, err
	}
	err := os.WriteFile(filepath.Join(c.dir, c.name("memory.limit_in_bytes", "memory.max")), strconv.AppendInt(nil, limit, 10), 0)
	if err != nil {
		os.Remove(c.dir)
		return nil, err
	}
	c.write("memory.memsw.limit_in_bytes", "memory.swap.max", map[int]string{1: strconv.FormatInt(limit, 10), 2: "0"}[g.version]) // fails without swap
	return c, nil
}

func (g *cgroup) name(v1, v2 string) string {
	if g.version == 1 {
		return v1
	}
	return v2
}

func (g *cgroup) write(v1, v2, text string) error {
	return os.WriteFile(filepath.Join(g.dir, g.name(v1, v2)), []byte(text), 0)
}

// enter makes a command begin in the cgroup.
func (g *cgroup) enter(cmd *exec.Cmd) {
	script := `echo $$ >"$0" && exec "$@"`
	cmd.Args = append([]string{"sh", "-c", script, filepath.Join(g.dir, "cgroup.procs"), cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// remove removes the cgroup, which must have no process.
func (g *cgroup) remove() {
	for range 100 {
		if err := os.Remove(g.dir); err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
		time.Sleep(20 * time.Millisecond) // the kernel is still taking the last process down
	}
}

// held returns the bytes that the kernel cannot take back: all that is charged to the cgroup, with buffers of sockets and tables of the kernel,
// without the page cache of files, which is given up before a process is ended.
func (g *cgroup) held() int64 {
	stat := g.values("memory.stat")
	if g.version == 1 {
		return g.value("memory.usage_in_bytes") - stat["total_cache"] + stat["total_shmem"]
	}
	return g.value("memory.current") - stat["file"] + stat["shmem"] - stat["slab_reclaimable"]
}

// highest returns the highest number of bytes that were charged, page cache included; 0 if the kernel does not say.
func (g *cgroup) highest() int64 { return g.value(g.name("memory.max_usage_in_bytes", "memory.peak")) }

// kills returns how many processes the kernel has ended because the cgroup was full.
func (g *cgroup) kills() int64 {
	return g.values(g.name("memory.oom_control", "memory.events"))["oom_kill"]
}

func (g *cgroup) value(file string) int64 {
	content, _ := os.ReadFile(filepath.Join(g.dir, file))
	n, _ := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
	return n
}

func (g *cgroup) values(file string) map[string]int64 {
	content, _ := os.ReadFile(filepath.Join(g.dir, file))
	m := make(map[string]int64)
	for line := range strings.Lines(string(content)) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		m[name], _ = strconv.ParseInt(number, 10, 64)
	}
	return m
}
