package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/emoji"
	"svc/federation"
	"svc/internal/config"
	"svc/internal/control"
	"svc/internal/fetch"
	"svc/internal/keys"
	"svc/media"
	"svc/server"
	"svc/server/entity"
	"svc/social"
	"svc/store"
)

const (
	maxParallelJobs = 4
	maxProxyFetches = 24                      // of other servers, being fetched for those who look at them
	maxOutbound     = 768                     // requests to other servers under way, deliveries among them
	jobStopTime     = 1500 * time.Millisecond // for jobs to come to an end, once the last request has
)

func (a *cli) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Run the server until it gets SIGTERM or SIGINT. Then it takes no new requests, finishes those under way and
ends within ten seconds; a second signal ends it at once.

Without any settings it listens on 127.0.0.1:4000 and keeps its data in ./data. As long as there is no
administrator, the log tells how to make one.`,
		Example: "  svc serve\n  svc serve --config /var/lib/svc/config.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, file, err := a.settings()
			if err != nil {
				return err
			}
			log := newLog(c, a.errOut)
			if file != "" {
				log.Info("settings read", "file", file)
			}
			return serve(cmd.Context(), c, file, log)
		},
	}
}

// serve puts a server together and runs it until ctx ends. The settings are from file, "" if they are the usual.
func serve(ctx context.Context, c *config.Config, file string, log *slog.Logger) (err error) {
	for _, w := range warnings(c) {
		log.Warn(w)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()

	db, err := openData(ctx, c, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	secrets, err := keys.Open(filepath.Join(c.Data.Dir, "keys"))
	if err != nil {
		return err
	}
	emojis, err := emoji.Open(filepath.Join(c.Data.Dir, "emoji"), log)
	if err != nil {
		return err
	}
	files, err := media.Open(filepath.Join(c.Data.Dir, "media"), media.Limits{Pixels: c.Media.MaxPixels})
	if err != nil {
		return err
	}
	defer files.Close()
	inAll := min(maxOutbound, openFiles()/3)
	if inAll < maxOutbound {
		log.Warn("this process may have few files open: deliveries to many servers take longer", "limit", openFiles())
	}
	elsewhere := outbound(c, inAll)
	shownElsewhere := media.ProxyFromSettings(c)
	shownElsewhere.Key, shownElsewhere.Fetch = secrets.Secret("media proxy"), outbound(c, maxProxyFetches)
	proxy, err := media.OpenProxy(db, shownElsewhere, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, proxy.Close()) }()
	deeds := social.FromSettings(c)
	deeds.Fetch = elsewhere
	policies := federation.NewPolicies(c, db, emojis, elsewhere, proxy, log)
	deeds.Policies = policies
	people := social.New(db, files, deeds, log)
	dealings := federation.FromSettings(c)
	dealings.Policies = policies
	fed := federation.New(db, people, emojis, elsewhere, secrets, dealings, log)
	if err := fed.Open(ctx); err != nil {
		return err
	}
	staff := admin.New(db, people, c.API.Name, log)
	shown := entity.FromSettings(c)
	shown.Version, shown.VAPIDPublicKey = version, secrets.VAPIDPublic()
	shown.ProxyURL, shown.Federation = proxy.URL, policies.Describe()
	entities := entity.New(db, emojis, shown)
	srv := server.New(server.Config{
		Settings:   c,
		DB:         db,
		Social:     people,
		Entities:   entities,
		Emojis:     emojis,
		Keys:       secrets,
		Media:      files,
		Proxy:      proxy,
		StaticDir:  filepath.Join(c.Data.Dir, "static"),
		Outbound:   elsewhere,
		Federation: fed,
		Log:        log,
	})
	worker := store.NewWorker(db, maxParallelJobs, log)
	people.Register(worker)
	srv.Register(worker)
	fed.Register(worker)
	staff.Register(worker)
	proxy.Register(worker)

	calls, err := control.Listen(c.Data.Dir)
	if err != nil {
		return err
	}
	defer calls.Close()
	ln, closeListeners, err := listen(c, log)
	if err != nil {
		return err
	}
	defer closeListeners()
	log.Info("svc is running", "version", version, "url", c.URL().String(), "listen", ln.Addr().String(), "data", c.Data.Dir)
	if err := logFirstAdminLink(ctx, db, server.SetupURL(c, secrets), file, log); err != nil {
		return err
	}

	defer context.AfterFunc(ctx, func() { log.Info("stopping") })()
	var background sync.WaitGroup
	background.Go(func() { worker.Run(ctx) })
	if c.Federation.Enabled {
		background.Go(func() { fed.Run(ctx) })
	}
	background.Go(func() { runHousekeeping(ctx, db, c, log) })
	background.Go(func() { control.Serve(ctx, c.Data.Dir, calls, commands(&services{staff, fed}), log) })
	err = srv.Serve(ctx, ln)
	stop()
	if !waitTimeout(&background, jobStopTime) {
		log.Warn("some jobs did not come to an end in time: they will run again after the next start")
	}
	return err
}

// openFiles returns how many files and connections this process may have open.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<20))
}

// outbound makes a client by which others are asked for what they have, for so much at a time; 0: as much as is usual. Files for people
// to look at, which may take long, have one of their own, so that nothing else waits for them.
func outbound(c *config.Config, inAll int) *fetch.Client {
	return fetch.New(fetch.Options{
		UserAgent:     c.API.Name + "/" + version + " (+" + c.URL().String() + ")",
		OwnHosts:      []string{c.Host()},
		AllowLoopback: c.Federation.AllowLoopback,
		MaxRequests:   inAll,
	})
}

// logFirstAdminLink tells how to make an administrator, if there is none.
func logFirstAdminLink(ctx context.Context, db *store.DB, link, file string, log *slog.Logger) error {
	has, err := db.HasAdmin(ctx)
	if err != nil || has {
		return err
	}
	log.Info("nobody administers this server yet: make the first account in a browser, by a link that is good once", "link", link)
	log.Info("or make it with a command", "command", withSettings("svc user create NICK --email ADDRESS --admin", file))
	return nil
}

// waitTimeout waits for wg, but not for longer than d.
func waitTimeout(wg *sync.WaitGroup, d time.Duration) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		wg.Wait()
	}()
	select {
	case <-done:
		return true
	case <-time.After(d):
		return false
	}
}
