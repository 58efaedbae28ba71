package social

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/media"
	"svc/store"
)

// Focus is the point of a picture that is kept when it is cropped: X from -1, left, to 1, right; Y from -1, bottom, to 1, top.
type Focus struct{ X, Y float64 }

// NewUpload is a file to be stored.
type NewUpload struct {
	Content     io.Reader
	Description string
	Focus       Focus
	Thumbnail   io.Reader // picture of a video or sound; nil: none
}

// UploadChange is what changes of an upload. Fields that are nil stay.
type UploadChange struct {
	Description *string
	Focus       *Focus
	Thumbnail   io.Reader
}

var errThumbnailOfPicture = errs.Invalid("Only videos and sounds can have a thumbnail of their own")

// Upload stores a file that owner may attach to a status within a day.
func (s *Service) Upload(ctx context.Context, owner *store.Account, u NewUpload) (*store.Media, error) {
	description, err := s.checkDescription(u.Description)
	if err != nil {
		return nil, err
	}
	file, err := s.files.Ingest(ctx, owner.ID, u.Content, media.Attachment, s.Settings.Load().Media.UploadLimit)
	if err != nil {
		return nil, err
	}
	defer file.Release()
	m := newMedia(owner, file)
	m.Description, m.FocusX, m.FocusY = description, u.Focus.X, u.Focus.Y
	thumbnail, err := s.storeThumbnail(ctx, m, u.Thumbnail)
	if err != nil {
		return nil, err
	}
	defer thumbnail.Release()
	err = s.db.Update(ctx, func(tx *store.Tx) error { return addUpload(ctx, tx, m, file, thumbnail) })
	return m, err
}

// addUpload adds the rows of an upload and its files. A file that is nil is left out.
func addUpload(ctx context.Context, tx *store.Tx, m *store.Media, files ...*media.File) error {
	if err := tx.AddMedia(ctx, m); err != nil {
		return err
	}
	for _, file := range files {
		if err := tx.AddStoredFiles(ctx, file.Stored(store.UploadedFile)); err != nil {
			return err
		}
	}
	return nil
}

func newMedia(owner *store.Account, file *media.File) *store.Media {
	return &store.Media{
		AccountID:     owner.ID,
		Type:          mediaType(file.MIME),
		Mime:          file.MIME,
		File:          file.Name,
		Thumbnail:     file.Thumbnail,
		Size:          file.Size,
		Width:         file.Width,
		Height:        file.Height,
		PreviewWidth:  file.ThumbSize.X,
		PreviewHeight: file.ThumbSize.Y,
		Duration:      file.Duration.Milliseconds(),
		FrameRate:     file.FrameRate,
		Blurhash:      file.Blurhash,
	}
}

// storeThumbnail stores the picture of a video or sound, and makes it the thumbnail of m. It does nothing if there is none.
func (s *Service) storeThumbnail(ctx context.Context, m *store.Media, content io.Reader) (*media.File, error) {
	if content == nil {
		return nil, nil
	}
	if m.Type != "video" && m.Type != "audio" {
		return nil, errThumbnailOfPicture
	}
	file, err := s.files.Ingest(ctx, m.AccountID, content, media.Preview, s.Settings.Load().Media.UploadLimit)
	if err != nil {
		return nil, err
	}
	m.Thumbnail, m.PreviewWidth, m.PreviewHeight, m.Blurhash = file.Name, file.Width, file.Height, file.Blurhash
	return file, nil
}

// ErrMascotType is returned for a mascot that is not a picture (extension API 23).
var ErrMascotType = &errs.Error{Status: http.StatusUnsupportedMediaType, Message: "mascots can only be images"}

// SetMascot stores a picture as the mascot of owner, which front ends show in empty places, instead of the one before.
func (s *Service) SetMascot(ctx context.Context, owner *store.Account, content io.Reader) (*store.Media, error) {
	file, err := s.files.Ingest(ctx, owner.ID, content, media.Mascot, s.Settings.Load().Media.UploadLimit)
	if errors.Is(err, media.ErrNotPicture) {
		return nil, ErrMascotType
	}
	if err != nil {
		return nil, err
	}
	defer file.Release()
	m := newMedia(owner, file)
	m.IsMascot = true
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		before, err := tx.RemoveMascot(ctx, owner.ID)
		if err != nil {
			return err
		}
		if err := s.enqueueRemoveFiles(ctx, tx, before); err != nil {
			return err
		}
		return addUpload(ctx, tx, m, file)
	})
	return m, err
}

