package app

import (
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"svc/admin"
	"svc/federation"
	"svc/internal/config"
	"svc/internal/doctor"
	"svc/internal/keys"
	"svc/server"
	"svc/server/web/mail"
	"svc/store"
)

// DoctorOptions are what the operator asks svc doctor for.
type DoctorOptions struct {
	ClockURL string `json:"clock_url"` // "": the public address
}

var runDoctor = newCall("doctor", func(s *Server, ctx context.Context, o DoctorOptions) (*doctor.Report, error) {
	c := s.DoctorConfig()
	c.ClockURL = o.ClockURL
	return doctor.Run(ctx, c), nil
})

// examine runs all checks for the admin API.
func (s *Server) examine(ctx context.Context) *doctor.Report {
	return doctor.Run(ctx, s.DoctorConfig())
}

// Examine runs all checks in the running server, or in this process if none runs. If the data directory cannot be opened, the report says
// so, and has the checks that do not need it.
func Examine(ctx context.Context, c *config.Config, o Options, args DoctorOptions) *doctor.Report {
	report, err := runDoctor.Do(ctx, c, o, args)
	if err == nil {
		return report
	}
	without := doctor.Config{
		Settings: c, ClockURL: args.ClockURL, Closed: err, CheckMail: mailCheck(c),
		Sign: func(context.Context, *http.Request, []byte) error {
			return errors.New("the data directory cannot be opened")
		},
		Backups: func(ctx context.Context) (*doctor.Backups, error) { return backups(ctx, c) },
	}
	if errors.Is(err, store.ErrNewerDatabase) || errors.Is(err, store.ErrOtherSchema) {
		without.Unusable = err
	}
	if lost := new(lostKeysError); errors.As(err, &lost) {
		without.LostKeys = err
	}
	return doctor.Run(ctx, without)
}

// DoctorConfig returns what svc doctor looks at.
func (s *Server) DoctorConfig() doctor.Config {
	c := s.Live.Load()
	config := doctor.Config{
		Settings: c, Now: s.DB.Now, Secret: server.DoctorSecret(s.Keys), CheckKeys: s.checkKeys, Condition: s.whyUnwritable, QuickCheck: s.DB.QuickCheck, CheckMail: mailCheck(c),
		Backups: s.backups, Replica: s.replicaReport, Parked: s.parked,
	}
	if s.bucket != nil {
		config.Bucket = s.bucket.Check
	}
	if c.Replica.Enabled {
		config.Lease = s.leaseState
	}
	if c.Federation.Enabled {
		config.Sign = s.Federation.Operator.SignOwn
	}
	return config
}

// whyUnwritable returns why nothing is stored, nil if something is.
func (s *Server) whyUnwritable() error {
	if c := s.DB.Condition(); c.State != store.Writable {
		return fmt.Errorf("%s (%s)", c.Message, c.Cause)
	}
	return nil
}

// newestBackup returns the path of the newest backup in the folder of backups, "" if there is none. Of a place it returns what names it on a command line.
func newestBackup(c *config.Config) string {
	if c.Backup.Place != "" {
		return "--from '" + c.Backup.Place + "'"
	}
	b, err := backups(context.Background(), c)
	if err != nil || b.File == "" {
		return ""
	}
	return filepath.Join(b.Dir, b.File)
}

// checkKeys compares the keys on disk with those that the server uses, and with the database.
func (s *Server) checkKeys(ctx context.Context) error {
	dir := s.dataPath("keys")
	stored, err := keys.Read(dir)
	switch {
	case err != nil:
		return err
	case !hmac.Equal(server.DoctorSecret(stored), server.DoctorSecret(s.Keys)) || stored.VAPIDPublic() != s.Keys.VAPIDPublic():
		return errors.New("the keys on disk are not those with which the server was started")
	}
	if err := s.Federation.Operator.CheckKey(ctx); err != nil {
		return fmt.Errorf("the keys are not those of the database: %w", err)
	}
	return nil
}

// parked counts the parked jobs and deliveries.
func (s *Server) parked(ctx context.Context) (*doctor.Parked, error) {
	p := new(doctor.Parked)
	jobs, err := s.DB.JobCounts(ctx)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		p.Jobs += j.Parked
	}
	queue, err := s.Federation.Operator.QueueStatus(ctx, federation.QueueQuery{})
	if err != nil {
		return nil, err
	}
	for _, h := range queue.Hosts {
		if h.Parked > 0 {
			p.Deliveries += h.Parked
			p.Hosts++
		}
	}
	return p, nil
}

// backups returns the backups in the folder of the server, and the problem of the scheduled ones.
func (s *Server) backups(ctx context.Context) (*doctor.Backups, error) {
	b, err := backups(ctx, s.Live.Load())
	if err != nil {
		return nil, err
	}
	status, err := s.Admin.BackupStatus(ctx)
	if err == nil && status != nil {
		b.Problem = status.Problem
	}
	return b, err
}

// backups returns the backups of the server in their folder or at their place.
func backups(ctx context.Context, c *config.Config) (*doctor.Backups, error) {
	if c.Backup.Place != "" {
		return placedBackups(ctx, c)
	}
	b := &doctor.Backups{Dir: admin.BackupDir(c)}
	entries, err := os.ReadDir(b.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || filepath.Ext(e.Name()) != ".tar" {
			continue
		}
		if b.Count++; info.ModTime().After(b.Newest) {
			b.Newest, b.File = info.ModTime(), e.Name()
		}
	}
	return b, err
}

func placedBackups(ctx context.Context, c *config.Config) (*doctor.Backups, error) {
	o := c.PlaceOptions()
	o.NoCreate = true
	place, _, err := admin.OpenBackupPlace(ctx, c.Backup.Place, o)
	if errors.Is(err, fs.ErrNotExist) {
		return &doctor.Backups{Dir: c.Backup.Place}, nil
	}
	if err != nil {
		return nil, err
	}
	defer place.Close()
	list, err := place.List(ctx)
	b := &doctor.Backups{Dir: place.String(), Count: len(list)}
	if len(list) > 0 {
		newest := list[len(list)-1]
		b.File, b.Newest = newest.Name, newest.Time
	}
	return b, err
}

// mailCheck returns the check of the mail server, nil if mail does not use one.
func mailCheck(c *config.Config) func(context.Context) error {
	if c.Mail.Adapter != config.MailSMTP {
		return nil
	}
	return func(ctx context.Context) error { return mail.CheckServer(ctx, c) }
}
