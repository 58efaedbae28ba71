package command

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
)

func (a *cli) userTokensCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "tokens NICK",
		Short: "List the apps and sessions that are signed in to an account",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				name = args[0]
			}
			return oneArg("NICK")(cmd, args)
		},
	}
	return showCommand(a, cmd, app.ListTokens, func() string { return name }, func(tokens []*admin.Token) {
		table := a.table("ID", "APP", "SCOPES", "CREATED", "LAST USED", "EXPIRES")
		for _, t := range tokens {
			expires := "never"
			if t.ExpiresAt != nil {
				expires = day(*t.ExpiresAt)
			}
			row(table, t.ID, t.App, t.Scopes, day(t.CreatedAt), day(t.LastUsedAt), expires)
		}
		table.Flush()
	})
}

func (a *cli) userRevokeTokenCommand() *cobra.Command {
	var key admin.TokenKey
	return &cobra.Command{
		Use:     "revoke-token NICK ID",
		Short:   "Sign one app or session out of an account",
		Example: "  svc user tokens alice\n  svc user revoke-token alice 17",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("name the account and the token: NICK ID")
			}
			id, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil || id <= 0 {
				return usage("%q is not the id of a token", args[1])
			}
			key = admin.TokenKey{User: args[0], ID: id}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := perform(cmd.Context(), a, app.RevokeToken, key)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Token %d is revoked.\n", t.ID)
			return nil
		},
	}
}
