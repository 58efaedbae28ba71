package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"svc/admin"
	"svc/emoji"
	"svc/federation"
	"svc/internal/config"
	"svc/internal/control"
	"svc/internal/keys"
	"svc/media"
	"svc/social"
	"svc/store"
)

// services are where the work of commands is done.
type services struct {
	admin      *admin.Service
	federation *federation.Service
}

// work is what a command has done, by the running server or here.
type work[A, R any] interface {
	called() string
	in(*services, context.Context, A) (R, error)
}

// deed is something that package admin does with accounts, under the name by which a running server is asked for it.
type deed[A, R any] struct {
	name string
	do   func(*admin.Service, context.Context, A) (R, error)
}

func (d deed[A, R]) called() string { return d.name }

func (d deed[A, R]) in(r *services, ctx context.Context, args A) (R, error) {
	return d.do(r.admin, ctx, args)
}

// dealing is likewise something that package federation does.
type dealing[A, R any] struct {
	name string
	do   func(*federation.Service, context.Context, A) (R, error)
}

func (d dealing[A, R]) called() string { return d.name }

func (d dealing[A, R]) in(r *services, ctx context.Context, args A) (R, error) {
	return d.do(r.federation, ctx, args)
}

var (
	createUser     = deed[admin.NewUser, *admin.CreatedUser]{"create user", (*admin.Service).CreateUser}
	resetPassword  = deed[admin.PasswordReset, *admin.ResetLink]{"reset password", (*admin.Service).ResetPassword}
	listUsers      = deed[admin.UserPage, []*admin.User]{"list users", (*admin.Service).Users}
	showUser       = deed[string, *admin.User]{"show user", (*admin.Service).ShowUser}
	setUser        = deed[admin.UserUpdate, *admin.User]{"set user", (*admin.Service).UpdateUser}
	confirmUser    = deed[string, *admin.ChangedUser]{"confirm user", (*admin.Service).ConfirmUser}
	approveUser    = deed[string, *admin.ChangedUser]{"approve user", (*admin.Service).ApproveUser}
	activateUser   = deed[string, *admin.ChangedUser]{"activate user", (*admin.Service).ActivateUser}
	deactivateUser = deed[string, *admin.ChangedUser]{"deactivate user", (*admin.Service).DeactivateUser}
	rebuildHome    = deed[string, *admin.ChangedUser]{"rebuild home", (*admin.Service).RebuildHome}
	announce       = deed[admin.Announcement, *admin.Announcement]{"announce", (*admin.Service).CreateAnnouncement}
	announcements  = deed[struct{}, []*admin.Announcement]{"list announcements", (*admin.Service).Announcements}
	unannounce     = deed[string, *admin.Announcement]{"delete announcement", (*admin.Service).DeleteAnnouncement}
	resetMFA       = deed[string, *admin.ChangedUser]{"reset MFA", (*admin.Service).ResetMFA}
	deleteUser     = deed[string, *admin.User]{"delete user", (*admin.Service).DeleteUser}
)

// commands are what the server does when a command asks for it.
func commands(s *services) control.Commands {
	list := make(control.Commands)
	offer(list, s, createUser)
	offer(list, s, resetPassword)
	offer(list, s, listUsers)
	offer(list, s, showUser)
	offer(list, s, setUser)
	offer(list, s, confirmUser)
	offer(list, s, approveUser)
	offer(list, s, activateUser)
	offer(list, s, deactivateUser)
	offer(list, s, rebuildHome)
	offer(list, s, deleteUser)
	offer(list, s, resetMFA)
	offer(list, s, announce)
	offer(list, s, announcements)
	offer(list, s, unannounce)
	offerFederation(list, s)
	return list
}

func offer[A, R any](list control.Commands, s *services, w work[A, R]) {
	list[w.called()] = control.Command(func(ctx context.Context, args A) (R, error) { return w.in(s, ctx, args) })
}

// lockWait is how long a command waits for a server that is starting or stopping.
const lockWait = 15 * time.Second

// perform has some work done: the running server does it if there is one, and else this process.
func perform[A, R any](ctx context.Context, a *cli, d work[A, R], args A) (R, error) {
	var result R
	c, _, err := a.settings()
	if err != nil {
		return result, err
	}
	for until := time.Now().Add(lockWait); ; {
		err := control.Call(ctx, c.Data.Dir, d.called(), args, &result)
		if !errors.Is(err, control.ErrNotRunning) {
			return result, err
		}
		result, err = performHere(ctx, c, a.errOut, d, args)
		if !errors.Is(err, store.ErrInUse) || time.Now().After(until) {
			return result, err
		}
		select {
		case <-ctx.Done():
			return result, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// performHere does some work in this process. Only making an account makes a database, too.
func performHere[A, R any](ctx context.Context, c *config.Config, errOut io.Writer, d work[A, R], args A) (result R, err error) {
	if _, err := os.Stat(filepath.Join(c.Data.Dir, store.File)); errors.Is(err, fs.ErrNotExist) && d.called() != createUser.name {
		return result, fmt.Errorf("%w in %s: is --config the server's settings file?", admin.ErrNoDatabase, c.Data.Dir)
	}
	log := slog.New(slog.NewTextHandler(errOut, &slog.HandlerOptions{Level: slog.LevelWarn}))
	db, err := openData(ctx, c, log)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	files, err := media.Open(filepath.Join(c.Data.Dir, "media"), media.Limits{Pixels: c.Media.MaxPixels})
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	secrets, err := keys.Open(filepath.Join(c.Data.Dir, "keys"))
	if err != nil {
		return result, err
	}
	emojis, err := emoji.Open(filepath.Join(c.Data.Dir, "emoji"), log)
	if err != nil {
		return result, err
	}
	elsewhere := outbound(c, maxOutbound)
	dealings, deeds := federation.FromSettings(c), social.FromSettings(c)
	dealings.Policies = federation.NewPolicies(c, db, emojis, elsewhere, nil, log)
	deeds.Policies = dealings.Policies
	people := social.New(db, files, deeds, log)
	fed := federation.New(db, people, emojis, elsewhere, secrets, dealings, log)
	if err := fed.Open(ctx); err != nil {
		return result, err
	}
	return d.in(&services{admin.New(db, people, c.API.Name, log), fed}, ctx, args)
}
