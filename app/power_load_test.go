package app_test

import (
	"archive/zip"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/admin"
	"svc/app"
	"svc/app/apptest"
	"svc/emoji"
	"svc/internal/config"
	"svc/internal/password"
	"svc/store"
)

// powerLoad is a server under a mixed load: posts, uploads, reactions, activities from another server, deliveries, emoji packs, documents, backups of
// accounts and of the server.
var powerLoad = powerScenario{name: "load", run: runPowerLoad, check: checkPowerLoad}

// powerConfig returns the settings of a server in a folder.
func powerConfig(t *testing.T, dir, url string) *config.Config {
	t.Helper()
	c := config.Default()
	c.Server.URL, c.Data.Dir = url, filepath.Join(dir, "data")
	c.Server.Listen = strings.TrimPrefix(url, "http://")
	c.RateLimit.Enabled, c.Federation.AllowLoopback, c.Storage.MinFree, c.Storage.Ballast = false, true, 0, 0
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return c
}

func powerOptions(t *testing.T) app.Options {
	t.Helper()
	schema, err := apptest.Schema()
	if err != nil {
		t.Fatal(err)
	}
	return app.Options{
		Schema: schema, Log: slog.New(slog.DiscardHandler), GenerateKey: apptest.Key, PasswordCost: password.Cost{Memory: 64, Passes: 1, Lanes: 1},
	}
}

// withServer assembles a server and closes it.
func withServer(t *testing.T, c *config.Config, fn func(*app.Server) error) error {
	t.Helper()
	s, err := app.New(t.Context(), c, powerOptions(t))
	if err != nil {
		return err
	}
	return errors.Join(fn(s), s.Close())
}

