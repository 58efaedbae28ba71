package command

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"svc/admin"
	"svc/app"
	"svc/federation"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func (a *cli) userCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "user",
		Short: "Make accounts and look after them",
		Long: `Make accounts and look after them.

NICK is the nickname of an account on this server, or the id by which the log names it. All of this works while the
server runs, and counts at once.`,
	})
	cmd.AddCommand(a.userCreateCommand(), a.userResetPasswordCommand(), a.userListCommand(), a.userShowCommand(), a.userSetCommand(),
		a.userDeleteCommand(), a.userRotateKeysCommand(),
		a.stateCommand("confirm NICK", "Take the e-mail address of an account as confirmed", "",
			app.ConfirmUser, "%s is confirmed.", "%s needs no confirmation."),
		a.stateCommand("approve NICK", "Let somebody in who waits for approval", "",
			app.ApproveUser, "%s is approved.", "%s needs no approval."),
		a.stateCommand("activate NICK", "Bring a deactivated account back",
			"What the account followed on this server does not come back, all else does.",
			app.ActivateUser, "%s is active again.", "%s is active already."),
		a.stateCommand("deactivate NICK", "Take an account out of service",
			`Nobody can sign in to it any more, its apps stop working, and it is not to be seen, nor is what it posted. It stops
following accounts on this server. Its posts and followers are kept until it is activated again.`,
			app.DeactivateUser, "%s is deactivated.", "%s is deactivated already."),
		a.stateCommand("reset-mfa NICK", "Let somebody sign in with the password alone again",
			`For those who have lost both the authenticator app and the backup codes. Make sure that it is them. The account is signed out
everywhere.`,
			app.ResetMFA, "%s signs in with the password alone, and is signed out everywhere.", "%s needs no second factor."),
		a.stateCommand("rebuild-home NICK", "Make the home timeline of an account anew, of what it follows",
			"Home timelines are written as posts come in. Should one be wrong or empty, this mends it.",
			app.RebuildHome, "The home timeline of %s is made anew.", ""))
	return cmd
}

func (a *cli) userCreateCommand() *cobra.Command {
	var n admin.NewUser
	var ask bool
	cmd := &cobra.Command{
		Use:   "create NICK --email ADDRESS",
		Short: "Make an account",
		Long: `Make an account that can be used at once. Without a password one is made up and printed.

A nickname has letters, digits, _ and -, and cannot be changed later.`,
		Example: "  svc user create alice --email alice@example.org --admin\n  svc user create bob --email bob@example.org --ask-password",
		Args:    oneArg("NICK"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if n.Email == "" {
				return usage("an account needs an address: --email ADDRESS")
			}
			n.Nickname = args[0]
			if n.Password, err = a.givenPassword(cmd.Context(), n.Password, ask); err != nil {
				return err
			}
			created, err := perform(cmd.Context(), a, app.CreateUser, n)
			if err != nil {
				return err
			}
			a.printCreated(created)
			return nil
		},
	}
	cmd.Flags().StringVar(&n.Email, "email", "", "its e-mail `ADDRESS`")
	passwordFlags(cmd, &n.Password, &ask)
	cmd.Flags().BoolVar(&n.Admin, "admin", false, "may do everything")
	cmd.Flags().BoolVar(&n.Moderator, "moderator", false, "may moderate")
	return cmd
}

// passwordFlags adds the two ways of giving a password.
func passwordFlags(cmd *cobra.Command, password *string, ask *bool) {
	cmd.Flags().StringVar(password, "password", "", "its `PASSWORD`; other users of this machine may see it while the command runs")
	cmd.Flags().BoolVar(ask, "ask-password", false, "ask for the password, or read a line of the standard input")
}

// givenPassword returns the password of the flags. One that was asked for must be given.
func (a *cli) givenPassword(ctx context.Context, password string, ask bool) (string, error) {
	if !ask {
		return password, nil
	}
	if password != "" {
		return "", usage("give the password or have it asked for, not both")
	}
	password, err := a.askPassword(ctx, "Password")
	if err == nil && password == "" {
		err = errors.New("no password was given")
	}
	return password, err
}

