package admin

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
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

// cutError returns the error of a backup that ends too early. It names all that a backup always has and this one does not.
func (s *BackupSource) cutError() error {
	missing, err := s.missingFiles()
	if err != nil {
		return invalidBackup(s.Name, err)
	}
	ways := "use another backup"
	if !slices.ContainsFunc(missing, func(name string) bool { return name != manifestFile }) {
		ways += ", or --damaged, which restores the rest"
	}
	if len(missing) == 0 {
		missing = []string{"the end"}
	}
	return fmt.Errorf("%s is not a complete backup: it ends too early, and lacks %s and what else was behind its end: %s", s.Name, strings.Join(missing, ", "), ways)
}

// missingFiles returns which of neededFiles are not in a backup, or not whole.
func (s *BackupSource) missingFiles() ([]string, error) {
	f, err := s.open()
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
