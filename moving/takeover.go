package moving

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"svc/emoji"
	"svc/internal/disk"
	"svc/internal/httpsig"
	"svc/internal/keys"
	"svc/internal/text"
	"svc/media"
	"svc/social"
	"svc/store"
)

// Source is the data of another server.
type Source struct {
	Database string            // a database of SQLite, or a plain dump of PostgreSQL
	Media    string            // the folder of its files; "": none are taken
	Secrets  string            // the file with the keys by which second factors are encrypted; "": none
	Rename   map[string]string // new nicknames of accounts, by the old ones
	Admins   []string          // nicknames of accounts that become administrators, those of Rename where they have others
}

// makesAdmin returns true if the account with a nickname becomes an administrator.
func (s *Source) makesAdmin(nickname string) bool {
	return slices.ContainsFunc(s.Admins, func(name string) bool { return text.SameNick(name, nickname) })
}

// Target is the server that takes the data over.
type Target struct {
	Dir      string   // data directory
	BaseURL  string   // of the server, without a slash at the end
	Host     string   // in handles
	Reserved []string // nicknames that no account can have
	Extended bool     // nicknames may have dots and dashes
	Now      func() time.Time
	Progress func(step string, done, total int64) // may be nil

	// What Open sets.
	db     *store.DB
	keys   *keys.Keys
	media  *media.Files
	emojis *emoji.Packs
	social *social.Service
	block  func(context.Context, ServerBlock) error // may be called twice for the same server
}

// ServerBlock is a restriction of another server.
type ServerBlock struct {
	Domain, Severity           string // suspend, silence, noop
	RejectMedia, RejectReports bool
	Comment, PrivateComment    string
}

// software is a kind of server that can be taken over.
type software struct {
	name     string
	known    []string // tables that only this software has
	mappings map[string]*mapping
	lost     []string // what never comes along, for the report

	// finish returns statements that complete the scratch database once all rows are there; nil: none. base is the address of the server as SQL.
	finish func(base string) []string
}

// kinds are all kinds of servers.
var kinds = []*software{&goToSocial, &mastodon, &pleroma}

// work is the folder for the takeover in the data directory, and mark the file that says that it is not complete.
const (
	workDir = "takeover"
	mark    = "takeover.json"
)

// ErrUnfinished is the error for a data directory into which another server was not completely taken over.
var ErrUnfinished = errors.New("a takeover of another server into this data directory has not ended: run svc takeover with the same arguments again, or empty the directory")

// CheckFinished returns ErrUnfinished if a takeover into a data directory has not ended.
func CheckFinished(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
		return fmt.Errorf("%w (%s)", ErrUnfinished, dir)
	}
	return nil
}

// state is the content of the mark.
type state struct {
	Database string    `json:"database"`
	Size     int64     `json:"size"`     // bytes
	Modified time.Time `json:"modified"` // of the database
	Software string    `json:"software"`
	Loaded   bool      `json:"loaded"` // the scratch database is complete
	Rename   string    `json:"rename"`
	Admins   string    `json:"admins"`
}

// Takeover is a takeover that Prepare has begun.
type Takeover struct {
	source   Source
	target   Target
	software *software
	state    state
	scratch  *scratch
	secrets  *secrets
	Report   *Report
}

// Prepare reads a source into the work folder of the data directory, chooses what comes along and counts it. It writes nothing else. A source that was read
// before the process was killed is not read again. The caller must Close the result. NameError is the error for nicknames that must be renamed.
func Prepare(ctx context.Context, s Source, t Target, dryRun bool) (_ *Takeover, err error) {
	if t.Progress == nil {
		t.Progress = func(string, int64, int64) {}
	}
	if t.Now == nil {
		t.Now = time.Now
	}
	k := &Takeover{source: s, target: t, Report: newReport()}
	wanted, err := k.describeSource()
	if err != nil {
		return nil, err
	}
	if err := k.resume(wanted, dryRun); err != nil {
		return nil, err
	}
	work := filepath.Join(t.Dir, workDir)
	if !k.state.Loaded {
		if err := disk.RemoveAll(work); err != nil {
			return nil, fmt.Errorf("takeover: %w", err)
		}
	}
	if err := disk.MakeFolder(work); err != nil {
		return nil, fmt.Errorf("takeover: %w", err)
	}
	defer func() {
		switch {
		case err == nil:
		case k.state.Loaded:
			err = errors.Join(err, k.Close())
		default: // nothing was written, so the directory is as it was
			err = errors.Join(err, k.Forget())
		}
	}()
	if k.secrets, err = readSecrets(s.Secrets); err != nil {
		return nil, err
	}
	if k.scratch, err = openScratch(ctx, work); err != nil {
		return nil, err
	}
	if !k.state.Loaded {
		if err := k.load(ctx, work); err != nil {
			return nil, err
		}
	}
	for _, kind := range kinds {
		if kind.name == k.state.Software {
			k.software = kind
		}
	}
	if k.software == nil {
		return nil, fmt.Errorf("takeover: no software %q", k.state.Software)
	}
	if err := k.checkTarget(ctx); err != nil {
		return nil, err
	}
	return k, k.count(ctx)
}

