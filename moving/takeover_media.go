package moving

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"

	"svc/emoji"
	"svc/internal/errs"
	"svc/media"
	"svc/store"
)

// filesPage is how many files are stored before a transaction with their rows.
const filesPage = 50

// maxTakenFile bounds a file, in bytes. It is not the limit of uploads, because files of the old server were accepted there.
const maxTakenFile = 1 << 30

// maxEmojiBytes bounds the picture of an emoji.
const maxEmojiBytes = 1 << 20

// openFiles opens the folder of the old server's files, nil if none are taken. Paths cannot leave it.
func (w *writer) openFiles() (*os.Root, error) {
	if w.source.Media == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(w.source.Media)
	if err != nil {
		return nil, fmt.Errorf("takeover: %w", err)
	}
	return root, nil
}

// file opens a file of the old server by the path in a row.
func (w *writer) file(root *os.Root, name string) (*os.File, error) {
	if root == nil || name == "" {
		return nil, fs.ErrNotExist
	}
	name = path.Clean(strings.TrimLeft(name, "/"))
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fs.ErrNotExist, err, f.Close())
	}
	return f, nil
}

// ingest stores a file of the old server, nil if it cannot: then the report says why.
func (w *writer) ingest(ctx context.Context, root *os.Root, owner store.AccountID, name string, kind media.Kind, what string) (*media.File, error) {
	f, err := w.file(root, name)
	if err != nil {
		w.Report.leave(what, missing(root, err))
		return nil, nil
	}
	defer f.Close()
	file, err := w.target.media.Ingest(ctx, owner, f, kind, maxTakenFile)
	if e := new(errs.Error); errors.As(err, &e) && e.Status < 500 {
		w.Report.leave(what, "the file is not accepted: "+e.Message)
		return nil, nil
	}
	return file, err
}

// missing says why a file could not be opened.
func missing(root *os.Root, err error) string {
	switch {
	case root == nil:
		return "no folder of files was named (--media)"
	case errors.Is(err, fs.ErrNotExist):
		return "the file is missing"
	}
	return "the file cannot be read, or its path leaves the folder"
}

// mediaRow is an attachment of the scratch database: of a post, or of a message of a chat.
type mediaRow struct {
	at
	Owner                                                       store.AccountID
	Post                                                        store.StatusID
	Message                                                     store.MessageID
	Position                                                    int
	Domain, Type, Mime, Path, ThumbnailPath                     string
	Address, ThumbnailAddress, RemoteURL, Description, Blurhash string
	Width, Height                                               int
	FocusX, FocusY                                              float64
	CreatedAt                                                   int64
}

// taken is an attachment with its stored files.
type taken struct {
	row           *mediaRow
	file, preview *media.File
}

// attachments stores the files of local posts and writes the rows of all attachments.
func (w *writer) attachments(ctx context.Context, step string) error {
	const query = `
		SELECT i.id AS pos, ia.id AS owner, ip.id AS post, min(t.position) AS position, a.domain, m.type, m.mime, m.path, m.thumbnail_path, m.address, m.thumbnail_address,
			m.remote_url, m.description, m.blurhash, m.width, m.height, m.focus_x, m.focus_y, m.created_at
		FROM ids i
		CROSS JOIN media m ON m.id = i.source
		CROSS JOIN attachments t ON t.media = m.id
		CROSS JOIN posts p ON p.id = t.post
		CROSS JOIN accounts a ON a.id = p.account
		CROSS JOIN ids ip ON ip.kind = 'post' AND ip.source = p.id
		CROSS JOIN ids ia ON ia.kind = 'account' AND ia.source = p.account
		WHERE i.kind = 'media' AND i.id > ?
		GROUP BY i.id
		ORDER BY i.id
		LIMIT ?`
	return w.files(ctx, step, "attachments", query)
}

// files stores the local ones of the files of a kind that a query selects, and writes the rows of all.
func (w *writer) files(ctx context.Context, step, kind, query string) error {
	root, err := w.openFiles()
	if err != nil {
		return err
	}
	if root != nil {
		defer root.Close()
	}
	return eachOf(ctx, w, step, query, filesPage, func(rows []*mediaRow, last int64) error {
		list := make([]taken, 0, len(rows))
		defer func() {
			for _, t := range list {
				t.file.Release()
				t.preview.Release()
			}
		}()
		for _, r := range rows {
			t := taken{row: r}
			if r.Domain == "" {
				var err error
				if t.file, err = w.ingest(ctx, root, r.Owner, r.Path, media.Attachment, kind); err != nil {
					return err
				}
				if t.file != nil && t.file.Thumbnail == "" && r.ThumbnailPath != "" && r.ThumbnailPath != r.Path {
					if t.preview, err = w.ingest(ctx, root, r.Owner, r.ThumbnailPath, media.Preview, "thumbnails"); err != nil {
						return err
					}
				}
			}
			list = append(list, t)
		}
		return w.target.db.Update(ctx, func(tx *store.Tx) error {
			for _, t := range list {
				if err := w.attachment(ctx, tx, t); err != nil {
					return err
				}
			}
			return tx.SetTakeoverPosition(ctx, step, last)
		})
	})
}

