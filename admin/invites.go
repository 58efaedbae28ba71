package admin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/keys"
	"svc/internal/text"
	"svc/store"
)

// Invite is an invite, with which people register while registration is closed.
type Invite struct {
	ID        int64            `json:"id"`
	Token     string           `json:"token"`
	Used      bool             `json:"used"`       // used up or revoked
	ExpiresAt *string          `json:"expires_at"` // the last day in UTC, 2026-12-31; nil: none
	Uses      int              `json:"uses"`       // counted only if there is a MaxUse
	MaxUse    *int             `json:"max_use"`
	Type      store.InviteType `json:"invite_type"`

	Usable bool   `json:"usable"` // now
	Link   string `json:"link"`   // to the page for registration
	Note   string `json:"note"`   // "": none; else why the settings prevent the use of a new invite
}

// maxInviteUses bounds the uses of one invite.
const maxInviteUses = 10_000

// NewInvite is an invite to create. Without a MaxUse, it works once, or any number of times until ExpiresAt.
type NewInvite struct {
	MaxUse    int    `json:"max_use"`    // 0: none
	ExpiresAt string `json:"expires_at"` // the last day, 2026-12-31; "": none
}

// CreateInvite creates an invite.
func (s *Service) CreateInvite(ctx context.Context, n NewInvite) (*Invite, error) {
	row, err := s.newInvite(n)
	if err != nil {
		return nil, err
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if err := addInvite(ctx, tx, row); err != nil {
			return err
		}
		return s.recordInvite(ctx, tx, "invite_create", "created", row)
	})
	if err != nil {
		return nil, err
	}
	s.log.Info("invite created", "invite", row.ID)
	invite := s.inviteOf(row)
	switch {
	case s.social.Settings.Load().Instance.RegistrationsOpen:
		invite.Note = "Nobody needs an invite now: instance.registrations_open is true."
	case !s.social.Settings.Load().Instance.InvitesEnabled:
		invite.Note = "Invites do not work now: instance.invites_enabled is false."
	}
	return invite, nil
}

func (s *Service) newInvite(n NewInvite) (*store.Invite, error) {
	row := &store.Invite{Token: keys.NewToken(), ExpiresOn: n.ExpiresAt}
	if n.MaxUse < 0 || n.MaxUse > maxInviteUses {
		return nil, errs.BadRequest("An invite can be used 1 to %d times, not %d", maxInviteUses, n.MaxUse)
	}
	if n.MaxUse > 0 {
		row.MaxUse = &n.MaxUse
	}
	if n.ExpiresAt != "" {
		if _, err := time.Parse(time.DateOnly, n.ExpiresAt); err != nil {
			return nil, errs.BadRequest("%q is not a date such as 2026-12-31", n.ExpiresAt)
		}
		if !row.Usable(s.db.Now()) {
			return nil, errs.BadRequest("The invite would expire in the past")
		}
	}
	return row, nil
}

func addInvite(ctx context.Context, tx *store.Tx, row *store.Invite) error {
	added, err := tx.AddInvite(ctx, row)
	if err == nil && !added {
		err = errs.BadRequest("There are too many invites that can be used: revoke some")
	}
	return err
}

// InviteMail is the recipient of an invite by mail.
type InviteMail struct {
	Email string `json:"email"`
	Name  string `json:"name"` // "": unknown
}

// maxInviteName bounds the name in the mail, in characters.
const maxInviteName = 100

// MailInvite creates a one-time invite and sends its link to an e-mail address. It fails unless registration is by invitation only.
func (s *Service) MailInvite(ctx context.Context, m InviteMail) (*Invite, error) {
	email := strings.TrimSpace(m.Email)
	switch {
	case text.Length(m.Name, "") > maxInviteName:
		return nil, errs.BadRequest("name should be at most %s", text.Count(maxInviteName, "character"))
	case s.social.Settings.Load().Instance.RegistrationsOpen:
		return nil, errs.BadRequest("To send invites you need to set the `registrations_open` option to false.")
	case !s.social.Settings.Load().Instance.InvitesEnabled:
		return nil, errs.BadRequest("To send invites you need to set the `invites_enabled` option to true.")
	case !s.social.Settings.Load().Mail.Enabled:
		return nil, errs.BadRequest("deliveries_disabled")
	case !text.ValidEmail(email):
		return nil, errs.BadRequest("email has invalid format")
	}
	row, err := s.newInvite(NewInvite{})
	if err != nil {
		return nil, err
	}
	invite := s.inviteOf(row)
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if err := addInvite(ctx, tx, row); err != nil {
			return err
		}
		if err := s.record(ctx, tx, "invite_email", fmt.Sprintf("sent invite #%d to %s", row.ID, email), inviteData(row)); err != nil {
			return err
		}
		return tx.Enqueue(ctx, store.SendMail{Mail: store.MailInvite, To: email, Values: map[string]string{"path": invitePath(row), "name": m.Name}})
	})
	if err != nil {
		return nil, err
	}
	invite.ID = int64(row.ID)
	s.log.Info("invite created and mailed", "invite", row.ID)
	return invite, nil
}

// Invites returns all invites, oldest first.
func (s *Service) Invites(ctx context.Context, _ struct{}) ([]*Invite, error) {
	rows, err := s.db.Invites(ctx)
	list := make([]*Invite, 0, len(rows))
	for _, row := range rows {
		list = append(list, s.inviteOf(row))
	}
	return list, err
}

// RevokeInvite makes an invite unusable, given its token or its id. Revoking it again is no error.
func (s *Service) RevokeInvite(ctx context.Context, name string) (*Invite, error) {
	var row *store.Invite
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		row, err = tx.InviteByToken(ctx, name)
		if id := store.ParseDecimal(name); errs.IsNotFound(err) && id != 0 {
			row, err = tx.Invite(ctx, store.InviteID(id))
		}
		if errs.IsNotFound(err) {
			return errs.NotFound("There is no invite %q", name)
		}
		if err != nil {
			return err
		}
		if row.Used {
			return nil
		}
		row.Used = true
		if err := s.recordInvite(ctx, tx, "invite_revoke", "revoked", row); err != nil {
			return err
		}
		return tx.SaveInvite(ctx, row)
	})
	if err != nil {
		return nil, err
	}
	s.log.Info("invite revoked", "invite", row.ID)
	return s.inviteOf(row), nil
}

// recordInvite adds an entry about an invite to the moderation log. It does not contain the token, which is a secret.
func (s *Service) recordInvite(ctx context.Context, tx *store.Tx, action, done string, row *store.Invite) error {
	return s.record(ctx, tx, action, fmt.Sprintf("%s invite #%d", done, row.ID), inviteData(row))
}

func inviteData(row *store.Invite) map[string]any {
	return map[string]any{"subject": map[string]any{"id": int64(row.ID), "type": "invite"}}
}

// invitePath returns the path of the page for registration with an invite.
func invitePath(row *store.Invite) string { return "/registration/" + row.Token }

func (s *Service) inviteOf(row *store.Invite) *Invite {
	i := &Invite{
		ID: int64(row.ID), Token: row.Token, Used: row.Used, Uses: row.Uses, MaxUse: row.MaxUse, Type: row.Type(),
		Usable: row.Usable(s.db.Now()), Link: s.social.Settings.BaseURL + invitePath(row),
	}
	if row.ExpiresOn != "" {
		i.ExpiresAt = &row.ExpiresOn
	}
	return i
}
