package federation

import (
	"archive/zip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"svc/internal/errs"
	"svc/internal/limit"
	"svc/media"
	"svc/social"
	"svc/store"
)

// Backups of accounts: a zip archive with the actor and the collections of the account as ActivityPub documents (extension API 10), and its
// uploaded files under the names that the documents have.

const (
	backupTimeout = 3 * time.Hour
	archivePage   = 100 // rows that are read at a time

	archivePageMemory = 4 << 20 // bytes, while a page is written

	archivePoll      = 200 * time.Millisecond
	omittedFilesName = "omitted.txt"
)

// archivedFile returns the name of a stored file in a backup.
func archivedFile(name string) string { return "media/" + name }

// Archiver makes backups of accounts.
type Archiver struct {
	Timeout time.Duration // of an attempt, which starts over; hours, so that large accounts fit on slow disks

	documents Documents // with archive set
	files     *media.Files
	archives  *media.Archives
	memory    *limit.Bytes
	social    *social.Service
	db        *store.DB
	log       *slog.Logger
	running   sync.Map // store.AccountBackupID → struct{}{}
}

func newArchiver(d *Documents, c Config, social *social.Service, db *store.DB, log *slog.Logger) *Archiver {
	a := &Archiver{Timeout: backupTimeout, documents: *d, files: c.Files, archives: c.Archives, memory: c.Memory, social: social, db: db, log: log}
	a.documents.archive = true
	return a
}

// run is the job that makes a backup. An interrupted one starts over.
func (a *Archiver) run(ctx context.Context, job store.MakeBackup) error {
	if _, busy := a.running.LoadOrStore(job.BackupID, struct{}{}); busy {
		return &store.RetryAfterError{At: a.db.Now().Add(time.Minute), Err: errors.New("the backup is being made")}
	}
	defer a.running.Delete(job.BackupID)
	b, err := a.db.AccountBackup(ctx, job.BackupID)
	if err != nil || b.State != store.BackupPending {
		return errs.IgnoreNotFound(err)
	}
	err = a.archive(ctx, b)
	if err == nil || ctx.Err() != nil { // stopped, not failed
		return err
	}
	again, recordErr := a.social.BackupAttemptFailed(ctx, b.ID, err)
	if again || recordErr != nil {
		return errors.Join(err, recordErr)
	}
	a.log.Error("backup of an account failed", "account", b.AccountID, "backup", b.ID, "err", err)
	return nil
}