// attachment writes the row of an attachment, of its files, and their old paths.
func (w *writer) attachment(ctx context.Context, tx *store.Tx, t taken) error {
	r := t.row
	m := &store.Media{
		ID: store.MediaID(r.Pos), AccountID: r.Owner, StatusID: &r.Post, Position: r.Position, Type: r.Type, Mime: r.Mime, RemoteURL: r.RemoteURL,
		Description: r.Description, Width: r.Width, Height: r.Height, Blurhash: r.Blurhash, FocusX: within(r.FocusX), FocusY: within(r.FocusY),
		CreatedAt: store.Time(max(r.CreatedAt, 1)),
	}
	if r.Message != 0 {
		m.StatusID, m.MessageID = nil, &r.Message
	}
	if r.Domain == "" {
		if t.file == nil {
			return tx.CountTakenMedia(ctx, r.Post)
		}
		f := t.file
		m.RemoteURL, m.File, m.Thumbnail, m.Mime, m.Size = "", f.Name, f.Thumbnail, f.MIME, f.Size
		m.Width, m.Height, m.PreviewWidth, m.PreviewHeight = f.Width, f.Height, f.ThumbSize.X, f.ThumbSize.Y
		m.Duration, m.FrameRate = f.Duration.Milliseconds(), f.FrameRate
		if f.Blurhash != "" {
			m.Blurhash = f.Blurhash
		}
		m.Type, _, _ = strings.Cut(f.MIME, "/")
		if t.preview != nil {
			m.Thumbnail, m.PreviewWidth, m.PreviewHeight = t.preview.Thumbnail, t.preview.ThumbSize.X, t.preview.ThumbSize.Y
		}
	} else if m.RemoteURL == "" {
		return tx.CountTakenMedia(ctx, r.Post)
	}
	m.CutRemote()
	if ok, err := w.take(ctx, tx, "attachments", m); err != nil || !ok || r.Domain != "" {
		return err
	}
	stored := t.file.Stored(store.UploadedFile)
	if t.preview != nil {
		stored = append(stored, t.preview.Stored(store.UploadedFile)[1:]...) // only its thumbnail is stored
	}
	if err := tx.AddStoredFiles(ctx, stored); err != nil {
		return err
	}
	thumbnail := m.Thumbnail
	if thumbnail == "" {
		thumbnail = m.File
	}
	if err := w.oldFile(ctx, tx, r.Address, m.File); err != nil {
		return err
	}
	return w.oldFile(ctx, tx, r.ThumbnailAddress, thumbnail)
}

// within returns a coordinate of a focus between -1 and 1.
func within(v float64) float64 { return max(-1, min(1, v)) }

// oldFile makes the old address of a file lead to the stored one.
func (w *writer) oldFile(ctx context.Context, tx *store.Tx, address, name string) error {
	return w.oldAddress(ctx, tx, address, "/media/"+name)
}

// oldAddress makes an old address lead to a path here, if it is one.
func (w *writer) oldAddress(ctx context.Context, tx *store.Tx, address, target string) error {
	u, err := url.Parse(address)
	if err != nil || u.Path == "" || u.Path == target {
		return nil
	}
	if err := tx.AddOldMedia(ctx, strings.TrimSuffix(u.Path, "/"), target); err != nil {
		var refused *errs.Error
		if errors.As(err, &refused) {
			w.Report.leave("old addresses of files", "they are no paths")
			return nil
		}
		return err
	}
	return nil
}

// pictureRow is a local account with its pictures.
type pictureRow struct {
	at
	AvatarPath, AvatarAddress, AvatarThumbnail string
	HeaderPath, HeaderAddress, HeaderThumbnail string
}

