package command

import (
	"fmt"
	"svc/app"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func (a *cli) relayCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "relay",
		Short: "Exchange public posts by way of relays",
		Long: `Exchange public posts by way of relays.

A relay passes on the public posts of all servers that subscribe to it. That fills the federated timeline of a small server,
and makes its own posts known.`,
	})
	cmd.AddCommand(a.relayFollowCommand(), a.relayUnfollowCommand(), a.relayListCommand())
	return cmd
}

func (a *cli) relayFollowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "follow URL",
		Short: "Subscribe to a relay",
		Long: `Subscribe to a relay. URL is the address of its actor, as in https://relay.example.org/actor; or, for relays in the
style of Mastodon, of its inbox, which ends in /inbox. Posts go to and fro once the relay has accepted.`,
		Example: "  svc relay follow https://relay.example.org/actor\n  svc relay follow https://relay.example.org/inbox",
		Args:    oneArg("URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := perform(cmd.Context(), a, app.FollowRelay, args[0])
			if err != nil {
				return err
			}
			if r.FollowedBack {
				fmt.Fprintf(a.out, "%s has accepted already.\n", r.Actor)
			} else {
				fmt.Fprintf(a.out, "%s is asked. \"svc relay list\" tells whether it has accepted.\n", r.Actor)
			}
			return nil
		},
	}
}

func (a *cli) relayUnfollowCommand() *cobra.Command {
	var left app.RelayUnfollow
	cmd := &cobra.Command{
		Use:   "unfollow URL",
		Short: "Leave a relay",
		Args:  oneArg("URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			left.Address = args[0]
			if _, err := perform(cmd.Context(), a, app.UnfollowRelay, left); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s is left.\n", left.Address)
			return nil
		},
	}
	cmd.Flags().BoolVarP(&left.Force, "force", "f", false, "even if the relay cannot be reached")
	return cmd
}

func (a *cli) relayListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the relays",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := perform(cmd.Context(), a, app.ListRelays, struct{}{})
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "RELAY\tSTATE")
			for _, r := range list {
				state := "not accepted yet"
				if r.FollowedBack {
					state = "accepted"
				}
				fmt.Fprintf(table, "%s\t%s\n", printable(r.Actor), state)
			}
			return table.Flush()
		},
	}
}
