package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/internal/config"
)

func (a *cli) configCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "config",
		Short: "Check and show the settings",
		Long: `Check and show the settings.

They are read from a file in TOML: the one named by --config, else by $SVC_CONFIG, else config.toml in the current
folder. Without a file all settings have their defaults. A change counts after a restart of the server.`,
	})
	cmd.AddCommand(
		&cobra.Command{
			Use:     "check",
			Short:   "Look for mistakes in the settings file",
			Example: "  svc config check --config /var/lib/svc/config.toml",
			Args:    cobra.NoArgs,
			RunE:    func(*cobra.Command, []string) error { return a.checkConfig() },
		},
		&cobra.Command{
			Use:   "show",
			Short: "Print all settings as they count now, with secrets hidden",
			Args:  cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				c, _, err := app.LoadSettings(a.configFile)
				if err != nil {
					return err
				}
				fmt.Fprint(a.out, config.Show(c))
				return nil
			},
		},
		&cobra.Command{
			Use:     "example",
			Short:   "Print a settings file with all settings, their defaults and what they do",
			Example: "  svc config example > config.toml",
			Args:    cobra.NoArgs,
			Run:     func(*cobra.Command, []string) { fmt.Fprint(a.out, config.Example()) },
		},
	)
	return cmd
}

// checkConfig says whether the settings are valid, and what is questionable about them.
func (a *cli) checkConfig() error {
	c, file, err := app.LoadSettings(a.configFile)
	if err != nil {
		return err
	}
	if file == "" {
		fmt.Fprintln(a.out, "There is no settings file: all settings have their defaults.")
	} else {
		fmt.Fprintf(a.out, "%s is valid.\n", file)
	}
	for _, w := range app.Warnings(c) {
		fmt.Fprintln(a.out, "Note: "+w+".")
	}
	return nil
}
