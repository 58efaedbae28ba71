package moving

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"

	"svc/internal/disk"
	"svc/internal/errs"
	"svc/social"
	"svc/store"
)

// MaxPiece is the bytes of a piece of an upload.
const MaxPiece = 8 << 20

// BeginUpload prepares the upload of an archive of so many bytes, which arrives in pieces.
func (m *Importer) BeginUpload(ctx context.Context, account *store.Account, size int64, public bool) (*store.Archive, error) {
	limit := m.Settings.Load().Accounts.ArchiveSizeLimit
	switch {
	case limit == 0:
		return nil, errs.Forbidden("Only administrators import archives on this server")
	case size <= 0:
		return nil, errs.Invalid("Validation failed: size - must be the bytes of the archive")
	case size > limit:
		return nil, errs.TooLarge("The archive has %d bytes, the limit is %d", size, limit)
	}
	room := m.files.ReserveOther() // now, so that nobody uploads gigabytes for nothing; each piece reserves its own
	if err := room.Grow(ctx, size); err != nil {
		return nil, err
	}
	room.Release()
	return m.social.AddArchive(ctx, account, social.NewArchive{File: "upload-" + rand.Text(), Uploaded: true, Size: size, Public: public})
}

// WritePiece stores the next piece of an upload, which begins at offset. The last piece starts the import. An offset that is not where the upload
// stands is an error of status 409: the archive says where that is. A disk or a data directory that is full is one of status 507.
func (m *Importer) WritePiece(ctx context.Context, account *store.Account, id store.ArchiveID, offset int64, content io.Reader) (*store.Archive, error) {
	if _, busy := m.uploads.LoadOrStore(id, struct{}{}); busy {
		return nil, errs.Conflict("Another piece of this upload is being stored")
	}
	defer m.uploads.Delete(id)
	a, err := m.db.Archive(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case a.AccountID != account.ID:
		return nil, errs.ErrRecordNotFound
	case a.State != store.ArchiveUploading:
		return nil, errs.Conflict("The upload has ended")
	case offset != a.Received:
		return nil, errs.Conflict("The upload goes on at byte %d, not at %d", a.Received, offset)
	}
	n, err := m.writeAt(ctx, a, content)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, errs.Invalid("The piece is empty")
	}
	recorded, err := m.social.RecordUpload(ctx, id, a.Received+n)
	if err != nil {
		// The upload was undone while the piece arrived, and its job may have removed the file before the piece made it again.
		return nil, errors.Join(err, m.removeUpload(ctx, a))
	}
	if a = recorded; a.Received < a.Size {
		return a, nil
	}
	of, err := m.check(ctx, account, a)
	if refusal := (*errs.Error)(nil); errors.As(err, &refusal) {
		return nil, errors.Join(err, m.social.FinishArchive(ctx, id, refusal.Message), m.removeFiles(a))
	}
	if err != nil {
		return nil, err
	}
	return m.social.QueueArchive(ctx, id, of.Handle, of.ActorURI)
}

// removeUpload removes the file of an upload that has ended, unless it waits for its import.
func (m *Importer) removeUpload(ctx context.Context, a *store.Archive) error {
	now, err := m.db.Archive(ctx, a.ID)
	switch {
	case errs.IsNotFound(err):
		return m.removeFiles(a)
	case err != nil || now.State == store.ArchiveUploading || now.State == store.ArchiveQueued:
		return err
	}
	return m.removeFiles(a)
}

// writeAt writes a piece at the end of an upload and returns its bytes, which are on disk then.
func (m *Importer) writeAt(ctx context.Context, a *store.Archive, content io.Reader) (n int64, err error) {
	left := min(MaxPiece, a.Size-a.Received)
	room := m.files.ReserveOther()
	if err := room.Grow(ctx, left); err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			room.Release()
		} else {
			room.Commit()
		}
	}()
	f, err := disk.OpenFile(filepath.Join(m.Dir, a.File), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(a.Received); err != nil { // a piece that was cut off
		return 0, err
	}
	b := make([]byte, 256<<10)
	for {
		got, readErr := content.Read(b)
		if int64(got) > left-n {
			return 0, errs.TooLarge("The piece has more than %d bytes", left)
		}
		if _, err := f.WriteAt(b[:got], a.Received+n); err != nil {
			return 0, err
		}
		n += int64(got)
		if errors.Is(readErr, io.EOF) {
			return n, f.Sync()
		}
		if readErr != nil {
			return 0, readErr
		}
	}
}

// pruneUploads is the recurring job that ends uploads that were not finished.
func (m *Importer) pruneUploads(ctx context.Context, _ store.PruneUploads) error {
	stale, err := m.social.StaleUploads(ctx)
	for _, a := range stale {
		err = errors.Join(err, m.social.FinishArchive(ctx, a.ID, "The upload was not finished"), m.removeFiles(a))
	}
	return err
}
