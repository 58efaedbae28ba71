package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"svc/app"
)

// leaseLimit bounds how long svc lease takes.
const leaseLimit = 30 * time.Second

func (a *cli) leaseCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lease",
		Short: "Say whether this machine may write to the continuous copy",
		Long: `Say who holds the lease at replica.place: the server that may write under its name. It works while the server runs and while it does not.

The exit code is 0 if that is this data directory, or nobody, else 1: then another server has taken over, and nothing of this machine must write to
the place. The unit of Litestream asks it before it starts. If the place cannot be reached, the exit code is 0 if this data directory held the lease
last.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := app.LoadSettings(a.configFile)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), leaseLimit)
			defer cancel()
			holder, err := app.LeaseHolder(ctx, c)
			if err != nil {
				return err
			}
			fmt.Fprintln(a.out, holder)
			return nil
		},
	}
}
