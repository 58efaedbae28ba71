package moving

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// maxDumpLine bounds a line of a dump: one row.
const maxDumpLine = 16 << 20

// maxDumpColumns bounds the columns of a table.
const maxDumpColumns = 400

// DumpError says what is wrong with a dump, and in which line.
type DumpError struct {
	File string
	Line int64
	What string
}

func (e *DumpError) Error() string {
	return fmt.Sprintf("line %d of %s: %s: make the dump again with pg_dump --format=plain", e.Line, e.File, e.What)
}

// dump is a plain dump of PostgreSQL. It is read as a stream; no statement of it is executed, and everything but COPY is ignored.
type dump struct {
	path string
	r    *bufio.Reader
	line int64
	buf  []byte // of a line longer than the buffer of r
}

// copyStatement is the statement before the rows of a table, as pg_dump writes it.
var copyStatement = regexp.MustCompile(`^COPY (?:"?[A-Za-z_][A-Za-z0-9_]*"?\.)?"?([A-Za-z_][A-Za-z0-9_]*)"? \((.*)\) FROM stdin;$`)

// dumpEnd is the last comment of a complete dump.
const dumpEnd = "-- PostgreSQL database dump complete"

// read calls each mapping of a table with its rows, in the order of the dump. It returns the tables that the dump has.
func (d *dump) read(ctx context.Context, mappings map[string]*mapping, l *loader) (found map[string]bool, err error) {
	file, err := os.Open(d.path)
	if err != nil {
		return nil, fmt.Errorf("takeover: %w", err)
	}
	defer file.Close()
	l.size = 0
	if info, err := file.Stat(); err == nil {
		l.size = info.Size()
	}
	d.r = bufio.NewReaderSize(&countingReader{r: file, n: &l.done}, 1<<20)
	found = make(map[string]bool)
	complete, started := false, false
	for {
		line, err := d.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if d.line == 1 && bytes.HasPrefix(line, []byte("PGDMP")) {
			return nil, d.fault("it is in the custom format, which cannot be read as text")
		}
		if bytes.HasPrefix(line, []byte(dumpEnd)) {
			complete = true
		}
		if !bytes.HasPrefix(line, []byte("COPY ")) {
			started = started || bytes.HasPrefix(line, []byte("-- PostgreSQL database dump"))
			continue
		}
		match := copyStatement.FindSubmatch(line)
		if match == nil {
			return nil, d.fault("the COPY statement has another form than pg_dump writes")
		}
		name := string(match[1])
		columns := splitColumns(string(match[2]))
		if len(columns) > maxDumpColumns {
			return nil, d.fault("the table has too many columns")
		}
		if found[name] && mappings[name] != nil {
			return nil, d.fault("the table " + name + " is there twice: dump one schema only (--schema=public)")
		}
		found[name] = true
		if err := d.copy(ctx, name, columns, mappings[name], l); err != nil {
			return nil, err
		}
	}
	switch {
	case !started && len(found) == 0:
		return nil, &DumpError{d.path, 1, "it is no plain dump of PostgreSQL"}
	case !complete:
		return nil, d.fault("the dump ends here without its last line, " + dumpEnd + ", so it is truncated")
	}
	return found, nil
}

// copy reads the rows of a table up to their end. Those of a table without a mapping are skipped.
func (d *dump) copy(ctx context.Context, table string, columns []string, m *mapping, l *loader) error {
	var r row
	if m != nil {
		var err error
		if r, err = m.rowOf(table, columns); err != nil {
			return d.fault(err.Error())
		}
	}
	for {
		line, err := d.next()
		if errors.Is(err, io.EOF) {
			return d.fault("the dump ends within the rows of " + table + ", so it is truncated")
		}
		if err != nil {
			return err
		}
		if len(line) == 2 && line[0] == '\\' && line[1] == '.' {
			return ctx.Err()
		}
		if m == nil {
			continue
		}
		if err := r.split(line); err != nil {
			return d.fault(err.Error())
		}
		if err := l.add(ctx, m, &r); err != nil {
			return d.wrap(table, err)
		}
	}
}

// next returns the next line without its end. It is valid until the next call.
func (d *dump) next() ([]byte, error) {
	d.line++
	part, err := d.r.ReadSlice('\n')
	if err == nil {
		return bytes.TrimSuffix(part[:len(part)-1], []byte{'\r'}), nil
	}
	d.buf = append(d.buf[:0], part...)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(d.buf) > maxDumpLine {
			return nil, d.fault(fmt.Sprintf("the line is longer than %d MiB", maxDumpLine>>20))
		}
		part, err = d.r.ReadSlice('\n')
		d.buf = append(d.buf, part...)
	}
	switch {
	case errors.Is(err, io.EOF) && len(d.buf) == 0:
		d.line--
		return nil, io.EOF
	case errors.Is(err, io.EOF): // the last line without its end
		return d.buf, nil
	case err != nil:
		return nil, fmt.Errorf("read line %d of %s: %w", d.line, d.path, err)
	}
	return bytes.TrimSuffix(d.buf[:len(d.buf)-1], []byte{'\r'}), nil
}

func (d *dump) fault(what string) error { return &DumpError{d.path, d.line, what} }

// wrap adds the place to an error of a value of the row.
func (d *dump) wrap(table string, err error) error {
	if isValue := new(valueError); errors.As(err, &isValue) {
		return d.fault("table " + table + ": " + err.Error())
	}
	return err
}

// splitColumns splits the list of columns of a COPY statement.
func splitColumns(list string) []string {
	names := strings.Split(list, ",")
	for i, name := range names {
		names[i] = strings.Trim(strings.TrimSpace(name), `"`)
	}
	return names
}

// countingReader counts the bytes that were read, for progress.
type countingReader struct {
	r io.Reader
	n *int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	*c.n += int64(n)
	return n, err
}
