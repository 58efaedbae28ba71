package app

import (
	"io/fs"
	"log/slog"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"svc/internal/config"
)

const (
	defaultMemoryLimit = 256 << 20 // without data.memory_limit and cgroup
	lowestMemory       = 128 << 20 // below that, a limit of the cgroup would only make the process slow
	programMemory      = 64 << 20  // of the limit, at least: code, stacks of the system, buffers outside of Go
	outsideOfGo        = 5.0 / 16  // the part of the limit that these may take
	largeAnswers       = 8         // the part of the limit that large answers may take together
	requestBodies      = 8         // the part of the limit that bodies of requests may take together
)

// MemoryLimit returns data.memory_limit. If that is 0, it returns the limit of the cgroup less an eighth, or 256 MiB.
func MemoryLimit(c *config.Config) int64 {
	if c.Data.MemoryLimit != 0 {
		return c.Data.MemoryLimit
	}
	if n := cgroupMemory(os.DirFS("/")); n > 0 {
		return max(n-n/8, lowestMemory)
	}
	return defaultMemoryLimit
}

// LimitMemory makes the Go runtime keep the process below MemoryLimit. The pages that SQLite caches are not memory of Go: its limit is lower by
// them. A GOMEMLIMIT in the environment stays in effect if data.memory_limit is 0.
func LimitMemory(c *config.Config, log *slog.Logger) {
	if c.Data.MemoryLimit == 0 && os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	all := MemoryLimit(c)
	outside := max(programMemory, int64(float64(all)*outsideOfGo)) + c.Caches() - c.Cache.RenderedBytes
	debug.SetMemoryLimit(max(all-outside, all/4))
	log.Debug("memory is limited", "bytes", all)
}

// cgroupMemory returns the lowest memory limit of the cgroups that this process is in, 0 if there is none. It knows both versions of cgroups.
// In a container, the path of a group of version 1 may be that outside of it, and the group the one that is mounted.
func cgroupMemory(root fs.FS) (lowest int64) {
	files := []string{"sys/fs/cgroup/memory/memory.limit_in_bytes"}
	content, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(content)) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, ok := strings.Cut(line, ":/")
		mount, file := "sys/fs/cgroup", "memory.max"
		if controllers == "memory" {
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if controllers != "" {
			continue
		}
		for ; ok; group = path.Dir(group) {
			files = append(files, path.Join(mount, group, file))
			ok = group != "." && group != ""
		}
	}
	for _, file := range files {
		content, err := fs.ReadFile(root, file)
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64) // "max": no limit
		if err == nil && n > 0 && n < 1<<50 && (lowest == 0 || n < lowest) {
			lowest = n
		}
	}
	return lowest
}
