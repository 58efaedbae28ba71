package command

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
)

func (a *cli) announcementCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "announcement",
		Short: "Manage announcements to all local accounts",
		Long:  `Manage announcements to all local accounts. Apps and web front ends show an announcement until it is dismissed or ends.`,
	})
	cmd.AddCommand(a.announcementAddCommand(), a.announcementListCommand(), a.announcementSetCommand(), a.announcementDeleteCommand())
	return cmd
}

func (a *cli) announcementAddCommand() *cobra.Command {
	var n admin.Announcement
	var starts, ends string
	cmd := &cobra.Command{
		Use:     "add TEXT",
		Short:   "Create an announcement",
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
			created, err := perform(cmd.Context(), a, app.CreateAnnouncement, n)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Created announcement %s.\n", created.ID)
			return nil
		},
	}
	cmd.Flags().StringVar(&starts, "starts-at", "", "show from this `TIME` on, such as 2030-01-31 or 2030-01-31T18:00:00Z")
	cmd.Flags().StringVar(&ends, "ends-at", "", "show until this `TIME`")
	cmd.Flags().BoolVar(&n.AllDay, "all-day", false, "show only the dates of these times")
	return cmd
}

// timeFlag parses the time of a flag; nil if it is not given. A date is midnight UTC.
func timeFlag(flag, value string) (*time.Time, error) {
	if value == "" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		at, err = time.Parse(time.DateOnly, value)
	}
	if err != nil {
		return nil, usage("%s: %q is not a time such as 2030-01-31 or 2030-01-31T18:00:00Z", flag, value)
	}
	return &at, nil
}

func (a *cli) announcementListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List announcements",
		Args:  noArgs,
	}
	return showCommand(a, cmd, app.ListAnnouncements, none, func(list []*admin.Announcement) {
		table := a.table("ID", "FROM", "UNTIL", "TEXT")
		for _, n := range list {
			row(table, n.ID, formatTime(n.StartsAt), formatTime(n.EndsAt), strings.Join(strings.Fields(n.Text), " "))
		}
		table.Flush()
	})
}

func (a *cli) announcementSetCommand() *cobra.Command {
	var text, starts, ends string
	var allDay bool
	cmd := &cobra.Command{
		Use:     "set ID",
		Short:   "Change an announcement",
		Long:    "Change an announcement. Flags that are not given change nothing. An empty time removes it.",
		Example: "  svc announcement set ID --ends-at 2030-01-07",
		Args:    oneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			given := cmd.Flags().Changed
			c := admin.AnnouncementChange{ID: args[0], NoStart: given("starts-at") && starts == "", NoEnd: given("ends-at") && ends == ""}
			if given("text") {
				c.Text = &text
			}
			if given("all-day") {
				c.AllDay = &allDay
			}
			if c.StartsAt, err = timeFlag("--starts-at", starts); err != nil {
				return err
			}
			if c.EndsAt, err = timeFlag("--ends-at", ends); err != nil {
				return err
			}
			changed, err := perform(cmd.Context(), a, app.UpdateAnnouncement, c)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Changed announcement %s.\n", changed.ID)
			return nil
		},
	}
	cmd.Flags().StringVar(&text, "text", "", "the new `TEXT`")
	cmd.Flags().StringVar(&starts, "starts-at", "", "show from this `TIME` on")
	cmd.Flags().StringVar(&ends, "ends-at", "", "show until this `TIME`")
	cmd.Flags().BoolVar(&allDay, "all-day", false, "show only the dates of these times")
	return cmd
}

func (a *cli) announcementDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete ID",
		Short: "Delete an announcement",
		Args:  oneArg("ID"),
		RunE: printing(a, app.DeleteAnnouncement, func(deleted *admin.Announcement) {
			fmt.Fprintf(a.out, "Deleted announcement %s.\n", deleted.ID)
		}),
	}
}
