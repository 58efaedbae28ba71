package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"svc/internal/keys"
	"svc/store"
)

// checkDatabasePresent fails if the data directory has keys or media of a server, but no database. A new database beside them would be
// another server, which nobody follows and whose media nobody sees.
func (s *Server) checkDatabasePresent() error {
	path := filepath.Join(s.Settings.Data.Dir, store.File)
	state := "is missing"
	if info, err := os.Stat(path); err == nil {
		if info.Size() > 0 {
			return nil
		}
		state = "is empty"
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("data directory: %w", err)
	}
	for _, dir := range []string{"keys", "media"} {
		found, err := hasFile(s.dataPath(dir))
		if err != nil {
			return fmt.Errorf("data directory: %w", err)
		}
		if found {
			return fmt.Errorf("the database %s %s, but %s has files of a server: restore them all from a backup with svc restore, "+
				"or choose another data directory for a new server", path, state, s.dataPath(dir))
		}
	}
	return nil
}

// hasFile returns true if there is a file below a folder.
func hasFile(dir string) (found bool, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found, err = true, fs.SkipAll
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return found, err
}

// checkIdentity fails if the database belongs to another URL or to other keys than those of the settings. Other servers know accounts and
// posts by URLs that begin with that of the server and by handles with its host, and verify them with its keys, so that these cannot change. A database without users
// takes over a new URL or host.
func (s *Server) checkIdentity(ctx context.Context, known *store.Identity) error {
	now := store.Identity{ServerURL: s.Settings.URL().String(), KeysHash: s.Keys.Fingerprint()}
	if host := s.Settings.Host(); host != s.Settings.WebHost() {
		now.ServerHost = host
	}
	if len(known.KeysHash) > 0 && !bytes.Equal(known.KeysHash, now.KeysHash) {
		return errKeys("the keys in %s do not belong to the database", s.dataPath("keys"))
	}
	if known.ServerURL == now.ServerURL && known.ServerHost == now.ServerHost && len(known.KeysHash) > 0 {
		return nil
	}
	if known.ServerURL != "" && (known.ServerURL != now.ServerURL || known.ServerHost != now.ServerHost) {
		has, err := s.DB.HasUsers(ctx)
		if err != nil {
			return err
		}
		if has && known.ServerURL == now.ServerURL {
			return errServerHost(known.ServerHost)
		}
		if has {
			return fmt.Errorf("server.url is %s, but the accounts in %s belong to %s: set server.url back to that, because other servers know them by it, "+
				"or choose another data directory for a new server", now.ServerURL, s.Settings.Data.Dir, known.ServerURL)
		}
	}
	err := s.DB.Update(ctx, func(tx *store.Tx) error { return tx.SetIdentity(ctx, now) })
	if err != nil && s.DB.Condition().State != store.Writable {
		s.log.Warn("the address of the server could not be stored", "err", err)
		return nil
	}
	return err
}

// errServerHost is the error if server.host is not the host in the handles of accounts.
func errServerHost(known string) error {
	if known == "" {
		return errors.New("server.host is set, but accounts have handles with the host of server.url: remove server.host, because other servers know the accounts by them")
	}
	return fmt.Errorf("server.host must be %s: accounts have handles with it, by which other servers know them", known)
}

// openKeys opens the keys of the server, and creates them if the database has never had any.
func (s *Server) openKeys(ctx context.Context) error {
	known, err := s.DB.Identity(ctx)
	if err != nil {
		return err
	}
	dir := s.dataPath("keys")
	if len(known.KeysHash) > 0 && !keys.Complete(dir) {
		return errKeys("the keys in %s are missing, and those of the accounts in the database cannot be read with others", dir)
	}
	if s.Keys, err = keys.Open(dir); err != nil {
		return errKeys("%v", err)
	}
	return s.checkIdentity(ctx, known)
}
