//go:build nos3

package objects

import (
	"context"
	"errors"
	"fmt"
)

func openS3(context.Context, Location, Options) (Store, error) {
	return nil, fmt.Errorf("%w: this program was built without S3 (nos3)", errors.ErrUnsupported)
}
