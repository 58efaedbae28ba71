package moving

import (
	"context"
	"errors"
)

// Check opens an archive and reads its posts, as an import does.
func Check(ctx context.Context, name, work string, maxBytes int64) error {
	a, err := Open(ctx, name, work, maxBytes, func(context.Context, int64) error { return nil })
	if err != nil {
		return err
	}
	f, err := detect(a, nil)
	if err == nil {
		_, _, err = scan(a, f)
	}
	return errors.Join(err, a.Close())
}
