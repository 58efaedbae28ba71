package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/internal/text"
	"svc/store"
)

func (a *cli) dbSalvageCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "salvage",
		Short: "Make a new database of what can be read in a damaged one",
		Long: `Make a new database of the rows that can be read in a damaged one. It is the last resort: rows are lost, and with them those that refer to
them. If there is a backup, restore it instead (svc restore).

The server must be stopped. There must be room for two more copies of the database. The damaged one is kept as svc.db.damaged-TIME. Afterwards
"svc verify --fix" builds the search indexes again and corrects counters.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := app.LoadSettings(a.configFile)
			if err != nil {
				return err
			}
			if !yes {
				if yes, err := a.confirm(cmd.Context(), fmt.Sprintf("Replace the database in %s by what can be read of it?", c.Data.Dir)); err != nil || !yes {
					return errors.Join(err, errors.New("nothing was changed"))
				}
			}
			report, end := a.progress("salvage")
			s, err := store.Salvage(cmd.Context(), store.SalvageOptions{
				Dir: c.Data.Dir, Schema: a.schema,
				Progress: func(_ string, done, total int64) {
					if report != nil {
						report(done, total)
					}
				},
			})
			end()
			if err != nil {
				return err
			}
			a.printSalvaged(s)
			_, _, err = app.GiveToOwner(c.Data.Dir)
			return err
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// printSalvaged prints the result, and the tables from which rows are lost.
func (a *cli) printSalvaged(s *store.Salvaged) {
	if s.Continued {
		fmt.Fprintf(a.out, "The new database of the salvage that was interrupted is in its place now.\n")
	} else {
		a.printSalvagedTables(s)
	}
	fmt.Fprintf(a.out, "The damaged database is %s.\nNow run \"svc verify --fix\", and start the server.\n", s.Damaged)
}

func (a *cli) printSalvagedTables(s *store.Salvaged) {
	var rows int64
	table := a.table("TABLE", "ROWS", "UNREADABLE PLACES", "INVALID ROWS")
	for _, t := range s.Tables {
		rows += t.Rows
		if t.Holes > 0 || t.Invalid > 0 {
			row(table, t.Name, t.Rows, t.Holes, t.Invalid)
		}
	}
	table.Flush()
	fmt.Fprintf(a.out, "The new database has %s. %s referred to lost ones.\n", text.Count(rows, "row"), text.Count(s.Unreferred, "row"))
}