func (a *cli) printCreated(u *admin.CreatedUser) {
	fmt.Fprintf(a.out, "Made the account %s (%s).\n", u.Nickname, u.URL)
	if u.Password != "" {
		fmt.Fprintf(a.out, "Password: %s\n", u.Password)
	}
}

func (a *cli) userResetPasswordCommand() *cobra.Command {
	var p admin.PasswordReset
	var ask bool
	cmd := &cobra.Command{
		Use:   "reset-password NICK",
		Short: "Make a link for a new password, or set one",
		Long: `Make a link with which somebody can choose a new password, once. With a password, set that instead.

As soon as the password is another, the account is signed out everywhere.`,
		Example: "  svc user reset-password alice\n  svc user reset-password alice --ask-password",
		Args:    oneArg("NICK"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			p.Name = args[0]
			if p.Password, err = a.givenPassword(cmd.Context(), p.Password, ask); err != nil {
				return err
			}
			reset, err := perform(cmd.Context(), a, app.ResetPassword, p)
			if err != nil {
				return err
			}
			if reset.Link == "" {
				fmt.Fprintf(a.out, "%s has the new password and is signed out everywhere.\n", reset.Nickname)
			} else {
				fmt.Fprintf(a.out, "%s can choose a new password here, once:\n%s\n", reset.Nickname, reset.Link)
			}
			return nil
		},
	}
	passwordFlags(cmd, &p.Password, &ask)
	return cmd
}

func (a *cli) userListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List all accounts, the oldest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "NICKNAME\tE-MAIL\tROLE\tSTATE\tPOSTS\tMADE\tLAST ACTIVE")
			page := admin.UserPage{Limit: 200}
			for {
				users, err := perform(cmd.Context(), a, app.ListUsers, page)
				if err != nil {
					return err
				}
				if len(users) == 0 {
					return table.Flush()
				}
				for _, u := range users {
					fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", u.Nickname, u.Email, role(u), state(u), u.Statuses, day(u.CreatedAt), day(u.LastActiveAt))
					page.After = u.ID
				}
			}
		},
	}
}

func (a *cli) userShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show NICK",
		Short: "Show an account",
		Args:  oneArg("NICK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := perform(cmd.Context(), a, app.ShowUser, args[0])
			if err != nil {
				return err
			}
			a.printUser(u)
			return nil
		},
	}
}

func (a *cli) userSetCommand() *cobra.Command {
	var isAdmin, isModerator, isLocked bool
	var email string
	cmd := &cobra.Command{
		Use:   "set NICK",
		Short: "Change the role, the address or the lock of an account",
		Long: `Change the role, the address or the lock of an account. What is not named stays as it is.

A locked account decides on each follower.`,
		Example: "  svc user set alice --admin\n  svc user set bob --moderator=false --email bob@example.org",
		Args:    oneArg("NICK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			change := admin.UserUpdate{Name: args[0]}
			for name, to := range map[string]**bool{"admin": &change.Admin, "moderator": &change.Moderator, "locked": &change.Locked} {
				if f := cmd.Flags().Lookup(name); f.Changed {
					value := f.Value.String() == "true"
					*to = &value
				}
			}
			if cmd.Flags().Changed("email") {
				change.Email = &email
			}
			if change == (admin.UserUpdate{Name: args[0]}) {
				return usage("say what to change: --admin, --moderator, --locked or --email")
			}
			u, err := perform(cmd.Context(), a, app.UpdateUser, change)
			if err != nil {
				return err
			}
			a.printUser(u)
			return nil
		},
	}
	cmd.Flags().BoolVar(&isAdmin, "admin", false, "may do everything, or no longer (=false)")
	cmd.Flags().BoolVar(&isModerator, "moderator", false, "may moderate, or no longer (=false)")
	cmd.Flags().BoolVar(&isLocked, "locked", false, "decides on each follower, or no longer (=false)")
	cmd.Flags().StringVar(&email, "email", "", "its new e-mail `ADDRESS`, which counts at once")
	return cmd
}

