package ltx

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"time"
)

// plan returns the files that lead to the newest state, or to that at a time, in the order in which they are applied. The first has all pages.
func (p *place) plan(ctx context.Context, at time.Time) ([]file, error) {
	// Snapshots first: lower levels are needed only behind the one that is used.
	whole, err := p.list(ctx, snapshots, 0, 0)
	if err != nil {
		return nil, err
	}
	whole = slices.DeleteFunc(whole, func(f file) bool { return f.min != 1 })
	if whole, err = p.until(ctx, whole, at); err != nil {
		return nil, err
	}
	var files []file
	var after uint64
	if len(whole) > 0 {
		files = []file{slices.MaxFunc(whole, func(a, b file) int { return cmp.Compare(a.max, b.max) })}
		after = files[0].max
	}
	rest, newest, err := p.behind(ctx, after, at)
	if err != nil {
		return nil, err
	}
	chain, err := p.chain(rest, after)
	if err != nil {
		return nil, err
	}
	if files = append(files, chain...); len(files) == 0 {
		if newest > 0 {
			return nil, fmt.Errorf("%w: %q has none that is as old as %s", ErrNone, p.prefix, at.Format(time.RFC3339))
		}
		return nil, fmt.Errorf("%w: %q has no files of Litestream", ErrNone, p.prefix)
	}
	return files, nil
}

// behind returns the files of all levels without snapshots that end after a transaction and are not younger than a time, unless it is zero. newest is the last
// transaction of all times.
func (p *place) behind(ctx context.Context, after uint64, at time.Time) (files []file, newest uint64, err error) {
	// From low to high: a file that is removed from a level while the lists are read is in the list of the next one.
	for level := range snapshots {
		list, err := p.list(ctx, level, 0, after)
		if err != nil {
			return nil, 0, err
		}
		for _, f := range list {
			newest = max(newest, f.max)
		}
		if list, err = p.until(ctx, list, at); err != nil {
			return nil, 0, err
		}
		if files = append(files, list...); len(files) > maxFiles {
			return nil, 0, fmt.Errorf("%q has more than %d files since the last snapshot", p.prefix, maxFiles)
		}
	}
	return files, newest, nil
}

// until returns the files of a level that are not younger than a time. It reads few headers, because files with later transactions are younger.
func (p *place) until(ctx context.Context, files []file, at time.Time) ([]file, error) {
	if at.IsZero() {
		return files, nil
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.max, b.max) })
	var failure error
	n := sort.Search(len(files), func(i int) bool {
		if failure != nil {
			return false
		}
		t, err := p.time(ctx, files[i])
		failure = err
		return t.After(at)
	})
	return files[:n], failure
}

// chain returns files that follow each other without a gap behind a transaction, as few as there are. The error is ErrGap if there are files, but none
// for a transaction before them.
func (p *place) chain(files []file, after uint64) ([]file, error) {
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(cmp.Compare(a.min, b.min), cmp.Compare(a.max, b.max)) })
	var chain []file
	for i := 0; ; {
		var best file
		for ; i < len(files) && files[i].min <= after+1; i++ {
			if files[i].max > best.max {
				best = files[i]
			}
		}
		if best.max <= after {
			if i < len(files) {
				return chain, p.gap(after, files[i])
			}
			return chain, nil
		}
		chain = append(chain, best)
		after = best.max
	}
}

// gap returns the error of transactions that are missing before a file.
func (p *place) gap(after uint64, next file) error {
	return fmt.Errorf("%w: no file has %d to %d, which come before %s", ErrGap, after+1, next.min-1, p.name(next))
}
