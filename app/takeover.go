package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc/admin"
	"svc/internal/config"
	"svc/internal/text"
	"svc/moving"
	"svc/store"
)

// Takeover takes the data of another server over into the data directory of the settings, which must be empty, or counts them if dryRun is set. It goes on
// after a process that was killed. The report counts the rows that were taken over.
func Takeover(ctx context.Context, c *config.Config, o Options, source moving.Source, dryRun bool, progress func(step string, done, total int64)) (*moving.Report, error) {
	report, err := takeOver(ctx, c, o, source, dryRun, progress)
	if store.IsDiskFull(err) {
		return nil, fmt.Errorf("the disk with %s is full: make room and repeat the command, which goes on where it stopped (%w)", c.Data.Dir, err)
	}
	return report, err
}

func takeOver(ctx context.Context, c *config.Config, o Options, source moving.Source, dryRun bool, progress func(step string, done, total int64)) (*moving.Report, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	target := moving.Target{
		Dir: c.Data.Dir, BaseURL: c.URL().String(), Host: c.Host(), Extended: c.Accounts.ExtendedNicknameFormat,
		Reserved: append(text.ReservedNicknames(), append(c.Accounts.RestrictedNicknames, c.API.Name)...),
		Now:      o.Now, Progress: progress,
	}
	k, err := moving.Prepare(ctx, source, target, dryRun)
	if err != nil {
		return nil, err
	}
	if dryRun {
		return k.Report, k.Forget()
	}
	o.takeover = true
	s, err := New(ctx, c, o)
	if err != nil {
		return nil, errors.Join(err, k.Close())
	}
	k.Open(s.DB, s.Keys, s.Media, s.Emojis, s.Social, func(ctx context.Context, b moving.ServerBlock) error {
		_, _, err := s.Admin.AddDomainBlock(ctx, b.Domain, admin.DomainBlock{
			Severity: &b.Severity, RejectMedia: &b.RejectMedia, RejectReports: &b.RejectReports, Comment: &b.Comment, PrivateComment: &b.PrivateComment,
		})
		return err
	})
	err = k.Write(ctx)
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return k.Report, k.Forget()
}
