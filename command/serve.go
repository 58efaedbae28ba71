package command

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"svc/app"
)

func (a *cli) serveCommand() *cobra.Command {
	var takeOver bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Run the server until SIGTERM or SIGINT. Then it accepts no new requests, finishes the ones in progress and exits within ten
seconds; a second signal ends it immediately. On SIGHUP it reads the settings file again, unless it runs in a terminal: what needs a restart is
named in the log.

Without settings it listens on 127.0.0.1:4000 with its data in ./data. As long as there is no administrator, the log shows a
link to create one.

With replica.enabled, one server of all that name the same replica.place runs: it holds a lease there. If another one holds it, this command says which, and
fails. --take-over takes the lease from it: that server stops within seconds, if it runs and reaches the place, and does not start again. Make
sure that it does not run: one that cannot reach the place goes on, and then two servers write under one name.`,
		Example: "  svc serve\n  svc serve --config /var/lib/svc/config.toml\n  svc serve --take-over",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serve(cmd.Context(), takeOver)
		},
	}
	cmd.Flags().BoolVar(&takeOver, "take-over", false, "take the lease from another server, which does not run any more")
	return cmd
}

// serve runs the server until ctx ends, and again whenever it is restarted.
func (a *cli) serve(ctx context.Context, takeOver bool) error {
	c, file, err := app.LoadSettings(a.configFile)
	if err != nil {
		return err
	}
	if takeOver && !c.Replica.Enabled {
		return usage("--take-over is for servers with replica.enabled")
	}
	log, level := app.NewLog(c, a.errOut)
	if file != "" {
		log.Info("settings loaded", "file", file)
	}
	log.Info("starting", "version", app.Version, "data", c.Data.Dir)
	for {
		app.LimitMemory(c, log)
		server, err := app.New(ctx, c, app.Options{Schema: a.schema, Log: log, LogLevel: level, Serves: true, TakeOver: takeOver})
		if err != nil && ctx.Err() != nil {
			log.Info("ended during the start", "reason", err)
			return nil
		}
		if err != nil {
			return err
		}
		takeOver = false
		end := a.reloadOnHangup(ctx, server, log)
		err = server.Run(ctx, file)
		end()
		err = errors.Join(err, server.Close())
		if !errors.Is(err, app.ErrRestart) {
			return err
		}
		log.Info("restarting")
		if changed, path, err := app.LoadSettings(a.configFile); err != nil {
			log.Error("the settings file is not valid: the previous settings are still in effect", "err", err)
		} else {
			c, file = changed, path
		}
	}
}

// reloadOnHangup makes a server read its settings file again on SIGHUP, until end is called. In a terminal SIGHUP means that the terminal is
// closed, which ends the server.
func (a *cli) reloadOnHangup(ctx context.Context, server *app.Server, log *slog.Logger) (end func()) {
	if _, is := isTerminal(a.in); is {
		return func() {}
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(ctx)
	var reloads sync.WaitGroup
	reloads.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
			}
			c, file, err := app.LoadSettings(a.configFile)
			switch {
			case err != nil:
				log.Error("the settings file is not valid: the previous settings are still in effect", "err", err)
			case file == "":
				log.Warn("there is no settings file to read again")
			default:
				server.Reload(ctx, c)
			}
		}
	})
	return func() {
		signal.Stop(hangups)
		cancel()
		reloads.Wait()
	}
}
