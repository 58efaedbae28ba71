package command

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/config"
	"svc/internal/disk"
	"svc/store"
)

func (a *cli) backupCommand() *cobra.Command {
	var noMedia bool
	var keep int
	var every string
	cmd := &cobra.Command{
		Use:   "backup [FILE]",
		Short: "Back up the server to one file",
		Long: `Write the database, keys, settings, emoji, static files, front ends and uploads to one tar file. The server may run meanwhile; the
file has the state at the start of the backup.

FILE may be a directory, or the location of a bucket of S3 or a folder of an SFTP server; the settings s3 and sftp have the credentials. The default
is backup.place, else backup.dir, else backups/ in the data directory. Keep a copy on another machine. The file contains all secrets of the server:
keep it private.

A backup in the data directory is refused if it would exceed storage.limit or storage.min_free.

With --every no backup is made now: the command changes the settings backup.schedule, backup.keep and backup.dir, and the running server
makes a backup every DURATION, in a folder. --every 0s ends that. With --keep alone, for timers, the command makes a backup and then removes
all but the newest N that were made so, and those that backup.keep_daily, keep_weekly and keep_monthly keep; those without --keep stay.

The exit code is 3 if uploads in the backup are damaged or missing; the backup is complete in all other respects.`,
		Example: "  svc backup\n  svc backup /mnt/usb/\n  svc backup sftp://svc@backup.example.org/~/svc\n  svc backup --no-media small.tar\n  svc backup --every 24h --keep 7 /mnt/backup",
		Args:    optionalArg("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, settings, err := app.LoadSettings(a.configFile)
			if err != nil {
				return err
			}
			keeps := cmd.Flags().Changed("keep")
			switch {
			case keeps && keep < 1:
				return usage("--keep must be at least 1")
			case every != "" && noMedia:
				return usage("--every makes complete backups: leave out --no-media")
			case every != "":
				return a.scheduleBackups(cmd, c, every, keep, args)
			}
			if !keeps {
				keep = 0
			}
			if c, err = app.EffectiveSettings(cmd.Context(), c); err != nil {
				return fmt.Errorf("backup: %w", err)
			}
			return a.backup(cmd.Context(), c, args, keep, admin.BackupOptions{Settings: settings, NoMedia: noMedia})
		},
	}
	cmd.Flags().BoolVar(&noMedia, "no-media", false, "omit uploads")
	cmd.Flags().IntVar(&keep, "keep", config.Default().Backup.Keep, "remove all but the newest `N` backups")
	cmd.Flags().StringVar(&every, "every", "", "have the server make a backup every `DURATION`: 24h, 7d")
	return cmd
}

// backup makes a backup, and removes all but the newest keep automatic ones beside it; 0: none.
func (a *cli) backup(ctx context.Context, c *config.Config, args []string, keep int, o admin.BackupOptions) (err error) {
	o.DataDir, o.Version = c.Data.Dir, app.Version
	where := ""
	if len(args) > 0 {
		where = args[0]
	} else {
		where = c.Backup.Place
	}
	if admin.IsPlace(where) {
		return a.backUpTo(ctx, c, where, keep, o)
	}
	if o.File, err = backupFile(c, args, keep > 0); err != nil {
		return err
	}
	report, end := a.progress("backup")
	o.Progress = report
	m, found, err := app.Backup(ctx, c, o)
	end()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "Wrote %s (%s).\n", o.File, m.CreatedAt.Format(time.RFC3339))
	if keep > 0 {
		removed, err := admin.KeepBackups(filepath.Dir(o.File), keepOf(c, keep))
		if err := a.printRemoved(removed, err); err != nil {
			return err
		}
	}
	return a.printDamage(found)
}

// keepOf returns which backups are kept: the newest ones, and what the settings say in addition.
func keepOf(c *config.Config, newest int) admin.Keep {
	k := admin.KeepOf(c)
	k.Newest = newest
	return k
}

