package social

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// Bounds of reports from elsewhere (federation 4.12).
const (
	maxIncomingReportComment  = 5000 // characters; the rest is cut off
	MaxIncomingReportStatuses = 50   // statuses of one report
	maxReportsPerHour         = 60   // in an hour
	duplicateReportWindow     = 24 * time.Hour
)

// IncomingReport is a report from elsewhere.
type IncomingReport struct {
	URI      string
	Target   store.AccountID
	Statuses []store.StatusID // the target's; others are left out
	Comment  string
}

// ReceiveReport is Report by somebody elsewhere, mostly by their server in the name of who complains. The same complaint within a day is
// no error, but is not told of again. Posts that have left this server may be reported by anybody: others may see them than who asks.
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
		lately, err := tx.CountReportsFrom(ctx, reporter.Domain, s.db.Now().Add(-time.Hour), maxReportsPerHour)
		if err != nil {
			return err
		}
		if open >= maxOpenReports || lately >= maxReportsPerHour {
			return errs.New(http.StatusTooManyRequests, "there are too many reports from %s", reporter.Domain)
		}
		report := &store.Report{
			AccountID: reporter.ID, TargetID: target.ID, State: store.ReportOpen, Category: store.ReportOther,
			Comment: firstCharacters(strings.TrimSpace(f.Comment), maxIncomingReportComment), URI: &f.URI,
		}
		if err := tx.AddReport(ctx, report, statuses); err != nil {
			return err
		}
		return notifyStaff(ctx, tx, report)
	})
}

// incomingReportStatuses returns those of the statuses that are target's and have left this server, in the order of ids.
func incomingReportStatuses(ctx context.Context, tx *store.Tx, target *store.Account, ids []store.StatusID) ([]*store.Status, error) {
	rows, err := tx.Statuses(ctx, ids[:min(len(ids), MaxIncomingReportStatuses)])
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(st *store.Status) bool {
		return st.AccountID != target.ID || st.ReblogOfID != nil || !st.Visibility.Federated()
	})
	slices.SortFunc(rows, func(a, b *store.Status) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return slices.CompactFunc(rows, func(a, b *store.Status) bool { return a.ID == b.ID }), nil
}

// isDuplicateReport tells whether somebody has reported the same lately.
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
	rows, err := tx.ReportedStatuses(ctx, ids)
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

// firstCharacters returns the first characters of a text.
func firstCharacters(s string, most int) string {
	for i := range s {
		if most == 0 {
			return s[:i]
		}
		most--
	}
	return s
}
