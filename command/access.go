package command

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
)

func (a *cli) accessCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "access",
		Short: "Refuse registrations by e-mail address, and networks",
		Long: `Refuse registrations by e-mail domain, e-mail address or network, and all requests of a network. Apps for moderators use
/api/v1/admin/email_domain_blocks, canonical_email_blocks and ip_blocks for the same lists.`,
	})
	cmd.AddCommand(a.accessBlockCommand(), a.accessUnblockCommand(), a.accessBlocksCommand())
	return cmd
}

func (a *cli) accessBlockCommand() *cobra.Command {
	var c admin.AccessBlockChange
	cmd := &cobra.Command{
		Use:   "block DOMAIN|EMAIL|NETWORK",
		Short: "Refuse registrations with an e-mail domain, with an e-mail address, or of a network",
		Long: `Refuse registrations with an e-mail domain and its subdomains, with an e-mail address in any of its spellings, or of a network.

Severities: sign_up_block, the default; sign_up_requires_approval for domains and networks; no_access for networks, which refuses all
requests. Of an e-mail address only a hash is stored, which can be given as well.`,
		Example: "  svc access block trashmail.example\n  svc access block someone@example.org\n  svc access block 192.0.2.0/24 --severity no_access --expires-in 720h --comment \"floods\"",
		Args:    oneArg("DOMAIN|EMAIL|NETWORK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Value = args[0]
			b, err := perform(cmd.Context(), a, app.BlockAccess, c)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s: %s\n", b.Value, b.Severity)
			return nil
		},
	}
	cmd.Flags().StringVar(&c.Severity, "severity", "", "the `SEVERITY`")
	cmd.Flags().StringVar(&c.Comment, "comment", "", "why, for staff; networks only")
	cmd.Flags().DurationVar(&c.ExpiresIn, "expires-in", 0, "end the block after this `TIME`, such as 720h; networks only")
	return cmd
}

func (a *cli) accessUnblockCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "unblock DOMAIN|EMAIL|NETWORK",
		Short:   "End such a block",
		Example: "  svc access unblock trashmail.example",
		Args:    oneArg("DOMAIN|EMAIL|NETWORK"),
		RunE: printing(a, app.UnblockAccess, func(b *admin.AccessBlock) {
			fmt.Fprintf(a.out, "%s is no longer blocked.\n", b.Value)
		}),
	}
}

func (a *cli) accessBlocksCommand() *cobra.Command {
	var kind string
	cmd := &cobra.Command{
		Use:   "blocks",
		Short: "List such blocks",
		Args:  noArgs,
	}
	cmd.Flags().StringVar(&kind, "kind", "", "only blocks of a `KIND`: email_domain, email, network")
	return showCommand(a, cmd, app.ListAccessBlocks, func() string { return kind }, func(list []*admin.AccessBlock) {
		table := a.table("KIND", "VALUE", "SEVERITY", "EXPIRES", "COMMENT")
		for _, b := range list {
			expires := "never"
			if b.ExpiresAt != nil {
				expires = b.ExpiresAt.UTC().Format(time.DateTime)
			}
			row(table, b.Kind, b.Value, b.Severity, expires, b.Comment)
		}
		table.Flush()
	})
}
