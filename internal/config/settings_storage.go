package config

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"svc/internal/objects"
	"svc/internal/release"
)

const (
	maxStorage = 1_000_000_000_000_000
	minStorage = 256 << 20

	minBackupSchedule = time.Minute
	minDoctorSchedule = time.Hour
	minRehearsal      = time.Hour
)

func (c *Config) storageSettings() section {
	return section{"storage", `Disk usage. Sizes are in bytes, or text such as "10GiB"; 0 is no limit.`, []Setting{
		{Key: "limit", field: size(&c.Storage.Limit, 0, 0, maxStorage, zeroOrMore(minStorage)),
			Description: `Maximum size of the data directory, for example "10GiB". When it is nearly reached, copies of remote media are deleted first, then old remote posts that nobody on this server has reacted to; then uploads, backups and emoji packs are refused. The last twentieth, at least 16 MiB, is kept for the database; posts of other servers are refused before it is used up.`},
		{Key: "min_free", field: size(&c.Storage.MinFree, 256<<20, 0, maxStorage),
			Description: `Free space to leave on the disk. Below it the server makes room and refuses files as above, before the disk is full.`},
		{Key: "ballast", field: size(&c.Storage.Ballast, 32<<20, 0, 1<<30),
			Description: `Size of a file without a use in the data directory. When the disk is full, the file is removed, so that there is room to delete something; it is made again later. With storage.limit it has at most 1/32 of that. 0: none.`},
		{Key: "uploads", field: size(&c.Storage.Uploads, 0, 0, maxStorage, zeroOrMore(1_000_000)),
			Description: `Maximum size of all uploads of local accounts: attachments, avatars, headers and their thumbnails.`},
		{Key: "emoji", field: size(&c.Storage.Emoji, 0, 0, maxStorage, zeroOrMore(1_000_000)),
			Description: `Maximum size of all emoji packs.`},
		{Key: "remote_posts", field: size(&c.Storage.RemotePosts, 0, 0, maxStorage, zeroOrMore(1_000_000)),
			Description: `Size of all remote posts in the database (an estimate) from which on old ones are deleted that nobody on this server has reacted to.`},
		{Key: "remote_posts_min_age", field: duration(&c.Storage.RemotePostsMinAge, 30*day, 0, maxDays*day),
			Description: `Remote posts that arrived later than this are never deleted to make room.`},
		{Key: "remote_posts_max_age", field: duration(&c.Storage.RemotePostsMaxAge, 0, 0, maxDays*day),
			Description: `Remote posts older than this are deleted even if there is room, unless a local account has reacted to them. "0s" keeps them.`},
	}}
}

// webhookAddress is webAddress, and takes the mask of output, so that masked settings are valid.
func webhookAddress(s string) error {
	if s == SecretMask {
		return nil
	}
	return webAddress(s)
}

func (c *Config) doctorSettings() section {
	return section{"doctor", "The checks of svc doctor, which the server makes by itself. What is new since the last time is in the log.", []Setting{
		{Key: "schedule", field: duration(&c.Doctor.Schedule, day, 0, 366*day, func(d time.Duration) error {
			if d > 0 && d < minDoctorSchedule {
				return fmt.Errorf("must be 0s, or at least %s", minDoctorSchedule)
			}
			return nil
		}), Description: `Time between two runs of all checks. "0s": none.`, Suggestions: []any{"24h", "7d"}},
		{Key: "mail", field: boolean(&c.Doctor.Mail, true),
			Description: "Mail to admins and moderators what has become worse or is well again, if the server sends mail."},
		{Key: "webhook", field: text(&c.Doctor.Webhook, "", optional(webhookAddress)), Secret: true,
			Description: "URL to which the same is sent by POST, as a JSON object with a text. It may be an address in a private network. Empty: none.",
			Suggestions: []any{"https://chat.example.org/hooks/svc"}},
	}}
}

