package admin

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"svc/internal/keys"
	"svc/store"
)

// neededFiles returns the names of the files that a backup always has.
func neededFiles() []string {
	needed := []string{store.File}
	for _, name := range keys.Files() {
		needed = append(needed, path.Join(keysDir, name))
	}
	return append(needed, manifestFile)
}

// isCutOff returns true for the error of an archive that ends too early.
func isCutOff(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) }

// cutBackup returns the error of a backup that ends too early. It names all that the backup always has and this one does not.
func cutBackup(file string) error {
	missing, err := missingFiles(file)
	if err != nil {
		return invalidBackup(file, err)
	}
	ways := "use another backup"
	if !slices.ContainsFunc(missing, func(name string) bool { return name != manifestFile }) {
		ways += ", or --damaged, which restores the rest"
	}
	if len(missing) == 0 {
		missing = []string{"the end"}
	}
	return fmt.Errorf("%s is not a complete backup: it ends too early, and lacks %s and what else was behind its end: %s", file, strings.Join(missing, ", "), ways)
}

// missingFiles returns which of neededFiles are not in a backup, or not whole.
func missingFiles(file string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	missing := neededFiles()
	for archive := tar.NewReader(f); ; {
		head, err := archive.Next()
		if err != nil {
			return missing, nil
		}
		if !slices.Contains(missing, head.Name) {
			continue
		}
		if _, err := io.Copy(io.Discard, archive); err != nil {
			return missing, nil
		}
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == head.Name })
	}
}
