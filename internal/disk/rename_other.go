//go:build !linux

package disk

import (
	"errors"
	"os"
)

// renameNew returns errors.ErrUnsupported: only Linux renames without replacing.
func renameNew(*os.Root, string, string) error { return errors.ErrUnsupported }
