package admin

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestKeep checks which automatic backups are removed.
func TestKeep(t *testing.T) {
	hourly := func(from string, n int, every time.Duration) (list []PlacedBackup) {
		at, err := time.Parse(time.RFC3339, from)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			made := at.Add(time.Duration(i) * every)
			list = append(list, PlacedBackup{Name: BackupName(made, true), Time: made})
		}
		return list
	}
	byHand := PlacedBackup{Name: "svc-20200101T000000Z.tar", Time: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)}
	names := func(times ...string) (list []string) {
		for _, at := range times {
			list = append(list, autoBackupPrefix+at+backupSuffix)
		}
		return list
	}
	for _, tt := range []struct {
		name string
		keep Keep
		list []PlacedBackup
		want []string // that are kept
	}{
		{"the newest", Keep{Newest: 2}, hourly("2030-01-01T00:00:00Z", 4, time.Hour), names("20300101T020000Z", "20300101T030000Z")},
		{"none asked for", Keep{}, hourly("2030-01-01T00:00:00Z", 4, time.Hour), names("20300101T030000Z")},
		{"more than there are", Keep{Newest: 9, Daily: 9}, hourly("2030-01-01T00:00:00Z", 2, time.Hour), names("20300101T000000Z", "20300101T010000Z")},
		{"days", Keep{Newest: 1, Daily: 3}, hourly("2030-01-01T00:00:00Z", 8, 12*time.Hour), names("20300102T120000Z", "20300103T120000Z", "20300104T120000Z")},
		{"days without a backup", Keep{Newest: 1, Daily: 2}, hourly("2030-01-01T00:00:00Z", 3, 72*time.Hour), names("20300104T000000Z", "20300107T000000Z")},
		{"weeks, which begin on Monday", Keep{Newest: 1, Weekly: 2}, hourly("2030-01-05T00:00:00Z", 4, 24*time.Hour), names("20300106T000000Z", "20300108T000000Z")},
		{"months", Keep{Newest: 1, Monthly: 3}, hourly("2030-01-30T00:00:00Z", 5, 24*time.Hour), names("20300131T000000Z", "20300203T000000Z")},
		{"by hand", Keep{Newest: 1}, append([]PlacedBackup{byHand}, hourly("2030-01-01T00:00:00Z", 2, time.Hour)...), append([]string{byHand.Name}, names("20300101T010000Z")...)},
		{"none", Keep{Newest: 3, Daily: 3, Weekly: 3, Monthly: 3}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			surplus := tt.keep.surplus(tt.list)
			var kept []string
			for _, b := range tt.list {
				if !slices.Contains(surplus, b.Name) {
					kept = append(kept, b.Name)
				}
			}
			if fmt.Sprint(kept) != fmt.Sprint(tt.want) {
				t.Errorf("kept are %q, want %q", kept, tt.want)
			}
			if !slices.IsSorted(surplus) {
				t.Errorf("not the oldest first: %q", surplus)
			}
		})
	}
}

// TestSplitBackup checks what the location of a backup is taken for.
func TestSplitBackup(t *testing.T) {
	for where, want := range map[string][2]string{
		"s3://bucket":                         {"s3://bucket", ""},
		"s3://bucket/a/b":                     {"s3://bucket/a/b", ""},
		"s3://bucket/a/svc-1.tar":             {"s3://bucket/a", "svc-1.tar"},
		"s3://bucket/svc-1.tar?endpoint=http": {"s3://bucket?endpoint=http", "svc-1.tar"},
		"sftp://u@host/~/x/svc-1.tar":         {"sftp://u@host/~/x", "svc-1.tar"},
		"/mnt/backup":                         {"/mnt/backup", ""},
		"/mnt/backup/svc-1.tar":               {"/mnt/backup", "svc-1.tar"},
		"svc-1.tar":                           {".", "svc-1.tar"},
	} {
		if place, name := splitBackup(where); place != want[0] || name != want[1] {
			t.Errorf("%s is %q and %q, want %q", where, place, name, want)
		}
	}
}
