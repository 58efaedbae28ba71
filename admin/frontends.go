package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"svc/internal/config"
	"svc/internal/disk"
	"svc/internal/errs"
	"svc/internal/fetch"
	"svc/internal/frontend"
	"svc/internal/unzip"
	"svc/store"
)

const (
	frontendDownload  = 2 * time.Minute
	frontendRedirects = 5
)

// knownFrontends can be installed without settings. Those of frontends.available come first, and replace one of the same name.
var knownFrontends = []config.Frontend{
	{Name: "pleroma-fe", Ref: "develop", Git: "https://git.pleroma.social/pleroma/pleroma-fe",
		BuildURL: "https://git.pleroma.social/pleroma/pleroma-fe/-/jobs/artifacts/${ref}/download?job=build", BuildDir: "dist"},
	{Name: "admin-fe", Ref: "develop", Git: "https://git.pleroma.social/pleroma/admin-fe",
		BuildURL: "https://git.pleroma.social/pleroma/admin-fe/-/jobs/artifacts/${ref}/download?job=build", BuildDir: "dist"},
	{Name: "fedi-fe", Ref: "master", Git: "https://git.pleroma.social/pleroma/fedi-fe",
		BuildURL: "https://git.pleroma.social/pleroma/fedi-fe/-/jobs/artifacts/${ref}/download?job=build", BuildDir: "dist"},
	{Name: "kenoma", Ref: "master", Git: "https://git.pleroma.social/lambadalambda/kenoma",
		BuildURL: "https://git.pleroma.social/lambadalambda/kenoma/-/jobs/artifacts/${ref}/download?job=build", BuildDir: "dist"},
}

// Frontend is a front end that is installed or can be (spec 2.23).
type Frontend struct {
	Name          string   `json:"name"`
	Git           *string  `json:"git"`
	BuildURL      *string  `json:"build_url"`
	Ref           *string  `json:"ref"`
	Installed     bool     `json:"installed"`
	InstalledRefs []string `json:"installed_refs"`
	PrimaryRef    string   `json:"primary_ref,omitempty"` // the version that is shown at the server's own address
	AdminRef      string   `json:"admin_ref,omitempty"`   // the version that is shown to administrators
}

// FrontendInstall names a front end to install. Empty fields are taken from the available front end of that name.
type FrontendInstall struct {
	Name     string `json:"name"`
	Ref      string `json:"ref"`
	BuildURL string `json:"build_url"` // ${ref} stands for the version
	BuildDir string `json:"build_dir"`

	Archive *io.SectionReader `json:"-"` // in place of BuildURL; nil: none
	File    string            `json:"-"` // the name of an archive in imports/ of the data directory, in place of BuildURL
}

// NotInstalled returns the error of the admin API for a front end that was not installed because of err (spec 4.5). Its member reason says
// why, and commands print it.
func NotInstalled(err error) error {
	refused := &errs.Error{Status: http.StatusInternalServerError, Message: "The server could not store it: its log says why"}
	errors.As(err, &refused)
	return (&errs.Error{Status: refused.Status, Message: "Could not install frontend", Details: refused.Details, Err: err, RetryAfter: refused.RetryAfter}).
		With("reason", refused.Message)
}

// Frontends installs and removes front ends. It is safe for concurrent use.
type Frontends struct {
	staff    *Service
	settings *config.Live
	dir      *frontend.Dir
	fetch    *fetch.Client
	tempDir  string
	running  *sync.Mutex // one installation at a time
}

// NewFrontends returns Frontends. Downloads are kept in tempDir while they are unpacked.
func NewFrontends(s *Service, settings *config.Live, dir *frontend.Dir, client *fetch.Client, tempDir string) *Frontends {
	return &Frontends{s, settings, dir, client, tempDir, new(sync.Mutex)}
}

// Dir returns the directory of the front ends.
func (f *Frontends) Dir() *frontend.Dir { return f.dir }

// As is Service.As.
func (f *Frontends) As(actor *store.Account) *Frontends {
	as := *f
	as.staff = f.staff.As(actor)
	return &as
}

// available returns the front ends that can be installed by name.
func (f *Frontends) available() []config.Frontend {
	list := slices.Clone(f.settings.Load().Frontends.Available)
	for _, known := range knownFrontends {
		if !slices.ContainsFunc(list, func(a config.Frontend) bool { return a.Name == known.Name }) {
			list = append(list, known)
		}
	}
	return list
}

