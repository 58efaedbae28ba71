package media

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// ErrBanned is returned for content that staff have banned.
var ErrBanned = errs.Invalid("This file is banned on this server")

// ObserveBans makes the store refuse content that is banned in db, and serve only files that have a row there and are not banned.
func (f *Files) ObserveBans(db *store.DB) { f.bans.Store(db) }

// hasBans returns whether any content is banned, so that uploads are hashed as they arrive only if that is of use.
func (f *Files) hasBans(ctx context.Context) (bool, error) {
	db := f.bans.Load()
	if db == nil {
		return false, nil
	}
	return db.HasContentBans(ctx)
}

// checkBans returns ErrBanned if an upload is banned: as it arrived, as it is stored without its metadata, or by its thumbnail.
func (f *Files) checkBans(ctx context.Context, received []byte, file *File) error {
	sums := []string{hex.EncodeToString(received), file.SHA256}
	if file.Thumbnail != "" {
		sums = append(sums, file.thumbnailSum)
	}
	banned, err := f.bans.Load().ContentBanned(ctx, sums)
	if err == nil && banned {
		err = ErrBanned
	}
	return err
}

// isServed returns whether a stored file may be served: it has a row, and is not banned.
func (f *Files) isServed(ctx context.Context, name string) (bool, error) {
	db := f.bans.Load()
	if db == nil {
		return true, nil
	}
	return db.IsServed(ctx, name)
}

// CopySum returns the hexadecimal SHA-256 of the file at an address, if this server has it: as an upload or in the cache. Otherwise it
// returns "".
func (p *Proxy) CopySum(ctx context.Context, address string) (string, error) {
	if name := p.uploadAt(address); name != "" {
		return p.db.StoredSum(ctx, name)
	}
	file, err := p.openCopy(keyOf(address), time.Now())
	if file == nil || err != nil {
		return "", err
	}
	defer file.Close()
	return sumOfContent(ctx, file)
}

// uploadAt returns the name of the upload whose address this is, "" if it is none.
func (p *Proxy) uploadAt(address string) string {
	u, err := url.Parse(address)
	if err != nil || !strings.EqualFold(u.Host, p.Settings.WebHost) {
		return ""
	}
	if name, ok := strings.CutPrefix(u.Path, "/media/"); ok && validName(name) {
		return name
	}
	return ""
}

func sumOfContent(ctx context.Context, content io.Reader) (string, error) {
	sum := sha256.New()
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if _, err := io.CopyN(sum, content, 1<<20); errors.Is(err, io.EOF) {
			return hex.EncodeToString(sum.Sum(nil)), nil
		} else if err != nil {
			return "", fmt.Errorf("hash of a file: %w", err)
		}
	}
}

// sumBanned is the job that fetches a banned file of which there is no copy, to know its SHA-256. Nothing is stored. It does nothing if the
// ban was removed, and is not repeated if the file does not exist any more.
func (p *Proxy) sumBanned(ctx context.Context, b store.SumBannedMedia) error {
	if banned, err := p.db.MediaBanned(ctx, b.Address); !banned || err != nil {
		return err
	}
	resp, err := p.openRemote(ctx, b.Address)
	if err == nil {
		defer resp.Body.Close()
		var sum string
		if sum, err = sumOfContent(ctx, resp.Body); err == nil {
			return p.db.Update(ctx, func(tx *store.Tx) error { return tx.SetMediaBanSum(ctx, b.Address, sum) })
		}
	}
	if f := failureOf(err); f.permanent || errors.Is(f.response, errRefusedAddress) {
		p.log.Info("the content of a banned file is not known, so it can be uploaded", "url", b.Address, "err", err)
		return nil
	}
	return err
}
