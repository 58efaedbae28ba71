package moving

import (
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"svc/internal/config"
	"svc/internal/disk"
	"svc/internal/errs"
	"svc/media"
	"svc/social"
	"svc/store"
)

const (
	batchPosts   = 50
	batchWorkers = 2 // files of a batch that are stored at a time; pictures are decoded, which takes memory
	shortPause   = 5 * time.Millisecond
	longPause    = 500 * time.Millisecond
	staffFactor  = 5 // how much larger the archives of administrators may be
	pollPeriod   = 200 * time.Millisecond
	waitGrace    = time.Second // for the worker of a running server to take the job
)

// Importer imports archives.
type Importer struct {
	Settings *config.Live
	Dir      string // the folder imports of the data directory

	// CopyEmoji copies a custom emoji, whose picture is at an address, into a pack. One whose shortcode is taken is an errs.Error.
	CopyEmoji func(ctx context.Context, pack, shortcode, address string) error

	social  *social.Service
	files   *media.Files
	db      *store.DB
	log     *slog.Logger
	running sync.Map // store.ArchiveID → struct{}{}
	uploads sync.Map // store.ArchiveID → struct{}{}, while a piece is written
}

// New returns an Importer that reads archives in a folder.
func New(db *store.DB, social *social.Service, files *media.Files, settings *config.Live, dir string, log *slog.Logger) *Importer {
	return &Importer{Settings: settings, Dir: dir, social: social, files: files, db: db, log: log}
}

// Register registers the jobs of this package with the worker.
func (m *Importer) Register(w *store.Worker) {
	store.Handle(w, m.run)
	store.Handle(w, m.pruneUploads)
}

// NewImport is an archive to import.
type NewImport struct {
	File    string // name in the folder imports, or for an operator any path
	ByStaff bool   // its origin need not be an alias of the account
	Public  bool   // public posts stay public
	Emoji   bool   // custom emoji are copied into a pack; only by staff
	Origin  string // handle or actor id, for an archive that does not name its account; only by staff
}

// Start checks an archive and queues its import. An archive that is refused is an errs.Error. That of a tar.gz is found by the import only.
func (m *Importer) Start(ctx context.Context, account *store.Account, n NewImport) (*store.Archive, error) {
	row := &store.Archive{AccountID: account.ID, File: n.File, ByStaff: n.ByStaff}
	if named := namedOrigin(n.Origin); n.ByStaff && named != nil {
		row.Origin, row.ActorURI = named.Handle, named.ActorURI
	}
	of, err := m.check(ctx, account, row)
	if err != nil {
		return nil, err
	}
	return m.social.AddArchive(ctx, account, social.NewArchive{
		File: n.File, ByStaff: n.ByStaff, Public: n.Public, Origin: of.Handle, ActorURI: of.ActorURI, Emoji: n.Emoji,
	})
}

// path returns where the file of an archive is. That of an operator may be anywhere.
func (m *Importer) path(a *store.Archive) string {
	if filepath.IsAbs(a.File) {
		return a.File
	}
	return filepath.Join(m.Dir, a.File)
}

// work returns the folder into which a tar.gz is unpacked.
func (m *Importer) work(a *store.Archive) string {
	return filepath.Join(m.Dir, ".unpacked-"+a.ID.String())
}

func (m *Importer) open(ctx context.Context, a *store.Archive) (*Archive, error) {
	limit := m.Settings.Load().Accounts.ArchiveSizeLimit
	if a.ByStaff {
		limit = max(limit, 1_000_000_000) * staffFactor
	}
	room := m.files.ReserveOther() // for what a tar.gz unpacks
	archive, err := Open(ctx, m.path(a), m.work(a), limit, room.Grow)
	if err != nil {
		room.Release()
	} else {
		room.Commit()
	}
	return archive, err
}

