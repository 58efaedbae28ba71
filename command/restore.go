package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/config"
)

func (a *cli) restoreCommand() *cobra.Command {
	var dataDir string
	var force bool
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Bring back what a backup holds",
		Long: `Bring back what a backup holds. Every file in it is checked before anything is touched. No server may run on the data
folder, and there must be no data in it; with --force they are moved aside, into a folder in it.

The data go where --data-dir says, else where the settings file says, and if there is none, where the one in the backup
says. A settings file that is there is kept; if it is another than that in the backup, the latter is put beside it.`,
		Example: "  svc restore /mnt/usb/svc-20260102T030405Z.tar\n  svc restore svc.tar --data-dir /var/lib/svc/data --config /var/lib/svc/config.toml",
		Args:    oneArg("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, saved, err := a.restoredSettings(args[0])
			if err != nil {
				return err
			}
			moved := false
			if dataDir != "" && !samePath(dataDir, c.Data.Dir) {
				if c.Data.Dir, err = filepath.Abs(dataDir); err != nil {
					return fmt.Errorf("restore: %w", err)
				}
				moved = true
			}
			tell, end := a.progress("restore")
			r, err := admin.Restore(cmd.Context(), admin.RestoreOptions{File: args[0], DataDir: c.Data.Dir, Force: force, Progress: tell})
			end()
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s holds the backup of %s.\n", c.Data.Dir, r.CreatedAt.Format(time.RFC3339))
			if r.PreviousDir != "" {
				fmt.Fprintf(a.out, "What was there before is in %s.\n", r.PreviousDir)
			}
			if !r.Media {
				fmt.Fprintln(a.out, "The backup was made without uploads.")
			}
			return a.restoreSettings(c, saved, moved)
		},
	}
	cmd.Flags().StringVar(&dataDir, "data-dir", "", "`FOLDER` for the data")
	cmd.Flags().BoolVar(&force, "force", false, "move data that are there aside")
	return cmd
}

// restoredSettings returns the settings that say where the data belong: those that are there, else those in the backup, whose text
// is returned too.
func (a *cli) restoredSettings(file string) (c *config.Config, saved []byte, err error) {
	if saved, err = admin.BackupSettings(file); err != nil {
		return nil, nil, err
	}
	path, _ := app.SettingsFile(a.configFile)
	if _, err := os.Stat(path); err == nil {
		c, _, err = app.LoadSettings(a.configFile)
		return c, saved, err
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("settings: %w", err)
	}
	c, err = config.Parse(string(saved))
	return c, saved, err
}

// restoreSettings puts the settings file of the backup in place, or beside the one that is there. moved says that the data are
// elsewhere than the settings say.
func (a *cli) restoreSettings(c *config.Config, saved []byte, moved bool) error {
	path, _ := app.SettingsFile(a.configFile)
	there, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && saved == nil && !moved:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		text := string(saved)
		if moved {
			text = config.File(c)
		}
		if err := app.WriteSettings(path, text); err != nil {
			return err
		}
		fmt.Fprintf(a.out, "Wrote the settings to %s.\n", path)
		return nil
	case err != nil:
		return fmt.Errorf("settings: %w", err)
	}
	if moved {
		fmt.Fprintf(a.out, "Note: %s names another data folder: set data.dir there to %s.\n", path, c.Data.Dir)
	}
	if saved == nil || string(there) == string(saved) {
		return nil
	}
	beside := path + ".from-backup"
	if err := os.WriteFile(beside, saved, 0o600); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	fmt.Fprintf(a.out, "Kept %s as it is. The settings of the backup are in %s.\n", path, beside)
	return nil
}

// samePath tells whether two paths name the same place.
func samePath(a, b string) bool {
	a, errA := filepath.Abs(a)
	b, errB := filepath.Abs(b)
	return errA == nil && errB == nil && a == b
}
