package apptest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"svc/internal/disk"
)

// sqliteFiles sees what SQLite does with the files of databases. Each function carries out the operation, by do, or fails instead; they return SQLite's result
// codes. They are called from many goroutines.
type sqliteFiles struct {
	read   func(name string, do func() int32) int32
	change func(name string, c *disk.Change, do func() int32) int32 // Path of an open file is set only when it is opened
}

// interceptSQLite lets f see all files of databases in a folder, and in the folders in it, that are opened until the test ends. It replaces the file layer of
// SQLite in this process.
func interceptSQLite(t testing.TB, dir string, f *sqliteFiles) {
	t.Helper()
	if err := registerFiles(); err != nil {
		t.Fatal(err)
	}
	interceptedDirs.Store(dir, f)
	t.Cleanup(func() { interceptedDirs.Delete(dir) })
}

var (
	interceptedDirs sync.Map // folder → *sqliteFiles
	openFiles       sync.Map // address of a sqlite3_file → *openFile

	unixFiles *sqlite3.Tsqlite3_vfs
	methodsMu sync.Mutex
	replaced  = make(map[uintptr]uintptr) // address of the functions of a kind of files → that of a copy with those below
)

// openFile is a file that SQLite has opened.
type openFile struct {
	path      string
	id        uint64 // of disk.Change
	files     *sqliteFiles
	methods   *sqlite3.Tsqlite3_io_methods // those of SQLite
	syncsName bool                         // the next synchronisation is also that of its name, as SQLite does for new logs
}

// filesOf returns what sees the files of a folder, nil if nothing does.
func filesOf(path string) (found *sqliteFiles) {
	interceptedDirs.Range(func(dir, f any) bool {
		if strings.HasPrefix(path, dir.(string)+string(filepath.Separator)) {
			found = f.(*sqliteFiles)
		}
		return found == nil
	})
	return found
}

// registerFiles makes a copy of SQLite's file layer the default, with some functions replaced.
var registerFiles = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	name, err := libc.CString("unix")
	if err != nil {
		return err
	}
	unixFiles = at[sqlite3.Tsqlite3_vfs](sqlite3.Xsqlite3_vfs_find(tls, name))
	copied := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(*unixFiles)))
	if copied == 0 {
		return errors.New("out of memory")
	}
	vfs := at[sqlite3.Tsqlite3_vfs](copied)
	*vfs = *unixFiles
	if vfs.FzName, err = libc.CString("intercepted"); err != nil {
		return err
	}
	vfs.FpNext, vfs.FxOpen, vfs.FxDelete = 0, address(openIntercepted), address(deleteIntercepted)
	sqlite3.Xsqlite3_vfs_register(tls, copied, 1)
	return nil
})

// at returns a pointer to an address of SQLite's memory, which is outside of Go's heap.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// address returns the address of a function as SQLite keeps it.
func address(f any) uintptr { return (*[2]uintptr)(unsafe.Pointer(&f))[1] }

// function returns the function of an address.
func function[F any](p uintptr) F {
	pointer := &struct{ uintptr }{p}
	return *(*F)(unsafe.Pointer(pointer))
}

type (
	openFunc     = func(tls *libc.TLS, vfs, path, file uintptr, flags int32, out uintptr) int32
	deleteFunc   = func(tls *libc.TLS, vfs, path uintptr, syncDir int32) int32
	dataFunc     = func(tls *libc.TLS, file, data uintptr, n int32, offset sqlite3.Tsqlite3_int64) int32
	truncateFunc = func(tls *libc.TLS, file uintptr, size sqlite3.Tsqlite3_int64) int32
	syncFunc     = func(tls *libc.TLS, file uintptr, flags int32) int32
	fileFunc     = func(tls *libc.TLS, file uintptr) int32
)

const newLog = sqlite3.SQLITE_OPEN_WAL | sqlite3.SQLITE_OPEN_MAIN_JOURNAL | sqlite3.SQLITE_OPEN_SUPER_JOURNAL

