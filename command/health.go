package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"svc/app"
)

func (a *cli) healthCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "health",
		Short: "Ask the running server whether it works",
		Long: `Ask the running server at server.listen whether it works: whether its database is writable and its jobs run.

The exit code is 0 if it does, else 1, as the health checks of containers and supervisors need it. It takes 10 seconds at most. To find out what
is wrong, run "svc doctor".`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := app.LoadSettings(a.configFile)
			if err != nil {
				return err
			}
			if err := app.CheckHealth(cmd.Context(), c); err != nil {
				return err
			}
			fmt.Fprintln(a.out, "OK")
			return nil
		},
	}
}
