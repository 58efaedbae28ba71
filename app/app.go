// Package app assembles the server from its settings, for `svc serve`, for commands that run without a server, and for tests.
//
// New creates every part in the order of its dependencies; no other package wires them together. Run listens and runs the
// background work until its context ends. The package also selects the settings file, opens the data directory, warns of risky
// settings and defines the operations that commands may call. The rules of the service are in social, federation and admin.
//
// Limits: 4 jobs at once, 768 requests to other servers (a third of the open files, if that is less), 36 fetches of the media proxy.
package app

import (
	"cmp"
	"context"
	"crypto/rsa"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"svc/admin"
	"svc/emoji"
	"svc/federation"
	"svc/federation/remote"
	"svc/internal/captcha"
	"svc/internal/config"
	"svc/internal/fetch"
	"svc/internal/frontend"
	"svc/internal/keys"
	"svc/internal/lease"
	"svc/internal/limit"
	"svc/internal/password"
	"svc/internal/replica"
	"svc/media"
	"svc/moving"
	"svc/policy"
	"svc/server"
	"svc/server/entity"
	"svc/server/rest"
	"svc/server/web"
	"svc/server/web/mail"
	"svc/social"
	"svc/store"
)

// Version is the version of the program (semver).
const Version = "0.1.0"

const (
	maxParallelJobs = 4
	maxOutbound     = 768 // concurrent requests to other servers, including deliveries
)

// Options are the inputs of New that are not settings. Only Schema is required; the others are for tests.
type Options struct {
	Schema       string                          // text of schema.sql
	Version      string                          // "": Version
	Log          *slog.Logger                    // nil: no log
	LogLevel     *slog.LevelVar                  // of Log; nil: it is fixed
	Now          func() time.Time                // nil: time.Now
	PasswordCost password.Cost                   // zero: password.DefaultCost
	GenerateKey  func() (*rsa.PrivateKey, error) // generates the keys of accounts; nil: RSA keys
	Observe      func(rest.Observation)          // gets the parameters and answers of handlers; nil: none

	// Serves takes the lease of replica.place before the data are opened, which only one server has. TakeOver takes it from another holder.
	Serves, TakeOver bool

	setup    bool         // the data are those of an unfinished setup
	takeover bool         // the data are those of a takeover that goes on
	renew    *RenewedKeys // the keys are to be replaced
}

// Server is an assembled server. The caller must Close it.
type Server struct {
	Settings   *config.Config // as at the start
	Live       *config.Live   // as they are now
	DB         *store.DB
	Keys       *keys.Keys
	Emojis     *emoji.Packs
	EmojiPeers *emoji.Remote
	Media      *media.Files
	Archives   *media.Archives
	Mover      *media.Mover
	Importer   *moving.Importer

	ImportedArchives *admin.Archives
	Frontends        *admin.Frontends
	Documents        *admin.Documents
	Proxy            *media.Proxy
	Budget           *media.Budget
	Social           *social.Service
	Federation       *federation.Service
	Admin            *admin.Service
	Entities         *entity.Builder
	Memory           *limit.Bytes // for large answers
	HTTP             *server.Server
	Mail             *mail.Mailer
	Worker           *store.Worker
	Metrics          http.Handler // nil unless metrics.enabled

	bucket      *media.Bucket // nil: there is none
	frontendDir *frontend.Dir
	version     string
	log         *slog.Logger
	level       *slog.LevelVar // nil: it is fixed
	stored      *admin.Settings
	backupRooms backupRooms
	replica     *replica.Copier // nil: there is no continuous copy
	endReplica  func()
	restarts    chan struct{} // has an element when a restart was requested
	running     atomic.Bool   // Run was called
	stopping    atomic.Bool   // Run is about to end
	doctorLast  doctorState   // of svc doctor, if it could not be written
	manager     serviceManager
	lease       *lease.Lease // nil: none is needed
}

