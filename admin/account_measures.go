package admin

import (
	"context"
	"strconv"
	"strings"

	"svc/federation/policy"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// maxAccountPage bounds a page of AccountIDs.
const maxAccountPage = 200

// AccountQuery selects accounts by the conditions of the reference API. All must hold.
type AccountQuery struct {
	Local, Remote         bool
	Active, Pending       bool
	Disabled              bool // local accounts that are deactivated
	Suspended             bool // likewise, or suspended remote accounts
	Silenced, Sensitized  bool // tags that act so
	Staff                 bool
	Admins, Moderators    bool
	Username, DisplayName string // the beginning of the nickname; a part of the name
	Domain, Email         string
	Page                  store.Page
}

// AccountIDs returns a page of the ids of accounts, newest first.
func (s *Service) AccountIDs(ctx context.Context, q AccountQuery) (store.Part[store.AccountID], error) {
	f := store.StaffFilter{
		Local: q.Local || q.Disabled, External: q.Remote, Active: q.Active, NeedApproval: q.Pending, Deactivated: q.Disabled || q.Suspended,
		Admins: q.Admins, Moderators: q.Moderators, Staff: q.Staff, Name: strings.TrimSpace(q.DisplayName),
		Nickname: strings.TrimPrefix(strings.TrimSpace(q.Username), "@"), Page: q.Page,
	}
	if q.Silenced {
		f.AllTags = append(f.AllTags, policy.TagUnlisted)
	}
	if q.Sensitized {
		f.AllTags = append(f.AllTags, policy.TagSensitive)
	}
	if q.Domain != "" {
		f.Domain = new(s.domainOf(q.Domain))
	}
	if email := strings.TrimSpace(q.Email); email != "" {
		user, err := s.db.UserByEmail(ctx, email)
		if err != nil {
			return store.Part[store.AccountID]{}, errs.IgnoreNotFound(err)
		}
		f.ID, f.Page = user.AccountID, store.Page{}
	}
	return s.db.StaffAccounts(ctx, f, min(max(q.Page.Limit, 1), maxAccountPage), 0)
}

// Measures against accounts, by the names of the reference API.
const (
	NoMeasure        = "none" // a warning, or the decision that a report needs no measure
	SensitiveMeasure = "sensitive"
	SilenceMeasure   = "silence"
	DisableMeasure   = "disable"
	SuspendMeasure   = "suspend"
)

// AccountMeasure is a measure against an account.
type AccountMeasure struct {
	Account string // a nickname or an id
	Type    string
	Report  string // the id of the report that caused it; "": none
	Text    string // for the moderation log and the mail
	Resolve bool   // all open reports about the account, unless Type is none; Report is resolved in any case
	Mail    bool   // tell a local user
}

const (
	maxMeasureText     = 5000 // characters
	maxMeasuredReports = 100  // that one measure resolves
)

// check returns why a measure cannot be taken against any account.
func (m *AccountMeasure) check() error {
	switch m.Type {
	case NoMeasure, SensitiveMeasure, SilenceMeasure, DisableMeasure, SuspendMeasure:
	case "":
		return errs.Invalid("Validation failed: Type can't be blank")
	default:
		return errs.Invalid("Validation failed: Type %s is not included in the list", strconv.Quote(m.Type))
	}
	if text.Length(m.Text, "") > maxMeasureText {
		return errs.Invalid("Validation failed: Text is too long (maximum is %d characters)", maxMeasureText)
	}
	return nil
}

// TakeMeasure takes a measure: sensitive and silence add the tags that make posts sensitive and unlisted, disable and suspend deactivate. A
// measure that is in force already changes nothing, and sends no mail.
func (s *Service) TakeMeasure(ctx context.Context, m AccountMeasure) error {
	m.Text = strings.TrimSpace(m.Text)
	if err := m.check(); err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		t, err := only(s.targets(ctx, tx, []string{m.Account}, false))
		if err != nil {
			return err
		}
		if m.Type == DisableMeasure && t.user == nil {
			return errs.Invalid("Validation failed: Type disable is for local accounts; suspend hides a remote account")
		}
		reports, err := s.measuredReports(ctx, tx, &m, t.account)
		if err != nil {
			return err
		}
		changed, err := s.applyMeasure(ctx, tx, &m, t)
		if err != nil {
			return err
		}
		for _, report := range reports {
			if err := s.setReportState(ctx, tx, report, store.ReportResolved); err != nil {
				return err
			}
		}
		if !changed || !m.Mail || t.user == nil {
			return nil
		}
		return s.social.MailMeasure(ctx, tx, t.user, m.Type, m.Text)
	})
}

