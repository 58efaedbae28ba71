package store

import (
	"context"
	"math"
	"strings"

	"github.com/jmoiron/sqlx"
)

// maxHoles bounds the holes of a table: in a table that is damaged everywhere, the rows read so far are kept.
const maxHoles = 10_000

// table copies the rows of a table that can be read.
func (s *salvage) table(ctx context.Context, t salvageTable) error {
	tx, err := s.to.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `DELETE FROM `+quoteName(t.Name)); err != nil { // what a new database has
		return err
	}
	insert, err := tx.PreparexContext(ctx, `INSERT OR IGNORE INTO `+quoteName(t.Name)+` (`+t.Columns+`) VALUES (`+strings.TrimPrefix(strings.Repeat(", ?", t.columns), ", ")+`)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	c := &rowCopy{salvageTable: t, from: s.from, insert: insert, count: SalvagedTable{Name: t.Name}}
	if t.WithoutRowid {
		err = c.fromBothEnds(ctx)
	} else {
		err = c.aroundHoles(ctx)
	}
	if err != nil {
		return err
	}
	s.result.Tables = append(s.result.Tables, c.count)
	return tx.Commit()
}

// rowCopy copies the rows of one table.
type rowCopy struct {
	salvageTable
	from   *sqlx.DB
	insert *sqlx.Stmt
	count  SalvagedTable
}

// add inserts a row. One that is not valid, or is there already, is not inserted.
func (c *rowCopy) add(ctx context.Context, row []any) error {
	result, err := c.insert.ExecContext(ctx, row...)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.count.Invalid++ // such as another type in a strict table
		return nil
	}
	n, err := result.RowsAffected()
	c.count.Rows += n
	return err
}

// read copies the rows of a query until it ends or fails. skip is how many values of a row are not part of it. It returns the first value of the last
// row, and whether the query failed because of the damage; err is an error of anything else.
func (c *rowCopy) read(ctx context.Context, skip int, query string, args ...any) (last any, damaged bool, err error) {
	rows, err := c.from.QueryxContext(ctx, query, args...)
	if err != nil {
		return nil, true, ctx.Err()
	}
	defer rows.Close()
	for rows.Next() {
		row, err := rows.SliceScan()
		if err != nil {
			return last, true, ctx.Err()
		}
		if err := c.add(ctx, row[skip:]); err != nil {
			return last, false, err
		}
		last = row[0]
	}
	return last, rows.Err() != nil, ctx.Err()
}

// aroundHoles copies the rows of a table with rowids: after an error it goes on behind the next rowid from which on a row can be read.
func (c *rowCopy) aroundHoles(ctx context.Context) error {
	query := `SELECT rowid, ` + c.Columns + ` FROM ` + quoteName(c.Name) + ` WHERE rowid > ? ORDER BY rowid`
	for after := int64(math.MinInt64); c.count.Holes < maxHoles; {
		last, damaged, err := c.read(ctx, 1, query, after)
		if err != nil || !damaged {
			return err
		}
		c.count.Holes++
		if id, ok := last.(int64); ok {
			after = id
		}
		next, found := c.behindHole(ctx, query+` LIMIT 1`, after)
		if !found {
			return ctx.Err()
		}
		after = next
	}
	return nil
}

// behindHole returns the smallest rowid after which a row can be read, as far as that can be found by halving. found is false if there is none.
func (c *rowCopy) behindHole(ctx context.Context, query string, after int64) (next int64, found bool) {
	readable := func(id int64) bool {
		rows, err := c.from.QueryxContext(ctx, query, id)
		if err != nil {
			return false
		}
		defer rows.Close()
		if rows.Next() {
			if _, err := rows.SliceScan(); err != nil {
				return false
			}
		}
		return rows.Err() == nil
	}
	low := max(after, 0) // rowids are positive, but for those of the server's own accounts
	high := low
	for step := int64(1); !readable(high); step *= 2 {
		if low = high; step > math.MaxInt64-high || ctx.Err() != nil {
			return 0, false
		}
		high += step
	}
	for high-low > 1 {
		if middle := low + (high-low)/2; readable(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, high < math.MaxInt64
}

// fromBothEnds copies the rows of a table without rowids: from the beginning to the first hole, and from the end to the last.
func (c *rowCopy) fromBothEnds(ctx context.Context) error {
	query := `SELECT ` + c.Columns + ` FROM ` + quoteName(c.Name)
	_, damaged, err := c.read(ctx, 0, query)
	if err != nil || !damaged {
		return err
	}
	c.count.Holes++
	_, _, err = c.read(ctx, 0, query+` ORDER BY `+c.Key)
	return err
}

// dropUnreferred removes the references to rows that are not there: the row goes, or the reference, as if the row had been deleted. It returns how
// many rows that concerned.
func dropUnreferred(ctx context.Context, db *sqlx.DB, tables []salvageTable) (changed int64, err error) {
	for again := true; again; {
		again = false
		for _, t := range tables {
			var keys []struct {
				Column   string `db:"from"`
				Table    string
				To       *string
				OnDelete string `db:"on_delete"`
			}
			if err := db.SelectContext(ctx, &keys, `SELECT "from", "table", "to", on_delete FROM pragma_foreign_key_list(?) WHERE seq = 0`, t.Name); err != nil {
				return changed, err
			}
			for _, k := range keys {
				column, of := quoteName(k.Column), "rowid"
				if k.To != nil {
					of = quoteName(*k.To)
				}
				change := `DELETE FROM ` + quoteName(t.Name)
				if k.OnDelete == "SET NULL" {
					change = `UPDATE ` + quoteName(t.Name) + ` SET ` + column + ` = NULL`
				}
				result, err := db.ExecContext(ctx, change+` WHERE `+column+` IS NOT NULL AND NOT EXISTS (SELECT 1 FROM `+quoteName(k.Table)+` p WHERE p.`+of+` = `+quoteName(t.Name)+`.`+column+`)`)
				if err != nil {
					return changed, err
				}
				n, err := result.RowsAffected()
				if err != nil {
					return changed, err
				}
				changed += n
				again = again || n > 0
			}
		}
	}
	return changed, nil
}
