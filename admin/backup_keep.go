package admin

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"svc/internal/config"
	"svc/internal/disk"
)

// Keep says which automatic backups are kept: the newest ones, and of the others the newest of each day, week and month that is younger than so many of
// those that have a backup.
type Keep struct {
	Newest, Daily, Weekly, Monthly int
}

// KeepOf returns what the settings say.
func KeepOf(c *config.Config) Keep {
	return Keep{c.Backup.Keep, c.Backup.KeepDaily, c.Backup.KeepWeekly, c.Backup.KeepMonthly}
}

// surplus returns the names of the automatic backups that are not kept, of a list in order of time. At least the newest one is kept.
func (k Keep) surplus(list []PlacedBackup) (names []string) {
	list = slices.DeleteFunc(slices.Clone(list), func(b PlacedBackup) bool { return !strings.HasPrefix(b.Name, autoBackupPrefix) })
	slices.Reverse(list)
	kept := make(map[string]bool)
	for _, rule := range []struct {
		n      int
		period func(time.Time) string
	}{
		{max(1, k.Newest), func(t time.Time) string { return t.Format(backupTime) }},
		{k.Daily, func(t time.Time) string { return t.Format(time.DateOnly) }},
		{k.Weekly, func(t time.Time) string {
			year, week := t.ISOWeek()
			return fmt.Sprint(year, " ", week)
		}},
		{k.Monthly, func(t time.Time) string { return t.Format("2006-01") }},
	} {
		seen := make(map[string]bool)
		for _, b := range list {
			if p := rule.period(b.Time); !seen[p] && len(seen) < rule.n {
				seen[p], kept[b.Name] = true, true
			}
		}
	}
	for _, b := range list {
		if !kept[b.Name] {
			names = append(names, b.Name)
		}
	}
	slices.Reverse(names) // the oldest first, so that an error leaves the newer ones
	return names
}

// parseBackupName returns when a backup was made, and whether the server has made it by itself. ok is false for other names.
func parseBackupName(name string) (at time.Time, auto, ok bool) {
	text, isTar := strings.CutSuffix(name, backupSuffix)
	text, auto = strings.CutPrefix(text, autoBackupPrefix)
	named := auto
	if !auto {
		text, named = strings.CutPrefix(text, backupPrefix)
	}
	at, err := time.Parse(backupTime, text)
	return at, auto, isTar && named && err == nil
}

// sortBackups sorts by time.
func sortBackups(list []PlacedBackup) {
	slices.SortFunc(list, func(a, b PlacedBackup) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Name, b.Name)) })
}

// KeepBackups removes the automatic backups in a folder that are not kept, and returns the names of the removed ones.
func KeepBackups(dir string, k Keep) (removed []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("old backups: %w", err)
	}
	var list []PlacedBackup
	for _, e := range entries {
		if at, _, ok := parseBackupName(e.Name()); ok && e.Type().IsRegular() {
			list = append(list, PlacedBackup{Name: e.Name(), Time: at})
		}
	}
	sortBackups(list)
	for _, name := range k.surplus(list) {
		if err := disk.Remove(filepath.Join(dir, name)); err != nil {
			return removed, fmt.Errorf("old backups: %w", err)
		}
		removed = append(removed, name)
	}
	return removed, nil
}