func (c *Config) backupSettings() section {
	return section{"backup", "Backups of the whole server that it makes itself, as svc backup does.", []Setting{
		{Key: "schedule", field: duration(&c.Backup.Schedule, 0, 0, 366*day, func(d time.Duration) error {
			if d > 0 && d < minBackupSchedule {
				return fmt.Errorf("must be 0s, or at least %s", minBackupSchedule)
			}
			return nil
		}), Description: `Time between two backups. "0s": none. Copy them to another machine: a backup on the same disk is lost with it.`,
			Suggestions: []any{"24h", "7d"}},
		{Key: "keep", field: number(&c.Backup.Keep, 7, 1, 1000),
			Description: "How many of these backups are kept. The oldest is removed after a new one is complete. Backups that svc backup has made by hand are not counted."},
		{Key: "keep_daily", field: number(&c.Backup.KeepDaily, 0, 0, 1000),
			Description: "Of how many days the newest backup is kept in addition, by the clock of UTC. Days without a backup are not counted."},
		{Key: "keep_weekly", field: number(&c.Backup.KeepWeekly, 0, 0, 1000),
			Description: "Of how many weeks the newest backup is kept in addition. Weeks begin on Monday."},
		{Key: "keep_monthly", field: number(&c.Backup.KeepMonthly, 0, 0, 1000),
			Description: "Of how many months the newest backup is kept in addition."},
		{Key: "dir", field: text(&c.Backup.Dir, "", oneLine),
			Description: "Where they are written. Empty: backups/ in the data directory, where they count for storage.limit.",
			Suggestions: []any{"/mnt/backup"}},
		{Key: "place", field: text(&c.Backup.Place, "", optional(place)), Restart: true,
			Description: "A bucket of S3 or a folder of an SFTP server where they are written instead. The credentials are in s3 and sftp. A backup has all secrets of the server, and is not encrypted: nobody else may read the place.",
			Suggestions: []any{"s3://bucket/svc?endpoint=https://s3.example.org", "sftp://svc@backup.example.org/~/svc"}},
		{Key: "media", field: boolean(&c.Backup.Media, true),
			Description: "Include uploads and profile pictures in these backups, also those in media.bucket, of which all are transferred. Without them, back them up in another way."},
		{Key: "verify", field: boolean(&c.Backup.Verify, true),
			Description: "Read each of these backups again when it is complete, and check all that is in it. From a place this transfers the whole backup."},
	}}
}

// place is a location that is no folder of this machine.
func place(s string) error {
	l, err := objects.ParseLocation(s)
	if err == nil && l.Kind == objects.Folder {
		err = errors.New("must be s3://BUCKET/PREFIX or sftp://USER@HOST/PATH; a folder is backup.dir")
	}
	return err
}

func (c *Config) replicaSettings() section {
	return section{"replica", "A copy of the server at another place that follows within a second or so. Litestream runs beside the server and copies the database; the server copies its files. The copy has mail addresses, direct messages and hashes of tokens, and is not encrypted, except for keys and settings: nobody else may read the place (docs/operating.md).", []Setting{
		{Key: "enabled", field: boolean(&c.Replica.Enabled, false), Restart: true,
			Description: "Leave checkpoints of the database to Litestream, and copy files to the place as they are written."},
		{Key: "place", field: text(&c.Replica.Place, "", optional(anyPlace)), Restart: true,
			Description: "A bucket of S3, a folder of an SFTP server, or the absolute path of a folder on another disk. Litestream writes to db/ in it. The credentials are in s3 and sftp.",
			Suggestions: []any{"s3://bucket/svc?endpoint=https://s3.example.org", "sftp://svc@backup.example.org/~/svc", "/mnt/backup/svc"}},
		{Key: "passphrase_file", field: text(&c.Replica.PassphraseFile, "", oneLine), Restart: true,
			Description: "File with the passphrase that encrypts keys and settings at the place. Keep a copy of the passphrase on another machine: without it the server cannot be restored.",
			Suggestions: []any{"/etc/svc/replica-passphrase"}},
		{Key: "keep", field: duration(&c.Replica.Keep, 8*day, time.Hour, maxDays*day), Restart: true,
			Description: "How long files that were deleted stay at the place, so that they are there when an earlier state is restored: a day longer than the snapshots of Litestream.",
			Suggestions: []any{"8d", "31d"}},
		{Key: "rehearsal", field: duration(&c.Replica.Rehearsal, 30*day, 0, 366*day, func(d time.Duration) error {
			if d > 0 && d < minRehearsal {
				return fmt.Errorf("must be 0s, or at least %s", minRehearsal)
			}
			return nil
		}), Restart: true, Description: `Time between two rehearsals: the server restores the copy into a temporary folder in its data directory, verifies and removes it. "0s": none.`,
			Suggestions: []any{"30d", "7d"}},
	}}
}