// check opens an archive and returns the account that it is of. A tar.gz is not opened, because that would take long.
func (m *Importer) check(ctx context.Context, account *store.Account, a *store.Archive) (Origin, error) {
	if packed, err := isGzip(m.path(a)); packed || err != nil {
		return Origin{Handle: a.Origin, ActorURI: a.ActorURI}, err
	}
	archive, err := m.open(ctx, a)
	if err != nil {
		return Origin{}, err
	}
	defer archive.Close()
	f, err := m.form(ctx, account, a, archive)
	if err != nil {
		return Origin{}, err
	}
	return f.origin(), nil
}

// form returns the reader of an archive, or an error if the account may not import it: it must be of the account itself, or of one of its aliases,
// because anybody can write into an archive whose posts it has.
func (m *Importer) form(ctx context.Context, account *store.Account, a *store.Archive, archive *Archive) (form, error) {
	aliases := m.aliases(ctx, account)
	if a.ActorURI != "" && a.ByStaff {
		aliases = []Origin{{a.ActorURI, a.Origin}}
	}
	f, err := detect(archive, aliases)
	if err != nil || a.ByStaff {
		return f, err
	}
	of := f.origin()
	if of.ActorURI == account.URI {
		return f, nil
	}
	for _, alias := range aliases {
		if alias.ActorURI == of.ActorURI {
			return f, nil
		}
	}
	return nil, errs.Forbidden("The archive is of @%s, which is no alias of this account: add it as an alias in the settings first", of.Handle)
}

// aliases returns the accounts that an account names as its own.
func (m *Importer) aliases(ctx context.Context, account *store.Account) []Origin {
	var list []Origin
	for _, uri := range account.AlsoKnownAs.V {
		of := Origin{ActorURI: uri, Handle: handleOf(filepath.Base(uri), uri, true)}
		if known, err := m.db.AccountByURI(ctx, uri); err == nil {
			of.Handle = known.Acct()
		}
		list = append(list, of)
	}
	return list
}

// run is the job of an archive: it imports, or undoes that. It continues where it was interrupted.
func (m *Importer) run(ctx context.Context, job store.RunArchive) error {
	if _, busy := m.running.LoadOrStore(job.ArchiveID, struct{}{}); busy {
		return &store.RetryAfterError{At: m.db.Now().Add(time.Minute), Err: errors.New("the archive is being imported")}
	}
	defer m.running.Delete(job.ArchiveID)
	for {
		a, err := m.db.Archive(ctx, job.ArchiveID)
		if err != nil {
			return errs.IgnoreNotFound(err)
		}
		switch a.State {
		case store.ArchiveQueued:
			err = m.importArchive(ctx, a)
		case store.ArchiveUndoing:
			err = m.undo(ctx, a)
		case store.ArchiveUploading:
			return nil
		default:
			return m.removeFiles(a)
		}
		if err != nil && !errors.Is(err, social.ErrArchiveStopped) {
			return err
		}
	}
}

// importArchive imports an archive, and records when it is finished or refused.
func (m *Importer) importArchive(ctx context.Context, a *store.Archive) error {
	account, err := m.db.Account(ctx, a.AccountID)
	if err != nil {
		return err
	}
	if account.Unavailable {
		return m.social.FinishArchive(ctx, a.ID, social.ErrInactiveImport.Message)
	}
	err = m.read(ctx, account, a)
	refusal := (*errs.Error)(nil)
	switch {
	case ctx.Err() != nil:
		return ctx.Err() // it goes on with the next attempt
	case errors.As(err, &refusal) && refusal.Status < 500, errors.As(err, &refusal) && refusal.Status == 507:
		m.log.Warn("import of an archive failed", "account", a.AccountID, "archive", a.ID, "err", err)
		return m.social.FinishArchive(ctx, a.ID, refusal.Message)
	case err != nil:
		return err
	}
	m.log.Info("archive imported", "account", a.AccountID, "archive", a.ID)
	return m.social.FinishArchive(ctx, a.ID, "")
}