func (a *cli) userDeleteCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "delete NICK --yes",
		Short: "Delete an account and all it posted",
		Long: `Delete an account and all it posted. There is no way back. The account is gone at once; its posts go one after the
other while the server runs. Nobody can have its nickname again.`,
		Example: "  svc user delete mallory --yes",
		Args:    oneArg("NICK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes {
				return usage("this cannot be undone: add --yes to delete %s and all it posted", args[0])
			}
			u, err := perform(cmd.Context(), a, app.DeleteUser, args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s is deleted.\n", u.Nickname)
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "really")
	return cmd
}

// stateCommand makes a command that brings an account into a state: done says that it is, already that it was.
func (a *cli) stateCommand(use, short, long string, d app.Call[string, *admin.ChangedUser], done, already string) *cobra.Command {
	if long != "" {
		long = short + ". " + long
	}
	return &cobra.Command{
		Use:   use,
		Short: short,
		Long:  long,
		Args:  oneArg("NICK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			change, err := perform(cmd.Context(), a, d, args[0])
			if err != nil {
				return err
			}
			text := done
			if !change.Changed {
				text = already
			}
			fmt.Fprintf(a.out, text+"\n", change.Nickname)
			return nil
		},
	}
}

// printUser prints an account, a line for each thing.
func (a *cli) printUser(u *admin.User) {
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, line := range [][2]string{
		{"nickname", u.Nickname},
		{"name", u.DisplayName},
		{"address", u.URL},
		{"id", fmt.Sprintf("%s (%d)", u.PublicID, u.ID)},
		{"e-mail", u.Email},
		{"role", role(u)},
		{"state", state(u)},
		{"locked", yesNo(u.Locked)},
		{"posts", strconv.Itoa(u.Statuses)},
		{"followers", strconv.Itoa(u.Followers)},
		{"following", strconv.Itoa(u.Following)},
		{"made", day(u.CreatedAt)},
		{"last active", day(u.LastActiveAt)},
		{"reason", u.Reason},
	} {
		if line[1] != "" {
			fmt.Fprintf(table, "%s:\t%s\n", line[0], printable(line[1]))
		}
	}
	table.Flush()
}

func role(u *admin.User) string {
	switch {
	case u.Admin && u.Moderator:
		return "admin, moderator"
	case u.Admin:
		return "admin"
	case u.Moderator:
		return "moderator"
	}
	return "user"
}

func state(u *admin.User) string {
	switch {
	case u.Deactivated:
		return "deactivated"
	case !u.Confirmed:
		return "unconfirmed"
	case !u.Approved:
		return "unapproved"
	}
	return "active"
}

func (a *cli) userRotateKeysCommand() *cobra.Command {
	var r federation.Rotation
	cmd := &cobra.Command{
		Use:   "rotate-keys [NICK]",
		Short: "Give an account another key to sign with",
		Long: `Give an account another key to sign with, and tell other servers. With --server, give others to the actors by which the server
itself asks and relays. Do so if somebody may have got at the keys. What waits to be delivered is signed with the new key.`,
		Example: "  svc user rotate-keys alice\n  svc user rotate-keys --server",
		Args: func(_ *cobra.Command, args []string) error {
			if r.Server == (len(args) == 1) || len(args) > 1 {
				return usage("say whose keys: NICK or --server")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !r.Server {
				r.Name = args[0]
			}
			made, err := perform(cmd.Context(), a, app.RotateKeys, r)
			for _, key := range made {
				fmt.Fprintf(a.out, "New key: %s\n", key)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&r.Server, "server", false, "those of the server itself")
	return cmd
}
