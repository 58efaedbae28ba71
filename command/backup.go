package command

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/config"
)

func (a *cli) backupCommand() *cobra.Command {
	var noMedia bool
	cmd := &cobra.Command{
		Use:   "backup [FILE]",
		Short: "Back up the server to one file",
		Long: `Write the database, keys, settings, emoji, static files and uploads to one tar file. The server may run meanwhile; the
file has the state at the start of the backup.

FILE may be a directory. The default is backups/ in the data directory. Keep a copy on another machine. The file contains all
secrets of the server: keep it private.

A backup in the data directory is refused if it would exceed storage.limit or storage.min_free.`,
		Example: "  svc backup\n  svc backup /mnt/usb/\n  svc backup --no-media small.tar",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, settings, err := app.LoadSettings(a.configFile)
			if err != nil {
				return err
			}
			file, err := backupFile(c, args)
			if err != nil {
				return err
			}
			report, end := a.progress("backup")
			m, err := app.Backup(cmd.Context(), c, admin.BackupOptions{
				DataDir: c.Data.Dir, Settings: settings, File: file, NoMedia: noMedia, Version: app.Version, Progress: report,
			})
			end()
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Wrote %s (%s).\n", file, m.CreatedAt.Format(time.RFC3339))
			return nil
		},
	}
	cmd.Flags().BoolVar(&noMedia, "no-media", false, "omit uploads")
	return cmd
}

// backupFile returns the path for a new backup.
func backupFile(c *config.Config, args []string) (string, error) {
	name := "svc-" + time.Now().UTC().Format("20060102T150405Z") + ".tar"
	if len(args) == 0 {
		dir := filepath.Join(c.Data.Dir, "backups")
		if _, err := os.Stat(c.Data.Dir); err == nil {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return "", fmt.Errorf("backup: %w", err)
			}
		}
		return filepath.Join(dir, name), nil
	}
	if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
		return filepath.Join(args[0], name), nil
	}
	return args[0], nil
}