// Wait makes a backup, or waits up to d for the job that does, and returns its state.
func (a *Archiver) Wait(ctx context.Context, id store.AccountBackupID, d time.Duration) (*store.AccountBackup, error) {
	for until := time.Now().Add(d); ; {
		b, err := a.db.AccountBackup(ctx, id)
		if err != nil || b.State != store.BackupPending || time.Now().After(until) {
			return b, err
		}
		if _, busy := a.running.Load(id); !busy {
			if err := a.run(ctx, store.MakeBackup{BackupID: id}); err != nil {
				return nil, err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(archivePoll):
		}
	}
}

// archive writes the file of a backup.
func (a *Archiver) archive(ctx context.Context, b *store.AccountBackup) error {
	account, err := a.db.Account(ctx, b.AccountID)
	if err != nil || account.DeletedAt != nil {
		return errs.IgnoreNotFound(err)
	}
	room, err := a.social.RemainingBackupStorage(ctx)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	size, err := a.archives.Write(limited, b.File, func(w io.Writer) error {
		z := &archiveWriter{Archiver: a, zip: zip.NewWriter(w), account: account, modified: b.ID.Time(), room: room}
		if err := z.write(limited); err != nil {
			return err
		}
		return z.zip.Close()
	})
	if err != nil {
		return fmt.Errorf("backup of %s: %w", account.Nickname, err)
	}
	err = a.social.CompleteBackup(ctx, b.ID, size)
	if errs.IsNotFound(err) { // the account was deleted meanwhile
		return a.archives.Remove(ctx, b.File)
	}
	return err
}

// archiveWriter writes one backup.
type archiveWriter struct {
	*Archiver
	zip      *zip.Writer
	account  *store.Account
	modified time.Time
	room     int64    // remaining bytes for files
	omitted  []string // files beyond the limit, and missing ones
}

func (z *archiveWriter) write(ctx context.Context) error {
	actor, err := z.documents.actorDocument(ctx, z.account)
	if err != nil {
		return err
	}
	actor["likes"], actor["bookmarks"] = "likes.json", "bookmarks.json"
	w, err := z.create("actor.json")
	if err == nil {
		err = encodeDocument(w, withContext(actor))
	}
	if err != nil {
		return err
	}
	if err := z.writeCollection("outbox.json", func(add func(any) error) error { return z.eachActivity(ctx, add) }); err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		read func(context.Context, store.AccountID, int64, int) ([]store.ExportedURI, error)
	}{
		{"likes.json", z.db.ExportFavourites},
		{"bookmarks.json", z.db.ExportBookmarks},
		{"followers.json", z.db.ExportFollowers},
		{"following.json", z.db.ExportFollowing},
	} {
		err := z.writeCollection(c.name, func(add func(any) error) error {
			return eachExported(func(after int64) ([]store.ExportedURI, error) { return c.read(ctx, z.account.ID, after, archivePage) },
				func(u store.ExportedURI) int64 { return u.Cursor }, func(u store.ExportedURI) error { return add(u.URI) })
		})
		if err != nil {
			return err
		}
	}
	if err := z.writeCollection("featured.json", func(add func(any) error) error { return z.eachPinned(ctx, add) }); err != nil {
		return err
	}
	for _, l := range archivedLists {
		if err := z.writeList(ctx, l.name, l.kind); err != nil {
			return err
		}
	}
	if err := z.writeCollection("filters.json", func(add func(any) error) error { return z.eachFilter(ctx, add) }); err != nil {
		return err
	}
	if err := z.writeCollection("collections.json", func(add func(any) error) error { return z.eachCollection(ctx, add) }); err != nil {
		return err
	}
	if err := z.writeFiles(ctx); err != nil || len(z.omitted) == 0 {
		return err
	}
	if w, err = z.create(omittedFilesName); err == nil {
		_, err = io.WriteString(w, strings.Join(z.omitted, "\n")+"\n")
	}
	return err
}

// archivedLists are the lists of a backup in the form of exports, because ActivityPub has none for them.
var archivedLists = []struct {
	name string
	kind store.ImportKind
}{
	{"lists.csv", store.ImportLists}, {"blocked_accounts.csv", store.ImportBlocks}, {"muted_accounts.csv", store.ImportMutes}, {"blocked_domains.csv", store.ImportDomainBlocks},
}

// writeList writes an export as CSV.
func (z *archiveWriter) writeList(ctx context.Context, name string, kind store.ImportKind) error {
	file, err := z.create(name)
	if err != nil {
		return err
	}
	w := csv.NewWriter(file)
	for from := (social.ExportCursor{}); ; {
		rows, next, err := z.social.Export(ctx, z.account.ID, kind, from)
		if err == nil {
			err = w.WriteAll(rows)
		}
		if err != nil || next == nil {
			return err
		}
		from = *next
	}
}

// eachFilter calls add with each filter, for which ActivityPub has no form either.
func (z *archiveWriter) eachFilter(ctx context.Context, add func(any) error) error {
	rows, err := z.social.ArchivedFilters(ctx, z.account.ID)
	for _, f := range rows {
		if err := add(f); err != nil {
			return err
		}
	}
	return err
}

// eachPinned calls add with the id of each pinned status.
func (z *archiveWriter) eachPinned(ctx context.Context, add func(any) error) error {
	part, err := z.db.PinnedStatuses(ctx, z.account.ID, z.account.ID, store.Page{Limit: maxPinned})
	if err != nil {
		return err
	}
	uris, err := z.db.StatusURIs(ctx, part.Rows)
	for _, uri := range uris {
		if err := add(uri); err != nil {
			return err
		}
	}
	return err
}

// create begins a compressed file of the archive.
func (z *archiveWriter) create(name string) (io.Writer, error) {
	return z.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: z.modified})
}

