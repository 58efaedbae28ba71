package main

import (
	"context"
	"log/slog"

	"svc/app"
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
	return app.Options{Schema: schema, Log: slog.New(slog.NewTextHandler(a.errOut, &slog.HandlerOptions{Level: slog.LevelWarn}))}
}
