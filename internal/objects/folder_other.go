//go:build !linux

package objects

import (
	"errors"
	"os"
)

// renameNew returns errors.ErrUnsupported: only Linux renames without overwriting.
func renameNew(*os.Root, string, string) error { return errors.ErrUnsupported }
