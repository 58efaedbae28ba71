package command

import (
	"context"
	"log/slog"
	"svc/app"

	"github.com/spf13/cobra"
)

// perform has an operation done: by the server that runs, or by this process.
func perform[A, R any](ctx context.Context, a *cli, call app.Call[A, R], args A) (R, error) {
	c, _, err := app.LoadSettings(a.configFile)
	if err != nil {
		var none R
		return none, err
	}
	return call.Do(ctx, c, a.options(), args)
}

// options are those of a server that is assembled for one operation: it logs warnings only.
func (a *cli) options() app.Options {
	return app.Options{Schema: a.schema, Log: slog.New(slog.NewTextHandler(a.errOut, &slog.HandlerOptions{Level: slog.LevelWarn}))}
}

// showCommand runs a command that shows something: print makes it readable, --json does without.
func showCommand[A, R any](a *cli, cmd *cobra.Command, w app.Call[A, R], args func() A, print func(R)) *cobra.Command {
	var asJSON bool
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		result, err := perform(cmd.Context(), a, w, args())
		if err != nil {
			return err
		}
		if asJSON {
			return a.printJSON(result)
		}
		print(result)
		return nil
	}
	return cmd
}
