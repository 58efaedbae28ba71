package emoji

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"svc/internal/disk"
	"svc/internal/errs"
)

// CheckPackName returns an error if no pack can have a name.
func CheckPackName(name string) error {
	if !validPackName(name) {
		return errNoPack(name)
	}
	return nil
}

// Export writes the archive of a pack in an emoji folder, whether or not it is shared, and also while a server runs on the folder.
func Export(dir, name string, w io.Writer) error {
	if err := CheckPackName(name); err != nil {
		return err
	}
	root, err := disk.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return errNoPack(name)
	}
	if err != nil {
		return fmt.Errorf("emoji folder: %w", err)
	}
	defer root.Close()
	pack := readPack(root, name)
	switch {
	case pack.Loose:
		return errNoPack(name)
	case pack.err != nil:
		return errs.Invalid("The pack %s cannot be used: %v", name, pack.err)
	}
	if err := writeArchive(w, folder{root}, pack); err != nil {
		return fmt.Errorf("archive of pack %s: %w", name, err)
	}
	return nil
}

func errNoPack(name string) error { return errs.NotFound("Pack %s does not exist", name) }
