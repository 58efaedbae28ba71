package command

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"svc/app"
)

// perform runs an operation in the running server, or in this process if none runs.
func perform[A, R any](ctx context.Context, a *cli, call app.Call[A, R], args A) (R, error) {
	c, _, err := app.LoadSettings(a.configFile)
	if err != nil {
		var none R
		return none, err
	}
	return call.Do(ctx, c, a.options(), args)
}

// printing returns the function of a command that performs an operation on its argument and prints the result.
func printing[R any](a *cli, call app.Call[string, R], print func(R)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		result, err := perform(cmd.Context(), a, call, args[0])
		if err == nil {
			print(result)
		}
		return err
	}
}

// options returns the options of a server that is assembled for one operation. It logs warnings and errors only.
func (a *cli) options() app.Options {
	return app.Options{Schema: a.schema, Log: slog.New(slog.NewTextHandler(a.errOut, &slog.HandlerOptions{Level: slog.LevelWarn}))}
}

// showCommand makes cmd print the result of an operation: with print, or as JSON with --json.
func showCommand[A, R any](a *cli, cmd *cobra.Command, call app.Call[A, R], args func() A, print func(R)) *cobra.Command {
	return listCommand(a, cmd, call, args, func(result R) R { return result }, print)
}

// listCommand is showCommand for a list that is only a part of the result. list returns what --json prints.
func listCommand[A, R, L any](a *cli, cmd *cobra.Command, call app.Call[A, R], args func() A, list func(R) L, print func(R)) *cobra.Command {
	var asJSON bool
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		end := a.waiting(cmd.CommandPath())
		result, err := perform(cmd.Context(), a, call, args())
		end()
		if err != nil {
			return err
		}
		if asJSON {
			return a.printJSON(list(result))
		}
		print(result)
		return nil
	}
	return cmd
}
