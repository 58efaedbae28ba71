package social

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

const (
	maxReportComment = 1000 // characters
	maxOpenReports   = 500  // by one account
)

// ReportDraft is a report by a local account.
type ReportDraft struct {
	Target   store.AccountID
	Statuses []store.StatusID // of the target; others are skipped
	Comment  string
	Category store.ReportCategory // unknown ones become other
	Forward  bool                 // to the server of a remote target
	Rules    []store.RuleID       // that are broken; unknown ones are skipped

	Collections []store.CollectionID // of the target; others are skipped
}

// Report stores a report with the current versions of the statuses, and notifies the staff.
func (s *Service) Report(ctx context.Context, reporter *store.Account, c ReportDraft) (*store.Report, []store.StatusID, error) {
	if text.Length(c.Comment, "") > maxReportComment {
		return nil, nil, errs.Invalid("Validation failed: Comment is too long (maximum is %d characters)", maxReportComment)
	}
	var report *store.Report
	var about []store.StatusID
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		target, err := availableAccount(ctx, tx, c.Target)
		if err != nil {
			return err
		}
		if target.ID == reporter.ID {
			return errs.Invalid("Validation failed: You cannot report yourself")
		}
		open, err := tx.OpenReportsBy(ctx, reporter.ID, maxOpenReports)
		if err != nil {
			return err
		}
		if open >= maxOpenReports {
			return errs.Invalid("Validation failed: You cannot have more than %d open reports", maxOpenReports)
		}
		statuses, err := reportedStatuses(ctx, tx, reporter, target, c.Statuses)
		if err != nil {
			return err
		}
		report = &store.Report{
			AccountID: reporter.ID, TargetID: target.ID, State: store.ReportOpen, Category: c.Category,
			Comment: strings.TrimSpace(c.Comment), Forwarded: c.Forward && !target.Local(),
		}
		switch c.Category {
		case store.ReportSpam, store.ReportLegal, store.ReportViolation:
		default:
			report.Category = store.ReportOther
		}
		if report.Rules.V, err = s.KnownRulesIn(ctx, tx, c.Rules); err != nil {
			return err
		}
		if report.Collections.V, err = reportedCollections(ctx, tx, target, c.Collections); err != nil {
			return err
		}
		if err := tx.AddReport(ctx, report, statuses); err != nil {
			return err
		}
		for _, st := range statuses {
			about = append(about, st.ID)
		}
		if report.Forwarded {
			if err := tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.ReportCreated, ActorID: reporter.ID, TargetID: target.ID, RowID: int64(report.ID)}); err != nil {
				return err
			}
		}
		return s.notifyOfReport(ctx, tx, report)
	})
	return report, about, err
}

// maxReportRules bounds the rules that a report names.
const maxReportRules = 50

// KnownRulesIn returns those ids that are of rules, in their order.
func (s *Service) KnownRulesIn(ctx context.Context, tx *store.Tx, ids []store.RuleID) ([]store.RuleID, error) {
	rules, err := tx.RulesByID(ctx, ids[:min(len(ids), maxReportRules)])
	known := make([]store.RuleID, 0, len(rules))
	for _, r := range rules {
		if !slices.Contains(known, r.ID) {
			known = append(known, r.ID)
		}
	}
	return known, err
}

// maxReportCollections is how many collections a report can name.
const maxReportCollections = 20

// reportedCollections returns copies of those collections that are target's.
func reportedCollections(ctx context.Context, tx *store.Tx, target *store.Account, ids []store.CollectionID) ([]store.ReportedCollection, error) {
	if len(ids) > maxReportCollections {
		return nil, errs.Invalid("Validation failed: A report cannot have more than %d collections", maxReportCollections)
	}
	rows, err := tx.Collections(ctx, ids)
	list := []store.ReportedCollection{}
	for _, c := range rows {
		if c.AccountID == target.ID && !slices.ContainsFunc(list, func(r store.ReportedCollection) bool { return r.ID == c.ID }) {
			list = append(list, store.ReportedCollection{ID: c.ID, URI: c.URI, URL: c.URL, Name: c.Name, Description: text.HTMLToText(c.Description)})
		}
	}
	return list, err
}

// reportedStatuses returns those statuses that are target's and visible to the reporter, in the order of ids.
func reportedStatuses(ctx context.Context, tx *store.Tx, reporter, target *store.Account, ids []store.StatusID) ([]*store.Status, error) {
	if len(ids) > store.MaxReportStatuses {
		return nil, errs.Invalid("Validation failed: A report cannot have more than %d statuses", store.MaxReportStatuses)
	}
	rows, err := tx.VisibleStatuses(ctx, reporter.ID, ids)
	return postsOf(target, rows, ids), err
}