// List returns the front ends that are available, then others that are installed.
func (f *Frontends) List(context.Context) ([]*Frontend, error) {
	versions, err := f.dir.Installed()
	if err != nil {
		return nil, err
	}
	c := f.settings.Load().Frontends
	var list []*Frontend
	byName := make(map[string]*Frontend)
	add := func(entry *Frontend) {
		entry.InstalledRefs = []string{}
		list, byName[entry.Name] = append(list, entry), entry
	}
	for _, a := range f.available() {
		add(&Frontend{Name: a.Name, Git: orNil(a.Git), BuildURL: orNil(a.BuildURL), Ref: orNil(a.Ref)})
	}
	for _, v := range versions {
		if byName[v.Name] == nil {
			add(&Frontend{Name: v.Name})
		}
		entry := byName[v.Name]
		entry.Installed, entry.InstalledRefs = true, append(entry.InstalledRefs, v.Ref)
		if v.String() == c.Primary {
			entry.PrimaryRef = v.Ref
		}
		if v.String() == c.Admin {
			entry.AdminRef = v.Ref
		}
	}
	return list, nil
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Install installs a version, in place of one with the same ref. The old one is shown until the new one is complete. Each error is one of
// NotInstalled.
func (f *Frontends) Install(ctx context.Context, i FrontendInstall) (*Frontend, error) {
	installed, err := f.install(ctx, i)
	if err != nil {
		return nil, NotInstalled(err)
	}
	return installed, nil
}

func (f *Frontends) install(ctx context.Context, i FrontendInstall) (*Frontend, error) {
	for _, a := range f.available() {
		if a.Name == i.Name {
			i.Ref, i.BuildURL, i.BuildDir = cmp.Or(i.Ref, a.Ref), cmp.Or(i.BuildURL, a.BuildURL), cmp.Or(i.BuildDir, a.BuildDir)
		}
	}
	v := frontend.Version{Name: i.Name, Ref: i.Ref}
	switch {
	case i.Name == "":
		return nil, errs.BadRequest("Missing field: name.")
	case i.Ref == "":
		return nil, errs.BadRequest("Missing field: ref.")
	case !v.Valid():
		return nil, errs.BadRequest("%q and %q are not a valid name and ref: use letters, digits, and _ - . +", i.Name, i.Ref)
	case i.Archive == nil && i.File == "" && i.BuildURL == "":
		return nil, errs.BadRequest("%s is not a known front end: say where its archive is, with build_url or file", i.Name)
	}
	if !f.running.TryLock() {
		return nil, errs.Conflict("Another front end is being installed. Try again when that has ended.")
	}
	defer f.running.Unlock()
	if err := f.installArchive(ctx, v, i); err != nil {
		return nil, err
	}
	f.staff.log.Info("front end installed", slog.String("frontend", v.String()))
	return f.recorded(ctx, "frontend_install", "installed", v)
}

// installArchive unpacks the archive of a front end.
func (f *Frontends) installArchive(ctx context.Context, v frontend.Version, i FrontendInstall) error {
	if i.Archive != nil {
		return f.dir.Install(v, i.Archive, i.Archive.Size(), i.BuildDir)
	}
	archive, err := f.openArchive(ctx, i)
	if err != nil {
		return err
	}
	defer archive.Close()
	info, err := archive.Stat()
	if err != nil {
		return fmt.Errorf("install front end: %w", err)
	}
	return f.dir.Install(v, archive, info.Size(), i.BuildDir)
}

// withoutPassword returns an address as messages may show it.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "its address"
	}
	return u.Redacted()
}

// openArchive opens the archive of a front end, which it downloads unless it is a file.
func (f *Frontends) openArchive(ctx context.Context, i FrontendInstall) (*os.File, error) {
	if i.File != "" {
		return f.openImport(i.File)
	}
	ctx, cancel := context.WithTimeout(ctx, frontendDownload)
	defer cancel()
	address := strings.ReplaceAll(i.BuildURL, "${ref}", i.Ref)
	resp, err := f.fetch.Open(ctx, address, fetch.Limits{
		MaxBody: frontend.MaxArchive, Timeout: frontendDownload, MaxRedirects: frontendRedirects, Accepts: fetch.NotDocument,
	})
	if err != nil {
		return nil, errs.BadRequest("The archive could not be downloaded from %s: %v", withoutPassword(address), err)
	}
	defer resp.Body.Close()
	file, err := disk.Unnamed(f.tempDir)
	if err != nil {
		return nil, fmt.Errorf("install front end: %w", err)
	}
	body := &unzip.Source{Reader: resp.Body}
	if _, err := io.Copy(file, body); err != nil {
		file.Close()
		if body.Err != nil {
			return nil, errs.BadRequest("The archive could not be downloaded from %s: %v", withoutPassword(address), body.Err)
		}
		return nil, fmt.Errorf("install front end: %w", err)
	}
	return file, nil
}

// Remove removes a version that is not shown to anybody.
func (f *Frontends) Remove(ctx context.Context, version string) (*Frontend, error) {
	v, ok := frontend.ParseVersion(version)
	if !ok {
		return nil, errs.BadRequest("%q is not NAME/REF, such as pleroma-fe/develop", version)
	}
	c := f.settings.Load().Frontends
	switch {
	case c.Primary == version:
		return nil, errs.Conflict("%s is the primary front end: choose another one first", version)
	case c.Admin == version:
		return nil, errs.Conflict("%s is the front end for administrators: choose another one first", version)
	}
	removed, err := f.dir.Remove(v)
	if err == nil && !removed {
		err = errs.NotFound("%s is not installed", version)
	}
	if err != nil {
		return nil, err
	}
	return f.recorded(ctx, "frontend_remove", "removed", v)
}

// recorded adds an entry to the moderation log and returns the front end as it is now.
func (f *Frontends) recorded(ctx context.Context, action, done string, v frontend.Version) (*Frontend, error) {
	err := f.staff.db.Update(ctx, func(tx *store.Tx) error {
		return f.staff.record(ctx, tx, action, done+" front end "+v.String(), map[string]any{"name": v.Name, "ref": v.Ref})
	})
	if err != nil {
		return nil, err
	}
	list, err := f.List(ctx)
	for _, entry := range list {
		if entry.Name == v.Name {
			return entry, err
		}
	}
	return &Frontend{Name: v.Name, InstalledRefs: []string{}}, err
}

// openImport opens a file in the imports folder of the data directory, the only one from which the API reads files.
func (f *Frontends) openImport(name string) (*os.File, error) {
	if !filepath.IsLocal(name) {
		return nil, errs.BadRequest("%q is not the name of a file in imports/", name)
	}
	path := filepath.Join(f.settings.Load().Data.Dir, "imports", name)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errs.BadRequest("There is no file %q in imports/", name)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, errs.BadRequest("The server cannot read %q in imports/: %v", name, errors.Unwrap(err))
	}
	return file, nil
}
