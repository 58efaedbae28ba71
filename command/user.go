package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/federation"
)

func (a *cli) userCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "user",
		Short: "Manage local accounts",
		Long: `Manage local accounts.

NICK is the nickname of a local account, or its id as in the log. All of these commands work while the server runs and take
effect immediately.`,
	})
	cmd.AddCommand(a.userCreateCommand(), a.userResetPasswordCommand(), a.userListCommand(), a.userShowCommand(), a.userSetCommand(),
		a.userRotateKeysCommand(), a.userImportCommand(), a.userExportCommand(),
		a.userBackupCommand(),
		a.userInviteCommand(), a.userInvitesCommand(), a.userRevokeInviteCommand(), a.userRebuildHomeCommand(), a.userTokensCommand(), a.userRevokeTokenCommand(),
		a.userTagCommand("tag", "Add tags to an account", app.TagUsers), a.userTagCommand("untag", "Remove tags from an account", app.UntagUsers),
		a.userFollowCommand("follow", "Make an account follow another", app.FollowUser, "%s follows %s.", "%s follows %s already."),
		a.userFollowCommand("unfollow", "Make an account unfollow another", app.UnfollowUser, "%s does not follow %s any more.", "%s does not follow %s."))
	cmd.AddCommand(a.userStateCommands()...)
	return cmd
}

