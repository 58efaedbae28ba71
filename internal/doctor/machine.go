package doctor

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"svc/internal/disk"
	"svc/internal/text"
	"svc/internal/toolchain"
)

// Bounds of the checks of this machine.
const (
	diskFailure     = 200 << 20 // bytes free
	diskWarning     = 2 << 30
	walWarning      = 256 << 20
	walFailure      = 2 << 30
	backupWarning   = 8 * 24 * time.Hour
	openFailure     = 512
	openWarning     = 4096
	databaseFile    = "svc.db"
	diskTestContent = "svc doctor"
)

func checkMail(ctx context.Context, d *doctor) Result {
	c := d.Settings
	switch {
	case !c.Mail.Enabled && c.Instance.AccountActivationRequired:
		return failure("Set up mail, or turn off instance.account_activation_required.", "mail is off, but new accounts need to confirm their address")
	case !c.Mail.Enabled:
		return warning("Set up mail, so that users can reset their passwords; see docs/mail.md.", "mail is off")
	case d.CheckMail == nil:
		return ok("mail is written to files")
	}
	if err := d.CheckMail(ctx); err != nil {
		return failure("Check the settings of [mail], then run svc mail test ADDRESS.", "%v", err)
	}
	return ok("the mail server %s accepts the connection and the password", c.Mail.Host)
}

func diskSpace(dir string) (free, total uint64, err error) {
	var s syscall.Statfs_t
	err = syscall.Statfs(dir, &s)
	return uint64(max(0, s.Bavail)) * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), err // FreeBSD: negative below the reserve
}

func checkDisk(_ context.Context, d *doctor) Result {
	const advice = "Delete files that you do not need, or set storage.limit; svc media usage shows the sizes."
	dir := d.Settings.Data.Dir
	free, total, err := d.Disk(dir)
	if err != nil {
		return failure("", "the disk of %s: %v", dir, err)
	}
	least := max(diskFailure, uint64(d.Settings.Storage.MinFree))
	if free < least {
		return failure(advice, "%d of %d MiB are free on the disk of %s, less than %d", free>>20, total>>20, dir, least>>20)
	}
	file, err := disk.CreateTemp(dir, ".doctor-")
	if err == nil {
		_, err = file.WriteString(diskTestContent)
		err = errors.Join(err, file.Sync(), file.Close(), disk.Remove(file.Name()))
	}
	switch {
	case err != nil:
		return failure("Check the disk and the owner of the data directory.", "a file in %s could not be written: %v", dir, err)
	case free < diskWarning:
		return warning(advice, "%d of %d MiB are free on the disk of %s", free>>20, total>>20, dir)
	}
	return ok("%d of %d MiB are free on the disk of %s", free>>20, total>>20, dir)
}

func checkDatabase(ctx context.Context, d *doctor) Result {
	if d.Unusable != nil {
		return failure("", "%v", d.Unusable)
	}
	if d.LostKeys != nil {
		return notChecked("the keys are not those of the database")
	}
	if d.Closed != nil {
		return failure("Run this as the user of the server. Check the disk, and the owner of the data directory; restore the newest backup if it is damaged.", "the data directory cannot be opened: %v", d.Closed)
	}
	if err := d.Condition(); err != nil {
		return failure("See docs/operating.md, \"When the disk or the database fails\".", "nothing is stored: %v", err)
	}
	problem, err := d.QuickCheck(ctx)
	switch {
	case ctx.Err() != nil:
		return warning("Run svc verify, which takes its time.", "not checked to the end: the database is large")
	case err != nil:
		return failure("Check the disk; restore the newest backup if it is damaged.", "the database could not be read: %v", err)
	case problem != "":
		return failure("Stop the server, copy the data directory, and restore the newest backup.", "the database is damaged: %s", problem)
	}
	return ok("the database is intact")
}

func checkWAL(_ context.Context, d *doctor) Result {
	info, err := os.Stat(filepath.Join(d.Settings.Data.Dir, databaseFile+"-wal"))
	if errors.Is(err, fs.ErrNotExist) {
		return ok("the database has no log")
	}
	if err != nil {
		return failure("", "the log of the database: %v", err)
	}
	const advice = "Look for a program that has the database open, such as a backup, and restart the server."
	switch size := info.Size(); {
	case size > walFailure:
		return failure(advice, "the log of the database has %d MiB", size>>20)
	case size > walWarning:
		return warning(advice, "the log of the database has %d MiB", size>>20)
	default:
		return ok("the log of the database has %d KiB", size>>10)
	}
}

func checkKeys(ctx context.Context, d *doctor) Result {
	if d.Unusable != nil {
		return notChecked("another version of svc has written the database")
	}
	if d.LostKeys != nil {
		return failure("Do not delete the files that are left.", "%v", d.LostKeys)
	}
	if d.Closed != nil {
		return notChecked("the data directory cannot be opened")
	}
	if err := d.CheckKeys(ctx); err != nil {
		return failure("Restore the folder keys/ from the newest backup. Do not delete it: a new key cannot read what the old one has encrypted.", "%v", err)
	}
	dir := filepath.Join(d.Settings.Data.Dir, "keys")
	if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o077 != 0 {
		return warning("Run chmod 700 "+dir+".", "the keys are intact, but other users of this machine can list %s", dir)
	}
	return ok("the keys are those of the database")
}

