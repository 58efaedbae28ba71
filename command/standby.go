package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/internal/config"
)

// promoteLimit bounds how long svc standby --promote waits.
const promoteLimit = 2 * time.Minute

func (a *cli) standbyCommand() *cobra.Command {
	var promote, status bool
	var interval time.Duration
	cmd := &cobra.Command{
		Use:   "standby",
		Short: "Keep a second machine ready to take over",
		Long: `Keep a second machine ready: restore the data of a server from its replica.place into the data directory of this machine, follow what is written
there, and serve nothing but /health, which says how far behind it is. Everything is answered with 503. It needs the settings file of that server,
with the passphrase file that it names, the same version of svc, and a data directory without data.

"svc standby --promote" makes it the server: it takes the lease as "svc serve --take-over" does, waits for the server before to stop if that was
seen within the last minutes, applies what that has written last, and serves. That takes up to 30 seconds. Stop the other machine before, or make
sure that it cannot run: one that cannot reach the place does not notice. "svc standby" on a data directory that was promoted is
"svc serve".`,
		Example: "  svc standby --config /var/lib/svc/config.toml\n  svc standby --status\n  svc standby --promote",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, file, err := app.LoadSettings(a.configFile)
			if err != nil {
				return err
			}
			switch {
			case promote && status:
				return usage("--promote or --status, not both")
			case interval < time.Second:
				return usage("--interval: at least 1s")
			case status:
				return a.standbyStatus(cmd.Context(), c)
			case promote:
				ctx, cancel := context.WithTimeout(cmd.Context(), promoteLimit)
				defer cancel()
				start := time.Now()
				if err := app.Promote(ctx, c); err != nil {
					return err
				}
				fmt.Fprintf(a.out, "This machine is the server now. It took %s.\n", time.Since(start).Round(100*time.Millisecond))
				return nil
			}
			if app.IsPromoted(c) {
				return a.serve(cmd.Context(), false)
			}
			log, _ := app.NewLog(c, a.errOut)
			if file != "" {
				log.Info("settings loaded", "file", file)
			}
			app.LimitMemory(c, log)
			s, err := app.OpenStandby(cmd.Context(), c, app.StandbyOptions{Interval: interval, Log: log})
			if err != nil {
				return err
			}
			promoted, err := s.Run(cmd.Context())
			if closed := s.Close(); err == nil {
				err = closed
			}
			if err != nil || !promoted {
				return err
			}
			return a.serve(cmd.Context(), false)
		},
	}
	cmd.Flags().BoolVar(&promote, "promote", false, "make the standby on this machine the server")
	cmd.Flags().BoolVar(&status, "status", false, "show how far behind the standby on this machine is")
	cmd.Flags().DurationVar(&interval, "interval", 5*time.Second, "`TIME` between two looks at the place; each is a request")
	return cmd
}

// standbyStatus prints the state of a standby. The exit code is 0 if it could take over.
func (a *cli) standbyStatus(ctx context.Context, c *config.Config) error {
	s, err := app.AskStandby(ctx, c)
	if err != nil {
		return err
	}
	if !s.Ready {
		return fmt.Errorf("%s", s)
	}
	fmt.Fprintln(a.out, s)
	if note := s.SettingsNote(); note != "" {
		fmt.Fprintf(a.out, "Warning: %s\n", note)
	}
	fmt.Fprintf(a.out, "Place: %s\nNewest transaction: %s\nFiles complete: %s\n", s.Place, s.Written.UTC().Format(time.RFC3339), s.Files.UTC().Format(time.RFC3339))
	return nil
}
