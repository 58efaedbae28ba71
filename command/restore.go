package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/config"
	"svc/internal/disk"
)

func (a *cli) restoreCommand() *cobra.Command {
	var dataDir, from, at, passphraseFile string
	var force, damaged bool
	cmd := &cobra.Command{
		Use:   "restore [FILE]",
		Short: "Restore a backup",
		Long: `Restore a backup. Every file in it is verified before anything is changed. No server may run on the data directory, and the
directory must not contain data; with --force, existing data are moved to a subdirectory of it.

The data directory is the one of --data-dir, else of the settings file, else of the settings in the backup. An existing
settings file is kept; if the settings in the backup differ, they are written next to it.

FILE may be the location of a backup in a bucket of S3 or on an SFTP server. With --from, the newest backup in a folder or at a place is restored; with
--at, the newest one that is not younger. If the place has a continuous copy (replica.place), that is restored: the newest state, or that of --at. It
needs the passphrase, which is that of --passphrase-file, else of the settings, else asked for.

A damaged or incomplete backup is refused. With --damaged, damaged files are left out, as long as database and keys are intact:
for the case that there is no better backup. "svc verify FILE" shows the damage before.`,
		Example: "  svc restore /mnt/usb/svc-20260102T030405Z.tar\n  svc restore svc.tar --data-dir /var/lib/svc/data --config /var/lib/svc/config.toml\n  svc restore --from s3://bucket/svc --at 2030-01-02T03:00:00Z",
		Args:    optionalArg("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			copied, err := a.openReplica(cmd.Context(), args, from)
			if err != nil {
				return err
			}
			if copied != nil {
				defer copied.Close()
				return a.restoreReplica(cmd.Context(), copied, replicaRestore{dataDir, at, passphraseFile, force, damaged})
			}
			source, err := a.backupSource(cmd.Context(), args, from, at)
			if err != nil {
				return err
			}
			defer source.Close()
			saved, err := source.Settings()
			if err != nil {
				return err
			}
			c, moved, err := a.restoredSettings(saved, dataDir)
			if err != nil {
				return err
			}
			report, end := a.progress("restore")
			r, err := admin.Restore(cmd.Context(), admin.RestoreOptions{Source: source, DataDir: c.Data.Dir, Force: force, Damaged: damaged, Progress: report})
			end()
			if err != nil {
				return err
			}
			made := "an unknown time"
			if !r.CreatedAt.IsZero() { // it is in the part that is missing
				made = r.CreatedAt.Format(time.RFC3339)
			}
			fmt.Fprintf(a.out, "Restored the backup of %s to %s.\n", made, c.Data.Dir)
			if from != "" {
				fmt.Fprintf(a.out, "It was %s.\n", source.Name)
			}
			if r.PreviousDir != "" {
				fmt.Fprintf(a.out, "The previous data are in %s.\n", r.PreviousDir)
			}
			if !r.Media {
				fmt.Fprintln(a.out, "The backup contains no uploads.")
			}
			for _, name := range r.Left {
				fmt.Fprintf(a.out, "Left out, because it is damaged or missing: %s\n", printable(name))
			}
			written, err := a.restoreSettings(c, saved, moved)
			return errors.Join(err, a.giveToOwner(c.Data.Dir, written...))
		},
	}
	cmd.Flags().StringVar(&dataDir, "data-dir", "", "data `DIRECTORY`")
	cmd.Flags().StringVar(&from, "from", "", "restore the newest backup in this folder or at this `PLACE`")
	cmd.Flags().StringVar(&at, "at", "", "with --from: the newest one that was made at this `TIME` or before")
	cmd.Flags().StringVar(&passphraseFile, "passphrase-file", "", "`FILE` with the passphrase of a continuous copy")
	cmd.Flags().BoolVar(&force, "force", false, "move existing data to a subdirectory")
	cmd.Flags().BoolVar(&damaged, "damaged", false, "leave out damaged and missing files")
	return cmd
}

