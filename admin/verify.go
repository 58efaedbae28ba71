package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"svc/internal/keys"
	"svc/media"
	"svc/social"
	"svc/store"
)

// Parts of a verification.
const (
	PartBackup   = "backup"   // the archive itself
	PartDatabase = "database" // pages, indexes, references
	PartKeys     = "keys"
	PartCounters = "counters"
	PartSearch   = "search" // the full-text indexes
	PartMedia    = "media"
)

// Kinds of findings beside those of social.MediaProblem.
const (
	Damaged      = "damaged"
	Missing      = "missing"
	NotChecked   = "not_checked"
	NewerVersion = "newer_version" // a newer svc has written the database
	OtherSchema  = "other_schema"  // the database has the number of a version of the schema, but another schema
	WrongCounter = "wrong_counter"
	NotIndexed   = "not_indexed"   // a post or account that search does not find
	IndexedWrong = "indexed_wrong" // an entry of a post or account that is gone
)

// maxFindings bounds the findings of a verification that are kept; the others are counted.
const maxFindings = 10_000

// Finding is something that is damaged, missing, wrong or not used.
type Finding struct {
	Part     string `json:"part"`
	Kind     string `json:"kind"`
	What     string `json:"what"`             // the file, the counter
	Detail   string `json:"detail,omitempty"` // the problem
	Repaired bool   `json:"repaired"`
	Harmless bool   `json:"harmless"` // it takes room, and loses nothing
}

// Verification is the result of checking a data directory or a backup.
type Verification struct {
	Findings []*Finding `json:"findings"`
	Omitted  int        `json:"omitted"` // findings beyond maxFindings
	Left     int        `json:"left"`    // neither repaired nor harmless
}

// NewVerification returns a verification without findings.
func NewVerification() *Verification { return &Verification{Findings: []*Finding{}} }

// Add adds findings.
func (v *Verification) Add(findings ...*Finding) {
	for _, f := range findings {
		if !f.Repaired && !f.Harmless {
			v.Left++
		}
		if len(v.Findings) == maxFindings {
			v.Omitted++
			continue
		}
		v.Findings = append(v.Findings, f)
	}
}

func (v *Verification) add(part, kind, what, detail string, args ...any) {
	v.Add(&Finding{Part: part, Kind: kind, What: what, Detail: fmt.Sprintf(detail, args...)})
}

// Damaged returns true if a part has findings that are left.
func (v *Verification) Damaged(part string) bool {
	for _, f := range v.Findings {
		if f.Part == part && !f.Repaired && !f.Harmless {
			return true
		}
	}
	return false
}

// FileDamage returns the first finding because of which nothing may be written: the file of the database is damaged. It returns "" if there
// is none. A row that refers to a missing one does not spoil others.
func (v *Verification) FileDamage() string {
	for _, f := range v.Findings {
		if f.Part == PartDatabase && f.Kind == Damaged && !store.IsMissingReference(f.Detail) {
			return f.Detail
		}
	}
	return ""
}

// Unusable returns why this program cannot check the database, because another version has written it, "" if it can.
func (v *Verification) Unusable() string {
	for _, f := range v.Findings {
		if f.Kind == NewerVersion || f.Kind == OtherSchema {
			return f.Detail
		}
	}
	return ""
}

// Repairable returns true if counters, search and files may be changed: the database itself is intact.
func (v *Verification) Repairable() bool { return !v.Damaged(PartDatabase) && !v.Damaged(PartKeys) }

// StepProgress is called with how far a step is. It may be nil.
type StepProgress func(step string, done, total int64)

func (p StepProgress) report(step string, done, total int64) {
	if p != nil {
		p(step, done, total)
	}
}

// VerifyOptions are what to verify.
type VerifyOptions struct {
	DataDir  string
	Shallow  bool          // only what cannot be repaired: database and keys
	Bucket   *media.Bucket // where files are that are not on disk; nil: there is none
	All      bool          // read the content of all files of the bucket instead of a sample
	Progress StepProgress

	isCopy bool // nothing writes the database
}

// VerifyData checks the database, keys, counters, search indexes and uploads in a data directory. It only reads, and does not block a server
// that uses the directory.
func VerifyData(ctx context.Context, o VerifyOptions) (*Verification, error) {
	if err := CheckDataComplete(o.DataDir); err != nil {
		return nil, err
	}
	path := filepath.Join(o.DataDir, store.File)
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil, NoDatabase(o.DataDir)
	}
	files, err := media.OpenToCheck(filepath.Join(o.DataDir, mediaDir), o.Bucket)
	if err != nil {
		return nil, err
	}
	if files != nil {
		defer files.Close()
	}
	v := &verifier{Verification: NewVerification(), ctx: ctx, progress: o.Progress}
	err = v.database(path, o.isCopy, func(s *store.Snapshot) error {
		v.keys(s, filepath.Join(o.DataDir, keysDir))
		if o.Shallow {
			return nil
		}
		if err := v.counters(s); err != nil {
			return err
		}
		return v.media(s, s.Current(), files, time.Now(), o.All)
	})
	return v.Verification, err
}

// verifier is a verification in progress.
type verifier struct {
	*Verification
	ctx      context.Context
	progress StepProgress
}

