package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
)

// stateCall is an operation that changes the state of accounts.
type stateCall = app.Call[[]string, []*admin.ChangedUser]

// userStateCommands are the commands that change the state of accounts.
func (a *cli) userStateCommands() []*cobra.Command {
	return []*cobra.Command{
		a.stateCommand("confirm", "Mark the e-mail address of an account as confirmed", "",
			app.ConfirmUsers, "%s is confirmed.", "%s is already confirmed."),
		a.stateCommand("resend-confirmation", "Send the confirmation mail of an account again", "",
			app.ResendMails, "The mail to %s is on its way.", "%s needs no confirmation."),
		a.stateCommand("approve", "Approve a pending account", "Its user gets mail, if the server sends mail.",
			app.ApproveUsers, "%s is approved.", "%s is already approved."),
		a.stateCommand("activate", "Activate a deactivated account",
			"Everything is restored except its follows of other local accounts. A remote account is no longer suspended.",
			app.ActivateUsers, "%s is active.", "%s is already active."),
		a.stateCommand("deactivate", "Deactivate an account, or suspend a remote one",
			`Its user cannot sign in, its access tokens are revoked, and its profile and posts are hidden. It unfollows all local
accounts. Its posts and followers are kept until it is activated again. A remote account, nick@example.com, is suspended: it is hidden, and
what it sends is ignored.`,
			app.DeactivateUsers, "%s is deactivated.", "%s is already deactivated."),
		a.stateCommand("force-password-reset", "Make a user set a new password",
			"All sessions of the account are signed out. Its user can sign in after a password reset.",
			app.RequireReset, "%s must set a new password.", "%s must already set a new password."),
		a.stateCommand("reset-mfa", "Remove the second factor of an account",
			`For users who lost both the authenticator app and the backup codes. Verify their identity first. All sessions of the account
are signed out.`,
			app.DisableMFA, "The second factor of %s is removed. All sessions are signed out.", "%s has no second factor."),
		a.stateCommand("sign-out", "Sign all apps and sessions out of an account", "Its user can sign in again with the password.",
			app.SignOutUsers, "%s is signed out everywhere.", "%s was not signed in."),
		a.stateCommand("suggest", "Suggest an account to users", "Apps suggest to follow it.",
			app.SuggestUsers, "%s is suggested.", "%s is already suggested."),
		a.stateCommand("unsuggest", "Do not suggest an account any more", "",
			app.UnsuggestUsers, "%s is not suggested.", "%s was not suggested."),
		a.userDeleteCommand(), a.userRejectCommand(),
	}
}

// stateCommand returns a command that changes the state of accounts. It prints done, or already if nothing changed.
func (a *cli) stateCommand(name, short, long string, call stateCall, done, already string) *cobra.Command {
	if long != "" {
		long = short + ". " + long
	}
	return &cobra.Command{
		Use:   name + " NICK…",
		Short: short,
		Long:  long,
		Args:  someArgs("NICK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			changes, err := perform(cmd.Context(), a, call, args)
			for _, change := range changes {
				text := done
				if !change.Changed {
					text = already
				}
				fmt.Fprintf(a.out, text+"\n", change.Nickname)
			}
			return err
		},
	}
}

// someArgs requires at least one argument.
func someArgs(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage("%s is missing", what)
		}
		return nil
	}
}

func (a *cli) userRebuildHomeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rebuild-home NICK",
		Short: "Rebuild the home timeline of an account",
		Long:  "Rebuild the home timeline of an account. Home timelines are written when posts arrive. Use this if one is wrong or empty.",
		Args:  oneArg("NICK"),
		RunE: printing(a, app.RebuildHome, func(u *admin.ChangedUser) {
			fmt.Fprintf(a.out, "The home timeline of %s is rebuilt.\n", u.Nickname)
		}),
	}
}

func (a *cli) userDeleteCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "delete NICK… --yes",
		Short: "Delete accounts and their posts",
		Long: `Delete accounts and their posts. This cannot be undone. The accounts are deleted immediately, their posts by a background job of
the server. The nicknames cannot be used again.`,
		Example: "  svc user delete mallory --yes",
		Args:    someArgs("NICK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes {
				return usage("this cannot be undone: add --yes to delete %s and its posts", args[0])
			}
			deleted, err := perform(cmd.Context(), a, app.DeleteUsers, args)
			for _, u := range deleted {
				fmt.Fprintf(a.out, "%s is deleted.\n", u.Nickname)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "confirm the deletion")
	return cmd
}

func (a *cli) userRejectCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reject NICK",
		Short: "Delete an account that awaits approval",
		Long: `Delete an account that awaits approval. Its user gets mail, if the server sends mail and the address is confirmed. The nickname
and the address can be used again.`,
		Args: oneArg("NICK"),
		RunE: printing(a, app.RejectUser, func(u *admin.ChangedUser) {
			fmt.Fprintf(a.out, "%s is rejected.\n", u.Nickname)
		}),
	}
}

// userTagCommand returns a command that adds or removes tags.
func (a *cli) userTagCommand(name, short string, call app.Call[admin.Tagging, []*admin.ChangedUser]) *cobra.Command {
	return &cobra.Command{
		Use:   name + " NICK TAG…",
		Short: short,
		Long: short + `. Any text can be a tag. These have an effect: mrf_tag:media-force-nsfw, mrf_tag:media-strip,
mrf_tag:force-unlisted, mrf_tag:sandbox (posts for followers only), mrf_tag:disable-remote-subscription, mrf_tag:disable-any-subscription.`,
		Example: "  svc user " + name + " alice mrf_tag:force-unlisted",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage("name the account and the tags: NICK TAG…")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			changes, err := perform(cmd.Context(), a, call, admin.Tagging{Names: args[:1], Tags: args[1:]})
			for _, u := range changes {
				fmt.Fprintf(a.out, "Tags of %s: %q\n", u.Nickname, u.Tags)
			}
			return err
		},
	}
}

// userFollowCommand returns a command that changes a follow. It prints done, or already if nothing changed.
func (a *cli) userFollowCommand(name, short string, call app.Call[admin.FollowChange, bool], done, already string) *cobra.Command {
	return &cobra.Command{
		Use:     name + " NICK OTHER",
		Short:   short,
		Long:    short + ". OTHER may be a remote account that is known, such as bob@example.com.",
		Example: "  svc user " + name + " alice bob",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("name two accounts: NICK OTHER")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			changed, err := perform(cmd.Context(), a, call, admin.FollowChange{Follower: args[0], Followed: args[1]})
			if err != nil {
				return err
			}
			text := done
			if !changed {
				text = already
			}
			fmt.Fprintf(a.out, text+"\n", args[0], args[1])
			return nil
		},
	}
}
