package media

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"sync"
)

// filesUsage counts what the files of a store take on disk, by folder. A folder is unknown until Count has walked through it.
type filesUsage struct {
	mu    sync.Mutex
	bytes [256]int64
	known [256]bool
}

// add adds to the bytes of the folder of a file, if it is known.
func (u *filesUsage) add(name string, n int64) {
	i, err := strconv.ParseUint(name[:2], 16, 8)
	if err != nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.known[i] {
		u.bytes[i] += n
	}
}

// countOnce counts the files unless that was done.
func (f *Files) countOnce(ctx context.Context) error {
	if f.bucket != nil {
		return nil // Bytes counts by the records
	}
	f.usage.mu.Lock()
	counted := f.usage.known[255] // the last
	f.usage.mu.Unlock()
	if counted {
		return nil
	}
	return f.Count(ctx)
}

// Count counts the files on disk, those included that no row refers to because the process was interrupted. Files may be stored and removed
// meanwhile.
func (f *Files) Count(ctx context.Context) error {
	for i := range 256 {
		if err := f.countFolder(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (f *Files) countFolder(ctx context.Context, i int) error {
	f.mu.Lock() // nothing in the folder changes
	defer f.mu.Unlock()
	total := int64(0)
	err := walkFolder(ctx, f.root, fmt.Sprintf("%02x", i), func(_ string, info fs.FileInfo) error {
		total += diskUsage(info.Size())
		return nil
	})
	if err != nil {
		return fmt.Errorf("count stored files: %w", err)
	}
	f.usage.mu.Lock()
	defer f.usage.mu.Unlock()
	f.usage.bytes[i], f.usage.known[i] = total, true
	return nil
}

// Bytes returns what the files take on disk. With a bucket it returns recorded, wherever the files are. Of folders that Count has not reached yet it assumes their share of recorded, the sum of the
// records in the database.
func (f *Files) Bytes(recorded int64) int64 {
	if f.bucket != nil {
		return recorded
	}
	f.usage.mu.Lock()
	defer f.usage.mu.Unlock()
	total, unknown := int64(0), int64(0)
	for i, known := range f.usage.known {
		if known {
			total += f.usage.bytes[i]
		} else {
			unknown++
		}
	}
	return total + recorded*unknown/256
}

// sizeOnDisk returns what a file takes on disk, 0 if there is none.
func (f *Files) sizeOnDisk(name string) (int64, error) {
	info, err := f.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return diskUsage(info.Size()), nil
}