// anyPlace is a location. A folder has an absolute path, because the folder in which the server runs says nothing.
func anyPlace(s string) error {
	l, err := objects.ParseLocation(s)
	if err == nil && l.Kind == objects.Folder && !filepath.IsAbs(l.Path) {
		err = errors.New("must be s3://BUCKET/PREFIX, sftp://USER@HOST/PATH or the absolute path of a folder")
	}
	return err
}

// bucket is the location of a bucket.
func bucket(s string) error {
	l, err := objects.ParseLocation(s)
	if err == nil && l.Kind != objects.S3 {
		err = errors.New("must be s3://BUCKET/PREFIX?endpoint=https://HOST")
	}
	return err
}

func (c *Config) s3Settings() section {
	return section{"s3", "Credentials for buckets of S3. Without them those of the environment are used: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the files that these names with _FILE name.", []Setting{
		{Key: "access_key", field: text(&c.S3.AccessKey, "", oneLine), Restart: true,
			Description: "Name of the key. It needs to list, read, write and delete objects of the bucket."},
		{Key: "secret_key", field: text(&c.S3.SecretKey, "", oneLine), Secret: true, Restart: true,
			Description: "The secret key itself."},
		{Key: "secret_key_file", field: text(&c.S3.SecretKeyFile, "", oneLine), Restart: true,
			Description: "File with the secret key, instead of secret_key.",
			Suggestions: []any{"/etc/svc/s3-secret"}},
	}}
}

func (c *Config) sftpSettings() section {
	return section{"sftp", "Credentials for SFTP servers. Of a server whose host key is not known nothing is accepted: add ?fingerprint=SHA256:… to the location, or the key to known_hosts.", []Setting{
		{Key: "key_file", field: text(&c.SFTP.KeyFile, "", oneLine), Restart: true,
			Description: "File with the private key, as ssh-keygen writes it, without a passphrase.",
			Suggestions: []any{"/etc/svc/backup-key"}},
		{Key: "password_file", field: text(&c.SFTP.PasswordFile, "", oneLine), Restart: true,
			Description: "File with the password, for servers that take no key."},
		{Key: "known_hosts", field: text(&c.SFTP.KnownHosts, "", oneLine), Restart: true,
			Description: "File with the host keys of servers, as OpenSSH writes it. Empty: .ssh/known_hosts in the home folder of the user that runs the server."},
	}}
}

// PlaceOptions returns the credentials for places.
func (c *Config) PlaceOptions() objects.Options {
	return objects.Options{
		AccessKey: c.S3.AccessKey, SecretKey: objects.Secret(c.S3.SecretKey), SecretKeyFile: c.S3.SecretKeyFile,
		KeyFile: c.SFTP.KeyFile, PasswordFile: c.SFTP.PasswordFile, KnownHosts: c.SFTP.KnownHosts,
	}
}

// MediaRedirectOrigin returns the scheme and host that media are redirected to, "" if they are not redirected.
func (c *Config) MediaRedirectOrigin() string {
	if !c.Media.Redirect {
		return ""
	}
	location, err := objects.ParseLocation(c.Media.Bucket)
	if err != nil {
		return ""
	}
	return location.Origin()
}

func (c *Config) updateSettings() section {
	return section{"updates", "New versions of this program, which \"svc update\" installs (docs/releases.md).", []Setting{
		{Key: "url", field: text(&c.Updates.URL, "", optional(releaseFolder)), Restart: true,
			Description: "Folder with the newest release: its release.json, the signature of that, and the files. An https address, or a path on this machine. Plain http is for private addresses only. Empty: there are no updates.",
			Suggestions: []any{"https://example.org/svc/latest", "/mnt/usb/svc"}},
		{Key: "public_key", field: text(&c.Updates.PublicKey, "", oneLine, optional(release.CheckKey)), Restart: true,
			Description: "Key that verifies releases: the second line of svc.pub, from a place that you trust. Empty: there are no updates."},
		{Key: "check", field: boolean(&c.Updates.Check, false),
			Description: "Look for a new version once a day, and show it to admins. The request says nothing about this server but its network address."},
	}}
}

// releaseFolder is the address or the path of a folder.
func releaseFolder(s string) error {
	u, err := url.Parse(s)
	if err == nil && (u.Scheme == "file" && u.Host == "" || u.Scheme == "") && filepath.IsAbs(u.Path) && u.RawQuery == "" && u.Fragment == "" {
		return oneLine(s)
	}
	if webAddress(s) != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf(`%q is not a folder such as "https://example.org/svc/latest" or "/mnt/usb/svc"`, s)
	}
	return nil
}
