package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/text"
)

func (a *cli) purgeCommand() *cobra.Command {
	var yes, wait, asJSON bool
	cmd := &cobra.Command{
		Use:   "purge HOST --yes",
		Short: "Delete everything that is stored of another server",
		Long: `Delete all accounts and posts of a server, with their attachments in the media cache, follows, notifications and queued deliveries. A job
does it in small steps, and continues after a restart. Nothing is sent to the server, and it is not blocked: it can come back. To keep it
away, block it first with "svc federation block". Accounts that reports or replies of others refer to stay without their profile.`,
		Example: "  svc federation purge spam.example --yes --wait",
		Args:    oneArg("HOST"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes {
				return usage("this cannot be undone: add --yes to delete all accounts and posts of %s", args[0])
			}
			p, err := perform(cmd.Context(), a, app.PurgeInstance, args[0])
			if err == nil && wait {
				p, err = a.waitForPurge(cmd, p.Host)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(p)
			}
			if p.FinishedAt == nil {
				fmt.Fprintf(a.out, "%s will be purged by the running server. \"svc federation purges\" shows the progress.\n", p.Host)
				return nil
			}
			fmt.Fprintf(a.out, "Purged %s: %s, %s.\n", p.Host, text.Count(p.AccountsDone, "account"), text.Count(p.StatusesDone, "post"))
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "confirm the deletion")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the end")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// waitForPurge shows the progress of a purge until its end.
func (a *cli) waitForPurge(cmd *cobra.Command, host string) (*admin.InstancePurge, error) {
	s := a.steps()
	defer s.end()
	for {
		p, err := perform(cmd.Context(), a, app.WaitForPurge, host)
		if err != nil || p.FinishedAt != nil {
			return p, err
		}
		s.report("posts", int64(p.StatusesDone), int64(max(p.Statuses, p.StatusesDone, 1)))
	}
}

func (a *cli) purgesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "purges",
		Short: "Show the progress of purges of servers, and the last finished ones",
		Args:  noArgs,
	}
	return showCommand(a, cmd, app.ListPurges, func() struct{} { return struct{}{} }, func(list []*admin.InstancePurge) {
		table := a.table("HOST", "REQUESTED", "ACCOUNTS", "POSTS", "FINISHED")
		for _, p := range list {
			finished := "no"
			if p.FinishedAt != nil {
				finished = ago(p.FinishedAt)
			}
			row(table, p.Host, ago(&p.RequestedAt), fmt.Sprintf("%d/%d", p.AccountsDone, p.Accounts), fmt.Sprintf("%d/%d", p.StatusesDone, p.Statuses), finished)
		}
		table.Flush()
	})
}
