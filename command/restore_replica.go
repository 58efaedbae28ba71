package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"svc/admin"
	"svc/app"
	"svc/internal/config"
	"svc/internal/replica"
	"svc/internal/text"
)

// listedFindings is how many missing files a restoration names.
const listedFindings = 20

// replicaRestore are the flags of restoring a continuous copy.
type replicaRestore struct {
	dataDir, at, passphraseFile string
	force, damaged              bool
}

// openReplica opens the continuous copy at the place of --from, nil if there is none.
func (a *cli) openReplica(ctx context.Context, args []string, from string) (*admin.Replica, error) {
	if from == "" || len(args) > 0 {
		return nil, nil
	}
	r, err := admin.OpenReplica(ctx, from, a.savedSettings().PlaceOptions())
	if errors.Is(err, admin.ErrNoReplica) || errors.Is(err, fs.ErrNotExist) {
		return nil, nil // backups, or an error that says so
	}
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	return r, nil
}

// savedSettings returns the settings for credentials. A new machine has none.
func (a *cli) savedSettings() *config.Config {
	c, _, err := app.LoadSettings(a.configFile)
	if err != nil {
		return config.Default()
	}
	return c
}

// restoreReplica restores a continuous copy.
func (a *cli) restoreReplica(ctx context.Context, r *admin.Replica, o replicaRestore) error {
	if o.damaged {
		return usage("--damaged is for backups: of a continuous copy, missing files are named and left out")
	}
	var at time.Time
	if o.at != "" {
		var err error
		if at, err = parseTime(o.at); err != nil {
			return usage("--at: %v", err)
		}
	}
	passphrase, err := a.passphrase(ctx, o.passphraseFile)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	secrets, err := r.Secrets(ctx, passphrase, at)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	saved := secrets[replica.SettingsName]
	c, moved, err := a.restoredSettings(saved, o.dataDir)
	if err != nil {
		return err
	}
	steps := a.steps()
	restored, err := r.Restore(ctx, admin.ReplicaOptions{DataDir: c.Data.Dir, Force: o.force, At: at, Secrets: secrets, Progress: steps.report})
	steps.end()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "Restored the continuous copy in %s to %s: the state of %s, with %s.\n", r, c.Data.Dir, restored.At.Format(time.RFC3339), text.Count(restored.Files, "file"))
	if restored.PreviousDir != "" {
		fmt.Fprintf(a.out, "The previous data are in %s.\n", restored.PreviousDir)
	}
	if restored.Found.Left > 0 {
		fmt.Fprintf(a.out, "Missing or damaged: %d.\n", restored.Found.Left)
		restored.PrintFindings(a.out, listedFindings)
	}
	written, err := a.restoreSettings(c, saved, moved)
	return errors.Join(err, a.giveToOwner(c.Data.Dir, written...))
}

// passphrase returns the passphrase of a file, else of the file that the settings name, else asks for it.
func (a *cli) passphrase(ctx context.Context, file string) (string, error) {
	if file == "" {
		file = a.savedSettings().Replica.PassphraseFile
		if _, err := os.Stat(cmp.Or(file, "/nonexistent")); err != nil {
			return a.askOnce(ctx, "Passphrase of the copy")
		}
	}
	return replica.ReadPassphrase(file)
}
