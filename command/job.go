package command

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/store"
)

// maxListedJobs is the maximum number of parked jobs in the list.
const maxListedJobs = 1000

func (a *cli) jobCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "job",
		Short: "Manage failed background jobs",
		Long: `Manage failed background jobs.

A job that fails is retried with growing intervals. After its last attempt it is parked: it stays in the database with its error until
it is retried or dropped with these commands. Deliveries to other servers have queues of their own: see "svc federation".`,
	})
	cmd.AddCommand(a.jobListCommand(),
		a.jobChangeCommand("retry ID", "Run a parked job again, with all its attempts", app.RetryJobs, "Jobs that run again: %d.\n"),
		a.jobChangeCommand("drop ID", "Delete a parked job", app.DropJobs, "Jobs deleted: %d.\n"))
	return cmd
}

func (a *cli) jobListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the parked jobs, newest first",
		Args:  noArgs,
	}
	return showCommand(a, cmd, app.ListJobs, func() int { return maxListedJobs }, func(jobs []*admin.ParkedJob) {
		table := a.table("ID", "KIND", "ATTEMPTS", "LAST ERROR")
		for _, j := range jobs {
			row(table, int64(j.ID), j.Kind, j.Attempts, j.LastError)
		}
		table.Flush()
	})
}

// jobChangeCommand returns a command for one parked job or, with --all, all of them.
func (a *cli) jobChangeCommand(use, short string, call app.Call[store.JobID, int64], done string) *cobra.Command {
	var all bool
	var id store.JobID
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args: func(_ *cobra.Command, args []string) error {
			if all == (len(args) == 1) || len(args) > 1 {
				return usage("name the job: ID or --all")
			}
			if all {
				return nil
			}
			n, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || n <= 0 {
				return usage("%q is not a job id", args[0])
			}
			id = store.JobID(n)
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			n, err := perform(cmd.Context(), a, call, id)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, done, n)
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all parked jobs")
	return cmd
}