func checkBackups(ctx context.Context, d *doctor) Result {
	advice := "Set backup.schedule (svc backup --every 24h), and copy the files to another machine."
	schedule := d.Settings.Backup.Schedule
	if schedule > 0 {
		advice = "Read the log of the server, and check that it runs."
	}
	b, err := d.Backups(ctx)
	if err != nil {
		return failure("Check the folder and its owner.", "the backups could not be listed: %v", err)
	}
	switch age := d.Now().Sub(b.Newest); {
	case b.Problem != "":
		return failure("Make room, or check the disk and the owner of "+b.Dir+"; then run svc backup.", "the last scheduled backup: %s", b.Problem)
	case b.Count == 0:
		return warning(advice, "there is no backup in %s", b.Dir)
	case age > max(backupWarning, 2*schedule), schedule > 0 && age > 2*schedule+time.Hour:
		return warning(advice, "the newest of %d backups in %s is %d hours old", b.Count, b.Dir, int(age.Hours()))
	default:
		return ok("the newest of %d backups in %s is %d hours old", b.Count, b.Dir, int(age.Hours()))
	}
}

// checkBucket checks that the bucket of media answers, and that clients can and may be redirected to it.
func checkBucket(ctx context.Context, d *doctor) Result {
	if d.Settings.Media.Bucket == "" {
		return ok("media are on the disk of the server (media.storage)")
	}
	if d.Bucket == nil {
		return notChecked("the bucket of media cannot be opened")
	}
	if err := d.Bucket(ctx); err != nil {
		return failure("Check media.bucket, the credentials of s3 and the server of the bucket. Until then uploads and media of the bucket are refused.", "the bucket of media cannot be read: %v", err)
	}
	origin, err := url.Parse(d.Settings.MediaRedirectOrigin())
	switch {
	case err != nil || origin.Host == "":
		return ok("the bucket of media answers")
	case origin.Scheme != "https":
		return warning("Use an endpoint with https, or turn media.redirect off.", "clients are redirected to %s, which is not encrypted, and pages of https do not load it", origin)
	case isLocalName(origin.Hostname()):
		return warning("Use an endpoint that clients can reach, or turn media.redirect off.", "clients are redirected to %s, which they cannot reach", origin)
	}
	return ok("the bucket of media answers; clients are redirected to %s: nothing else may be served under this host", origin.Host)
}

func checkParked(ctx context.Context, d *doctor) Result {
	if d.Parked == nil {
		return notChecked("the data directory cannot be opened")
	}
	p, err := d.Parked(ctx)
	switch {
	case err != nil:
		return notChecked(err.Error())
	case p.Jobs > 0 && p.Deliveries > 0:
		return warning("Look at svc job list and svc federation deliveries --failed; retry or drop them.",
			"parked after the last attempt: %s, %s to %s", text.Count(p.Jobs, "job"), text.Count(p.Deliveries, "delivery"), text.Count(p.Hosts, "server"))
	case p.Jobs > 0:
		return warning("Look at svc job list; svc job retry runs them again.", "parked after the last attempt: %s", text.Count(p.Jobs, "job"))
	case p.Deliveries > 0:
		return warning("Look at svc federation deliveries --failed; svc federation retry tries again.", "parked after the last attempt: %s to %s", text.Count(p.Deliveries, "delivery"), text.Count(p.Hosts, "server"))
	}
	return ok("no job and no delivery is parked")
}

func checkLease(ctx context.Context, d *doctor) Result {
	if d.Lease == nil {
		if d.Settings.Replica.Enabled {
			return notChecked("the data directory cannot be opened")
		}
		return ok("no replica is set up, so that no other server takes over")
	}
	seen, problem, err := d.Lease(ctx)
	switch {
	case err != nil:
		return warning("Check replica.place, and that this machine reaches it.", "the lease cannot be read: %v", err)
	case problem != "":
		return warning("Check that this machine reaches the place. The server goes on, and does not notice if another one takes over; see docs/operating.md.", "%s", problem)
	}
	return ok("%s", seen)
}

func maxOpenFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return uint64(limit.Cur) // FreeBSD: signed
}

func checkOpenFiles(_ context.Context, d *doctor) Result {
	const advice = "Raise the limit (LimitNOFILE=65536 in the systemd unit)."
	switch n := d.MaxOpen(); {
	case n < openFailure:
		return failure(advice, "the process may open %d files and connections", n)
	case n < openWarning:
		return warning(advice, "the process may open %d files and connections: deliveries to many servers take longer", n)
	default:
		return ok("the process may open %d files and connections", n)
	}
}

func checkGo(_ context.Context, d *doctor) Result {
	if text := toolchain.Warning(d.GoVersion); text != "" {
		return warning(toolchain.Advice, "the program is %s", text)
	}
	return ok("the program is built with %s", d.GoVersion)
}