func encodeDocument(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// writeCollection writes an OrderedCollection whose items are not held in memory.
func (z *archiveWriter) writeCollection(name string, each func(add func(any) error) error) error {
	w, err := z.create(name)
	if err != nil {
		return err
	}
	context, err := json.Marshal(documentContext)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, `{"@context":%s,"id":%q,"type":"OrderedCollection","orderedItems":[`+"\n", context, name); err != nil {
		return err
	}
	n := 0
	err = each(func(item any) error {
		if n > 0 {
			if _, err := io.WriteString(w, ","); err != nil {
				return err
			}
		}
		n++
		return encodeDocument(w, item)
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `],"totalItems":%d}`+"\n", n)
	return err
}

// eachExported calls fn for all rows, which are read a page at a time.
func eachExported[T any](read func(after int64) ([]T, error), cursor func(T) int64, fn func(T) error) error {
	for after := int64(0); ; {
		rows, err := read(after)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := fn(row); err != nil {
				return err
			}
			after = cursor(row)
		}
		if len(rows) < archivePage {
			return nil
		}
	}
}

// eachActivity calls add with the Create or Announce of each status of the account, oldest first.
func (z *archiveWriter) eachActivity(ctx context.Context, add func(any) error) error {
	for after := store.StatusID(0); ; {
		last, err := z.addPage(ctx, after, add)
		if err != nil || last == after {
			return err
		}
		after = last
	}
}

// addPage is eachActivity for a page of statuses after one. It returns the last of them.
func (z *archiveWriter) addPage(ctx context.Context, after store.StatusID, add func(any) error) (last store.StatusID, err error) {
	release, err := z.memory.Take(ctx, archivePageMemory)
	if err != nil {
		return after, err
	}
	defer release()
	rows, err := z.db.ExportStatuses(ctx, z.account.ID, after, archivePage)
	if err != nil || len(rows) == 0 {
		return after, err
	}
	p, err := z.documents.loadDocumentRows(ctx, rows)
	if err != nil {
		return after, err
	}
	for _, st := range rows {
		after = st.ID
		o, err := z.documents.outboxItem(st, p)
		if errs.IsNotFound(err) { // the original of a reblog is gone
			continue
		}
		if err == nil {
			err = add(o)
		}
		if err != nil {
			return after, err
		}
	}
	return after, nil
}

// eachCollection calls add with the document of each collection of accounts that the account has made.
func (z *archiveWriter) eachCollection(ctx context.Context, add func(any) error) error {
	rows, err := z.db.CollectionsOf(ctx, z.account.ID, true, 0, store.Page{Limit: maxListedCollections})
	if err != nil {
		return err
	}
	for _, c := range rows {
		o, err := z.documents.collectionDocument(ctx, c, z.account)
		if err == nil {
			err = add(o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeFiles adds the pictures of the profile and the uploaded files, up to the limit.
func (z *archiveWriter) writeFiles(ctx context.Context) error {
	var profile []string
	for _, name := range []string{z.account.Avatar, z.account.Header, z.account.Background} {
		if name == "" || slices.Contains(profile, name) {
			continue
		}
		profile = append(profile, name)
		if err := z.writeFile(ctx, name); err != nil {
			return err
		}
	}
	return eachExported(func(after int64) ([]store.ExportedFile, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return z.db.ExportFiles(ctx, z.account.ID, store.MediaID(after), archivePage)
	}, func(f store.ExportedFile) int64 { return int64(f.ID) }, func(f store.ExportedFile) error {
		if slices.Contains(profile, f.File) {
			return nil
		}
		return z.writeFile(ctx, f.File)
	})
}

// writeFile adds a file, uncompressed because media are compressed already.
func (z *archiveWriter) writeFile(ctx context.Context, name string) error {
	file, err := z.files.OpenFile(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		z.omitted = append(z.omitted, archivedFile(name)+" (missing)")
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if file.Size > z.room {
		z.omitted = append(z.omitted, archivedFile(name)+" (size limit)")
		return nil
	}
	z.room -= file.Size
	w, err := z.zip.CreateHeader(&zip.FileHeader{Name: archivedFile(name), Method: zip.Store, Modified: file.ModTime})
	if err == nil {
		_, err = io.Copy(w, file)
	}
	return err
}
