package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/server/web/mail"
)

func (a *cli) mailCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "mail",
		Short: "Test sending mail",
	})
	cmd.AddCommand(a.mailTestCommand())
	return cmd
}

func (a *cli) mailTestCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "test ADDRESS",
		Short: "Send a test mail",
		Long: `Send a test mail at once, and print what the mail server answers, or the file that it was written to. The settings are those of the
settings file, even if the running server has not read it since a change. If instance.configurable_from_database is on, they are those of the
server, because the database may override the file.`,
		Example: "  svc mail test you@example.org",
		Args:    oneArg("ADDRESS"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := app.LoadSettings(a.configFile)
			if err != nil {
				return err
			}
			var receipt string
			if c.Instance.ConfigurableFromDatabase {
				receipt, err = app.TestMail.Do(cmd.Context(), c, a.options(), args[0])
			} else {
				receipt, err = mail.SendTest(cmd.Context(), c, a.options().Log, args[0])
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Sent to %s: %s\n", args[0], receipt)
			return nil
		},
	}
}
