package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/internal/release"
	"svc/internal/update"
)

// updateCheck is the answer of svc update --check --json.
type updateCheck struct {
	Version   string `json:"version"`   // of this program
	Newest    string `json:"newest"`    // of the release
	Available bool   `json:"available"` // the release is newer
}

func (a *cli) updateCommand() *cobra.Command {
	var o update.Options
	var check, asJSON bool
	var key string
	cmd := &cobra.Command{
		Use:   "update",
		Short: "Replace this program by the newest release",
		Long: `Replace this program by the release in the folder of updates.url, whose signature updates.public_key verifies. Both are read from the settings
file only. If others can change that file, such as the user of the server, root must name the key with --public-key.

Run it as the owner of the binary. It refuses to replace a binary that a package owns, or one in a container. Commands on the data run as their owner.

It downloads the binary, checks that it runs, makes a backup, renames the binary to svc.old and the new one to its name, restarts the server, and waits
until that works. If it does not work, the old binary comes back by itself, and the backup too if the new version has changed the database. For such a
version the server is stopped during the backup; otherwise it runs.

Without --restart, the server is restarted if systemd runs it as svc.service with this binary; one that was started in another way is not restarted. The
exit code is 0 if the new version is installed, or if there is none.`,
		Example: "  svc update --check\n  sudo svc update --config /var/lib/svc/config.toml --public-key /etc/svc.pub\n  svc update --restart \"rc-service svc restart\" --stop \"rc-service svc stop\"",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case asJSON && !check:
				return usage("--json is for --check")
			case o.Stop != "" && o.Restart == "":
				return usage("--stop needs --restart")
			case o.Wait < 0:
				return usage("--wait must not be negative")
			}
			if err := a.completeUpdate(&o, key, !check); err != nil {
				return err
			}
			if check {
				return a.checkUpdate(cmd.Context(), o, asJSON)
			}
			// A terminal that goes away must not end the update half-way. Commands that it runs get the signals as usual.
			signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGPIPE)
			return update.Run(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&check, "check", false, "only print this version and the newest one")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.StringVar(&key, "public-key", "", "`KEY` of releases, or a file with it (default: updates.public_key)")
	f.BoolVar(&o.AllowDowngrade, "allow-downgrade", false, "install an older version, if it can use the database")
	f.BoolVar(&o.NoBackup, "no-backup", false, "make no backup: if the new version changes the database, there is no way back")
	f.BoolVar(&o.InContainer, "in-container", false, "update inside of a container")
	f.StringVar(&o.Restart, "restart", "", "`COMMAND` that restarts the server, for sh")
	f.StringVar(&o.Stop, "stop", "", "`COMMAND` that stops the server, for sh")
	f.DurationVar(&o.Wait, "wait", 0, "how long the new version may take until it works: 90s, 30m (default 1m, or 10m if it changes the database)")
	return cmd
}

// completeUpdate adds what the settings say, and the key of the flag. installs: the key of a settings file that others can change is refused.
func (a *cli) completeUpdate(o *update.Options, key string, installs bool) error {
	c, file, err := app.LoadSettings(a.configFile)
	if err != nil {
		return err
	}
	if file != "" { // commands that the update runs may be in another folder
		if file, err = filepath.Abs(file); err != nil {
			return err
		}
	}
	known := app.UpdateOptions(c, file)
	o.SettingsFile, o.DataDir, o.Database, o.URL, o.Key = known.SettingsFile, known.DataDir, known.Database, known.URL, known.Key
	o.Version, o.Schema, o.Running = known.Version, known.Schema, known.Running
	o.Say = func(format string, args ...any) { fmt.Fprintf(a.out, format+"\n", args...) }
	if key != "" {
		if o.Key, err = readKey(key); err != nil {
			return err
		}
	}
	if o.URL == "" || o.Key == "" {
		return update.ErrOff
	}
	if installs && key == "" {
		if err := update.TrustedFile(file); err != nil {
			return err
		}
	}
	if o.Binary, err = os.Executable(); err != nil {
		return err
	}
	o.Binary, err = filepath.EvalSymlinks(o.Binary)
	return err
}

// readKey returns a public key that is in a file, or that is the argument itself.
func readKey(key string) (string, error) {
	text, err := os.ReadFile(key)
	switch {
	case err == nil:
		key = string(text)
	case !errors.Is(err, fs.ErrNotExist) || strings.ContainsRune(key, os.PathSeparator) && release.CheckKey(key) != nil:
		return "", fmt.Errorf("--public-key: %w", err)
	}
	if err := release.CheckKey(key); err != nil {
		return "", usage("--public-key: %v", err)
	}
	return key, nil
}

// checkUpdate prints the version of the program and that of the release.
func (a *cli) checkUpdate(ctx context.Context, o update.Options, asJSON bool) error {
	folder, err := update.Open(o.URL)
	if err != nil {
		return err
	}
	m, err := folder.Manifest(ctx, o.Key)
	if err != nil {
		return err
	}
	check := updateCheck{o.Version, m.Version, release.Compare(m.Version, o.Version) > 0}
	if asJSON {
		return a.printJSON(check)
	}
	fmt.Fprintf(a.out, "This is svc %s, the newest release is %s.\n", check.Version, check.Newest)
	return nil
}
