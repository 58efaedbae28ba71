package app_test

import (
	"testing"
	"testing/fstest"

	"svc/app"
)

func TestCgroupMemory(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no cgroups":  {nil, 0},
		"no limit":    {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 0},
		"a container": {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "268435456\n"}, 256 << 20},
		"a service":   {map[string]string{"proc/self/cgroup": "0::/system.slice/svc.service\n", "sys/fs/cgroup/system.slice/svc.service/memory.max": "1000000\n"}, 1_000_000},
		"above it":    {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, 1000},
		"version 1":   {map[string]string{"proc/self/cgroup": "5:memory:/docker/1\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "500\n"}, 500},
		"a service, version 1": {map[string]string{"proc/self/cgroup": "0::/\n5:memory:/system.slice/svc.service\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
			"sys/fs/cgroup/memory/system.slice/svc.service/memory.limit_in_bytes": "2000000\n"}, 2_000_000},
		"above it, version 1": {map[string]string{"proc/self/cgroup": "5:cpu,memory:/c\n4:memory:/a/b\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "1000\n"}, 1000},
		"version 1, no":       {map[string]string{"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
	} {
		root := fstest.MapFS{}
		for path, content := range tt.files {
			root[path] = &fstest.MapFile{Data: []byte(content)}
		}
		if got := app.CgroupMemory(root); got != tt.want {
			t.Errorf("%s: got %d, want %d", name, got, tt.want)
		}
	}
}
