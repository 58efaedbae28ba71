package command

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/store"
)

func (a *cli) reportCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "report",
		Short: "Manage reports of accounts and their posts",
	})
	cmd.AddCommand(a.reportListCommand(), a.reportShowCommand(), a.reportNoteCommand(),
		a.reportStateCommand("close", "Close reports without an action", "closed"),
		a.reportStateCommand("resolve", "Mark reports as resolved", "resolved"),
		a.reportStateCommand("reopen", "Open reports again", "open"))
	return cmd
}

func (a *cli) reportListCommand() *cobra.Command {
	var q admin.ReportQuery
	var domain string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List reports, newest first",
		Example: "  svc report list --state open --account spammer@example.com",
		Args:    noArgs,
	}
	cmd.Flags().StringVar(&q.State, "state", "", "only reports in this `STATE`: open, closed or resolved")
	cmd.Flags().StringVar(&q.Target, "account", "", "only reports of this account: `NICK` or id")
	cmd.Flags().StringVar(&q.Reporter, "by", "", "only reports by this account: `NICK` or id")
	cmd.Flags().StringVar(&domain, "domain", "", "only reports of accounts of this `DOMAIN`")
	cmd.Flags().IntVar(&q.Page.Limit, "limit", 50, "list at most `N` reports, up to 100")
	cmd.Flags().IntVar(&q.Offset, "offset", 0, "leave out the first `N`")
	query := func() admin.ReportQuery {
		if domain != "" {
			q.TargetDomain = &domain
		}
		return q
	}
	return showCommand(a, cmd, app.ListReports, query, func(reports []*admin.Report) {
		table := a.table("ID", "TIME", "STATE", "ACCOUNT", "BY", "POSTS", "COMMENT")
		for _, r := range reports {
			row(table, r.ID, r.CreatedAt.Local().Format(time.DateTime), r.State, r.Account, r.Actor, len(r.Statuses), r.Comment)
		}
		table.Flush()
	})
}

func (a *cli) reportShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a report with its posts and notes",
		Args:  oneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := perform(cmd.Context(), a, app.ShowReport, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(r)
			}
			a.printReport(r)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *cli) printReport(r *admin.Report) {
	table := a.table("REPORT", r.ID)
	row(table, "State", r.State)
	row(table, "Account", r.Account)
	row(table, "Reported by", r.Actor)
	row(table, "Time", r.CreatedAt.Local().Format(time.DateTime))
	row(table, "Category", r.Category)
	row(table, "Rules", strings.Join(r.Rules, "; "))
	row(table, "Comment", r.Comment)
	row(table, "Forwarded", yesNo(r.Forwarded))
	row(table, "Assigned to", r.Assigned)
	row(table, "Decided by", r.DecidedBy)
	table.Flush()
	for _, p := range r.Statuses {
		state := ""
		if p.Deleted {
			state = " (deleted)"
		}
		fmt.Fprintf(a.out, "\nPost %s%s %s\n  %s\n", p.ID, state, printable(p.URI), printable(p.Content))
	}
	for _, n := range r.Notes {
		author := n.Author
		if author == "" {
			author = "the command line"
		}
		fmt.Fprintf(a.out, "\nNote %d by %s, %s\n  %s\n", n.ID, printable(author), n.CreatedAt.Local().Format(time.DateTime), printable(n.Content))
	}
}

// reportStateCommand returns a command that gives reports a state.
func (a *cli) reportStateCommand(name, short string, state store.ReportState) *cobra.Command {
	return &cobra.Command{
		Use:   name + " ID…",
		Short: short,
		Args:  someArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, id := range args {
				r, err := perform(cmd.Context(), a, app.SetReportState, admin.ReportUpdate{ID: id, State: string(state)})
				if err != nil {
					return err
				}
				fmt.Fprintf(a.out, "Report %s is %s.\n", r.ID, r.State)
			}
			return nil
		},
	}
}

func (a *cli) reportNoteCommand() *cobra.Command {
	cmd := group(&cobra.Command{Use: "note", Short: "Manage the notes of staff on reports"})
	add := &cobra.Command{
		Use:     "add ID TEXT",
		Short:   "Add a note to a report",
		Example: "  svc report note add BCj05QwQcacnZvQ2YS \"Asked the author to delete it.\"",
		Args:    exactArgs("ID", "TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := perform(cmd.Context(), a, app.AddReportNote, admin.NewReportNote{Report: args[0], Content: args[1]})
			if err == nil {
				fmt.Fprintf(a.out, "Added note %d.\n", n.ID)
			}
			return err
		},
	}
	remove := &cobra.Command{
		Use:   "delete ID NOTE",
		Short: "Delete a note of a report",
		Args:  exactArgs("ID", "NOTE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := perform(cmd.Context(), a, app.DeleteReportNote, admin.ReportNoteKey{Report: args[0], ID: args[1]})
			if err == nil {
				fmt.Fprintf(a.out, "Deleted note %s.\n", args[1])
			}
			return err
		},
	}
	cmd.AddCommand(add, remove)
	return cmd
}
