package store

import (
	"context"
	"time"
)

// maxInvites bounds the invites. The oldest that can no longer be used make room for new ones.
const maxInvites = 1000

// Invite lets people register while registration is closed.
type Invite struct {
	ID        InviteID
	Token     string
	ExpiresOn string // the last day in UTC, 2026-12-31; "": none
	MaxUse    *int   // nil: 1, or any number until ExpiresOn
	Uses      int    // counted only if there is a MaxUse
	Used      bool   // used up or revoked
	CreatedAt Time
}

// InviteType is the kind of an invite, in the words of the API.
type InviteType string

const (
	OneTimeInvite             InviteType = "one_time"
	ReusableInvite            InviteType = "reusable"              // MaxUse times
	DateLimitedInvite         InviteType = "date_limited"          // any number of times until ExpiresOn
	ReusableDateLimitedInvite InviteType = "reusable_date_limited" // MaxUse times until ExpiresOn
)

// Type returns the type of the invite.
func (i *Invite) Type() InviteType {
	switch {
	case i.MaxUse == nil && i.ExpiresOn == "":
		return OneTimeInvite
	case i.ExpiresOn == "":
		return ReusableInvite
	case i.MaxUse == nil:
		return DateLimitedInvite
	}
	return ReusableDateLimitedInvite
}

// Usable returns true if the invite is neither used up nor revoked, and its last day is not over.
func (i *Invite) Usable(now time.Time) bool {
	return !i.Used && (i.MaxUse == nil || i.Uses < *i.MaxUse) && (i.ExpiresOn == "" || now.UTC().Format(time.DateOnly) <= i.ExpiresOn)
}

// Spend counts one use.
func (i *Invite) Spend() {
	switch {
	case i.MaxUse != nil:
		i.Uses++
		i.Used = i.Uses >= *i.MaxUse
	case i.ExpiresOn == "":
		i.Used = true
	}
}

// Invites returns all invites, oldest first.
func (r reader) Invites(ctx context.Context) ([]*Invite, error) {
	return list[*Invite](ctx, r, "invites", `SELECT * FROM invites ORDER BY id`)
}

// Invite returns one invite, and errs.ErrRecordNotFound if there is none.
func (r reader) Invite(ctx context.Context, id InviteID) (*Invite, error) {
	i, err := one[Invite](ctx, r, "invite", `SELECT * FROM invites WHERE id = ?`, id)
	if i == nil && err == nil {
		err = notFound
	}
	return i, err
}

// InviteByToken returns the invite with a token, and errs.ErrRecordNotFound if there is none.
func (r reader) InviteByToken(ctx context.Context, token string) (*Invite, error) {
	i, err := one[Invite](ctx, r, "invite by token", `SELECT * FROM invites WHERE token = ?`, token)
	if i == nil && err == nil {
		err = notFound
	}
	return i, err
}

// AddInvite inserts an invite with a new id. It returns false if there are too many that can be used.
func (tx *Tx) AddInvite(ctx context.Context, i *Invite) (bool, error) {
	now := tx.db.now()
	if err := tx.exec(ctx, "drop invites", `
		DELETE FROM invites
		WHERE id IN (
			SELECT id
			FROM invites
			WHERE used = 1 OR expires_on <> '' AND expires_on < ?1
			ORDER BY id
			LIMIT max(0, (SELECT count(*) FROM invites) - ?2))`, now.UTC().Format(time.DateOnly), maxInvites-1); err != nil {
		return false, err
	}
	i.CreatedAt = At(now)
	id, err := one[InviteID](ctx, tx.reader, "add invite", `
		INSERT INTO invites (token, expires_on, max_use, created_at)
		SELECT ?, ?, ?, ?
		WHERE (SELECT count(*) FROM invites) < ?
		RETURNING id`, i.Token, i.ExpiresOn, i.MaxUse, i.CreatedAt, maxInvites)
	if id == nil || err != nil {
		return false, err
	}
	i.ID = *id
	return true, nil
}

// SaveInvite writes how often an invite was used.
func (tx *Tx) SaveInvite(ctx context.Context, i *Invite) error {
	err := tx.exec(ctx, "save invite", `UPDATE invites SET uses = ?, used = ? WHERE id = ?`, i.Uses, i.Used, i.ID)
	return err
}
