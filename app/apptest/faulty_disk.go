package apptest

import (
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"svc/internal/disk"
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

// FaultyDisk lets fault decide about all operations on databases in a folder that are opened until the test ends.
func FaultyDisk(t testing.TB, dir string, fault DiskFault) {
	t.Helper()
	perform := func(op DiskOperation, name string, do func() int32) int32 {
		if rc := fault(op, name); rc != sqlite3.SQLITE_OK {
			return int32(rc)
		}
		return do()
	}
	interceptSQLite(t, dir, &sqliteFiles{
		read: func(name string, do func() int32) int32 { return perform(DiskRead, name, do) },
		change: func(name string, c *disk.Change, do func() int32) int32 {
			switch {
			case c.Kind == disk.Written:
				return perform(DiskWrite, name, do)
			case c.Kind == disk.Synced && c.Path == "": // else it is that of a folder, which belongs to another operation
				return perform(DiskSync, name, do)
			}
			return do()
		},
	})
}