// New opens the data directory of the settings and assembles a server on it. It starts no background work: see Run. The error wraps
// store.ErrInUse if another process has opened the directory.
func New(ctx context.Context, c *config.Config, o Options) (s *Server, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s = &Server{Settings: c, Live: config.NewLive(c), version: cmp.Or(o.Version, Version), log: o.Log, level: o.LogLevel, restarts: make(chan struct{}, 1), manager: serviceManager{o.Log}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.level != nil {
		s.level.Set(logLevel(c.Log.Level))
	}
	if err := s.openData(ctx, o); err != nil {
		return s, err
	}
	if err := s.openReplica(); err != nil {
		return s, err
	}
	c = s.Settings
	outbound := s.outbound(min(maxOutbound, maxOpenFiles()/3))
	s.Memory = limit.NewBytes(MemoryLimit(c) / largeAnswers)

	if s.Proxy, err = media.OpenProxy(s.DB, media.ProxyConfig{
		Settings: s.Live, Key: s.Keys.Secret("media proxy"), Fetch: s.outbound(media.MaxTransfers),
	}, s.log); err != nil {
		return s, err
	}
	s.Budget = media.OpenBudget(s.DB, media.BudgetConfig{Settings: s.Live}, s.Media, s.Archives, s.Proxy)
	policies := policy.New(s.Live, policy.Deps{Log: s.log, Now: s.DB.Now, Accounts: s.DB, HasEmoji: s.Emojis.Has, CheckNetwork: remote.MayFetch})

	if o.PasswordCost == (password.Cost{}) {
		o.PasswordCost = password.DefaultCost
	}
	s.Social = social.New(s.DB, s.Media, social.Config{
		Settings:  s.Live,
		Captchas:  captcha.New(captcha.Config{Settings: s.Live, Keys: s.Keys, Fetch: outbound, Now: s.DB.Now}),
		Passwords: password.New(o.PasswordCost),
		SignInKey: s.Keys.Secret("sign-in networks"),
		Archives:  s.Archives,
		Fetch:     outbound,
		Policies:  policies,
	}, s.log)

	s.Federation = federation.New(s.DB, s.Social, s.Emojis, outbound, s.Keys, federation.Config{
		Settings:    s.Live,
		Policies:    policies,
		GenerateKey: o.GenerateKey,
		Files:       s.Media,
		Archives:    s.Archives,
		Budget:      s.Budget,
		Memory:      s.Memory,
	}, s.log)
	if err := s.Federation.Open(ctx); err != nil {
		return s, err
	}

	s.EmojiPeers = emoji.NewRemote(s.Emojis, outbound, c.API.Name)
	s.Admin = admin.New(s.DB, s.Social, s.stored, admin.StorageConfig{Budget: s.Budget, Proxy: s.Proxy, Settings: s.Live, Version: s.version}, c.API.Name, s.log)
	s.Frontends = admin.NewFrontends(s.Admin, s.Live, s.frontendDir, outbound, s.dataPath("frontends"))

	s.Importer = moving.New(s.DB, s.Social, s.Media, s.Live, s.dataPath("imports"), s.log)
	s.Importer.CopyEmoji = s.EmojiPeers.Copy
	s.ImportedArchives = admin.NewArchives(s.Admin, s.Importer)

	s.Documents = admin.NewDocuments(s.Admin, s.dataPath("static"))

	s.Entities = entity.New(s.DB, s.Emojis, entity.Config{
		Settings:       s.Live,
		HasDocument:    s.Documents.Has,
		ProxyURL:       s.Proxy.URL,
		Version:        s.version,
		VAPIDPublicKey: s.Keys.VAPIDPublic(),
		Federation:     policies.Describe,
		Restrictions:   policies.Restrictions,
	})
	s.Social.Sizes = s.Entities

	var requests *rest.Metrics
	if c.Metrics.Enabled {
		requests = rest.NewMetrics()
	}
	s.HTTP = server.New(server.Config{
		Settings:   s.Live,
		DB:         s.DB,
		Social:     s.Social,
		Entities:   s.Entities,
		Emojis:     s.Emojis,
		EmojiPeers: s.EmojiPeers,
		Keys:       s.Keys,
		Media:      s.Media,
		Archives:   s.Archives,
		Proxy:      s.Proxy,
		Budget:     s.Budget,
		StaticDir:  filepath.Join(c.Data.Dir, "static"),
		TempDir:    s.dataPath("cache"), // that of the system may be in memory
		Frontends:  s.Frontends,
		Importer:   s.Importer,
		Imported:   s.ImportedArchives,
		Documents:  s.Documents,
		Doctor:     s.examine,
		Ready:      s.ready,
		Outbound:   outbound,
		Metrics:    requests,
		Memory:     s.Memory,
		Bodies:     MemoryLimit(c) / requestBodies,
		Translator: s.translators(),
		Federation: s.Federation,
		Admin:      s.Admin,
		Log:        s.log,
		Now:        o.Now,
		Observe:    o.Observe,
	})

	s.Mail = mail.New(mail.Config{
		Settings: s.Live, DB: s.DB, Social: s.Social, Log: s.log, Now: o.Now,
		Language: func(ctx context.Context, user *store.User) (string, error) { return web.LanguageFor(ctx, s.DB, user) },
	})

	s.Worker = store.NewWorker(s.DB, maxParallelJobs, s.log)
	s.Social.Register(s.Worker)
	s.HTTP.Register(s.Worker)
	s.Federation.Register(s.Worker)
	s.Admin.Register(s.Worker)
	s.Proxy.Register(s.Worker)
	s.Mover = media.NewMover(s.Media, s.Archives, s.DB, s.Live, s.log)
	s.Mover.Register(s.Worker)
	s.Importer.Register(s.Worker)
	s.Mail.Register(s.Worker)
	if c.Metrics.Enabled {
		s.Metrics = s.metricsPage(requests)
	}
	return s, nil
}

// Close releases the data directory, and then the lease.
func (s *Server) Close() (err error) {
	if s.endReplica != nil {
		s.endReplica()
	}
	if s.Proxy != nil {
		err = errors.Join(err, s.Proxy.Close())
	}
	if s.DB != nil {
		err = errors.Join(err, s.DB.Close())
	}
	if s.Media != nil {
		err = errors.Join(err, s.Media.Close())
	}
	if s.Archives != nil {
		err = errors.Join(err, s.Archives.Close())
	}
	err = errors.Join(err, s.bucket.Close())
	if s.frontendDir != nil {
		err = errors.Join(err, s.frontendDir.Close())
	}
	if s.lease != nil {
		if err := s.lease.Release(context.Background()); err != nil {
			s.log.Warn("it could not be noted at replica.place that this server has stopped", "err", err)
		}
	}
	return err
}

// outbound returns a client for at most maxRequests concurrent requests to other servers. The media proxy has its own, because slow
// downloads must not delay other requests.
func (s *Server) outbound(maxRequests int) *fetch.Client {
	return fetch.New(fetch.Options{
		UserAgent:     s.userAgent(),
		OwnHosts:      []string{s.Settings.WebHost()},
		AllowLoopback: s.Settings.Federation.AllowLoopback,
		MaxRequests:   maxRequests,
	})
}

// userAgent is what requests of this server say about it.
func (s *Server) userAgent() string { return userAgent(s.Settings, s.version) }

func userAgent(c *config.Config, version string) string {
	return c.API.Name + "/" + version + " (+" + c.URL().String() + ")"
}

// maxOpenFiles returns the limit of open files and connections of this process.
func maxOpenFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<20))
}
