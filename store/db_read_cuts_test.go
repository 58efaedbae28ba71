package store_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"svc/store"
)

// TestCutRowsTakeLittleMemory reads accounts that an earlier version stored with one large text or list each: what was cut is not kept.
func TestCutRowsTakeLittleMemory(t *testing.T) {
	const n, large = 40, 500_000
	list := func(element string) string { return `[` + strings.Repeat(element+`,`, 9) + element + `]` }
	long := strings.Repeat("&amp;", large/5)
	for column, value := range map[string]string{
		"display_name":  long,
		"note":          long,
		"fields":        list(`{"name":"` + long[:large/20] + `","value":"` + long[:large/20] + `"}`),
		"also_known_as": `["https://remote.example/` + long + `"]`,
		"emojis":        list(`{"shortcode":"a","url":"https://remote.example/` + long[:large/10] + `"}`),
	} {
		db := open(t)
		var ids []store.AccountID
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			for i := range n {
				ids = append(ids, store.AccountID(100+i))
				if err := tx.Exec(t.Context(), fmt.Sprintf(`
					INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, created_at, %s)
					VALUES (?1, 'n' || ?1, 'n' || ?1, 'remote.example', ?1, ?1, 0, ?2)`, column), 100+i, value); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		before := heapInUse()
		rows, err := db.Accounts(t.Context(), ids)
		if err != nil || len(rows) != n {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		if held := heapInUse() - before; held > n*store.MaxRemoteNote*4 {
			t.Errorf("%s: %d rows of %d bytes take %d bytes", column, n, len(value), held)
		}
		runtime.KeepAlive(rows)
	}
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
