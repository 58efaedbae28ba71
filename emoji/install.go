package emoji

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"svc/internal/disk"
)

// replacedPrefix marks the folder of a pack that is being replaced. An interrupted process may leave it.
const replacedPrefix = ".replaced-"

// Install makes an incoming pack a pack of this server. If there is a pack with this name, it is replaced, or the error is a 409.
// Members of the metadata that are not valid are left out.
func (p *Packs) Install(in *IncomingPack, name string, replace bool) error {
	pack := &Pack{Name: strings.TrimSpace(name), Files: in.Files, Metadata: Metadata(in.Metadata).valid()}
	return p.edit("Unexpected error occurred while creating pack.", func(root folder) error {
		if err := p.checkNewName(root, pack.Name, replace); err != nil {
			return err
		}
		done, err := p.reserve(context.Background(), in.Bytes)
		if err != nil {
			return err
		}
		defer func() { done(err == nil) }()
		temp := filepath.Base(in.dir)
		for _, file := range slices.Sorted(maps.Values(in.Files)) {
			if err = root.Sync(path.Join(temp, file)); err != nil {
				return err
			}
		}
		err = p.install(root, temp, pack)
		return err
	})
}

// CheckNew returns an error if no pack can be created with a name, before something is fetched for it.
func (p *Packs) CheckNew(name string) error {
	name = strings.TrimSpace(name)
	if name == "" {
		return errNoPackName
	}
	return p.edit("Unexpected error occurred while creating pack.", func(root folder) error { return p.checkNewName(root, name, false) })
}

// InstallArchive makes an untrusted zip archive a new pack. The error is a 409 if there is a pack with the name.
func (p *Packs) InstallArchive(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	in, err := p.unpacker().Archive(ctx, content, size)
	if err != nil {
		return err
	}
	return errors.Join(p.Install(in, name, false), in.Discard())
}

// install writes the pack.json into a folder with the files of a pack, and gives it the name of the pack, in place of the one that has
// the name. Other processes see the old pack or the new one; between both there is an instant without either.
func (p *Packs) install(root folder, temp string, pack *Pack) error {
	content, err := pack.encode()
	if err != nil {
		return err
	}
	if err := root.write(path.Join(temp, packFile), content); err != nil {
		return err
	}
	if err := root.Sync(path.Join(temp, packFile)); err != nil {
		return err
	}
	if err := root.syncFolders(temp, append(slices.Collect(maps.Values(pack.Files)), packFile)...); err != nil {
		return err
	}
	replaced := replacedPrefix + pack.Name
	err = root.Rename(pack.Name, replaced)
	exists := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := root.Rename(temp, pack.Name); err != nil {
		if exists {
			err = errors.Join(err, root.Rename(replaced, pack.Name))
		}
		return err
	}
	if err := root.Sync("."); err != nil {
		return err
	}
	root.RemoveAll(replaced) // else the next start removes it
	p.replace(pack.Name, pack)
	return nil
}

// inUse returns whether a command is unpacking into a folder.
func inUse(dir string) bool {
	lock, err := lockFolder(dir)
	if err == nil {
		lock.Close()
	}
	return errors.Is(err, syscall.EWOULDBLOCK)
}

// cleanUp repairs what an interrupted process left in the emoji folder: it removes files that were being written and incoming packs, and
// puts back a pack that was about to be replaced.
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
				if err := disk.Rename(path, target); err != nil {
					return fmt.Errorf("emoji folder: %w", err)
				}
				continue
			}
		} else if !strings.HasPrefix(f.Name(), incomingPrefix) && !strings.HasPrefix(f.Name(), tempPrefix) {
			continue
		}
		if inUse(path) {
			continue
		}
		if err := disk.RemoveAll(path); err != nil {
			return fmt.Errorf("emoji folder: %w", err)
		}
	}
	return nil
}
