package store_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/store"
)

// crashDir is set in the process that will be killed.
const crashDir = "SVC_TEST_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		writeUntilKilled(dir)
		return
	}
	os.Exit(m.Run())
}

// TestCrash kills a writing process repeatedly. Each acknowledged write must exist once, no transaction may exist in part, and no
// id may be used twice.
func TestCrash(t *testing.T) {
	rounds := 25
	if testing.Short() {
		rounds = 4
	}
	dir := t.TempDir()
	openForCrash(t, dir).Close() // with the worker number of this process, which may have opened other databases
	acknowledged := make(map[string]bool)
	for round := range rounds {
		for _, uri := range crashRound(t, dir) {
			if acknowledged[uri] {
				t.Fatalf("round %d: %s was acknowledged twice", round, uri)
			}
			acknowledged[uri] = true
		}
		func() {
			db := openForCrash(t, dir)
			defer db.Close()
			if found, err := db.Check(t.Context()); err != nil || len(found) > 0 {
				t.Fatalf("round %d: %v %v", round, found, err)
			}
			for uri := range acknowledged {
				if ok, err := db.Has(t.Context(), `SELECT 1 FROM statuses WHERE uri = ?`, uri); !ok || err != nil {
					t.Fatalf("round %d: %s was acknowledged but is missing (%v)", round, uri, err)
				}
			}
			// Each transaction adds a status with its counter, its home row and a job, or nothing of it.
			for what, query := range map[string]string{
				"a status without its home row": `SELECT 1 FROM statuses s WHERE NOT EXISTS (SELECT 1 FROM home h WHERE h.status_id = s.id)`,
				"a status without its job":      `SELECT 1 FROM statuses s WHERE NOT EXISTS (SELECT 1 FROM jobs j WHERE j.unique_key = s.uri)`,
				"a wrong counter":               `SELECT 1 FROM accounts a WHERE statuses_count <> (SELECT count(*) FROM statuses s WHERE s.account_id = a.id)`,
				"an id ahead of the last one":   `SELECT 1 FROM statuses s, meta m WHERE s.id > m.last_id`,
			} {
				if bad, err := db.Has(t.Context(), query); bad || err != nil {
					t.Fatalf("round %d: %s exists (%v)", round, what, err)
				}
			}
		}()
	}
	if len(acknowledged) < rounds {
		t.Fatalf("only %d writes in %d rounds: nothing was tested", len(acknowledged), rounds)
	}
	t.Logf("%d acknowledged writes survived %d kills", len(acknowledged), rounds)
}

// crashRound runs a writer for a while, kills it, and returns the writes that it acknowledged.
func crashRound(t *testing.T, dir string) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), crashDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil { // it has started
		t.Fatal(err)
	}
	kill := time.AfterFunc(time.Duration(rand.Int64N(int64(80*time.Millisecond))), func() { cmd.Process.Kill() })
	defer kill.Stop()
	text, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	whole := text[:strings.LastIndexByte(string(text), '\n')+1] // the last line may be torn
	return strings.Fields(string(whole))
}

func openForCrash(t *testing.T, dir string) *store.DB {
	t.Helper()
	db, err := openIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// writeUntilKilled writes from several goroutines and prints the acknowledged writes.
func writeUntilKilled(dir string) {
	ctx := context.Background()
	db, err := openIn(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	author := &store.Account{Nickname: "writer" + strconv.FormatInt(time.Now().UnixNano(), 36), ActorType: "Person"}
	author.URI = "https://example.org/" + author.Nickname
	author.URL = author.URI
	if err := db.Update(ctx, func(tx *store.Tx) error { return tx.AddAccount(ctx, author) }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("up")
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				st, err := addStatus(ctx, db, author)
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				mu.Lock()
				fmt.Println(st.URI)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// work is a job that never runs.
type work struct{ URI string }

func (work) Kind() store.JobKind { return store.JobKind{Name: "test"} }

// addStatus adds a public status with its home row and a job.
func addStatus(ctx context.Context, db *store.DB, author *store.Account) (*store.Status, error) {
	var st *store.Status
	err := db.Update(ctx, func(tx *store.Tx) error {
		st = &store.Status{ID: tx.NewStatusID(), AccountID: author.ID, ContentType: "text/plain", Text: "hello", Content: "<p>hello</p>"}
		st.URI = "https://example.org/objects/" + st.ID.String()
		st.ConversationID = store.ConversationID(st.ID)
		if err := tx.AddStatus(ctx, st); err != nil {
			return err
		}
		if err := tx.FanOut(ctx, st, nil); err != nil {
			return err
		}
		return tx.EnqueueUnique(ctx, time.Now().Add(time.Hour), st.URI, work{st.URI})
	})
	return st, err
}
