package apptest

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// DiskOperation is what SQLite does with a file.
type DiskOperation string

const (
	DiskRead  DiskOperation = "read"
	DiskWrite DiskOperation = "write"
	DiskSync  DiskOperation = "sync"
)

// DiskFault decides about an operation on a file of a database, named by its last element. It returns 0 for the operation to be carried out, or
// the SQLite result code with which it fails. It is called from many goroutines.
type DiskFault func(op DiskOperation, file string) int

// FaultyDisk lets fault decide about all operations on databases in a folder that are opened until the test ends. It replaces the file layer
// of SQLite in this process.
func FaultyDisk(t testing.TB, dir string, fault DiskFault) {
	t.Helper()
	if err := registerFaultyFiles(); err != nil {
		t.Fatal(err)
	}
	diskFaults.Store(dir, &fault)
	t.Cleanup(func() { diskFaults.Delete(dir) })
}

var (
	diskFaults sync.Map // folder → *DiskFault
	openFiles  sync.Map // address of a sqlite3_file → *openFile

	unixFiles     *sqlite3.Tsqlite3_vfs
	faultyMu      sync.Mutex
	faultyMethods = make(map[uintptr]uintptr) // address of the functions of a kind of files → that of a copy with those below
)

type openFile struct {
	dir, name string
	methods   *sqlite3.Tsqlite3_io_methods // without faults
}

// registerFaultyFiles makes a copy of SQLite's file layer the default, with some functions replaced.
var registerFaultyFiles = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	name, err := libc.CString("unix")
	if err != nil {
		return err
	}
	unixFiles = at[sqlite3.Tsqlite3_vfs](sqlite3.Xsqlite3_vfs_find(tls, name))
	faulty := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(*unixFiles)))
	if faulty == 0 {
		return errors.New("out of memory")
	}
	vfs := at[sqlite3.Tsqlite3_vfs](faulty)
	*vfs = *unixFiles
	if vfs.FzName, err = libc.CString("faulty"); err != nil {
		return err
	}
	vfs.FpNext, vfs.FxOpen = 0, address(openFaulty)
	sqlite3.Xsqlite3_vfs_register(tls, faulty, 1)
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
	openFunc = func(tls *libc.TLS, vfs, path, file uintptr, flags int32, out uintptr) int32
	dataFunc = func(tls *libc.TLS, file, data uintptr, n int32, offset sqlite3.Tsqlite3_int64) int32
	syncFunc = func(tls *libc.TLS, file uintptr, flags int32) int32
	fileFunc = func(tls *libc.TLS, file uintptr) int32
)

func openFaulty(tls *libc.TLS, vfs, path, file uintptr, flags int32, out uintptr) int32 {
	rc := function[openFunc](unixFiles.FxOpen)(tls, vfs, path, file, flags, out)
	f := at[sqlite3.Tsqlite3_file](file)
	if rc != sqlite3.SQLITE_OK || f.FpMethods == 0 || path == 0 {
		return rc
	}
	name := libc.GoString(path)
	openFiles.Store(file, &openFile{filepath.Dir(name), filepath.Base(name), at[sqlite3.Tsqlite3_io_methods](f.FpMethods)})
	f.FpMethods = withFaults(tls, f.FpMethods)
	return rc
}

// withFaults returns the address of a copy of the functions of files that asks for faults first.
func withFaults(tls *libc.TLS, methods uintptr) uintptr {
	faultyMu.Lock()
	defer faultyMu.Unlock()
	if copied := faultyMethods[methods]; copied != 0 {
		return copied
	}
	copied := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
	if copied == 0 {
		return methods
	}
	m := at[sqlite3.Tsqlite3_io_methods](copied)
	*m = *at[sqlite3.Tsqlite3_io_methods](methods)
	m.FxClose, m.FxRead, m.FxWrite, m.FxSync = address(closeFaulty), address(readFaulty), address(writeFaulty), address(syncFaulty)
	faultyMethods[methods] = copied
	return copied
}

// opened returns a file that openFaulty has opened.
func opened(file uintptr) *openFile {
	f, _ := openFiles.Load(file)
	return f.(*openFile)
}

// fault returns the code with which an operation on a file fails, 0 if it does not.
func (f *openFile) fault(op DiskOperation) int32 {
	if fault, ok := diskFaults.Load(f.dir); ok {
		return int32((*fault.(*DiskFault))(op, f.name))
	}
	return 0
}

func closeFaulty(tls *libc.TLS, file uintptr) int32 {
	f := opened(file)
	openFiles.Delete(file)
	return function[fileFunc](f.methods.FxClose)(tls, file)
}

func readFaulty(tls *libc.TLS, file, data uintptr, n int32, offset sqlite3.Tsqlite3_int64) int32 {
	f := opened(file)
	if rc := f.fault(DiskRead); rc != 0 {
		return rc
	}
	return function[dataFunc](f.methods.FxRead)(tls, file, data, n, offset)
}

func writeFaulty(tls *libc.TLS, file, data uintptr, n int32, offset sqlite3.Tsqlite3_int64) int32 {
	f := opened(file)
	if rc := f.fault(DiskWrite); rc != 0 {
		return rc
	}
	return function[dataFunc](f.methods.FxWrite)(tls, file, data, n, offset)
}

func syncFaulty(tls *libc.TLS, file uintptr, flags int32) int32 {
	f := opened(file)
	if rc := f.fault(DiskSync); rc != 0 {
		return rc
	}
	return function[syncFunc](f.methods.FxSync)(tls, file, flags)
}
