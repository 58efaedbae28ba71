package store

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// FreeSpace returns the bytes that are free on the disk of a directory.
func FreeSpace(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return int64(min(uint64(st.Bavail)*uint64(st.Bsize), math.MaxInt64)), nil
}