func (a *cli) userCreateCommand() *cobra.Command {
	var n admin.NewUser
	var ask bool
	cmd := &cobra.Command{
		Use:   "create NICK --email ADDRESS",
		Short: "Create an account",
		Long: `Create an account that is confirmed and approved. Without a password, one is generated and printed.

A nickname has letters, digits, _ and -, and cannot be changed later.`,
		Example: "  svc user create alice --email alice@example.org --admin\n  svc user create bob --email bob@example.org --ask-password",
		Args:    oneArg("NICK"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if n.Email == "" {
				return usage("an account needs an e-mail address: --email ADDRESS")
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
	cmd.Flags().StringVar(&n.Email, "email", "", "e-mail `ADDRESS` of the account")
	passwordFlags(cmd, &n.Password, &ask)
	cmd.Flags().BoolVar(&n.Admin, "admin", false, "give the admin role")
	cmd.Flags().BoolVar(&n.Moderator, "moderator", false, "give the moderator role")
	return cmd
}

func passwordFlags(cmd *cobra.Command, password *string, ask *bool) {
	cmd.Flags().StringVar(password, "password", "", "`PASSWORD` of the account; other users of this machine can see it while the command runs")
	cmd.Flags().BoolVar(ask, "ask-password", false, "ask for the password, or read it from a line of standard input")
}

// givenPassword returns the password of the flags, "" if there is none. With ask it must not be empty.
func (a *cli) givenPassword(ctx context.Context, password string, ask bool) (string, error) {
	if !ask {
		return password, nil
	}
	if password != "" {
		return "", usage("use either --password or --ask-password")
	}
	password, err := a.askPassword(ctx, "Password")
	if err == nil && password == "" {
		err = errors.New("no password was given")
	}
	return password, err
}

func (a *cli) printCreated(u *admin.CreatedUser) {
	fmt.Fprintf(a.out, "Created the account %s (%s).\n", u.Nickname, u.URL)
	if u.Password != "" {
		fmt.Fprintf(a.out, "Password: %s\n", u.Password)
	}
}

func (a *cli) userResetPasswordCommand() *cobra.Command {
	var p admin.PasswordReset
	var ask bool
	cmd := &cobra.Command{
		Use:   "reset-password NICK",
		Short: "Print a password reset link, or set a password",
		Long: `Print a one-time link to set a new password. With --password or --ask-password, set that password instead.

When the password changes, all sessions of the account are signed out.`,
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
				fmt.Fprintf(a.out, "The password of %s is changed. All sessions are signed out.\n", reset.Nickname)
			} else {
				fmt.Fprintf(a.out, "One-time link for %s to set a new password:\n%s\n", reset.Nickname, reset.Link)
			}
			return nil
		},
	}
	passwordFlags(cmd, &p.Password, &ask)
	return cmd
}

func (a *cli) userListCommand() *cobra.Command {
	q := admin.UserQuery{}
	var remote, asJSON bool
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List accounts, newest first",
		Long: `List local accounts, newest first; with --remote, those of other servers. All conditions must hold. --filter takes: active,
deactivated, need_approval, unconfirmed, is_admin, is_moderator.`,
		Example: "  svc user list --filter need_approval\n  svc user list --remote --query example.com --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range q.Filters {
				if !slices.Contains(userFilters, name) {
					return usage("--filter: there is no %q; there are: %s", name, strings.Join(userFilters, ", "))
				}
			}
			where := "local"
			if remote {
				where = "external"
			}
			q.Filters = append(q.Filters, where)
			return a.listUsers(cmd, q, limit, asJSON)
		},
	}
	cmd.Flags().StringSliceVar(&q.Filters, "filter", nil, "only accounts in this `STATE`; several are separated by commas")
	cmd.Flags().StringVar(&q.Query, "query", "", "only accounts with this `TEXT` in their handle")
	cmd.Flags().StringVar(&q.Name, "name", "", "only accounts with this `TEXT` in their display name")
	cmd.Flags().StringVar(&q.Email, "email", "", "only the account with this `ADDRESS`")
	cmd.Flags().StringSliceVar(&q.Tags, "tag", nil, "only accounts with one of these `TAGS`")
	cmd.Flags().StringSliceVar(&q.ActorTypes, "type", nil, "only accounts of these `TYPES`: Person, Service, Application, Group, Organization")
	cmd.Flags().BoolVar(&remote, "remote", false, "accounts of other servers")
	cmd.Flags().IntVar(&limit, "limit", 0, "list at most `N` accounts; 0: all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// userFilters are the values of --filter.
var userFilters = []string{"active", "deactivated", "need_approval", "unconfirmed", "is_admin", "is_moderator"}

// listUsers prints the accounts that a query selects, up to limit (0: all).
func (a *cli) listUsers(cmd *cobra.Command, q admin.UserQuery, limit int, asJSON bool) error {
	const pageSize = 500
	all := []*admin.User{}
	for {
		q.Limit, q.Offset = pageSize, len(all)
		if limit > 0 {
			q.Limit = min(pageSize, limit-len(all))
		}
		page, err := perform(cmd.Context(), a, app.ListUsers, q)
		if err != nil {
			return err
		}
		all = append(all, page.Users...)
		if len(page.Users) < q.Limit || len(all) == limit {
			break
		}
	}
	if asJSON {
		return a.printJSON(all)
	}
	table := a.table("NICKNAME", "E-MAIL", "ROLE", "STATE", "POSTS", "CREATED", "LAST ACTIVE")
	for _, u := range all {
		row(table, u.Nickname, u.Email, role(u), state(u), u.Statuses, day(u.CreatedAt), day(u.LastActiveAt))
	}
	return table.Flush()
}

func (a *cli) userShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show NICK",
		Short: "Show an account",
		Args:  oneArg("NICK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := perform(cmd.Context(), a, app.ShowUser, args[0])
			if err == nil && asJSON {
				return a.printJSON(u)
			}
			if err == nil {
				a.printUser(u)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *cli) userSetCommand() *cobra.Command {
	var isAdmin, isModerator, isLocked bool
	var email string
	cmd := &cobra.Command{
		Use:   "set NICK",
		Short: "Change the role, e-mail address or lock of an account",
		Long: `Change the role, e-mail address or lock of an account. Other properties do not change.

A locked account approves each follower.`,
		Example: "  svc user set alice --admin\n  svc user set bob --moderator=false --email bob@example.org",
		Args:    oneArg("NICK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			change := admin.UserUpdate{Name: args[0]}
			for name, field := range map[string]**bool{"admin": &change.Admin, "moderator": &change.Moderator, "locked": &change.Locked} {
				if f := cmd.Flags().Lookup(name); f.Changed {
					value := f.Value.String() == "true"
					*field = &value
				}
			}
			if cmd.Flags().Changed("email") {
				change.Email = &email
			}
			if change == (admin.UserUpdate{Name: args[0]}) {
				return usage("name what to change: --admin, --moderator, --locked or --email")
			}
			u, err := perform(cmd.Context(), a, app.UpdateUser, change)
			if err != nil {
				return err
			}
			a.printUser(u)
			return nil
		},
	}
	cmd.Flags().BoolVar(&isAdmin, "admin", false, "give the admin role, or remove it (=false)")
	cmd.Flags().BoolVar(&isModerator, "moderator", false, "give the moderator role, or remove it (=false)")
	cmd.Flags().BoolVar(&isLocked, "locked", false, "lock the account, or unlock it (=false)")
	cmd.Flags().StringVar(&email, "email", "", "new e-mail `ADDRESS`, which needs no confirmation")
	return cmd
}

// printUser prints an account, one property a line.
func (a *cli) printUser(u *admin.User) {
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, line := range [][2]string{
		{"nickname", u.Nickname},
		{"name", u.DisplayName},
		{"url", u.URL},
		{"id", fmt.Sprintf("%s (%d)", u.PublicID, u.ID)},
		{"e-mail", u.Email},
		{"role", role(u)},
		{"state", state(u)},
		{"locked", yesNo(u.Locked)},
		{"mfa", yesNo(u.MFA)},
		{"tags", strings.Join(u.Tags, ", ")},
		{"posts", strconv.Itoa(u.Statuses)},
		{"followers", strconv.Itoa(u.Followers)},
		{"following", strconv.Itoa(u.Following)},
		{"created", day(u.CreatedAt)},
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
		return "pending approval"
	}
	return "active"
}

func (a *cli) userRotateKeysCommand() *cobra.Command {
	var r federation.Rotation
	cmd := &cobra.Command{
		Use:   "rotate-keys [NICK]",
		Short: "Replace the signing keys of an account or of the server",
		Long: `Replace the signing keys of an account, and send the new ones to other servers. With --server, replace the keys of the server
actors, which sign fetches and relay posts. Use it if keys may have been exposed.

Each known server receives an Update that is signed with the old key, and the old key signs what goes to that server until then. It is
retired when all servers have the new one, or after three days.`,
		Example: "  svc user rotate-keys alice\n  svc user rotate-keys --server",
		Args: func(_ *cobra.Command, args []string) error {
			if r.Server == (len(args) == 1) || len(args) > 1 {
				return usage("name whose keys to replace: NICK or --server")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !r.Server {
				r.Name = args[0]
			}
			keys, err := perform(cmd.Context(), a, app.RotateKeys, r)
			for _, key := range keys {
				fmt.Fprintf(a.out, "New key: %s\n", key)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&r.Server, "server", false, "the keys of the server actors")
	return cmd
}
