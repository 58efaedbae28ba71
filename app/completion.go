package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"svc/emoji"
	"svc/internal/config"
	"svc/store"
)

// Bounds of a completion: a shell waits for it at every press of a key.
const (
	maxCompletions = 50
	completionTime = time.Second
	maxPackFolder  = 2000 // entries of the folder of packs that are read
)

// CompleteNickname returns nicknames of local accounts that begin with prefix. Like all completions it is empty if there is no database, or
// if it takes too long. It only reads, whether a server runs or not.
func CompleteNickname(ctx context.Context, c *config.Config, prefix string) []string {
	return complete(ctx, c, func(ctx context.Context, s *store.Snapshot) ([]string, error) {
		return s.LocalNicknames(ctx, strings.ToLower(prefix), maxCompletions)
	})
}

// CompleteHost returns known servers that begin with prefix.
func CompleteHost(ctx context.Context, c *config.Config, prefix string) []string {
	return complete(ctx, c, func(ctx context.Context, s *store.Snapshot) ([]string, error) {
		return s.HostNames(ctx, strings.ToLower(prefix), maxCompletions)
	})
}

// CompleteBlockedHost returns servers with rules that begin with prefix.
func CompleteBlockedHost(ctx context.Context, c *config.Config, prefix string) []string {
	return complete(ctx, c, func(ctx context.Context, s *store.Snapshot) ([]string, error) {
		return s.BlockedHosts(ctx, strings.ToLower(prefix), maxCompletions)
	})
}

// complete reads the database. A read that does not end in time is left behind, because the process ends then.
func complete(ctx context.Context, c *config.Config, read func(context.Context, *store.Snapshot) ([]string, error)) []string {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	found := make(chan []string, 1)
	go func() {
		defer close(found)
		path := filepath.Join(c.Data.Dir, store.File)
		if _, err := os.Stat(path); err != nil {
			return
		}
		s, err := store.OpenSnapshot(ctx, path, false)
		if err != nil {
			return
		}
		defer s.Close()
		if names, err := read(ctx, s); err == nil {
			found <- names
		}
	}()
	select {
	case names := <-found:
		return names
	case <-ctx.Done():
		return nil
	}
}

// CompletePack returns emoji packs that begin with prefix.
func CompletePack(c *config.Config, prefix string) []string {
	dir, err := os.Open(filepath.Join(c.Data.Dir, "emoji"))
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(maxPackFolder)
	if err != nil {
		return nil
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasPrefix(name, prefix) || emoji.CheckPackName(name) != nil
	})
	slices.Sort(names)
	return names[:min(len(names), maxCompletions)]
}