// backupSource opens the backup that is named, or chosen by --from and --at.
func (a *cli) backupSource(ctx context.Context, args []string, from, at string) (*admin.BackupSource, error) {
	var until time.Time
	switch {
	case len(args) == 0 && from == "":
		return nil, usage("FILE is missing: name a backup, or with --from where backups are")
	case len(args) > 0 && from != "":
		return nil, usage("name a backup or --from, not both")
	case at != "" && from == "":
		return nil, usage("--at needs --from")
	case at != "":
		var err error
		if until, err = parseTime(at); err != nil {
			return nil, usage("--at: %v", err)
		}
	}
	where := from
	if len(args) > 0 {
		where = args[0]
	}
	c, _, err := app.LoadSettings(a.configFile) // for credentials; a new machine has no settings
	if err != nil {
		c = config.Default()
	}
	source, err := admin.OpenBackup(ctx, where, until, c.PlaceOptions())
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	return source, nil
}

// parseTime reads a time: in the form of RFC 3339, or a day or a minute by the clock of UTC. A day is meant with all its hours.
func parseTime(text string) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.Add(24*time.Hour - time.Second), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time such as 2030-01-02 or 2030-01-02T03:04:00Z", text)
}

// restoredSettings returns the existing settings, else those that were saved. They name the data directory, unless dataDir does: then moved is true if
// it is another one.
func (a *cli) restoredSettings(saved []byte, dataDir string) (c *config.Config, moved bool, err error) {
	path, _ := app.SettingsFile(a.configFile)
	switch _, err = os.Stat(path); {
	case err == nil:
		c, _, err = app.LoadSettings(a.configFile)
	case errors.Is(err, fs.ErrNotExist):
		c, err = config.Parse(string(saved))
	default:
		err = fmt.Errorf("settings: %w", err)
	}
	if err != nil || dataDir == "" || samePath(dataDir, c.Data.Dir) {
		return c, false, err
	}
	if c.Data.Dir, err = filepath.Abs(dataDir); err != nil {
		err = fmt.Errorf("restore: %w", err)
	}
	return c, true, err
}

// restoreSettings writes the settings of the backup to the settings file, or next to an existing one. moved: the data directory is not
// the one in the settings. It returns the files that it has written.
func (a *cli) restoreSettings(c *config.Config, saved []byte, moved bool) (written []string, err error) {
	path, _ := app.SettingsFile(a.configFile)
	existing, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && saved == nil && !moved:
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		text := string(saved)
		if moved {
			text = config.File(c)
		}
		if err := app.WriteSettings(path, text); err != nil {
			return nil, err
		}
		fmt.Fprintf(a.out, "Wrote the settings to %s.\n", path)
		return []string{path}, nil
	case err != nil:
		return nil, fmt.Errorf("settings: %w", err)
	}
	if moved {
		fmt.Fprintf(a.out, "Warning: %s names another data directory: set data.dir in it to %s.\n", path, c.Data.Dir)
	}
	if saved == nil || string(existing) == string(saved) {
		return nil, nil
	}
	savedPath := path + ".from-backup"
	if err := disk.ReplaceText(savedPath, string(saved)); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	fmt.Fprintf(a.out, "Kept %s unchanged. The settings of the backup are in %s.\n", path, savedPath)
	return []string{savedPath}, nil
}

// giveToOwner gives what root has created to the user that runs the server, and says so. If it is not known who that is, it says what to do.
func (a *cli) giveToOwner(dir string, files ...string) error {
	name, stays, err := app.GiveToOwner(dir, files...)
	if stays {
		fmt.Fprintf(a.out, "All files belong to root. If the server runs as another user, give them to it: chown -R USER: %s\n", strings.Join(append([]string{dir}, files...), " "))
	} else if name != "" {
		fmt.Fprintf(a.out, "The files belong to %s, as does the folder that they are in.\n", name)
	}
	return err
}

// samePath returns true if two paths are the same absolute path.
func samePath(a, b string) bool {
	a, errA := filepath.Abs(a)
	b, errB := filepath.Abs(b)
	return errA == nil && errB == nil && a == b
}
