package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"svc/internal/errs"
	"svc/media"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// backups serves backups of accounts.
type backups struct{ *parts }

func (h *backups) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/backups":  {rest.User("read:backups").Secret().Answers("[]Backup"), h.listBackups},
		"POST /api/v1/svc/backups": {rest.User("read:backups", "write:backups").Written().Secret().Answers("[]Backup"), h.createBackup},
		"GET /media/backups/:name": {rest.File, h.downloadBackup},
	}
}

// listBackups lists the backups of the viewer, newest first.
func (h *backups) listBackups(r *rest.Request) (any, error) {
	rows, err := h.Social.AccountBackups(r.Context(), r.Viewer.ID)
	if err != nil {
		return nil, err
	}
	return entity.Map(rows, func(b *store.AccountBackup) entity.Backup {
		if !r.MayRead("read:backups") { // the address is all that is needed to download it
			return entity.NewBackup(b, "")
		}
		return entity.NewBackup(b, h.Social.BackupURL(b))
	}), nil
}

// createBackup queues a backup, and lists all.
func (h *backups) createBackup(r *rest.Request) (any, error) {
	if _, err := h.Social.RequestBackup(r.Context(), r.Viewer.ID, false); err != nil {
		return nil, err
	}
	return h.listBackups(r)
}

// downloadBackup serves the file of a backup to anyone with its name.
func (h *backups) downloadBackup(r *rest.Request) (any, error) {
	b, err := h.Social.DownloadableBackup(r.Context(), r.Param("name"))
	if err != nil {
		return nil, err
	}
	file, err := h.Archives.Open(r.Context(), b.File, clientOf(r), r.Header.Get("Range") == "")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errs.ErrRecordNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	return &backupFile{file, b}, nil
}

// backupFile serves an open backup.
type backupFile struct {
	file   *media.Content
	backup *store.AccountBackup
}

func (f *backupFile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer f.file.Close()
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", `attachment; filename="`+f.backup.File+`"`)
	h.Set("Cache-Control", "private, no-store")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Referrer-Policy", "no-referrer")
	http.ServeContent(w, r, "", f.backup.ID.Time(), f.file.ReadSeekCloser)
}
