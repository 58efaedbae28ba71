package command

import (
	"errors"

	"github.com/spf13/cobra"

	"svc/app"
)

func (a *cli) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Run the server until SIGTERM or SIGINT. Then it accepts no new requests, finishes the ones in progress and exits within ten
seconds; a second signal ends it immediately.

Without settings it listens on 127.0.0.1:4000 with its data in ./data. As long as there is no administrator, the log shows a
link to create one.`,
		Example: "  svc serve\n  svc serve --config /var/lib/svc/config.toml",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, file, err := app.LoadSettings(a.configFile)
			if err != nil {
				return err
			}
			log, level := app.NewLog(c, a.errOut)
			if file != "" {
				log.Info("settings loaded", "file", file)
			}
			for {
				app.LimitMemory(c, log)
				server, err := app.New(cmd.Context(), c, app.Options{Schema: a.schema, Log: log, LogLevel: level})
				if err != nil {
					return err
				}
				err = errors.Join(server.Run(cmd.Context(), file), server.Close())
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
		},
	}
}
