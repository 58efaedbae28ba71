package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"math"
	"sync/atomic"
)

// ErrReadBudget is the error of a query whose rows, with those that were read before it, are larger than the read budget.
var ErrReadBudget = errors.New("the rows are larger than the read budget")

// readBudget is how many bytes of texts may still be read. Those who render many rows choose by it how many they read at a time, because
// other servers decide how large a row is. It is the context that has it, so that it costs one allocation.
type readBudget struct {
	context.Context
	left atomic.Int64
	bare bareBudget
}

// bareBudget is a context that has a read budget and nothing else.
type bareBudget struct {
	context.Context
	of *readBudget
}

type readBudgetKey struct{}

// Value returns the budget for its key.
func (b *readBudget) Value(key any) any {
	if key == (readBudgetKey{}) {
		return b
	}
	return b.Context.Value(key)
}

// Value returns the budget for its key.
func (b *bareBudget) Value(key any) any {
	if key == (readBudgetKey{}) {
		return b.of
	}
	return nil
}

// WithReadBudget returns a context for reads of so many bytes together. The query that goes beyond them fails with ErrReadBudget. After end was
// called there is no limit any more.
func WithReadBudget(ctx context.Context, bytes int) (limited context.Context, end func()) {
	b := &readBudget{Context: ctx}
	b.bare = bareBudget{context.Background(), b}
	b.left.Store(int64(bytes))
	return b, b.end
}

// ReadBudgetExceeded returns whether a query with the read budget of ctx has failed with ErrReadBudget.
func ReadBudgetExceeded(ctx context.Context) bool {
	b := readBudgetOf(ctx)
	return b != nil && b.left.Load() < 0
}

// WithoutReadBudget returns a context whose reads have no budget.
func WithoutReadBudget(ctx context.Context) context.Context {
	return context.WithValue(ctx, readBudgetKey{}, (*readBudget)(nil))
}

func (b *readBudget) end() { b.left.Store(math.MaxInt64) }

func readBudgetOf(ctx context.Context) *readBudget {
	b, _ := ctx.Value(readBudgetKey{}).(*readBudget)
	return b
}

// onlyBudget returns a context that has the read budget of ctx, but does not end with it.
func onlyBudget(ctx context.Context) context.Context {
	if b := readBudgetOf(ctx); b != nil {
		return &b.bare
	}
	return context.Background()
}

// spend counts a row that was read.
func (b *readBudget) spend(row []driver.Value) error {
	if b == nil {
		return nil
	}
	var n int64
	for _, v := range row {
		switch v := v.(type) {
		case string:
			n += int64(len(v))
		case []byte:
			n += int64(len(v))
		}
	}
	if n > 0 && b.left.Add(-n) < 0 {
		return ErrReadBudget
	}
	return nil
}
