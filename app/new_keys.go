package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"svc/internal/config"
	"svc/internal/disk"
	"svc/internal/keys"
	"svc/store"
)

// RenewedKeys is the result of RenewKeys.
type RenewedKeys struct {
	Dir  string // of the new keys
	Old  string // where the rest of the old ones is now, "" if there was nothing
	Lost store.LostSecrets
}

// RenewKeys makes new keys for a server whose keys are lost or damaged, and removes the data that are sealed with the old ones. Keys that belong to the database
// stay: that is an error. No server may run. It can be repeated if it was cut off.
func RenewKeys(ctx context.Context, c *config.Config, o Options) (*RenewedKeys, error) {
	if _, err := os.Stat(filepath.Join(c.Data.Dir, store.File)); err != nil {
		return nil, fmt.Errorf("there is no server in %s that could get new keys: %w", c.Data.Dir, err)
	}
	renewed := &RenewedKeys{Dir: filepath.Join(c.Data.Dir, "keys")}
	o.renew = renewed
	s, err := New(ctx, c, o)
	if err != nil {
		return nil, err
	}
	return renewed, errors.Join(s.Close(), returnToOwner(c.Data.Dir))
}

// renewKeys replaces the keys, first on disk: keys that the database does not know yet are replaced again.
func (s *Server) renewKeys(ctx context.Context, renewed *RenewedKeys) error {
	known, err := s.DB.Identity(ctx)
	if err != nil {
		return err
	}
	if present, err := keys.Read(renewed.Dir); err == nil && (len(known.KeysHash) == 0 || string(present.Fingerprint()) == string(known.KeysHash)) {
		return fmt.Errorf("the keys in %s are complete and belong to the database: there is nothing to replace. svc user rotate-keys replaces the signing keys of an account", renewed.Dir)
	}
	if found, err := hasFile(renewed.Dir); err != nil {
		return fmt.Errorf("keys: %w", err)
	} else if found {
		renewed.Old = unusedName(renewed.Dir + ".old-" + s.DB.Now().UTC().Format("20060102T150405Z"))
		if err := disk.Rename(renewed.Dir, renewed.Old); err != nil {
			return fmt.Errorf("keys: %w", err)
		}
	}
	if s.Keys, err = keys.Open(renewed.Dir); err != nil {
		return err
	}
	return s.DB.Update(ctx, func(tx *store.Tx) (err error) {
		if renewed.Lost, err = tx.ForgetSecrets(ctx); err != nil {
			return err
		}
		known.KeysHash = s.Keys.Fingerprint()
		return tx.SetIdentity(ctx, *known)
	})
}

// unusedName returns a path, or, if there is something, that path with a number.
func unusedName(path string) string {
	name := path
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
		name = fmt.Sprintf("%s-%d", path, n)
	}
}

// lostKeysError is an error of the keys, with the ways out.
type lostKeysError struct{ text string }

func (e *lostKeysError) Error() string { return e.text }

// errKeys returns a lostKeysError.
func errKeys(format string, args ...any) error {
	return &lostKeysError{fmt.Sprintf(format, args...) + ": restore them from a backup with svc restore, or, if there is none, make new ones with svc setup --new-keys, which says what is lost"}
}