// describeSource returns the state at the beginning.
func (k *Takeover) describeSource() (state, error) {
	path, err := filepath.Abs(k.source.Database)
	if err != nil {
		return state{}, fmt.Errorf("takeover: %w", err)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return state{}, fmt.Errorf("takeover: %w", err)
	case !info.Mode().IsRegular():
		return state{}, fmt.Errorf("%s is no file: name the database of SQLite, or a dump made with pg_dump --format=plain", path)
	}
	if k.source.Media != "" {
		if info, err := os.Stat(k.source.Media); err != nil || !info.IsDir() {
			return state{}, fmt.Errorf("takeover: %s is no folder of files", k.source.Media)
		}
	}
	return state{Database: path, Size: info.Size(), Modified: info.ModTime().UTC(), Rename: jsonOf(k.source.Rename), Admins: jsonOf(k.source.Admins)}, nil
}

// resume finds out whether this takeover was begun before, and marks the directory.
func (k *Takeover) resume(wanted state, dryRun bool) error {
	path := filepath.Join(k.target.Dir, mark)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := checkEmpty(k.target.Dir); err != nil {
			return err
		}
		k.state = wanted
		if err := disk.MakeFolder(k.target.Dir); err != nil {
			return fmt.Errorf("takeover: %w", err)
		}
		return k.saveState()
	case err != nil:
		return fmt.Errorf("takeover: %w", err)
	}
	if err := json.Unmarshal(text, &k.state); err != nil {
		return fmt.Errorf("%s is damaged: empty the data directory and begin again: %w", path, err)
	}
	if !k.state.Loaded { // nothing was written
		k.state = wanted
		return k.saveState()
	}
	if k.state.Database != wanted.Database || k.state.Size != wanted.Size || !k.state.Modified.Equal(wanted.Modified) || k.state.Rename != wanted.Rename || k.state.Admins != wanted.Admins {
		return fmt.Errorf("the takeover that was begun in %s is of %s as it was at %s, with other renamed accounts, other administrators or another content: "+
			"empty the data directory to begin again", k.target.Dir, k.state.Database, k.state.Modified.Format(time.RFC3339))
	}
	if dryRun {
		return fmt.Errorf("%w (%s)", ErrUnfinished, k.target.Dir)
	}
	return nil
}

// checkEmpty returns an error for a directory with data.
func checkEmpty(dir string) error {
	for _, name := range []string{store.File, "media", "keys", "emoji"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("the data directory %s is not empty (it has %s): a takeover needs a new one; set data.dir to another folder", dir, name)
		}
	}
	return nil
}

func (k *Takeover) saveState() error {
	if err := disk.ReplaceText(filepath.Join(k.target.Dir, mark), jsonOf(k.state)+"\n"); err != nil {
		return fmt.Errorf("takeover: %w", err)
	}
	return nil
}