func runPowerLoad(t *testing.T, r *powerRun) {
	r.url = "http://" + apptest.FreeAddress(t)
	c := powerConfig(t, r.dir, r.url)
	accounts := make([]string, chaosClients)
	err := withServer(t, c, func(s *app.Server) error {
		for i := range accounts {
			u, err := s.Admin.CreateUser(t.Context(), admin.NewUser{Nickname: chaosNick(i), Email: chaosNick(i) + "@example.org"})
			if err != nil {
				return err
			}
			accounts[i] = store.AccountID(u.ID).String()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	peer := startChaosPeer(t, r.model, r.url, nil)
	withDatabase(t, c, func(db *sql.DB) error { return addChaosRows(db, []*chaosPeer{peer}) })
	r.before = findings(verified(t, c))
	for _, name := range []string{"media", "emoji", "packs", "backups", "static"} { // they are made again, as by the first start of a new version
		if err := os.RemoveAll(filepath.Join(c.Data.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}

	r.record(t)
	s, err := app.New(t.Context(), c, powerOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, "") }()
	r.use(t, s, peer, accounts)
	stop()
	if err := errors.Join(<-ended, s.Close()); err != nil {
		t.Fatal(err)
	}
}

// use lets clients, another server and staff work for a while.
func (r *powerRun) use(t *testing.T, s *app.Server, peer *chaosPeer, accounts []string) {
	t.Helper()
	shared := &sharedPosts{accounts: accounts}
	var users sync.WaitGroup
	for i := range chaosClients {
		client := &chaosClient{
			model: r.model, http: newChaosHTTP(t), url: r.url, nick: chaosNick(i), token: chaosNick(i), rand: rand.New(rand.NewPCG(r.rand.Uint64(), 0)), shared: shared,
		}
		users.Go(func() {
			for range 60 {
				client.step()
			}
		})
	}
	fromPeer := rand.New(rand.NewPCG(r.rand.Uint64(), 0))
	users.Go(func() {
		for range 40 {
			peer.step(fromPeer, r.url+"/users/"+accounts[1])
		}
	})
	staff := &powerStaff{powerRun: r, s: s, rand: rand.New(rand.NewPCG(r.rand.Uint64(), 0))}
	users.Go(func() {
		for range 24 {
			if err := staff.step(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	users.Wait()
}

// powerStaff changes the files that staff change.
type powerStaff struct {
	*powerRun
	s    *app.Server
	rand *rand.Rand
	next int
}

func (p *powerStaff) step(ctx context.Context) error {
	p.next++
	switch p.next % 4 {
	case 0:
		return p.backUp(ctx)
	case 1:
		return p.addPack(ctx)
	case 2:
		return p.writeDocument(ctx)
	}
	return p.archive(ctx)
}

// change makes a change of a fact, by do.
func (p *powerStaff) change(key, value string, do func() error) error {
	p.model.begin(key, value)
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	p.model.acknowledge(key, value)
	return nil
}

// addPack makes a pack. Half of them get a picture, and of these it removes every third one again.
func (p *powerStaff) addPack(ctx context.Context) error {
	name := fmt.Sprint("pack", p.next)
	picture := image.NewGray(image.Rect(0, 0, 8, 8))
	picture.Pix[0] = byte(p.next)
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		return err
	}
	err := p.change("pack "+name, "1", func() error { return p.s.Emojis.Create(name) })
	if p.rand.IntN(2) == 0 {
		return err
	}
	if err == nil {
		err = p.change("emoji "+name, hexSum(b.Bytes()), func() error { return addPicture(ctx, p.s, name, b.Bytes()) })
	}
	if err != nil || p.rand.IntN(3) > 0 {
		return err
	}
	p.model.begin("emoji "+name, "")
	err = p.change("pack "+name, "", func() error { return p.s.Emojis.Delete(name) })
	p.model.acknowledge("emoji "+name, "")
	return err
}

func addPicture(ctx context.Context, s *app.Server, pack string, content []byte) error {
	_, err := s.Emojis.AddFile(ctx, pack, emoji.NewFile{Content: bytes.NewReader(content), Size: int64(len(content)), Name: pack + ".png"})
	return err
}

func (p *powerStaff) writeDocument(ctx context.Context) error {
	const key, name = "document", "terms-of-service"
	if p.model.value(key) != "" && p.rand.IntN(2) == 0 {
		return p.change(key, "", func() error {
			_, err := p.s.Documents.Delete(ctx, name)
			return err
		})
	}
	text := fmt.Sprintf("<p>Terms, version %d</p>", p.next)
	return p.change(key, text, func() error {
		_, err := p.s.Documents.Write(ctx, admin.DocumentChange{Name: name, Content: text})
		return err
	})
}

// archive writes a file as backups of accounts are written.
func (p *powerStaff) archive(ctx context.Context) error {
	name := fmt.Sprintf("archive-%d.zip", p.next)
	return p.change("archive "+name, "1", func() error {
		_, err := p.s.Archives.Write(ctx, name, func(w io.Writer) error {
			z := zip.NewWriter(w)
			_, err := z.Create("actor.json")
			return errors.Join(err, z.Close())
		})
		return err
	})
}

func (p *powerStaff) backUp(ctx context.Context) error {
	name := fmt.Sprintf("svc-%d.tar", p.next)
	return p.change("backup "+name, "1", func() error {
		_, _, err := admin.Backup(ctx, admin.BackupOptions{DataDir: p.s.Settings.Data.Dir, File: filepath.Join(p.s.Settings.Data.Dir, "backups", name), Version: app.Version})
		return err
	})
}

func withDatabase(t *testing.T, c *config.Config, fn func(*sql.DB) error) {
	t.Helper()
	if err := readDatabase(c, fn); err != nil {
		t.Fatal(err)
	}
}

func readDatabase(c *config.Config, fn func(*sql.DB) error) error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(c.Data.Dir, "svc.db")+"?_pragma=busy_timeout(20000)")
	if err != nil {
		return err
	}
	return errors.Join(fn(db), db.Close())
}

func checkPowerLoad(t *testing.T, r *powerRun, dir string, facts *chaosModel) (problems []string) {
	c := powerConfig(t, dir, r.url)
	if mark, err := os.Stat(filepath.Join(c.Data.Dir, "lock")); facts.hasCertain() && (err != nil || mark.Size() == 0) {
		problems = append(problems, "the next start does not know that this one has not ended")
	}
	err := withServer(t, c, func(s *app.Server) error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if err := s.Federation.Settle(ctx); err != nil {
			return fmt.Errorf("the queues: %w", err)
		}
		problems = append(problems, served(s)...)
		return nil
	})
	if err != nil {
		return []string{fmt.Sprintf("the server does not start: %v", err)}
	}
	err = readDatabase(c, func(db *sql.DB) error {
		o, err := observe(db)
		if err != nil {
			return err
		}
		r.observeFiles(o, c.Data.Dir)
		lost, extra := facts.compare(o)
		problems = append(append(problems, lost...), extra...)
		found, err := damage(db)
		problems = append(problems, found...)
		return err
	})
	if err != nil {
		problems = append(problems, err.Error())
	}
	return append(problems, r.new(findings(verified(t, c)))...)
}

func verified(t *testing.T, c *config.Config) (*admin.Verification, error) {
	t.Helper()
	return admin.VerifyData(t.Context(), admin.VerifyOptions{DataDir: c.Data.Dir})
}

// findings returns what a verification has found.
func findings(v *admin.Verification, err error) (list []string) {
	if err != nil {
		return []string{fmt.Sprintf("svc verify: %v", err)}
	}
	for _, f := range v.Findings {
		if !f.Harmless {
			list = append(list, fmt.Sprintf("svc verify: %s %s %s: %s", f.Part, f.Kind, f.What, f.Detail))
		}
	}
	return list
}

// new returns the findings that were not there before the record.
func (r *powerRun) new(list []string) []string {
	return slices.DeleteFunc(list, func(f string) bool { return slices.Contains(r.before, f) })
}

// served returns the files in the media folder that are served although no row names them.
func served(s *app.Server) (problems []string) {
	root := filepath.Join(s.Settings.Data.Dir, "media")
	filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(root, path)
		sum, err := s.DB.StoredSum(context.Background(), name)
		w := httptest.NewRecorder()
		s.HTTP.ServeHTTP(w, httptest.NewRequest("GET", "/media/"+name, nil))
		if w.Code == 200 && sum == "" {
			problems = append(problems, name+" is served, and no row names it")
		}
		return err
	})
	return problems
}

// observeFiles adds what staff have changed.
func (r *powerRun) observeFiles(o *observation, data string) {
	packs, _ := filepath.Glob(filepath.Join(data, "emoji", "pack*", "pack.json"))
	for _, path := range packs {
		if b, err := os.ReadFile(path); err == nil && json.Valid(b) {
			o.values["pack "+filepath.Base(filepath.Dir(path))] = "1"
		}
	}
	pictures, _ := filepath.Glob(filepath.Join(data, "emoji", "pack*", "*.png"))
	for _, path := range pictures {
		b, _ := os.ReadFile(path)
		listed, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "pack.json"))
		if strings.Contains(string(listed), filepath.Base(path)) {
			o.values["emoji "+filepath.Base(filepath.Dir(path))] = hexSum(b)
		}
	}
	if b, err := os.ReadFile(filepath.Join(data, "static", "terms-of-service.html")); err == nil {
		o.values["document"] = string(b)
	}
	archives, _ := filepath.Glob(filepath.Join(data, "backups", "accounts", "*.zip"))
	for _, path := range archives {
		if z, err := zip.OpenReader(path); err == nil {
			z.Close()
			o.values["archive "+filepath.Base(path)] = "1"
		}
	}
	backups, _ := filepath.Glob(filepath.Join(data, "backups", "*.tar"))
	for _, path := range backups {
		if found := r.new(findings(admin.VerifyBackup(context.Background(), path, []string{filepath.Dir(data)}, nil))); len(found) == 0 {
			o.values["backup "+filepath.Base(path)] = "1"
		}
	}
}
