package moving

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// detectSoftware returns the kind of server that a source is of, by the tables that it has. copied is its copy if it is a database of SQLite, else "".
func detectSoftware(ctx context.Context, path, copied string) (*software, error) {
	var tables map[string]bool
	var err error
	if copied != "" {
		tables, err = tableNames(ctx, path, copied)
	} else {
		tables, err = dumpTables(path)
	}
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		has := true
		for _, name := range kind.known {
			has = has && tables[name]
		}
		if has {
			return kind, nil
		}
	}
	return nil, fmt.Errorf("%s is of no software that can be taken over: GoToSocial, Mastodon, Pleroma and Akkoma can", path)
}

// tableNames returns the tables of a copied database of SQLite.
func tableNames(ctx context.Context, path, copied string) (map[string]bool, error) {
	db, conn, err := openUntrusted(ctx, copied)
	if err != nil {
		return nil, fmt.Errorf("%s is no database that can be read: %w", path, err)
	}
	defer db.Close()
	defer conn.Close()
	names, err := sqliteTables(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	tables := make(map[string]bool, len(names))
	for _, name := range names {
		tables[name] = true
	}
	return tables, nil
}

// createTable begins the definition of a table in a dump.
const createTable = "CREATE TABLE "

// dumpTables returns the tables that a dump defines. pg_dump writes all definitions before the first row.
func dumpTables(path string) (map[string]bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("takeover: %w", err)
	}
	defer f.Close()
	d := &dump{path: path, r: bufio.NewReader(f)}
	tables := make(map[string]bool)
	for {
		line, err := d.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		text := string(line[:min(len(line), 300)])
		switch {
		case d.line == 1 && strings.HasPrefix(text, "PGDMP"):
			return nil, d.fault("it is in the custom format, which cannot be read as text")
		case strings.HasPrefix(text, "COPY "):
			return tables, nil
		case strings.HasPrefix(text, createTable) && len(tables) < maxSourceTables:
			name, _, _ := strings.Cut(strings.TrimPrefix(text, createTable), " ")
			if _, after, ok := strings.Cut(name, "."); ok {
				name = after
			}
			tables[strings.Trim(name, `"`)] = true
		}
	}
	if len(tables) == 0 {
		return nil, &DumpError{path, 1, "it is neither a database of SQLite nor a plain dump of PostgreSQL"}
	}
	return nil, d.fault("the dump ends here without any rows, so it is truncated, or was made with --schema-only")
}
