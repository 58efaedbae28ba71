//go:build nosftp

package objects

import (
	"context"
	"errors"
	"fmt"
)

func openSFTP(context.Context, Location, Options) (Store, error) {
	return nil, fmt.Errorf("%w: this program was built without SFTP (nosftp)", errors.ErrUnsupported)
}
