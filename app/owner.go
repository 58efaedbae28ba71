package app

import (
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

// take makes the owner that of what belongs to root in a folder, and of files.
func (o owner) take(dir string, files ...string) error {
	give := func(path string) error {
		of, err := ownerOf(path)
		if err != nil || of.uid != 0 {
			return err
		}
		if err := os.Lchown(path, o.uid, o.gid); err != nil {
			return fmt.Errorf("give to the owner of the data directory: %w", err)
		}
		return nil
	}
	for _, path := range files {
		if err := give(path); err != nil {
			return err
		}
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return give(path)
	})
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
