package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"svc/admin"
	"svc/internal/config"
)

// Setup creates the data directory, the keys, the database and, if first has a nickname, the first account, an administrator. It
// writes the settings file last, so that a failed setup can be repeated. The result is nil if no account was created.
func Setup(ctx context.Context, c *config.Config, o Options, file string, first admin.NewUser) (created *admin.CreatedUser, err error) {
	if err := os.MkdirAll(c.Data.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	s, err := New(ctx, c, o)
	if err != nil {
		return nil, err
	}
	if first.Nickname != "" {
		first.Admin = true
		created, err = s.Admin.CreateUser(ctx, first)
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	return created, WriteSettings(file, config.File(c))
}
