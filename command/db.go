package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/text"
	"svc/store"
)

func (a *cli) dbCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "db",
		Short: "Check, measure and clean up the database",
	})
	cmd.AddCommand(a.dbCheckCommand(), a.dbStatsCommand(), a.dbSalvageCommand(),
		a.dbChangeCommand("prune", "Delete what the daily clean-up deletes, now", `Delete now what the server deletes every day: expired tokens, old entries of queues and logs, and what of other servers nothing refers to;
with storage.remote_posts_max_age also old posts of other servers that no local account has a part in. "svc db vacuum" then makes the file smaller.`, app.PruneDatabase),
		a.dbChangeCommand("vacuum", "Return the space of deleted rows to the file system", `Return the space of deleted rows to the file system and update the statistics of the query planner. It runs in small steps, so that the
server goes on.`, app.VacuumDatabase))
	return cmd
}

func none() struct{} { return struct{}{} }

func (a *cli) dbCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Look for damage in the database",
		Long: `Look for damage in the database: pages, indexes and rows that refer to missing ones. It reads the whole file. The exit code is 1 if
something is wrong; then restore a backup. If pages or indexes are damaged, a running server stores nothing more, and says so in its health
check. "svc verify" also checks keys, counters and files.`,
		Args: noArgs,
	}
	var asJSON bool
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		end := a.waiting(cmd.CommandPath())
		c, err := perform(cmd.Context(), a, app.CheckDatabase, struct{}{})
		end()
		if err != nil {
			return err
		}
		switch {
		case asJSON:
			err = a.printJSON(c)
		case len(c.Damage) == 0:
			fmt.Fprintln(a.out, "The database is intact.")
		}
		for _, text := range c.Damage {
			if !asJSON {
				fmt.Fprintln(a.out, printable(text))
			}
		}
		if err == nil && len(c.Damage) > 0 {
			err = errors.New("the database is damaged: restore a backup with svc restore")
		}
		return err
	}
	return cmd
}

func (a *cli) dbStatsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show the size of the database and of its tables",
		Args:  noArgs,
	}
	return showCommand(a, cmd, app.DatabaseSizes, none, func(s *store.Sizes) {
		fmt.Fprintf(a.out, "Database: %s, of these %s free. Write-ahead log: %s.\n", text.Bytes(s.Bytes), text.Bytes(s.Free), text.Bytes(s.Log))
		table := a.table("TABLE OR INDEX", "OF", "SIZE", "ENTRIES")
		for _, t := range s.Tables {
			row(table, t.Name, t.Table, text.Bytes(t.Bytes), t.Entries)
		}
		table.Flush()
	})
}

func (a *cli) dbChangeCommand(use, short, long string, call app.Call[struct{}, *admin.DatabaseChange]) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: noArgs}
	return showCommand(a, cmd, call, none, func(c *admin.DatabaseChange) {
		fmt.Fprintf(a.out, "Database: %s before, %s now, of these %s free.\n", text.Bytes(c.Before), text.Bytes(c.After), text.Bytes(c.Free))
	})
}
