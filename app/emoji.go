package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"svc/admin"
	"svc/emoji"
	"svc/internal/config"
	"svc/internal/disk"
	"svc/internal/fetch"
	"svc/media"
	"svc/store"
)

// The operations on emoji packs that commands may call.
var (
	InstallPack = emojiChange("install emoji pack", (*emoji.Packs).InstallUnpacked, "emoji_pack_install", func(u emoji.Unpacked) string {
		return "installed emoji pack " + u.Name
	})
	RemovePacks = emojiChange("remove emoji packs", (*emoji.Packs).DeleteAll, "emoji_pack_delete", func(names []string) string {
		return "deleted emoji packs: " + strings.Join(names, ", ")
	})
	ListPacks   = emojiCall("list emoji packs", func(p *emoji.Packs, _ struct{}) ([]*emoji.PackReport, error) { return p.Reports() })
	CheckPacks  = emojiCall("check emoji packs", (*emoji.Packs).Check)
	ReloadPacks = emojiChange("reload emoji packs", func(p *emoji.Packs, _ struct{}) ([]*emoji.PackReport, error) {
		if err := p.Reload(); err != nil {
			return nil, err
		}
		return p.Reports()
	}, "emoji_reload", func(struct{}) string { return "read all emoji packs again" })
)

func emojiCall[A, R any](name string, run func(*emoji.Packs, A) (R, error)) Call[A, R] {
	return newCall(name, func(s *Server, _ context.Context, args A) (R, error) { return run(s.Emojis, args) })
}

// emojiChange is emojiCall for a change, which is added to the moderation log.
func emojiChange[A, R any](name string, run func(*emoji.Packs, A) (R, error), action string, what func(A) string) Call[A, R] {
	return newCall(name, func(s *Server, ctx context.Context, args A) (R, error) {
		result, err := run(s.Emojis, args)
		if err == nil {
			err = s.Admin.RecordEmojiChange(ctx, action, what(args))
		}
		return result, err
	})
}

// UnpackEmoji returns what reads packs for a command. It runs in the process of the command, also while a server runs, because a server
// is often kept from the folders where operators have their files. The server only installs checked packs.
func UnpackEmoji(c *config.Config) (*emoji.Unpacker, error) {
	if err := checkDatabase(c); err != nil {
		return nil, err
	}
	dir := filepath.Join(c.Data.Dir, "emoji")
	if err := disk.MakeFolder(dir); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	return &emoji.Unpacker{Dir: dir, Inspect: media.InspectPicture, Limits: emoji.DefaultLimits, Fetch: fetch.New(fetch.Options{
		UserAgent: userAgent(c, Version), OwnHosts: []string{c.WebHost()}, AllowLoopback: c.Federation.AllowLoopback,
	})}, nil
}

// ExportPack writes the archive of a pack to a file, and returns its size and SHA-256. With replace, it replaces a file that exists. If it
// fails, there is no new file.
func ExportPack(c *config.Config, name, file string, replace bool) (size int64, sum string, err error) {
	if err := checkDatabase(c); err != nil {
		return 0, "", err
	}
	if err := emoji.CheckPackName(name); err != nil {
		return 0, "", err
	}
	if _, err := os.Lstat(file); err == nil && !replace {
		return 0, "", fmt.Errorf("%s exists already: use --force to replace it", file)
	}
	hash := sha256.New()
	err = disk.Replace(file, 0o600, func(w io.Writer) error {
		counted := &countingWriter{Writer: io.MultiWriter(w, hash)}
		err := emoji.Export(filepath.Join(c.Data.Dir, "emoji"), name, counted)
		size = counted.n
		return err
	})
	return size, hex.EncodeToString(hash.Sum(nil)), err
}

// countingWriter counts the bytes that are written.
type countingWriter struct {
	io.Writer
	n int64
}

func (w *countingWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.n += int64(n)
	return n, err
}

// checkDatabase returns an error if the data directory of the settings has no database.
func checkDatabase(c *config.Config) error {
	if _, err := os.Stat(filepath.Join(c.Data.Dir, store.File)); errors.Is(err, fs.ErrNotExist) {
		return admin.NoDatabase(c.Data.Dir)
	}
	return nil
}
