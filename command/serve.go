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
		Long: `Run the server until it gets SIGTERM or SIGINT. Then it takes no new requests, finishes those under way and
ends within ten seconds; a second signal ends it at once.

Without any settings it listens on 127.0.0.1:4000 and keeps its data in ./data. As long as there is no
administrator, the log tells how to make one.`,
		Example: "  svc serve\n  svc serve --config /var/lib/svc/config.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, file, err := app.LoadSettings(a.configFile)
			if err != nil {
				return err
			}
			log := app.NewLog(c, a.errOut)
			if file != "" {
				log.Info("settings read", "file", file)
			}
			server, err := app.New(cmd.Context(), c, app.Options{Schema: a.schema, Log: log})
			if err != nil {
				return err
			}
			return errors.Join(server.Run(cmd.Context(), file), server.Close())
		},
	}
}