func (a *cli) printRemoved(removed []string, err error) error {
	for _, name := range removed {
		fmt.Fprintf(a.out, "Removed the old backup %s.\n", name)
	}
	return err
}

// backUpTo is backup to a place.
func (a *cli) backUpTo(ctx context.Context, c *config.Config, where string, keep int, o admin.BackupOptions) error {
	place, name, err := admin.OpenBackupPlace(ctx, where, c.PlaceOptions())
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	defer place.Close()
	if name != "" && keep > 0 {
		return usage("with --keep, name a place, not a backup: %s", where)
	}
	o.Place, o.File = place, cmp.Or(name, admin.BackupName(time.Now(), keep > 0))
	report, end := a.progress("backup")
	o.Progress = report
	m, found, err := app.Backup(ctx, c, o)
	end()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "Wrote %s to %s (%s).\n", o.File, place, m.CreatedAt.Format(time.RFC3339))
	if keep > 0 {
		removed, err := place.Keep(ctx, keepOf(c, keep))
		if err := a.printRemoved(removed, err); err != nil {
			return err
		}
	}
	return a.printDamage(found)
}

// printDamage lists the uploads that are damaged or missing in a new backup.
func (a *cli) printDamage(found *admin.Verification) error {
	if found.Left == 0 {
		return nil
	}
	a.printFindings(found)
	return damage("the backup is complete, but uploads in it are damaged or missing: %d; an older backup may have them", found.Left)
}

// backupFile returns the path for a new backup. keeps: older ones are removed after it.
func backupFile(c *config.Config, args []string, keeps bool) (string, error) {
	name := admin.BackupName(time.Now(), keeps)
	if len(args) == 0 {
		dir := admin.BackupDir(c)
		if _, err := os.Stat(filepath.Join(c.Data.Dir, store.File)); err == nil {
			if err := disk.MakeFolder(dir); err != nil {
				return "", fmt.Errorf("backup: %w", err)
			}
		}
		return filepath.Join(dir, name), nil
	}
	if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
		return filepath.Join(args[0], name), nil
	}
	if keeps {
		return "", usage("with --keep, name a folder that exists, not a file: %s", args[0])
	}
	return args[0], nil
}

// scheduleBackups changes the settings of the scheduled backups in the database. Without settings there, the file is the operator's to change.
func (a *cli) scheduleBackups(cmd *cobra.Command, c *config.Config, every string, keep int, args []string) error {
	next := *c
	settings := []admin.NamedSetting{{Group: "backup", Key: "schedule", Value: every}}
	if cmd.Flags().Changed("keep") {
		settings = append(settings, admin.NamedSetting{Group: "backup", Key: "keep", Value: int64(keep)})
	}
	if len(args) > 0 && admin.IsPlace(args[0]) {
		return fmt.Errorf("a place is set in the settings file only: write place = %q under [backup] there", args[0])
	}
	if len(args) > 0 {
		dir, err := filepath.Abs(args[0])
		if err != nil {
			return fmt.Errorf("backup: %w", err)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return usage("with --every, name a folder that exists, not %s", args[0])
		}
		settings = append(settings, admin.NamedSetting{Group: "backup", Key: "dir", Value: dir})
	}
	for _, s := range settings {
		if err := next.Set(s.Group, s.Key, s.Value); err != nil {
			return usage("%v", err)
		}
	}
	if err := next.Validate(); err != nil {
		return usage("%v", err)
	}
	if !c.Instance.ConfigurableFromDatabase {
		return fmt.Errorf("the settings of this server are in its file: write schedule = %q, keep = %d and dir = %q under [backup] there, and restart the server",
			every, next.Backup.Keep, next.Backup.Dir)
	}
	for _, s := range settings {
		if _, err := perform(cmd.Context(), a, app.SetSetting, s); err != nil {
			return err
		}
	}
	if next.Backup.Schedule == 0 {
		fmt.Fprintln(a.out, "The server makes no more backups.")
		return nil
	}
	fmt.Fprintf(a.out, "The running server makes a backup every %s.\n", every)
	return nil
}