func openIntercepted(tls *libc.TLS, vfs, path, file uintptr, flags int32, out uintptr) int32 {
	open := func() int32 { return function[openFunc](unixFiles.FxOpen)(tls, vfs, path, file, flags, out) }
	if path == 0 {
		return open()
	}
	o := &openFile{path: libc.GoString(path), id: disk.NewFile()}
	if o.files = filesOf(o.path); o.files == nil {
		return open()
	}
	c := &disk.Change{Kind: disk.Opened, Path: o.path, File: o.id}
	if flags&sqlite3.SQLITE_OPEN_CREATE != 0 {
		c.Flag = os.O_CREATE
		o.syncsName = flags&newLog != 0
	}
	rc := o.files.change(filepath.Base(o.path), c, open)
	f := at[sqlite3.Tsqlite3_file](file)
	if rc != sqlite3.SQLITE_OK || f.FpMethods == 0 {
		return rc
	}
	o.methods = at[sqlite3.Tsqlite3_io_methods](f.FpMethods)
	openFiles.Store(file, o)
	f.FpMethods = interceptedMethods(tls, f.FpMethods)
	return rc
}

// interceptedMethods returns the address of a copy of the functions of files with those below.
func interceptedMethods(tls *libc.TLS, methods uintptr) uintptr {
	methodsMu.Lock()
	defer methodsMu.Unlock()
	if copied := replaced[methods]; copied != 0 {
		return copied
	}
	copied := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
	if copied == 0 {
		return methods
	}
	m := at[sqlite3.Tsqlite3_io_methods](copied)
	*m = *at[sqlite3.Tsqlite3_io_methods](methods)
	m.FxClose, m.FxRead, m.FxWrite, m.FxTruncate, m.FxSync =
		address(closeIntercepted), address(readIntercepted), address(writeIntercepted), address(truncateIntercepted), address(syncIntercepted)
	replaced[methods] = copied
	return copied
}

// opened returns a file that openIntercepted has opened.
func opened(file uintptr) *openFile {
	f, _ := openFiles.Load(file)
	return f.(*openFile)
}

// change hands over a change of the file.
func (f *openFile) change(c disk.Change, do func() int32) int32 {
	if c.Kind != disk.Synced || c.Path == "" {
		c.File = f.id
	}
	return f.files.change(filepath.Base(f.path), &c, do)
}

func deleteIntercepted(tls *libc.TLS, vfs, path uintptr, syncDir int32) int32 {
	remove := func() int32 { return function[deleteFunc](unixFiles.FxDelete)(tls, vfs, path, syncDir) }
	name := libc.GoString(path)
	files := filesOf(name)
	if files == nil {
		return remove()
	}
	rc := files.change(filepath.Base(name), &disk.Change{Kind: disk.Removed, Path: name}, remove)
	if rc == sqlite3.SQLITE_OK && syncDir != 0 { // which has happened
		return files.change(filepath.Base(name), &disk.Change{Kind: disk.Synced, Path: filepath.Dir(name)}, func() int32 { return sqlite3.SQLITE_OK })
	}
	return rc
}

func closeIntercepted(tls *libc.TLS, file uintptr) int32 {
	f := opened(file)
	openFiles.Delete(file)
	return function[fileFunc](f.methods.FxClose)(tls, file)
}

func readIntercepted(tls *libc.TLS, file, data uintptr, n int32, offset sqlite3.Tsqlite3_int64) int32 {
	f := opened(file)
	read := func() int32 { return function[dataFunc](f.methods.FxRead)(tls, file, data, n, offset) }
	if f.files.read == nil {
		return read()
	}
	return f.files.read(filepath.Base(f.path), read)
}

func writeIntercepted(tls *libc.TLS, file, data uintptr, n int32, offset sqlite3.Tsqlite3_int64) int32 {
	f := opened(file)
	content := unsafe.Slice(at[byte](data), n)
	return f.change(disk.Change{Kind: disk.Written, Offset: offset, Data: content}, func() int32 {
		return function[dataFunc](f.methods.FxWrite)(tls, file, data, n, offset)
	})
}

func truncateIntercepted(tls *libc.TLS, file uintptr, size sqlite3.Tsqlite3_int64) int32 {
	f := opened(file)
	return f.change(disk.Change{Kind: disk.Truncated, Size: size}, func() int32 {
		return function[truncateFunc](f.methods.FxTruncate)(tls, file, size)
	})
}

func syncIntercepted(tls *libc.TLS, file uintptr, flags int32) int32 {
	f := opened(file)
	rc := f.change(disk.Change{Kind: disk.Synced}, func() int32 { return function[syncFunc](f.methods.FxSync)(tls, file, flags) })
	if rc == sqlite3.SQLITE_OK && f.syncsName { // which has happened
		f.syncsName = false
		return f.change(disk.Change{Kind: disk.Synced, Path: filepath.Dir(f.path)}, func() int32 { return sqlite3.SQLITE_OK })
	}
	return rc
}
