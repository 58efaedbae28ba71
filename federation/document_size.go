package federation

import (
	"context"
	"errors"

	"svc/internal/activity"
	"svc/store"
)

// maxCollectionBytes is where a page of a collection ends, in bytes of JSON. It has at least one item.
const maxCollectionBytes = 2 << 20

// maxItemRows is how many bytes of rows are read at a time for the items of a collection.
const maxItemRows = 1 << 20

// jsonSize returns about how many bytes of JSON a value of a document has.
func jsonSize(value any) int {
	n := len("null,")
	switch value := value.(type) {
	case string:
		n += len(value)
	case activity.Object:
		for key, member := range value {
			n += len(key) + len(`"":`) + jsonSize(member)
		}
	case jsonMap:
		for key, member := range value {
			n += len(key) + len(`"":`) + jsonSize(member)
		}
	case []any:
		for _, element := range value {
			n += jsonSize(element)
		}
	case []string:
		for _, element := range value {
			n += len(element) + len(`"",`)
		}
	}
	return n
}

// someItems calls read for the first of the ids whose rows are small enough together. It returns how many those are: at least one.
func someItems(ctx context.Context, ids []store.StatusID, read func(context.Context, []store.StatusID) error) (n int, err error) {
	for n = len(ids); n > 1; n = (n + 1) / 2 {
		limited, end := store.WithReadBudget(ctx, maxItemRows)
		err = read(limited, ids[:n])
		if end(); !errors.Is(err, store.ErrReadBudget) {
			return n, err
		}
	}
	return n, read(store.WithoutReadBudget(ctx), ids[:n])
}