// pictures stores the avatars and headers of local accounts.
func (w *writer) pictures(ctx context.Context, step string) error {
	const query = `
		SELECT i.id AS pos, ifnull(v.path, '') AS avatar_path, ifnull(v.address, '') AS avatar_address, ifnull(v.thumbnail_address, '') AS avatar_thumbnail,
			ifnull(h.path, '') AS header_path, ifnull(h.address, '') AS header_address, ifnull(h.thumbnail_address, '') AS header_thumbnail
		FROM ids i
		CROSS JOIN accounts a ON a.id = i.source AND a.domain = '' AND (a.avatar <> '' OR a.header <> '')
		LEFT JOIN media v ON v.id = a.avatar AND a.avatar <> ''
		LEFT JOIN media h ON h.id = a.header AND a.header <> ''
		WHERE i.kind = 'account' AND i.id > ?
		ORDER BY i.id
		LIMIT ?`
	root, err := w.openFiles()
	if err != nil {
		return err
	}
	if root != nil {
		defer root.Close()
	}
	return eachOf(ctx, w, step, query, 1, func(rows []*pictureRow, last int64) error {
		r := rows[0]
		var avatar, header *media.File
		var err error
		if r.AvatarPath != "" {
			if avatar, err = w.ingest(ctx, root, store.AccountID(r.Pos), r.AvatarPath, media.Avatar, "avatars"); err != nil {
				return err
			}
			defer avatar.Release()
		}
		if r.HeaderPath != "" {
			if header, err = w.ingest(ctx, root, store.AccountID(r.Pos), r.HeaderPath, media.Header, "headers"); err != nil {
				return err
			}
			defer header.Release()
		}
		return w.target.db.Update(ctx, func(tx *store.Tx) error {
			a := &store.Account{ID: store.AccountID(r.Pos)}
			a.Avatar, a.AvatarStatic = pictureNames(avatar)
			a.Header, a.HeaderStatic = pictureNames(header)
			if err := tx.SetTakenPictures(ctx, a); err != nil {
				return err
			}
			if err := tx.AddStoredFiles(ctx, append(avatar.Stored(store.ProfileFile), header.Stored(store.ProfileFile)...)); err != nil {
				return err
			}
			for _, old := range []struct{ address, name string }{
				{r.AvatarAddress, a.Avatar}, {r.AvatarThumbnail, a.AvatarStatic}, {r.HeaderAddress, a.Header}, {r.HeaderThumbnail, a.HeaderStatic},
			} {
				if old.name == "" {
					continue
				}
				if err := w.oldFile(ctx, tx, old.address, old.name); err != nil {
					return err
				}
			}
			return tx.SetTakeoverPosition(ctx, step, last)
		})
	})
}

// pictureNames returns the names of a picture and of its still version.
func pictureNames(f *media.File) (name, still string) {
	switch {
	case f == nil:
		return "", ""
	case f.Thumbnail == "":
		return f.Name, f.Name
	}
	return f.Name, f.Thumbnail
}

// emojiPack is the name of the pack of the old server's emoji.
const emojiPack = "custom"

// emojiRow is a custom emoji of the old server.
type emojiRow struct {
	at
	Shortcode, Path, URL string
}

// emoji adds the custom emoji of the old server as a pack.
func (w *writer) emoji(ctx context.Context, step string) error {
	const query = `
		SELECT n AS pos, shortcode, path, url
		FROM (SELECT row_number() OVER (ORDER BY id) AS n, shortcode, path, url FROM emoji WHERE domain = '' AND disabled = 0)
		WHERE n > ?
		ORDER BY n
		LIMIT ?`
	root, err := w.openFiles()
	if err != nil {
		return err
	}
	if root != nil {
		defer root.Close()
	}
	return eachOf(ctx, w, step, query, 1, func(rows []*emojiRow, last int64) error {
		r := rows[0]
		target := ""
		if picture, err := w.picture(root, r.Path); err != nil {
			w.Report.leave("emoji", missing(root, err))
		} else if pack, err := w.target.emojis.Add(ctx, emojiPack, []emoji.NewEmoji{emoji.WithContent(r.Shortcode, picture)}, emoji.AddOptions{Create: true, SkipTaken: true}); err != nil {
			if e := new(errs.Error); !errors.As(err, &e) || e.Status >= 500 {
				return err
			}
			w.Report.leave("emoji", "the shortcode or the picture is not accepted")
		} else if file := pack.Files[r.Shortcode]; file != "" {
			target = "/emoji/" + emojiPack + "/" + file
		}
		return w.target.db.Update(ctx, func(tx *store.Tx) error {
			if target != "" {
				if err := w.oldAddress(ctx, tx, r.URL, target); err != nil {
					return err
				}
			}
			return tx.SetTakeoverPosition(ctx, step, last)
		})
	})
}

// picture returns the content of a small file of the old server.
func (w *writer) picture(root *os.Root, name string) ([]byte, error) {
	f, err := w.file(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(f, maxEmojiBytes+1))
	if n > maxEmojiBytes {
		return nil, fmt.Errorf("%s is too large", name)
	}
	return b.Bytes(), err
}
