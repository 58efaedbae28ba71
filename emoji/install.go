package emoji

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"svc/internal/errs"
)

// replacedPrefix marks the folder of a pack that is being replaced. An interrupted process may leave it.
const replacedPrefix = ".replaced-"

// Install makes an incoming pack a pack of this server and reloads the packs. If there is a pack with this name, it is replaced, or the
// error is a 409. Other processes see the whole pack or none of it.
func (p *Packs) Install(in *IncomingPack, name string, replace bool) error {
	if !validName(name) {
		return errs.Invalid("%q is not a valid pack name", name)
	}
	if err := in.finish(); err != nil {
		return err
	}
	p.addMu.Lock()
	defer p.addMu.Unlock()
	target, replaced := filepath.Join(p.dir, name), filepath.Join(p.dir, replacedPrefix+name)
	_, err := os.Lstat(target)
	exists := err == nil
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("emoji folder: %w", err)
	case exists && !replace:
		return errs.Conflict("A pack named %q already exists", name)
	case exists:
		if err := os.Rename(target, replaced); err != nil {
			return fmt.Errorf("emoji folder: %w", err)
		}
	}
	if err := os.Rename(in.dir, target); err != nil {
		if exists {
			err = errors.Join(err, os.Rename(replaced, target))
		}
		return fmt.Errorf("emoji folder: %w", err)
	}
	err = syncFolder(p.dir)
	if exists {
		err = errors.Join(err, os.RemoveAll(replaced))
	}
	return errors.Join(err, p.Reload())
}

// finish writes the pack.json and waits until all files are on disk.
func (in *IncomingPack) finish() error {
	metadata := in.Metadata
	if metadata == nil {
		metadata = map[string]json.RawMessage{}
	}
	doc, err := json.MarshalIndent(map[string]any{"files": in.Files, "files_count": len(in.Files), "pack": metadata}, "", "  ")
	if err != nil {
		return fmt.Errorf("pack.json: %w", err)
	}
	if err := writeFileAtomic(in.root, "pack.json", doc); err != nil {
		return err
	}
	folders := map[string]bool{".": true}
	for _, file := range in.Files {
		if err := syncFile(in.root, file); err != nil {
			return err
		}
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	for dir := range folders {
		if err := syncFile(in.root, dir); err != nil {
			return err
		}
	}
	return nil
}

func syncFile(root *os.Root, name string) error {
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return fmt.Errorf("emoji folder: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("emoji folder: %w", err)
	}
	return nil
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("emoji folder: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("emoji folder: %w", err)
	}
	return nil
}

// cleanUp repairs what an interrupted process left in the emoji folder: it removes incoming packs, and puts back a pack that was about
// to be replaced.
func cleanUp(dir string) error {
	folders, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("emoji folder: %w", err)
	}
	for _, f := range folders {
		path := filepath.Join(dir, f.Name())
		if pack, ok := strings.CutPrefix(f.Name(), replacedPrefix); ok {
			target := filepath.Join(dir, pack)
			if _, err := os.Lstat(target); errors.Is(err, fs.ErrNotExist) {
				if err := os.Rename(path, target); err != nil {
					return fmt.Errorf("emoji folder: %w", err)
				}
				continue
			}
		} else if !strings.HasPrefix(f.Name(), incomingPrefix) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("emoji folder: %w", err)
		}
	}
	return nil
}