// ChangeUpload changes the description, focus or thumbnail of an upload, attached or not.
func (s *Service) ChangeUpload(ctx context.Context, owner *store.Account, id store.MediaID, change UploadChange) (*store.Media, error) {
	if change.Description != nil {
		description, err := s.checkDescription(*change.Description)
		if err != nil {
			return nil, err
		}
		change.Description = &description
	}
	described, err := s.db.OwnMedia(ctx, owner.ID, id)
	if err != nil {
		return nil, err
	}
	if change.Description != nil {
		if err := s.checkDescriptionSize(ctx, described, *change.Description); err != nil {
			return nil, err
		}
	}
	thumbnail, err := s.storeThumbnail(ctx, described, change.Thumbnail)
	if err != nil {
		return nil, err
	}
	defer thumbnail.Release()
	return update(ctx, s.db, func(tx *store.Tx) (*store.Media, error) {
		m, err := tx.OwnMedia(ctx, owner.ID, id)
		if err != nil {
			return nil, err
		}
		setIfPresent(&m.Description, change.Description)
		if change.Focus != nil {
			m.FocusX, m.FocusY = change.Focus.X, change.Focus.Y
		}
		if thumbnail != nil {
			if err := tx.AddStoredFiles(ctx, thumbnail.Stored(store.UploadedFile)); err != nil {
				return nil, err
			}
			if err := s.enqueueRemoveFiles(ctx, tx, without(m.Thumbnail, thumbnail.Name)); err != nil {
				return nil, err
			}
			m.Thumbnail, m.PreviewWidth, m.PreviewHeight, m.Blurhash = described.Thumbnail, described.PreviewWidth, described.PreviewHeight, described.Blurhash
		}
		if err := tx.DescribeMedia(ctx, m); err != nil || m.StatusID == nil {
			return m, err
		}
		return m, reindexStatus(ctx, tx, *m.StatusID)
	})
}

// without returns the name of a file that is no longer used, unless there was none or the new one has the same content.
func without(old, next string) []string {
	if old == "" || old == next {
		return nil
	}
	return []string{old}
}

// DeleteUpload deletes an upload of owner's that is attached to nothing.
func (s *Service) DeleteUpload(ctx context.Context, owner *store.Account, id store.MediaID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		m, err := tx.OwnMedia(ctx, owner.ID, id)
		if err != nil {
			return err
		}
		if !m.Detached() {
			return errs.Invalid("The media attachment is in use")
		}
		if err := tx.DeleteMedia(ctx, m.ID); err != nil {
			return err
		}
		return s.enqueueRemoveFiles(ctx, tx, m.Files())
	})
}

func (s *Service) checkDescription(description string) (string, error) {
	description = strings.TrimSpace(description)
	if text.Length(description, "") > s.Settings.Load().Media.DescriptionLength {
		return "", errs.BadRequest("description_too_long")
	}
	return description, nil
}

// mediaType returns the client API's type of a file.
func mediaType(mime string) string {
	major, _, _ := strings.Cut(mime, "/")
	switch major {
	case "image", "video", "audio":
		return major
	}
	return "unknown"
}

const (
	unattachedTTL = 24 * time.Hour // of uploads
	sweepBatch    = 256            // rows, or files, at a time
)

// sweepMedia is the recurring job that removes unattached uploads, and then files that no row uses. Recent files stay, because their row
// may not be written yet; so does a file that is stored again meanwhile (media.Files.RemoveOlder).
func (s *Service) sweepMedia(ctx context.Context, _ store.SweepMedia) error {
	if _, err := s.PruneMedia(ctx, false); err != nil {
		return err
	}
	return s.files.SweepBucket(ctx)
}

// fileRemovalDelay is how long files stay after their last use has ended. An upload of the same content that is stored meanwhile has its
// row by then.
const fileRemovalDelay = time.Minute

// enqueueRemoveFiles enqueues the removal of files that are no longer used.
func (s *Service) enqueueRemoveFiles(ctx context.Context, tx *store.Tx, names []string) error {
	if len(names) == 0 {
		return nil
	}
	return tx.EnqueueAt(ctx, s.db.Now().Add(fileRemovalDelay), store.RemoveFiles{Files: names})
}

// removeFiles is the job that removes files that are no longer used, unless they are used again.
func (s *Service) removeFiles(ctx context.Context, w store.RemoveFiles) error {
	_, err := s.removeUnusedFiles(ctx, w.Files, s.db.Now().Add(-fileRemovalDelay))
	return err
}

// removeUnusedFiles removes files that no upload and no profile uses and that are older than before. It returns those that it removed. Their records go
// first: a file that stays by an interruption is removed by the sweep.
func (s *Service) removeUnusedFiles(ctx context.Context, names []string, before time.Time) (removed []string, err error) {
	unused, err := unusedFiles(ctx, s.db, names)
	if err != nil || len(unused) == 0 {
		return nil, err
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if unused, err = unusedFiles(ctx, tx, unused); err != nil {
			return err
		}
		return tx.RemoveStoredFiles(ctx, unused)
	})
	if err != nil {
		return nil, err
	}
	for _, name := range unused {
		was, removeErr := s.files.RemoveOlder(ctx, name, before)
		if was {
			removed = append(removed, name)
		}
		err = errors.Join(err, removeErr)
	}
	return removed, err
}

// fileUses says which files are used, as of the database or of a transaction.
type fileUses interface {
	UsedFiles(context.Context, []string) ([]string, error)
	ProfilePictures(context.Context) ([]string, error)
}

// unusedFiles returns those of the files that no upload and no profile uses.
func unusedFiles(ctx context.Context, r fileUses, names []string) ([]string, error) {
	used, err := r.UsedFiles(ctx, names)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(used, name) })
	if len(names) == 0 {
		return nil, nil
	}
	pictures, err := r.ProfilePictures(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(pictures, name) }), nil
}
