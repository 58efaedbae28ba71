package store

import (
	"fmt"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// keepPlans makes SQLite keep the plan of a prepared statement whatever is bound to it (its query planner stability guarantee) in connections
// that are opened from now on. Since SQLite 3.54 the statements within FTS5 are otherwise planned again for each term and segment of a search.
// Neither a PRAGMA nor the driver can set this.
var keepPlans = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	// A C function is a pointer to a Go function's code, as the translated C code has it.
	start := *(*uintptr)(unsafe.Pointer(&struct {
		f func(*libc.TLS, uintptr, uintptr, uintptr) int32
	}{enableStablePlans}))
	if code := sqlite3.Xsqlite3_auto_extension(tls, start); code != sqlite3.SQLITE_OK {
		return fmt.Errorf("SQLite cannot keep plans: code %d", code)
	}
	return nil
})

// enableStablePlans is the extension that each new connection loads.
func enableStablePlans(tls *libc.TLS, db, _, _ uintptr) int32 {
	arguments := tls.Alloc(16)
	defer tls.Free(16)
	return sqlite3.Xsqlite3_db_config(tls, db, sqlite3.SQLITE_DBCONFIG_ENABLE_QPSG, libc.VaList(arguments, int32(1), uintptr(0)))
}
