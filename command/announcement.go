package command

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
)

func (a *cli) announcementCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "announcement",
		Short: "Tell everybody who has an account something",
		Long: `Tell everybody who has an account something. Apps and web front ends show announcements until people put them away,
or until they end.`,
	})
	cmd.AddCommand(a.announcementAddCommand(), a.announcementListCommand(), a.announcementDeleteCommand())
	return cmd
}

func (a *cli) announcementAddCommand() *cobra.Command {
	var n admin.Announcement
	var starts, ends string
	cmd := &cobra.Command{
		Use:     "add TEXT",
		Short:   "Announce something",
		Example: "  svc announcement add \"We move on Sunday, from 10 to 11.\" --ends-at 2030-01-06T11:00:00Z",
		Args:    oneArg("TEXT"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			n.Text = args[0]
			if n.StartsAt, err = timeFlag("--starts-at", starts); err != nil {
				return err
			}
			if n.EndsAt, err = timeFlag("--ends-at", ends); err != nil {
				return err
			}
			made, err := perform(cmd.Context(), a, app.CreateAnnouncement, n)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Announced as %s.\n", made.ID)
			return nil
		},
	}
	cmd.Flags().StringVar(&starts, "starts-at", "", "not to be seen before this `TIME`, as in 2030-01-31 or 2030-01-31T18:00:00Z")
	cmd.Flags().StringVar(&ends, "ends-at", "", "not to be seen from this `TIME` on")
	cmd.Flags().BoolVar(&n.AllDay, "all-day", false, "apps show only the days of these times")
	return cmd
}

// timeFlag reads the time of a flag, nil if it is not given. A day alone begins at midnight, UTC.
func timeFlag(flag, value string) (*time.Time, error) {
	if value == "" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		at, err = time.Parse(time.DateOnly, value)
	}
	if err != nil {
		return nil, usage("%s: %q is no time such as 2030-01-31 or 2030-01-31T18:00:00Z", flag, value)
	}
	return &at, nil
}

func (a *cli) announcementListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the announcements",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := perform(cmd.Context(), a, app.ListAnnouncements, struct{}{})
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "ID\tFROM\tUNTIL\tTEXT")
			for _, n := range list {
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", n.ID, formatTime(n.StartsAt), formatTime(n.EndsAt), strings.Join(strings.Fields(n.Text), " "))
			}
			return table.Flush()
		},
	}
}

func (a *cli) announcementDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete ID",
		Short: "Take an announcement back",
		Args:  oneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			gone, err := perform(cmd.Context(), a, app.DeleteAnnouncement, args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Deleted the announcement %s.\n", gone.ID)
			return nil
		},
	}
}
