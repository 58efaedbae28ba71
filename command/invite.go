package command

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/text"
)

func (a *cli) userInviteCommand() *cobra.Command {
	var n admin.NewInvite
	var mail admin.InviteMail
	cmd := &cobra.Command{
		Use:   "invite [--max-use N] [--expires-at DATE] | --email ADDRESS",
		Short: "Create an invite and print its link",
		Long: `Create an invite and print its link. With the link, people register while registration is closed
(instance.registrations_open = false, instance.invites_enabled = true).

Without flags, the invite works once. With --max-use it works that many times; with --expires-at it works until the end of that day
(UTC), any number of times unless --max-use is given, too. With --email, an invite that works once is sent to the address.`,
		Example: "  svc user invite\n  svc user invite --max-use 10 --expires-at 2030-12-31\n  svc user invite --email carol@example.net",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case cmd.Flags().Changed("max-use") && n.MaxUse < 1:
				return usage("--max-use must be 1 or more")
			case mail.Email != "" && n != (admin.NewInvite{}):
				return usage("an invite by mail works once: use --email without --max-use and --expires-at")
			case mail.Email != "":
				invite, err := perform(cmd.Context(), a, app.MailInvite, mail)
				if err != nil {
					return err
				}
				fmt.Fprintf(a.out, "Invite %d is on its way to %s.\n", invite.ID, mail.Email)
				return nil
			}
			created, err := perform(cmd.Context(), a, app.CreateInvite, n)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Created invite %d (%s):\n%s\n", created.ID, limits(created), created.Link)
			if created.Note != "" {
				fmt.Fprintln(a.errOut, created.Note)
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&n.MaxUse, "max-use", 0, "how many `TIMES` the invite works")
	cmd.Flags().StringVar(&n.ExpiresAt, "expires-at", "", "last `DATE` on which the invite works, such as 2030-12-31")
	cmd.Flags().StringVar(&mail.Email, "email", "", "send the invite to this `ADDRESS`")
	cmd.Flags().StringVar(&mail.Name, "name", "", "with --email: `NAME` of the recipient")
	return cmd
}

// limits describes how often and how long an invite works.
func limits(i *admin.Invite) string {
	var parts []string
	switch {
	case i.MaxUse != nil && *i.MaxUse > 1:
		parts = append(parts, "works "+text.Count(*i.MaxUse, "time"))
	case i.MaxUse == nil && i.ExpiresAt != nil:
		parts = append(parts, "works any number of times")
	default:
		parts = append(parts, "works once")
	}
	if i.ExpiresAt != nil {
		parts = append(parts, "until the end of "+*i.ExpiresAt)
	}
	return strings.Join(parts, ", ")
}

func (a *cli) userInvitesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "invites",
		Short: "List all invites, oldest first",
		Args:  noArgs,
	}
	return showCommand(a, cmd, app.ListInvites, func() struct{} { return struct{}{} }, func(list []*admin.Invite) {
		table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ID\tTYPE\tSTATE\tUSES\tMAX USES\tUNTIL\tLINK")
		for _, i := range list {
			uses, most, until := "", "", ""
			if i.MaxUse != nil {
				uses, most = strconv.Itoa(i.Uses), strconv.Itoa(*i.MaxUse)
			}
			if i.ExpiresAt != nil {
				until = *i.ExpiresAt
			}
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", i.ID, i.Type, inviteState(i), uses, most, until, i.Link)
		}
		table.Flush()
	})
}

func inviteState(i *admin.Invite) string {
	switch {
	case i.Used:
		return "used"
	case !i.Usable:
		return "expired"
	}
	return "open"
}

func (a *cli) userRevokeInviteCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke-invite ID",
		Short:   "Make an invite unusable",
		Long:    "Make an invite unusable. ID is the number in the list of invites, or the token at the end of the link.",
		Example: "  svc user revoke-invite 7",
		Args:    oneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			revoked, err := perform(cmd.Context(), a, app.RevokeInvite, args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Invite %d is revoked.\n", revoked.ID)
			return nil
		},
	}
}