// database checks a database, and calls fn to check what belongs to it. isCopy: nothing writes it.
func (v *verifier) database(path string, isCopy bool, fn func(*store.Snapshot) error) error {
	v.progress.report(PartDatabase, 0, 1)
	s, err := store.OpenSnapshot(v.ctx, path, isCopy)
	kind := Damaged
	switch {
	case errors.Is(err, store.ErrNewerDatabase):
		kind = NewerVersion
	case errors.Is(err, store.ErrOtherSchema):
		kind = OtherSchema
	case err != nil && !errors.Is(err, store.ErrDamaged):
		return err
	}
	if err != nil {
		v.add(PartDatabase, kind, store.File, "%v", err)
		return v.ctx.Err()
	}
	defer s.Close()
	found, err := s.FindDamage(v.ctx)
	if v.ctx.Err() != nil {
		return v.ctx.Err()
	}
	switch {
	case errors.Is(err, store.ErrDamaged):
		v.add(PartDatabase, Damaged, store.File, "%v", err)
	case err != nil:
		return err
	}
	for _, text := range found {
		v.Add(databaseFinding(text))
	}
	v.progress.report(PartDatabase, 1, 1)
	return fn(s)
}

// databaseFinding returns the finding for a text of SQLite. Search indexes can be built again, other damage cannot be repaired.
func databaseFinding(text string) *Finding {
	for _, index := range []string{store.StatusIndex, store.AccountIndex} {
		if strings.Contains(text, index) && strings.Contains(strings.ToLower(text), "fts5") {
			return &Finding{Part: PartSearch, Kind: Damaged, What: index, Detail: text}
		}
	}
	return &Finding{Part: PartDatabase, Kind: Damaged, What: store.File, Detail: text}
}

// keys checks that the keys in a folder are complete and belong to the database.
func (v *verifier) keys(s *store.Snapshot, dir string) {
	known, err := s.KeysHash(v.ctx)
	if err != nil {
		v.add(PartKeys, NotChecked, keysDir, "the database does not say which server it belongs to: %v", err)
		return
	}
	stored, err := keys.Read(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(known) == 0: // it was never started
	case errors.Is(err, fs.ErrNotExist):
		v.add(PartKeys, Missing, keysDir, "%v", err)
	case err != nil:
		v.add(PartKeys, Damaged, keysDir, "%v", err)
	case len(known) > 0 && !bytes.Equal(known, stored.Fingerprint()):
		v.add(PartKeys, Damaged, keysDir, "they are not the keys with which the database was written")
	}
}

// counters recounts counters and compares search indexes with the rows. Damage of the database is an entry, not an error.
func (v *verifier) counters(s *store.Snapshot) error {
	if !s.Current() {
		v.addOld(PartCounters, "counters")
		return nil
	}
	total, err := s.RecountSize(v.ctx)
	if err != nil {
		return v.unreadable(PartCounters, "counters", err)
	}
	done := int64(0)
	for cursor := ""; ; done++ {
		v.progress.report(PartCounters, min(done, total), total)
		found, next, err := s.Recount(v.ctx, cursor)
		if err := errors.Join(v.ctx.Err(), err); err != nil {
			return v.unreadable(PartCounters, "counters", err)
		}
		for _, m := range found {
			v.Add(counterFinding(m, false))
		}
		if cursor = next; cursor == "" {
			return nil
		}
	}
}

// addOld adds a finding for a part of an older database, whose rows lack columns that the check needs.
func (v *verifier) addOld(part, what string) {
	v.Add(&Finding{Part: part, Kind: NotChecked, What: what, Detail: "the database is of an older version: start the server once", Harmless: true})
}

// unreadable adds a finding for rows that cannot be read, unless the verification was interrupted.
func (v *verifier) unreadable(part, what string, err error) error {
	if v.ctx.Err() != nil {
		return v.ctx.Err()
	}
	v.add(part, NotChecked, what, "%v", err)
	return nil
}

// counterFinding returns the finding for a counter or an entry of a search index.
func counterFinding(m store.Mismatch, repaired bool) *Finding {
	f := &Finding{Part: PartCounters, Kind: WrongCounter, What: m.Name, Repaired: repaired}
	switch {
	case m.ID == 0:
	case strings.HasPrefix(m.Name, "account"):
		f.What += " " + store.AccountID(m.ID).String()
	default:
		f.What += " " + store.StatusID(m.ID).String()
	}
	if m.Detail != "" {
		f.What += " " + m.Detail
	}
	f.Detail = fmt.Sprintf("is %d, must be %d", m.Value, m.Want)
	if m.Name == store.StatusIndex || m.Name == store.AccountIndex {
		f.Part, f.Kind, f.Detail = PartSearch, NotIndexed, "search does not find it"
		if m.Want == 0 {
			f.Kind, f.Detail = IndexedWrong, "search has an entry of something that is gone"
		}
	}
	return f
}

// media compares uploads with files, as they were at a time. current: the rows have the schema of this program. all: the content of all files is read.
func (v *verifier) media(rows social.MediaRows, current bool, files social.MediaFiles, at time.Time, all bool) error {
	if !current {
		v.addOld(PartMedia, "uploads")
		return nil
	}
	checker := social.NewMediaChecker(rows, files, at)
	for c := (social.MediaCheck{All: all}); ; {
		part, err := checker.Check(v.ctx, c)
		if errors.Is(err, media.ErrBucket) { // says nothing about the files
			return err
		}
		if err := errors.Join(v.ctx.Err(), err); err != nil {
			return v.unreadable(PartMedia, "uploads", err)
		}
		for _, p := range part.Problems {
			v.Add(MediaFinding(p))
		}
		v.progress.report(PartMedia, part.Done, part.Total)
		if c.From = part.Next; c.From == "" {
			return nil
		}
	}
}

// MediaFinding returns the finding for a problem of an upload.
func MediaFinding(p *social.MediaProblem) *Finding {
	f := &Finding{Part: PartMedia, Kind: p.Kind, What: p.File, Repaired: p.Repaired, Harmless: p.Kind == social.UnusedFile}
	if p.MediaID != "" {
		f.Detail = "of upload " + p.MediaID
	}
	return f
}
