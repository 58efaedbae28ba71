package doctor

import (
	"context"
	"strings"
	"time"

	"svc/internal/replica"
)

// Replica is the state of the continuous copy.
type Replica struct {
	replica.Status
	Running   bool      // the server, which copies
	Database  time.Time // when Litestream has last written to the place; zero: never
	Written   time.Time // when the database was last written
	Overruns  int64     // times that the log was emptied without a copy, since the start
	OverrunAt time.Time
	Rehearsed time.Time // zero: not yet
	Problem   string    // of that rehearsal; "": none
}

const (
	replicaWarning  = 5 * time.Minute // that the copy is behind
	replicaFailure  = time.Hour
	rehearsalExcess = 7 * 24 * time.Hour // that a rehearsal may be late
)

func checkReplica(ctx context.Context, d *doctor) Result {
	c := d.Settings.Replica
	if !c.Enabled {
		return ok("there is no continuous copy (replica.enabled)")
	}
	if d.Replica == nil {
		return notChecked("the data directory cannot be opened")
	}
	r, err := d.Replica(ctx)
	if err != nil {
		return failure("Check replica.place, its credentials and the network.", "the place of the continuous copy cannot be read: %v", err)
	}
	const litestream = "Start Litestream, or read its log; after a pause it copies the whole database again by itself (docs/operating.md, \"Continuous copies\")."
	now := d.Now()
	behind := r.Written.Sub(r.Database)
	lag := r.Lag(now)
	switch {
	case r.Database.IsZero():
		return failure(litestream, "Litestream has written nothing to db/ in %s", c.Place)
	case behind > replicaWarning && now.Sub(r.Database) > replicaWarning:
		return failure(litestream, "the copy of the database in %s is %s behind", c.Place, behind.Round(time.Second))
	case r.Overruns > 0 && now.Sub(r.OverrunAt) < 24*time.Hour:
		return failure(litestream, "no program took the log of the database, and it was emptied without a copy; times: %d, the last at %s", r.Overruns, r.OverrunAt.UTC().Format(time.RFC3339))
	case !r.Running:
		return ok("Litestream has last written to %s %s ago; the server, which copies files, does not run", c.Place, now.Sub(r.Database).Round(time.Second))
	case r.Unsealed != "":
		return failure("Check replica.passphrase_file and the place.", "keys and settings are not in %s: %s", c.Place, r.Unsealed)
	case r.Missing != "":
		return failure("Mount the disk, or restore the files from the copy; if they were deleted on purpose, delete them at the place, too.", "most files of a folder are gone, and stay at the copy: %s", r.Missing)
	case lag > replicaFailure && !r.Compared.IsZero():
		return failure("Check the place and the network.", "files that wait to be copied: %d, the oldest for %s; last error: %s", r.Pending, lag.Round(time.Second), orNone(r.Error))
	case r.Error != "", lag > replicaWarning && !r.Compared.IsZero():
		return warning("Check the place and the network.", "files that wait to be copied: %d, the oldest for %s; last success %s; last error: %s", r.Pending, lag.Round(time.Second), r.Success.UTC().Format(time.RFC3339), orNone(r.Error))
	case r.Compared.IsZero():
		return warning("Wait until the first copy is complete.", "the first comparison of files is under way; waiting: %d", r.Pending)
	case r.Skipped > 0:
		return warning("Rename files whose names are refused. Copy uploads that the disk has lost back from files/ at the place; svc media verify lists them.", "files that cannot be copied: %d: %s", r.Skipped, strings.Join(r.Examples, "; "))
	}
	return ok("the database in %s is %s behind, waiting files: %d, the last success was at %s", c.Place, max(0, behind).Round(time.Second), r.Pending, r.Success.UTC().Format(time.RFC3339))
}

func checkRehearsal(ctx context.Context, d *doctor) Result {
	c := d.Settings.Replica
	switch {
	case !c.Enabled:
		return ok("there is no continuous copy (replica.enabled)")
	case d.Replica == nil:
		return notChecked("the data directory cannot be opened")
	case c.Rehearsal == 0:
		return warning(`Set replica.rehearsal, such as "30d".`, "the restoration of the continuous copy is never rehearsed")
	}
	r, err := d.Replica(ctx)
	switch {
	case err != nil:
		return notChecked("the place of the continuous copy cannot be read")
	case r.Problem != "":
		return failure("Do what the problem asks for; the rehearsal is repeated within a day.", "the rehearsal at %s has failed: %s", r.Rehearsed.UTC().Format(time.RFC3339), r.Problem)
	case r.Rehearsed.IsZero():
		return ok("the first rehearsal is within a day after the copy was enabled")
	case d.Now().Sub(r.Rehearsed) > c.Rehearsal+rehearsalExcess:
		return warning("Read the log of the server, and check that it runs.", "the last rehearsal was at %s", r.Rehearsed.UTC().Format(time.RFC3339))
	}
	return ok("the rehearsal at %s restored an intact copy", r.Rehearsed.UTC().Format(time.RFC3339))
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