// measuredReports returns the reports that a measure resolves.
func (s *Service) measuredReports(ctx context.Context, tx *store.Tx, m *AccountMeasure, account *store.Account) (list []*store.Report, err error) {
	if m.Report != "" {
		report, err := s.report(ctx, tx, m.Report)
		if err != nil {
			return nil, err
		}
		if report.TargetID != account.ID {
			return nil, errs.Invalid("Validation failed: Report #%s is about another account", report.ID)
		}
		list = append(list, report)
	}
	if !m.Resolve || m.Type == NoMeasure {
		return list, nil
	}
	open, err := tx.OpenReportsAbout(ctx, account.ID, maxMeasuredReports)
	for _, report := range open {
		if len(list) == 0 || report.ID != list[0].ID {
			list = append(list, report)
		}
	}
	return list, err
}

// applyMeasure changes the account, and records that. It returns false if the measure is in force already.
func (s *Service) applyMeasure(ctx context.Context, tx *store.Tx, m *AccountMeasure, t *target) (changed bool, err error) {
	var action, what string
	switch m.Type {
	case SensitiveMeasure, SilenceMeasure:
		tags := []string{measureTags[m.Type]}
		action, what = tagAction(tags)
		changed, err = addTags(ctx, tx, t.account, tags)
	case DisableMeasure, SuspendMeasure:
		action, what = deactivation, deactivated
		changed, err = s.deactivate(ctx, tx, t)
	default:
		action, what, changed = "no_measure", "took no measure against users", true
	}
	if err != nil || !changed {
		return false, err
	}
	data := subjects([]*store.Account{t.account})
	if m.Text != "" {
		data["text"] = m.Text
	}
	return true, s.record(ctx, tx, action, what+": "+handles([]*store.Account{t.account}), data)
}

// measureTags are the tags of measures that are tags.
var measureTags = map[string]string{SensitiveMeasure: policy.TagSensitive, SilenceMeasure: policy.TagUnlisted}

// EndMeasure removes the tag of a measure: SensitiveMeasure or SilenceMeasure.
func (s *Service) EndMeasure(ctx context.Context, name, measure string) error {
	_, err := s.UntagUsers(ctx, Tagging{Names: []string{name}, Tags: []string{measureTags[measure]}})
	return err
}

// errNotAllowed answers what the state of an account does not allow, as in the reference API.
var errNotAllowed = errs.Forbidden("This action is not allowed")

// EndSuspension activates an account that is deactivated or suspended. It is an error if the account is neither.
func (s *Service) EndSuspension(ctx context.Context, name string) error {
	_, err := s.changeUsers(ctx, []string{name}, false, "activate", "activated users", func(tx *store.Tx, t *target) (bool, error) {
		changed, err := s.activate(ctx, tx, t)
		if err == nil && !changed {
			err = errNotAllowed
		}
		return changed, err
	})
	return err
}

// ApprovePending approves an account. It is an error if the account is not pending approval.
func (s *Service) ApprovePending(ctx context.Context, name string) error {
	_, err := s.changeUsers(ctx, []string{name}, true, "approve", "approved users", func(tx *store.Tx, t *target) (bool, error) {
		if t.user.ApprovedAt != nil {
			return false, errNotAllowed
		}
		return s.social.Approve(ctx, tx, t.account.ID)
	})
	return err
}

// RejectPending deletes an account. It is an error if the account is not pending approval.
func (s *Service) RejectPending(ctx context.Context, name string) error {
	_, err := s.changeUsers(ctx, []string{name}, true, "reject", "rejected users", func(tx *store.Tx, t *target) (bool, error) {
		if t.user.ApprovedAt != nil {
			return false, errNotAllowed
		}
		return true, s.social.Reject(ctx, tx, t.account)
	})
	return err
}

// DeleteSuspended deletes an account that is deactivated or suspended. It is an error if the account is neither.
func (s *Service) DeleteSuspended(ctx context.Context, name string) error {
	_, err := s.changeUsers(ctx, []string{name}, false, "delete", "deleted users", func(tx *store.Tx, t *target) (bool, error) {
		if !newUser(t.account, t.user).Deactivated {
			return false, errNotAllowed
		}
		return true, s.social.DeleteAccountIn(ctx, tx, t.account.ID)
	})
	return err
}
