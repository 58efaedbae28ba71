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
		Short: "Manage relays, which exchange public posts",
		Long: `Manage relays, which exchange public posts.

A relay forwards the public posts of all servers that subscribe to it. That fills the federated timeline of a small server and
spreads its own posts.`,
	})
	cmd.AddCommand(a.relayFollowCommand(), a.relayUnfollowCommand(), a.relayListCommand())
	return cmd
}

func (a *cli) relayFollowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "follow URL",
		Short: "Subscribe to a relay",
		Long: `Subscribe to a relay. URL is the id of its actor, such as https://relay.example.org/actor; or, for relays in the style of
Mastodon, its inbox, which ends in /inbox. Posts are exchanged once the relay has accepted.`,
		Example: "  svc relay follow https://relay.example.org/actor\n  svc relay follow https://relay.example.org/inbox",
		Args:    oneArg("URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := perform(cmd.Context(), a, app.FollowRelay, args[0])
			if err != nil {
				return err
			}
			if r.FollowedBack {
				fmt.Fprintf(a.out, "%s has already accepted.\n", r.Actor)
			} else {
				fmt.Fprintf(a.out, "Follow request sent to %s. \"svc relay list\" shows whether it was accepted.\n", r.Actor)
			}
			return nil
		},
	}
}

func (a *cli) relayUnfollowCommand() *cobra.Command {
	var relay app.RelayUnfollow
	cmd := &cobra.Command{
		Use:   "unfollow URL",
		Short: "Unsubscribe from a relay",
		Args:  oneArg("URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			relay.Address = args[0]
			if _, err := perform(cmd.Context(), a, app.UnfollowRelay, relay); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Unfollowed %s.\n", relay.Address)
			return nil
		},
	}
	cmd.Flags().BoolVarP(&relay.Force, "force", "f", false, "unfollow even if the relay is unreachable")
	return cmd
}

func (a *cli) relayListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List relays and their state",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := perform(cmd.Context(), a, app.ListRelays, struct{}{})
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "RELAY\tSTATE")
			for _, r := range list {
				state := "pending"
				if r.FollowedBack {
					state = "accepted"
				}
				fmt.Fprintf(table, "%s\t%s\n", printable(r.Actor), state)
			}
			return table.Flush()
		},
	}
}
