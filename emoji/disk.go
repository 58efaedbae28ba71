package emoji

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
	"unicode"
	"unicode/utf8"

	"svc/internal/disk"
	"svc/internal/errs"
)

// tempPrefix marks files and folders that are being written or removed. They are hidden, so they belong to no pack.
const tempPrefix = ".new-"

// folder is the open emoji folder during a change.
type folder struct{ *disk.Root }

func (p *Packs) openFolder() (folder, error) {
	root, err := disk.OpenRoot(p.dir)
	if err != nil {
		return folder{}, fmt.Errorf("emoji folder: %w", err)
	}
	return folder{root}, nil
}

// temp makes a folder for files that are being written. The caller removes it.
func (f folder) temp() (string, error) {
	name := tempPrefix + rand.Text()
	return name, f.Mkdir(name, 0o700)
}

// write writes a new file. It is not on disk before Sync.
func (f folder) write(name string, content []byte) error {
	file, err := f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// move moves a file that is complete to its place, and makes the folders above it.
func (f folder) move(from, pack, name string) error {
	to := path.Join(pack, name)
	if err := f.Sync(from); err != nil {
		return err
	}
	if err := f.MkdirAll(path.Dir(to), 0o700); err != nil {
		return err
	}
	if info, err := f.Lstat(to); err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "write", Path: to, Err: syscall.EEXIST}
	}
	return f.Rename(from, to)
}

// syncFolders waits until the entries of the folders of some files of a pack are on disk.
func (f folder) syncFolders(pack string, files ...string) error {
	synced := make(map[string]bool)
	for _, file := range files {
		for dir := path.Dir(file); !synced[dir]; dir = path.Dir(dir) {
			if err := f.Sync(path.Join(pack, dir)); err != nil {
				return err
			}
			synced[dir] = true
		}
	}
	return nil
}

// writePackFile replaces the pack.json of a pack as a whole.
func (f folder) writePackFile(pack *Pack) error {
	content, err := pack.encode()
	if err != nil {
		return err
	}
	if len(content) > maxPackFile {
		return errs.Invalid("The pack.json of pack %q would have more than %d bytes", pack.Name, maxPackFile)
	}
	temp := tempPrefix + rand.Text()
	if err := f.write(temp, content); err != nil {
		return errors.Join(err, f.RemoveAll(temp))
	}
	if err := f.move(temp, pack.Name, packFile); err != nil {
		return errors.Join(err, f.RemoveAll(temp))
	}
	return f.Sync(pack.Name)
}

// removeFile removes a file of a pack, and the folders above it that become empty. What cannot be removed is left.
func (f folder) removeFile(pack, name string) {
	if f.Remove(path.Join(pack, name)) != nil {
		return
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if f.Remove(path.Join(pack, dir)) != nil {
			return
		}
	}
}

// fileError returns the error for a client if a file cannot be read or written. Errors that are for clients already stay as they are.
func fileError(what string, err error) error {
	var e *errs.Error
	if errors.As(err, &e) {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return &errs.Error{Status: 507, Message: "The disk of the server is full", Err: err}
	}
	var number syscall.Errno
	detail := "see the log"
	if errors.As(err, &number) {
		text := number.Error()
		first, size := utf8.DecodeRuneInString(text)
		detail = "POSIX error: " + string(unicode.ToUpper(first)) + text[size:]
	}
	return &errs.Error{Status: 500, Message: what + " (" + detail + ")", Err: err}
}