// read imports the rest of an archive.
func (m *Importer) read(ctx context.Context, account *store.Account, a *store.Archive) error {
	archive, err := m.open(ctx, a)
	if err != nil {
		return err
	}
	defer archive.Close()
	f, err := m.form(ctx, account, a, archive)
	if err != nil {
		return err
	}
	own, total, err := scan(archive, f)
	if err != nil {
		return err
	}
	if err := m.social.SetArchiveOrigin(ctx, a.ID, f.origin().Handle, f.origin().ActorURI, total); err != nil {
		return err
	}
	b := &batch{Importer: m, account: account, row: a, archive: archive}
	n := 0
	err = archive.eachEntry(f.list(), func(entry json.RawMessage) error {
		if n++; n <= a.Position {
			return nil
		}
		p, reason := f.post(entry)
		if reason != "" {
			b.skip(f.id(entry), reason)
		}
		if p != nil {
			p.ParentIsOwn = own.has(p.ParentURI)
			b.posts = append(b.posts, p)
		}
		if b.position = n; len(b.posts) < batchPosts && len(b.skipped) < batchPosts {
			return nil
		}
		return b.store(ctx)
	})
	if err == nil {
		b.position = n
		err = b.store(ctx)
	}
	if err != nil {
		return err
	}
	if err := m.importFilters(ctx, account, archive); err != nil {
		return err
	}
	if err := m.startLists(ctx, account, archive); err != nil || !a.Emoji {
		return err
	}
	return m.copyEmoji(ctx, account, a)
}

// idSet is a set of ids, of which it keeps the hashes only: eight bytes each.
type idSet struct {
	seed   maphash.Seed
	hashes map[uint64]struct{}
}

func (s *idSet) has(id string) bool {
	_, ok := s.hashes[maphash.String(s.seed, id)]
	return ok && id != ""
}

// scan returns the ids of the posts of an archive and the number of its entries. Replies to own posts are known from it, because some programs write the
// newest post first.
func scan(archive *Archive, f form) (own *idSet, total int, err error) {
	own = &idSet{maphash.MakeSeed(), make(map[uint64]struct{})}
	err = archive.eachEntry(f.list(), func(entry json.RawMessage) error {
		total++
		if id := f.id(entry); id != "" {
			own.hashes[maphash.String(own.seed, id)] = struct{}{}
		}
		return nil
	})
	return own, total, err
}

// undo deletes the posts of an archive. Between two transactions, others can write.
func (m *Importer) undo(ctx context.Context, a *store.Archive) error {
	for {
		started := time.Now()
		more, err := m.social.RemoveImportedPosts(ctx, a.ID)
		if err != nil || !more {
			return err
		}
		if err := pause(ctx, time.Since(started)); err != nil {
			return err
		}
	}
}

// pause leaves the database to others for as long as a transaction took.
func pause(ctx context.Context, took time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(min(max(took, shortPause), longPause)):
		return nil
	}
}

// removeFiles removes the unpacked files and an uploaded archive, which are not needed any more.
func (m *Importer) removeFiles(a *store.Archive) error {
	err := disk.RemoveAll(m.work(a))
	if a.Uploaded {
		err = errors.Join(err, disk.RemoveAll(m.path(a)))
	}
	m.files.RemeasureOther()
	return err
}

// Wait waits up to d for the job of an archive, and returns the archive. It does the job itself if no worker takes it.
func (m *Importer) Wait(ctx context.Context, id store.ArchiveID, d time.Duration) (*store.Archive, error) {
	limited, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for began := time.Now(); ; {
		a, err := m.db.Archive(ctx, id)
		if err != nil || a.FinishedAt != nil || limited.Err() != nil {
			return a, err
		}
		if _, busy := m.running.Load(id); !busy && time.Since(began) > waitGrace {
			if err := m.run(limited, store.RunArchive{ArchiveID: id}); err != nil && limited.Err() == nil {
				return nil, err
			}
			continue
		}
		select {
		case <-limited.Done():
		case <-time.After(pollPeriod):
		}
	}
}
