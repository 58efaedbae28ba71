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
		Short: "Check, print and change the settings",
		Long: `Check, print and change the settings.

They are read from a TOML file: the one named by --config, else by $SVC_CONFIG, else config.toml in the current folder.
Without a file, all settings have their defaults. Changes of the file take effect after a restart of the server.

If instance.configurable_from_database is on, administrators can change settings in their front end, and set and unset change them here.
Those changes are kept in the database and override the file; most take effect at once.`,
	})
	cmd.AddCommand(
		&cobra.Command{
			Use:     "check",
			Short:   "Validate the settings file",
			Example: "  svc config check --config /var/lib/svc/config.toml",
			Args:    noArgs,
			RunE:    func(*cobra.Command, []string) error { return a.checkConfig() },
		},
		&cobra.Command{
			Use:   "show",
			Short: "Print the effective settings, with secrets masked",
			Args:  noArgs,
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
			Short:   "Print a settings file that documents all settings and their defaults",
			Example: "  svc config example > config.toml",
			Args:    noArgs,
			Run:     func(*cobra.Command, []string) { fmt.Fprint(a.out, config.Example()) },
		},
		a.configGetCommand(), a.configSetCommand(), a.configUnsetCommand(), a.configExportCommand(), a.configImportCommand(), a.configRestartCommand(),
	)
	return cmd
}

// checkConfig validates the settings and prints warnings.
func (a *cli) checkConfig() error {
	c, file, err := app.LoadSettings(a.configFile)
	if err != nil {
		return err
	}
	if file == "" {
		fmt.Fprintln(a.out, "No settings file found: all settings have their defaults.")
	} else {
		fmt.Fprintf(a.out, "%s is valid.\n", file)
	}
	for _, w := range app.Warnings(c) {
		fmt.Fprintln(a.out, "Warning: "+w+".")
	}
	return nil
}