// load reads the source, and chooses what comes along.
func (k *Takeover) load(ctx context.Context, work string) error {
	l := &loader{scratch: k.scratch, baseURL: k.target.BaseURL, secrets: k.secrets, progress: k.target.Progress}
	isDatabase, err := isSQLite(k.source.Database)
	if err != nil {
		return fmt.Errorf("takeover: %w", err)
	}
	copied := ""
	if isDatabase {
		if copied, err = copySQLite(k.source.Database, work); err != nil {
			return err
		}
	}
	kind, err := detectSoftware(ctx, k.source.Database, copied)
	if err != nil {
		return err
	}
	var found map[string]bool
	if isDatabase {
		found, err = readSQLite(ctx, k.source.Database, copied, kind.mappings, l)
	} else {
		found, err = (&dump{path: k.source.Database}).read(ctx, kind.mappings, l)
	}
	if err != nil {
		return err
	}
	for table := range kind.mappings {
		if !found[table] && slices.Contains(essentialTables, table) {
			return fmt.Errorf("%s has no table %s: is it complete?", k.source.Database, table)
		}
	}
	if err := k.scratch.commit(); err != nil {
		return err
	}
	if isDatabase { // it is in the scratch database now
		for _, end := range []string{"", "-wal", "-shm"} {
			disk.Remove(copied + end)
		}
	}
	k.state.Software = kind.name
	if kind.finish != nil {
		if err := k.scratch.script(ctx, kind.finish("'"+strings.ReplaceAll(k.target.BaseURL, "'", "''")+"'")...); err != nil {
			return err
		}
	}
	if err := k.scratch.rename(ctx, k.source.Rename); err != nil {
		return err
	}
	if err := k.scratch.checkAdmins(ctx, k.source.Admins); err != nil {
		return err
	}
	problems, err := k.scratch.checkNames(ctx, k.target.Reserved, k.target.Extended)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return &NameError{problems}
	}
	if err := k.scratch.choose(ctx, k.target.Now(), k.target.Progress); err != nil {
		return err
	}
	k.state.Loaded = true
	return k.saveState()
}

// essentialTables must be in a source that has mappings for them.
var essentialTables = []string{"accounts", "users", "statuses", "follows", "objects", "activities"}

// NameError lists nicknames that no account here can have.
type NameError struct{ problems []nameProblem }

func (e *NameError) Error() string {
	var lines []string
	for _, p := range e.problems {
		lines = append(lines, p.Nickname+" "+p.Why)
	}
	return "these accounts need another nickname, nothing was written: " + strings.Join(lines, "; ") + ": repeat the command with --rename OLD=NEW for each"
}

// checkTarget compares the addresses of the source with those of this server.
func (k *Takeover) checkTarget(ctx context.Context) error {
	wrong, err := k.scratch.listOf(ctx, `
		SELECT uri FROM accounts WHERE domain = '' AND kept = 1 AND substr(uri, 1, ?2) <> ?1 || '/' ORDER BY created_at`,
		k.target.BaseURL, len(k.target.BaseURL)+1)
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the accounts of the source have other addresses than this server would have (%s, and server.url is %s): set server.url to the old one; addresses cannot change",
			wrong[0], k.target.BaseURL)
	}
	return nil
}

// Close ends the takeover. What was read stays for the next attempt.
func (k *Takeover) Close() error {
	if k.scratch == nil {
		return nil
	}
	err := k.scratch.close()
	k.scratch = nil
	return err
}

// Forget removes the work folder and the mark, because the takeover is complete or was a dry run.
func (k *Takeover) Forget() error {
	err := k.Close()
	err = errors.Join(err, disk.RemoveAll(filepath.Join(k.target.Dir, workDir)))
	if err == nil {
		err = errors.Join(disk.Remove(filepath.Join(k.target.Dir, mark)), disk.SyncPath(k.target.Dir))
	}
	if err != nil {
		return fmt.Errorf("takeover: %w", err)
	}
	return nil
}

// jsonOf returns v as JSON, which v always has. nil slices are empty lists.
func jsonOf(v any) string {
	if list, ok := v.([]string); ok && list == nil {
		return "[]"
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// publicPEM returns a public key as actor documents have it.
func publicPEM(key *rsa.PublicKey) (string, error) {
	if key.N.BitLen() < 1024 || key.N.BitLen() > 8192 || key.E < 3 {
		return "", errors.New("takeover: a key is too short or too long")
	}
	return httpsig.FormatPublicKey(key)
}

// privateDER returns a private key as PKCS 8.
func privateDER(key *rsa.PrivateKey) ([]byte, error) {
	if len(key.Primes) != 2 {
		return nil, errors.New("takeover: a private key is incomplete")
	}
	key.Precompute()
	if err := key.Validate(); err != nil {
		return nil, fmt.Errorf("takeover: %w", err)
	}
	return x509.MarshalPKCS8PrivateKey(key)
}

// Open gives the takeover the parts of the server that Write needs.
func (k *Takeover) Open(db *store.DB, secrets *keys.Keys, files *media.Files, packs *emoji.Packs, operations *social.Service, block func(context.Context, ServerBlock) error) {
	t := &k.target
	t.db, t.keys, t.media, t.emojis, t.social, t.block = db, secrets, files, packs, operations, block
}
