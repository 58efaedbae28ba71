package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// owner is a user and a group of the machine.
type owner struct{ uid, gid int }

// asRoot returns true if files are created for root.
func asRoot() bool { return os.Geteuid() == 0 }

// GiveToOwner gives what root has created in a data directory, and some files beside it, to the owner of the directory, or of the folder that it is
// in: the server runs as that user. name is that of the owner. Where root itself is the owner, stays returns true, and all stays as it is. For
// other users than root it does nothing.
func GiveToOwner(dir string, files ...string) (name string, stays bool, err error) {
	if !asRoot() {
		return "", false, nil
	}
	to, err := ownerOf(dir)
	if err == nil && to.uid == 0 {
		to, err = ownerOf(filepath.Dir(dir))
	}
	if err != nil || to.uid == 0 {
		return "", err == nil, err
	}
	if err := to.take(dir, files...); err != nil {
		return "", false, err
	}
	if u, err := user.LookupId(strconv.Itoa(to.uid)); err == nil {
		return u.Username, false, nil
	}
	return "user " + strconv.Itoa(to.uid), false, nil
}

// returnToOwner gives what root has created in a data directory to its owner, after a command that root ran while no server did.
func returnToOwner(dir string) error {
	if !asRoot() {
		return nil
	}
	to, err := ownerOf(dir)
	if err != nil || to.uid == 0 {
		return err
	}
	return to.take(dir)
}

// take makes the owner that of the entries of a folder that belong to root, and of files. The user of the server may change the folder meanwhile, so that
// no link may lead out of it: a file with further names could be one of root's elsewhere, and keeps its owner.
func (o owner) take(dir string, files ...string) error {
	for _, path := range files {
		info, err := os.Lstat(path)
		if err == nil && o.takes(info) {
			err = os.Lchown(path, o.uid, o.gid)
		}
		if err != nil {
			return fmt.Errorf("give to the owner of the data directory: %w", err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := root.Lstat(path)
		if err == nil && o.takes(info) {
			err = root.Lchown(path, o.uid, o.gid)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("give to the owner of the data directory: %w", err)
		}
		return nil
	})
}

// takes returns true for what root has created.
func (o owner) takes(info fs.FileInfo) bool {
	of, ok := info.Sys().(*syscall.Stat_t)
	return ok && of.Uid == 0 && (info.IsDir() || of.Nlink == 1)
}

// ownerOf returns the owner of a file or folder, not of what a symbolic link names.
func ownerOf(path string) (owner, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return owner{}, err
	}
	of, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{}, fmt.Errorf("%s has no owner", path)
	}
	return owner{int(of.Uid), int(of.Gid)}, nil
}