// postsOf returns those statuses that are target's own posts, each once, in the order of ids.
func postsOf(target *store.Account, rows []*store.Status, ids []store.StatusID) []*store.Status {
	rows = slices.DeleteFunc(rows, func(st *store.Status) bool { return st.AccountID != target.ID || st.ReblogOfID != nil })
	slices.SortFunc(rows, func(a, b *store.Status) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return slices.CompactFunc(rows, func(a, b *store.Status) bool { return a.ID == b.ID })
}

// notifyOfReport notifies the staff with the privilege to manage reports of a report. All of them except the reporter get mail.
func (s *Service) notifyOfReport(ctx context.Context, tx *store.Tx, report *store.Report) error {
	if err := s.notifyStaff(ctx, tx, store.Notification{Type: store.NotifyReport, FromID: report.AccountID, Detail: report.ID.String()}); err != nil {
		return err
	}
	return s.sendMail(ctx, tx, store.SendMail{
		Mail: store.MailNewReport, AccountID: report.AccountID, AboutID: report.TargetID, Values: map[string]string{"report_id": report.ID.String()},
	})
}

// Limits of incoming reports (federation 4.12).
const (
	maxIncomingReportComment  = 5000 // characters; the rest is truncated
	MaxIncomingReportStatuses = 50   // of one report
	maxReportsPerHour         = 60   // by one domain
	duplicateReportWindow     = 24 * time.Hour
)

// IncomingReport is a report from another server.
type IncomingReport struct {
	URI      string
	Target   store.AccountID
	Statuses []store.StatusID // of the target; others are skipped
	Comment  string

	Collections []store.CollectionID // of the target; others are skipped
}

// ReceiveReport stores a report by a remote account, which is often a server actor. A repeated report within a day is ignored. The
// statuses need only be federated, because the person who complains may see more than the reporter.
func (s *Service) ReceiveReport(ctx context.Context, reporter *store.Account, f IncomingReport) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		target, err := availableAccount(ctx, tx, f.Target)
		if err != nil {
			return err
		}
		if known, err := tx.ReportByURI(ctx, f.URI); known != nil || err != nil {
			return err
		}
		statuses, err := incomingReportStatuses(ctx, tx, target, f.Statuses)
		if err != nil {
			return err
		}
		if same, err := s.isDuplicateReport(ctx, tx, reporter, target, statuses); same || err != nil {
			return err
		}
		open, err := tx.OpenReportsBy(ctx, reporter.ID, maxOpenReports)
		if err != nil {
			return err
		}
		recentReports, err := tx.CountReportsFrom(ctx, reporter.Domain, s.db.Now().Add(-time.Hour), maxReportsPerHour)
		if err != nil {
			return err
		}
		if open >= maxOpenReports || recentReports >= maxReportsPerHour {
			return errs.New(http.StatusTooManyRequests, "too many reports from %s", reporter.Domain)
		}
		report := &store.Report{
			AccountID: reporter.ID, TargetID: target.ID, State: store.ReportOpen, Category: store.ReportOther,
			Comment: firstCharacters(strings.TrimSpace(f.Comment), maxIncomingReportComment), URI: &f.URI,
		}
		if report.Collections.V, err = reportedCollections(ctx, tx, target, f.Collections[:min(len(f.Collections), maxReportCollections)]); err != nil {
			return err
		}
		if err := tx.AddReport(ctx, report, statuses); err != nil {
			return err
		}
		return s.notifyOfReport(ctx, tx, report)
	})
}

// incomingReportStatuses returns those statuses that are target's and federated, in the order of ids.
func incomingReportStatuses(ctx context.Context, tx *store.Tx, target *store.Account, ids []store.StatusID) ([]*store.Status, error) {
	rows, err := tx.Statuses(ctx, ids[:min(len(ids), MaxIncomingReportStatuses)])
	rows = slices.DeleteFunc(rows, func(st *store.Status) bool { return !st.Federated() })
	return postsOf(target, rows, ids), err
}

// isDuplicateReport returns true if reporter has reported the same statuses recently.
func (s *Service) isDuplicateReport(ctx context.Context, tx *store.Tx, reporter, target *store.Account, statuses []*store.Status) (bool, error) {
	recent, err := tx.RecentReports(ctx, target.ID, reporter.ID, s.db.Now().Add(-duplicateReportWindow))
	if err != nil || len(recent) == 0 {
		return false, err
	}
	about := make(map[store.ReportID][]store.StatusID)
	ids := make([]store.ReportID, 0, len(recent))
	for _, r := range recent {
		ids = append(ids, r.ID)
	}
	rows, err := tx.ReportedStatuses(ctx, ids, store.MaxReportStatuses)
	if err != nil {
		return false, err
	}
	for _, row := range rows {
		about[row.ReportID] = append(about[row.ReportID], row.OriginalStatusID)
	}
	want := make([]store.StatusID, 0, len(statuses))
	for _, st := range statuses {
		want = append(want, st.ID)
	}
	slices.Sort(want)
	return slices.ContainsFunc(ids, func(id store.ReportID) bool {
		slices.Sort(about[id])
		return slices.Equal(about[id], want)
	}), nil
}

// firstCharacters returns the first n characters of a text.
func firstCharacters(s string, most int) string {
	for i := range s {
		if most == 0 {
			return s[:i]
		}
		most--
	}
	return s
}
