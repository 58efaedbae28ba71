package social

import (
	"context"
	"slices"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

const (
	maxReportComment  = 1000 // characters
	maxReportStatuses = 100
	maxOpenReports    = 500 // by one account
)

// ReportDraft is what somebody reports.
type ReportDraft struct {
	Target   store.AccountID
	Statuses []store.StatusID // the target's; others are left out
	Comment  string
	Category store.ReportCategory // one that there is not is taken for other
	Forward  bool                 // to the staff of the target's server, if that is another
}

// Report tells the staff that somebody complains about an account. Nobody else hears of it. The posts are kept as they are now.
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
			return errs.Invalid("Validation failed: The staff has not yet seen to so many of your reports")
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
		return notifyStaff(ctx, tx, report)
	})
	return report, about, err
}

// reportedStatuses returns those of the statuses that are target's and that the reporter may see, in the order of ids.
func reportedStatuses(ctx context.Context, tx *store.Tx, reporter, target *store.Account, ids []store.StatusID) ([]*store.Status, error) {
	if len(ids) > maxReportStatuses {
		return nil, errs.Invalid("Validation failed: A report can be about %d statuses at most", maxReportStatuses)
	}
	rows, err := tx.VisibleStatuses(ctx, reporter.ID, ids)
	if err != nil {
		return nil, err
	}
	seen := make(map[store.StatusID]bool, len(rows))
	rows = slices.DeleteFunc(rows, func(st *store.Status) bool {
		other := st.AccountID != target.ID || st.ReblogOfID != nil || seen[st.ID]
		seen[st.ID] = true
		return other
	})
	slices.SortStableFunc(rows, func(a, b *store.Status) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return rows, nil
}

// notifyStaff notifies the staff of a report. That it comes from a stranger does not count here. Who blocks or mutes the reporter is not
// shown the notification, as with any other.
func notifyStaff(ctx context.Context, tx *store.Tx, report *store.Report) error {
	staff, err := tx.Staff(ctx)
	if err != nil {
		return err
	}
	for _, id := range staff {
		if id == report.AccountID {
			continue
		}
		n := &store.Notification{AccountID: id, Type: store.NotifyReport, FromID: report.AccountID, Detail: report.ID.String()}
		added, err := tx.AddNotification(ctx, n)
		if err != nil {
			return err
		}
		if added {
			tx.Emit(store.NotificationAdded{Notification: n})
		}
	}
	return nil
}
