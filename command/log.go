package command

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/disk"
)

func (a *cli) logCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "log",
		Short: "Show what staff changed, and set the level of the server's log",
	})
	cmd.AddCommand(a.moderationLogCommand(), a.logLevelCommand())
	return cmd
}

func (a *cli) logLevelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:       "level [debug|info|warn|error]",
		Short:     "Show or change the level of the running server's log",
		Long:      `Show the lowest level that the running server logs, or change it until its next start. From then on, or when it changes, the setting log.level holds again.`,
		Example:   "  svc log level debug",
		ValidArgs: []string{"debug", "info", "warn", "error"},
	}
	var level string
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usage("unexpected argument %q: the command takes one level", args[1])
		}
		if len(args) == 1 {
			level = args[0]
			if !slices.Contains(cmd.ValidArgs, level) {
				return usage("%q is not a level: debug, info, warn or error", level)
			}
		}
		return nil
	}
	return showCommand(a, cmd, app.SetLogLevel, func() string { return level }, func(s *app.LogLevel) {
		fmt.Fprintf(a.out, "Level: %s (log.level: %s).\n", s.Level, s.Setting)
	})
}

func (a *cli) moderationLogCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "moderation",
		Short: "Show what staff changed",
		Long: `Show what staff changed, by the admin API or by commands: who, when and what. The log keeps the newest 100 000 entries and cannot be
changed.`,
	})
	cmd.AddCommand(a.moderationLogListCommand(), a.moderationLogExportCommand())
	return cmd
}

// logFlags are the flags that select entries of the moderation log.
func logFlags(cmd *cobra.Command, q *admin.LogQuery) {
	cmd.Flags().StringVar(&q.User, "user", "", "only changes by this account: `NICK` or id")
	cmd.Flags().StringVar(&q.From, "from", "", "only changes since this `TIME`, such as 2030-01-31 or 2030-01-31T18:00:00Z")
	cmd.Flags().StringVar(&q.Until, "until", "", "only changes until this `TIME`; of a date, the whole day")
	cmd.Flags().StringVar(&q.Search, "search", "", "only entries with this `TEXT`")
}

func (a *cli) moderationLogListCommand() *cobra.Command {
	var q admin.LogQuery
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the latest changes, newest first",
		Example: "  svc log moderation list --search \"deleted users\" --from 2030-01-01",
		Args:    noArgs,
	}
	logFlags(cmd, &q)
	cmd.Flags().IntVar(&q.Limit, "limit", 50, "list at most `N` entries, up to 1000")
	return showCommand(a, cmd, app.ModerationLog, func() admin.LogQuery { return q }, func(entries []*admin.LogEntry) {
		table := a.table("TIME", "CHANGE")
		for _, e := range entries {
			row(table, e.Time.Local().Format(time.DateTime), e.Message)
		}
		table.Flush()
	})
}

func (a *cli) moderationLogExportCommand() *cobra.Command {
	var q admin.LogQuery
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "export [FILE]",
		Short:   "Export the moderation log as CSV or JSON",
		Long:    "Export the moderation log, newest first: as CSV, or with --json as one JSON object a line. Without FILE the command prints it.",
		Example: "  svc log moderation export log.csv --from 2030-01-01",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("unexpected argument %q: the command takes one FILE", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Limit = 1000
			first, err := perform(cmd.Context(), a, app.ModerationLog, q) // before a file is replaced
			if err != nil {
				return err
			}
			write := writeLogCSV
			if asJSON {
				write = writeLogJSON
			}
			if len(args) == 0 {
				return a.exportLog(cmd, a.out, q, first, write)
			}
			file, err := disk.Create(args[0])
			if err != nil {
				return err
			}
			return errors.Join(a.exportLog(cmd, file, q, first, write), file.Close())
		},
	}
	logFlags(cmd, &q)
	cmd.Flags().BoolVar(&asJSON, "json", false, "export JSON")
	return cmd
}

// exportLog writes the entries from the first page on.
func (a *cli) exportLog(cmd *cobra.Command, out io.Writer, q admin.LogQuery, entries []*admin.LogEntry, write func(io.Writer, []*admin.LogEntry) error) error {
	if q.Until == "" && len(entries) > 0 { // so that new entries do not shift the pages
		q.Until = entries[0].Time.Format(time.RFC3339Nano)
	}
	for {
		if err := write(out, entries); err != nil || len(entries) < q.Limit {
			return err
		}
		q.Offset += len(entries)
		var err error
		if entries, err = perform(cmd.Context(), a, app.ModerationLog, q); err != nil {
			return err
		}
	}
}

func writeLogCSV(out io.Writer, entries []*admin.LogEntry) error {
	w := csv.NewWriter(out)
	for _, e := range entries {
		w.Write([]string{strconv.FormatInt(e.ID, 10), e.Time.Format(time.RFC3339), e.Actor, e.Action, e.Message})
	}
	w.Flush()
	return w.Error()
}

func writeLogJSON(out io.Writer, entries []*admin.LogEntry) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, e := range entries {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	return nil
}
