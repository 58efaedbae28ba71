package app

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strings"

	"svc/internal/config"
	"svc/internal/errs"
)

// NewLog returns a logger with the level and format of the settings, and its level for Options.
func NewLog(c *config.Config, w io.Writer) (*slog.Logger, *slog.LevelVar) {
	level := new(slog.LevelVar)
	level.Set(logLevel(c.Log.Level))
	options := &slog.HandlerOptions{Level: level}
	switch {
	case c.Log.Format == config.LogJSON:
		return slog.New(withoutRepetitions(slog.NewJSONHandler(w, options))), level
	case w == io.Writer(os.Stderr) && toJournal():
		return slog.New(withoutRepetitions(newJournalHandler(w, level))), level
	}
	return slog.New(withoutRepetitions(slog.NewTextHandler(w, options))), level
}

func logLevel(name string) (level slog.Level) {
	level.UnmarshalText([]byte(name)) // cannot fail: names are validated
	return level
}

// LogLevel is the level of the log of the running server.
type LogLevel struct {
	Level   string `json:"level"`
	Setting string `json:"setting"` // log.level, which holds again after a restart
}

// setLogLevel changes the level of the log until the next start, or until the setting changes. With "" it only returns the level.
func (s *Server) setLogLevel(_ context.Context, name string) (*LogLevel, error) {
	if s.level == nil {
		return nil, errs.BadRequest("the server does not run: its level will be log.level of the settings")
	}
	switch name {
	case "":
	case "debug", "info", "warn", "error":
		s.log.Info("log level changed", "level", name)
		s.level.Set(logLevel(name))
	default:
		return nil, errs.BadRequest("%q is not a level: debug, info, warn or error", name)
	}
	return &LogLevel{strings.ToLower(s.level.Level().String()), s.Live.Load().Log.Level}, nil
}
