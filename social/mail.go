package social

import (
	"context"
	"strconv"

	"svc/internal/config"
	"svc/store"
)

// sendMail adds a mail to the job queue, or one for each admin and moderator (MailKind.ToStaff) except AccountID. It does nothing if the
// server sends no mail. A mail without values replaces one of its kind that is still queued for the same account, so that requests do not
// add up while the mail server is down.
func (s *Service) sendMail(ctx context.Context, tx *store.Tx, m store.SendMail) error {
	switch {
	case !s.Settings.Load().Mail.Enabled:
		return nil
	case m.Mail.ToStaff():
		return s.sendStaffMail(ctx, tx, m)
	case len(m.Values) == 0 && m.AccountID != 0 && m.To == "":
		key := "mail:" + string(m.Mail) + ":" + strconv.FormatInt(int64(m.AccountID), 10)
		return tx.EnqueueUnique(ctx, s.db.Now(), key, m)
	}
	return tx.Enqueue(ctx, m)
}

// sendStaffMail enqueues a mail for each admin and moderator except m.AccountID; about a report, only for staff who manage reports.
func (s *Service) sendStaffMail(ctx context.Context, tx *store.Tx, m store.SendMail) error {
	staff, err := tx.Staff(ctx)
	if m.Mail == store.MailNewReport {
		staff, err = s.staffWith(ctx, tx, config.ReportsManage)
	}
	if err != nil {
		return err
	}
	except := m.AccountID
	for _, id := range staff {
		if id == except {
			continue
		}
		m.AccountID = id
		if err := tx.Enqueue(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// staffWith returns the ids of the staff who can sign in and have a privilege.
func (s *Service) staffWith(ctx context.Context, tx *store.Tx, p config.Privilege) ([]store.AccountID, error) {
	staff, err := tx.Staff(ctx)
	if err != nil {
		return nil, err
	}
	users, err := tx.Users(ctx, staff)
	if err != nil {
		return nil, err
	}
	instance := &s.Settings.Load().Instance
	var list []store.AccountID
	for _, u := range users {
		if instance.HasPrivilege(u.IsAdmin, u.IsModerator, p) {
			list = append(list, u.AccountID)
		}
	}
	return list, nil
}

// MailBackupFailedIn sends the staff a mail that scheduled backups of the server fail, or lack uploads.
func (s *Service) MailBackupFailedIn(ctx context.Context, tx *store.Tx, reason string) error {
	return s.sendMail(ctx, tx, store.SendMail{Mail: store.MailBackupFailed, Values: map[string]string{"reason": reason}})
}

// MailDoctorIn sends the staff a mail about checks of the server: those that see something worse than before, and those that are well again. Both
// are lines of text, "" for none.
func (s *Service) MailDoctorIn(ctx context.Context, tx *store.Tx, worse, well string) error {
	return s.sendMail(ctx, tx, store.SendMail{Mail: store.MailDoctor, Values: map[string]string{"worse": worse, "well": well}})
}

// MailStorageFullIn sends the staff a mail that files are refused for lack of storage.
func (s *Service) MailStorageFullIn(ctx context.Context, tx *store.Tx, reason string) error {
	return s.sendMail(ctx, tx, store.SendMail{Mail: store.MailStorageFull, Values: map[string]string{"reason": reason}})
}

// MailAccountActionIn sends a local user a mail that staff took an action against the account. It does nothing without a confirmed address.
func (s *Service) MailAccountActionIn(ctx context.Context, tx *store.Tx, user *store.User, action, text string) error {
	if user.Email == "" || user.ConfirmedAt == nil {
		return nil
	}
	return s.sendMail(ctx, tx, store.SendMail{
		Mail: store.MailAccountAction, AccountID: user.AccountID, Values: map[string]string{"action": action, "text": text},
	})
}
