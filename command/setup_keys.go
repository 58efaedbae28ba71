package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"svc/app"
)

// newKeys replaces the keys of a server that is set up, and lists the losses.
func (a *cli) newKeys(cmd *cobra.Command, s *setupOptions) error {
	var other string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "new-keys" && f.Name != "yes" && f.Name != "config" {
			other = f.Name
		}
	})
	if other != "" {
		return usage("--new-keys changes nothing but the keys: leave out --%s", other)
	}
	c, _, err := app.LoadSettings(a.configFile)
	if err != nil {
		return err
	}
	if !s.yes {
		question := fmt.Sprintf("Make new keys in %s? Push messages stop until apps subscribe again, and other servers accept the new ones after up to a day.", c.Data.Dir)
		if yes, err := a.confirm(cmd.Context(), question); err != nil || !yes {
			return errors.Join(err, errors.New("nothing was changed"))
		}
	}
	renewed, err := app.RenewKeys(cmd.Context(), c, a.options())
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "Made new keys in %s.\n", renewed.Dir)
	if renewed.Old != "" {
		fmt.Fprintf(a.out, "What was there is in %s. Delete it when the server runs well.\n", renewed.Old)
	}
	lost := renewed.Lost
	fmt.Fprintf(a.out, `Lost with the old keys:
  signing keys of accounts: %d. New ones are made when they are needed; other servers accept them when they ask for the account again, up to a day.
  subscriptions to push messages: %d. Apps and browsers subscribe again when they are opened, or when push is switched on again there.
  known networks of sign-ins: %d. The next sign-in counts as one from a known network.
Passwords, second factors, sessions and the secrets of apps are not sealed with the keys, and stay valid. Links in mails that were sent are not.
`, lost.Accounts, lost.PushSubscriptions, lost.SignInNetworks)
	return nil
}
