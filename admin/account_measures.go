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
func (s *Service) AccountIDs(ctx context.Context, q AccountQuery) ([]store.AccountID, error) {
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
			return nil, errs.IgnoreNotFound(err)
		}
		f.ID, f.Page = user.AccountID, store.Page{}
	}
	return s.db.StaffAccounts(ctx, f, min(max(q.Page.Limit, 1), maxAccountPage), 0)
}

// AccountMeasure is a measure against an account, by the names of the reference API.
type AccountMeasure struct {
	Account string // a nickname or an id
	Type    string // none, sensitive, disable, silence or suspend
	Report  string // the id of a report, which becomes resolved; "": none
	Text    string // for the moderation log
}

const maxMeasureText = 5000 // characters

// TakeMeasure takes a measure: sensitive and silence add the tags that make posts sensitive and unlisted, disable and suspend deactivate.
func (s *Service) TakeMeasure(ctx context.Context, m AccountMeasure) error {
	if text.Length(m.Text, "") > maxMeasureText {
		return errs.Invalid("Validation failed: Text is too long (maximum is %d characters)", maxMeasureText)
	}
	if m.Report != "" {
		if _, err := s.report(ctx, s.db, m.Report); err != nil {
			return err
		}
	}
	names := []string{m.Account}
	var err error
	switch m.Type {
	case "none", "":
		err = s.recordNoMeasure(ctx, m)
	case "sensitive":
		_, err = s.TagUsers(ctx, Tagging{Names: names, Tags: []string{policy.TagSensitive}})
	case "silence":
		_, err = s.TagUsers(ctx, Tagging{Names: names, Tags: []string{policy.TagUnlisted}})
	case "disable", "suspend":
		_, err = s.DeactivateUsers(ctx, names)
	default:
		return errs.Invalid("Validation failed: Type %s is not included in the list", strconv.Quote(m.Type))
	}
	if err != nil || m.Report == "" {
		return err
	}
	_, err = s.SetReportState(ctx, ReportUpdate{ID: m.Report, State: string(store.ReportResolved)})
	return err
}

// recordNoMeasure records the decision of staff to take no measure against an account.
func (s *Service) recordNoMeasure(ctx context.Context, m AccountMeasure) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		account, err := s.findAccount(ctx, tx, m.Account)
		if err != nil {
			return err
		}
		data := subjects([]*store.Account{account})
		data["text"] = m.Text
		return s.record(ctx, tx, "no_measure", "took no measure against users: @"+account.Acct(), data)
	})
}

// EndMeasure removes the tag of a measure: sensitive or silence.
func (s *Service) EndMeasure(ctx context.Context, name, measure string) error {
	tag := policy.TagSensitive
	if measure == "silence" {
		tag = policy.TagUnlisted
	}
	_, err := s.UntagUsers(ctx, Tagging{Names: []string{name}, Tags: []string{tag}})
	return err
}

// errNotSuspended keeps staff from deleting an account by mistake.
var errNotSuspended = errs.Forbidden("This action is not allowed")

// DeleteSuspended deletes an account that is deactivated or suspended.
func (s *Service) DeleteSuspended(ctx context.Context, name string) error {
	u, err := s.ShowUser(ctx, name)
	if err != nil {
		return err
	}
	if !u.Deactivated {
		return errNotSuspended
	}
	_, err = s.DeleteUsers(ctx, []string{u.PublicID})
	return err
}
