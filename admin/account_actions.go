package admin

import (
	"context"
	"strconv"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/policy"
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

// Actions against accounts, by the names of the reference API.
const (
	NoAction        = "none" // a warning, or the decision that a report needs no action
	SensitiveAction = "sensitive"
	SilenceAction   = "silence"
	DisableAction   = "disable"
	SuspendAction   = "suspend"
)

// AccountAction is an action of staff against an account.
type AccountAction struct {
	Account string // a nickname or an id
	Type    string
	Report  string // the id of the report that caused it; "": none
	Text    string // for the moderation log and the mail
	Resolve bool   // all open reports about the account, unless Type is none; Report is resolved in any case
	Mail    bool   // tell a local user
}

const (
	maxActionText      = 5000 // characters
	maxResolvedReports = 100  // that one action resolves
)

// check returns why an action cannot be taken against any account.
func (a *AccountAction) check() error {
	switch a.Type {
	case NoAction, SensitiveAction, SilenceAction, DisableAction, SuspendAction:
	case "":
		return errs.Invalid("Validation failed: Type can't be blank")
	default:
		return errs.Invalid("Validation failed: Type %s is not included in the list", strconv.Quote(a.Type))
	}
	if text.Length(a.Text, "") > maxActionText {
		return errs.Invalid("Validation failed: Text is too long (maximum is %d characters)", maxActionText)
	}
	return nil
}

// TakeAccountAction takes an action: sensitive and silence add the tags that make posts sensitive and unlisted, disable and suspend deactivate. An
// action that is in force already changes nothing, and sends no mail.
func (s *Service) TakeAccountAction(ctx context.Context, a AccountAction) error {
	a.Text = strings.TrimSpace(a.Text)
	if err := a.check(); err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		t, err := only(s.targets(ctx, tx, []string{a.Account}, false))
		if err != nil {
			return err
		}
		if a.Type == DisableAction && t.user == nil {
			return errs.Invalid("Validation failed: Type disable is for local accounts; suspend hides a remote account")
		}
		reports, err := s.resolvedReports(ctx, tx, &a, t.account)
		if err != nil {
			return err
		}
		changed, err := s.applyAccountAction(ctx, tx, &a, t)
		if err != nil {
			return err
		}
		for _, report := range reports {
			if err := s.setReportState(ctx, tx, report, store.ReportResolved); err != nil {
				return err
			}
		}
		if !changed || !a.Mail || t.user == nil {
			return nil
		}
		return s.social.MailAccountActionIn(ctx, tx, t.user, a.Type, a.Text)
	})
}

// resolvedReports returns the reports that an action resolves.
func (s *Service) resolvedReports(ctx context.Context, tx *store.Tx, a *AccountAction, account *store.Account) (list []*store.Report, err error) {
	if a.Report != "" {
		report, err := s.report(ctx, tx, a.Report)
		if err != nil {
			return nil, err
		}
		if report.TargetID != account.ID {
			return nil, errs.Invalid("Validation failed: Report #%s is about another account", report.ID)
		}
		list = append(list, report)
	}
	if !a.Resolve || a.Type == NoAction {
		return list, nil
	}
	open, err := tx.OpenReportsAbout(ctx, account.ID, maxResolvedReports)
	for _, report := range open {
		if len(list) == 0 || report.ID != list[0].ID {
			list = append(list, report)
		}
	}
	return list, err
}

// applyAccountAction changes the account, and records that. It returns false if the action is in force already.
func (s *Service) applyAccountAction(ctx context.Context, tx *store.Tx, a *AccountAction, t *target) (changed bool, err error) {
	var action, what string
	switch a.Type {
	case SensitiveAction, SilenceAction:
		tags := []string{actionTags[a.Type]}
		action, what = tagAction(tags)
		changed, err = addTags(ctx, tx, t.account, tags)
	case DisableAction, SuspendAction:
		action, what = deactivation, deactivated
		changed, err = s.deactivate(ctx, tx, t)
	default:
		action, what, changed = "no_action", "took no action against users", true
	}
	if err != nil || !changed {
		return false, err
	}
	data := subjects([]*store.Account{t.account})
	if a.Text != "" {
		data["text"] = a.Text
	}
	return true, s.record(ctx, tx, action, what+": "+handles([]*store.Account{t.account}), data)
}

// actionTags are the tags of actions that are tags.
var actionTags = map[string]string{SensitiveAction: policy.TagSensitive, SilenceAction: policy.TagUnlisted}

// EndAccountAction removes the tag of an action: SensitiveAction or SilenceAction.
func (s *Service) EndAccountAction(ctx context.Context, name, action string) error {
	_, err := s.UntagUsers(ctx, Tagging{Names: []string{name}, Tags: []string{actionTags[action]}})
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
		return s.social.ApproveIn(ctx, tx, t.account.ID)
	})
	return err
}

// RejectPending deletes an account. It is an error if the account is not pending approval.
func (s *Service) RejectPending(ctx context.Context, name string) error {
	_, err := s.changeUsers(ctx, []string{name}, true, "reject", "rejected users", func(tx *store.Tx, t *target) (bool, error) {
		if t.user.ApprovedAt != nil {
			return false, errNotAllowed
		}
		return true, s.social.RejectIn(ctx, tx, t.account)
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
