package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/federation"
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
		RunE: printing(a, app.FollowRelay, func(r *federation.Relay) {
			if r.FollowedBack {
				fmt.Fprintf(a.out, "%s has already accepted.\n", r.Actor)
			} else {
				fmt.Fprintf(a.out, "Follow request sent to %s. \"svc relay list\" shows whether it was accepted.\n", r.Actor)
			}
		}),
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
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List relays and their state",
		Args:  noArgs,
	}
	return showCommand(a, cmd, app.ListRelays, none, func(list []*federation.Relay) {
		table := a.table("RELAY", "STATE")
		for _, r := range list {
			state := "pending"
			if r.FollowedBack {
				state = "accepted"
			}
			row(table, r.Actor, state)
		}
		table.Flush()
	})
}
