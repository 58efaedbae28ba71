package disk

import (
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// renameNew renames a file, unless the new name exists.
func renameNew(root *os.Root, from, to string) error {
	source, err := root.Open(path.Dir(from))
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := root.Open(path.Dir(to))
	if err != nil {
		return err
	}
	defer target.Close()
	err = unix.Renameat2(int(source.Fd()), path.Base(from), int(target.Fd()), path.Base(to), unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("%w: rename without replacing: %w", errors.ErrUnsupported, err)
	}
	return err
}
