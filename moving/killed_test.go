package moving_test

import (
	"bufio"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"svc/app"
	"svc/moving"
)

// childVariable names the dump that a child process takes over, childDir its data directory, childFiles the folder of files.
const (
	childVariable = "SVC_TEST_TAKEOVER"
	childDir      = "SVC_TEST_TAKEOVER_DIR"
	childFiles    = "SVC_TEST_TAKEOVER_FILES"
)

// TestChild is the process that TestKilled kills. It prints the name of each step.
func TestChild(t *testing.T) {
	if os.Getenv(childVariable) == "" {
		t.Skip("it is run by TestKilled")
	}
	c := settings(t, "https://old.example.org")
	c.Data.Dir = os.Getenv(childDir)
	last := ""
	_, err := app.Takeover(t.Context(), c, options(t), moving.Source{Database: os.Getenv(childVariable), Media: os.Getenv(childFiles)}, false, func(step string, _, _ int64) {
		if step != last {
			last = step
			fmt.Println("step", step)
			var b [1]byte
			os.Stdin.Read(b[:]) // until the parent lets it go on
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// runChild runs a takeover and kills it when it has printed as many steps. killed is false if it ended before.
func runChild(t *testing.T, dump, files, dir string, steps int) (killed bool) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
	child.Env = append(os.Environ(), childVariable+"="+dump, childDir+"="+dir, childFiles+"="+files)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	seen, text := 0, ""
	for lines.Scan() {
		text += lines.Text() + "\n"
		var word string
		if fmt.Sscan(lines.Text(), &word); word != "step" {
			continue
		}
		if seen++; seen == steps {
			child.Process.Kill()
			child.Wait()
			return true
		}
		in.Write([]byte{'\n'})
	}
	if err := child.Wait(); err != nil {
		t.Fatalf("the takeover failed: %v\n%s", err, text)
	}
	return false
}

// rowCounts returns how many rows each table of a data directory has.
func rowCounts(t *testing.T, dir string) map[string]int {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "svc.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE '%fts%'`)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	rows.Close()
	counts := make(map[string]int)
	for _, name := range names {
		var n int
		if err := db.QueryRow(`SELECT count(*) FROM "` + name + `"`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		counts[name] = n
	}
	return counts
}

// TestKilled kills a takeover at twelve points, and then lets it end: the result is that of one that nothing has interrupted.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	files := t.TempDir()
	writePicture(t, files, "media_attachments/files/109/612/104/811/129/202/original/a.png")
	writePicture(t, files, "custom_emojis/images/000/000/001/original/blob.png")
	dump := writeFile(t, "dump.sql", string(filledDump(t).bytes()))
	whole := filepath.Join(t.TempDir(), "data")
	if runChild(t, dump, files, whole, -1) {
		t.Fatal("it was killed")
	}
	want := rowCounts(t, whole)
	dir := filepath.Join(t.TempDir(), "data")
	kills := 0
	for point := range 12 { // a process that goes on prints only the steps that are left
		steps := 1
		if point == 1 { // the first one was killed before it had read everything
			steps = 2
		}
		if !runChild(t, dump, files, dir, steps) {
			t.Fatalf("it ended after %d kills", kills)
		}
		kills++
		c := settings(t, "https://old.example.org")
		c.Data.Dir = dir
		if _, err := app.New(t.Context(), c, options(t)); err == nil {
			t.Fatal("a server starts on an unfinished takeover")
		}
	}
	runChild(t, dump, files, dir, -1)
	got := rowCounts(t, dir)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("the table %s has %d rows, want %d", name, got[name], want[name])
		}
	}
}
