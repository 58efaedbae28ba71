package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/config"
)

func (a *cli) configGetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "get [NAME]",
		Short: "Print the settings of the file and the database together, with secrets masked",
		Long: `Print all settings, or the one called NAME, as they are in effect or will be after a restart: those of the file, overridden by
those in the database. Secrets are masked.`,
		Example: "  svc config get instance.name",
		Args:    optionalArg("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var setting admin.NamedSetting
			if len(args) > 0 {
				var err error
				if setting, err = settingName(args[0]); err != nil {
					return err
				}
			}
			text, err := perform(cmd.Context(), a, app.ShowSettings, setting)
			if err == nil {
				fmt.Fprint(a.out, text)
			}
			return err
		},
	}
}

func (a *cli) configSetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "set NAME VALUE",
		Short: "Change a setting in the database",
		Long: `Change a setting in the database, as administrators do in their front end. NAME and VALUE are as in the settings file; quotes around
a text may be left out. Requires instance.configurable_from_database.`,
		Example: "  svc config set instance.name \"My server\"\n  svc config set instance.registrations_open false\n  svc config set mrf.policies '[\"SimplePolicy\"]'",
		Args:    exactArgs("NAME", "VALUE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			setting, err := settingName(args[0])
			if err != nil {
				return err
			}
			setting.Value, err = config.ParseValue(setting.Group, setting.Key, args[1])
			if err != nil && !errors.Is(err, config.ErrUnknown) {
				err = usage("%v", err)
			}
			if err != nil {
				return err
			}
			restart, err := perform(cmd.Context(), a, app.SetSetting, setting)
			return a.settingsSaved(restart, err)
		},
	}
}

func (a *cli) configUnsetCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "unset NAME",
		Short:   "Remove a setting from the database, so that the file decides",
		Example: "  svc config unset instance.name",
		Args:    oneArg("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			setting, err := settingName(args[0])
			if err != nil {
				return err
			}
			restart, err := perform(cmd.Context(), a, app.UnsetSetting, setting)
			return a.settingsSaved(restart, err)
		},
	}
}

func (a *cli) configExportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "Print the settings in the database as JSON, with secrets masked",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := perform(cmd.Context(), a, app.ExportSettings, struct{}{})
			if err != nil {
				return err
			}
			return a.printJSON(list)
		},
	}
}

func (a *cli) configImportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Change settings in the database as an exported file says; - is the standard input",
		Long: `Change settings in the database as a file of "svc config export" says, all or none. Settings that the file does not mention stay as
they are. Masked secrets change nothing.`,
		Args: oneArg("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var file []byte
			var err error
			if args[0] == "-" {
				file, err = io.ReadAll(cmd.InOrStdin())
			} else {
				file, err = os.ReadFile(args[0])
			}
			if err != nil {
				return err
			}
			if !json.Valid(file) {
				return fmt.Errorf("%s is not JSON", args[0])
			}
			list, err := perform(cmd.Context(), a, app.ImportSettings, json.RawMessage(file))
			if err != nil {
				return err
			}
			return a.settingsSaved(list.NeedReboot, nil)
		},
	}
}

func (a *cli) configRestartCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "restart",
		Short: "Restart the running server inside its process, so that all changes take effect",
		Long: `Restart the running server inside its process, so that changes take effect that need a restart, those of the settings file included.
Requests that are being answered are finished first. Requires instance.configurable_from_database, as the admin API does.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := perform(cmd.Context(), a, app.Restart, struct{}{})
			if err == nil {
				fmt.Fprintln(a.out, "The server restarts.")
			}
			return err
		},
	}
}

// settingsSaved prints the result of a change.
func (a *cli) settingsSaved(restart bool, err error) error {
	if err != nil {
		return err
	}
	if restart {
		fmt.Fprintln(a.out, "Saved. Some settings take effect after a restart of the server: svc config restart.")
	} else {
		fmt.Fprintln(a.out, "Saved.")
	}
	return nil
}

// settingName splits the name of a setting.
func settingName(name string) (admin.NamedSetting, error) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 1 {
		return admin.NamedSetting{}, usage("%s is not the name of a setting such as instance.name", name)
	}
	return admin.NamedSetting{Group: name[:dot], Key: name[dot+1:]}, nil
}
