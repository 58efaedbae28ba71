package store

import (
	"context"
	"time"
)

// Report is a report of an account to the staff. Its id says when it was made.
type Report struct {
	ID        ReportID
	AccountID AccountID // the reporter
	TargetID  AccountID
	State     ReportState
	Category  ReportCategory
	Comment   string
	Forwarded bool  // also to the target's server
	StateAt   *Time // of the decision

	DecidedByID *AccountID // nil: nobody, or the command line
	AssignedID  *AccountID // the moderator who looks after it; nil: nobody
	Rules       JSON[[]RuleID]

	URI *string // of the Flag activity of a remote account

	Collections JSON[[]ReportedCollection]
}

// ReportedCollection is a collection of accounts as it was at the time of the report.
type ReportedCollection struct {
	ID          CollectionID `json:"id"`
	URI         string       `json:"uri"`
	URL         string       `json:"url"`
	Name        string       `json:"name"`
	Description string       `json:"description"` // text
}

// ReportState is the decision of the staff.
type ReportState string

const (
	ReportOpen     ReportState = "open"
	ReportClosed   ReportState = "closed"
	ReportResolved ReportState = "resolved"
)

// Valid returns true for the three states.
func (s ReportState) Valid() bool { return s == ReportOpen || s == ReportClosed || s == ReportResolved }

// ReportCategory is the reason of a report.
type ReportCategory string

const (
	ReportSpam      ReportCategory = "spam"
	ReportLegal     ReportCategory = "legal"
	ReportViolation ReportCategory = "violation"
	ReportOther     ReportCategory = "other"
)

// Valid returns true for the four categories.
func (c ReportCategory) Valid() bool {
	return c == ReportSpam || c == ReportLegal || c == ReportViolation || c == ReportOther
}

// ReportedStatus is a copy of a status at the time of the report.
type ReportedStatus struct {
	ReportID         ReportID
	Position         int
	StatusID         *StatusID // nil: deleted
	OriginalStatusID StatusID  // also of a deleted status
	URI              string
	SpoilerText      string
	Content          string // HTML
	CreatedAt        Time
}

// Reports returns the reports of the ids, in no order.
func (r reader) Reports(ctx context.Context, ids []ReportID) ([]*Report, error) {
	return list[*Report](ctx, r, "reports", `
		SELECT r.*
		FROM json_each(?) j
		CROSS JOIN reports r ON r.id = j.value`, jsonArray(ids))
}

// ReportedStatuses returns the statuses of reports, at most so many of each, in order of report and position.
func (r reader) ReportedStatuses(ctx context.Context, ids []ReportID, each int) ([]*ReportedStatus, error) {
	return list[*ReportedStatus](ctx, r, "reported statuses", `
		SELECT s.*
		FROM json_each(?) j
		CROSS JOIN report_statuses s ON s.report_id = j.value AND s.position < ?
		ORDER BY j.key, s.position`, jsonArray(ids), each)
}

// MaxReportStatuses is how many statuses a report can have.
const MaxReportStatuses = 100

// Report returns a report, and errs.ErrRecordNotFound if there is none.
func (r reader) Report(ctx context.Context, id ReportID) (*Report, error) {
	return get[Report](ctx, r, "report", `SELECT * FROM reports WHERE id = ?`, id)
}

// AddReport inserts a report with a new id, and copies of the reported statuses.
func (tx *Tx) AddReport(ctx context.Context, report *Report, about []*Status) error {
	report.ID = ReportID(tx.newID())
	orEmpty(&report.Rules.V)
	orEmpty(&report.Collections.V)
	if err := tx.exec(ctx, "add report", insertReport.text, insertReport.args(report)...); err != nil {
		return err
	}
	for i, st := range about {
		reported := &ReportedStatus{report.ID, i, &st.ID, st.ID, st.URI, st.SpoilerText, st.Content, st.CreatedAt}
		if err := tx.exec(ctx, "add reported status", insertReportedStatus.text, insertReportedStatus.args(reported)...); err != nil {
			return err
		}
	}
	return nil
}

// OpenReportsBy counts the open reports by an account, up to limit.
func (r reader) OpenReportsBy(ctx context.Context, id AccountID, limit int) (int, error) {
	return value[int](ctx, r, "open reports", `
		SELECT count(*)
		FROM (SELECT 1 FROM reports INDEXED BY reports_account WHERE account_id = ? AND state = 'open' LIMIT ?)`, id, limit)
}

// OpenReportsAbout returns the open ones of the 1000 newest reports about an account, newest first, up to limit.
func (r reader) OpenReportsAbout(ctx context.Context, id AccountID, limit int) ([]*Report, error) {
	return list[*Report](ctx, r, "open reports about an account", `
		SELECT some_reports.*
		FROM (SELECT * FROM reports INDEXED BY reports_target WHERE target_id = ? ORDER BY id DESC LIMIT 1000) AS some_reports
		WHERE some_reports.state = 'open'
		LIMIT ?`, id, limit)
}

// ReportByURI returns the report of a Flag activity, nil if there is none.
func (r reader) ReportByURI(ctx context.Context, uri string) (*Report, error) {
	return one[Report](ctx, r, "report by uri", `SELECT * FROM reports WHERE uri = ?`, uri)
}

// RecentReports returns the reports of target by account since a time, newest first.
func (r reader) RecentReports(ctx context.Context, target, account AccountID, since time.Time) ([]*Report, error) {
	return list[*Report](ctx, r, "recent reports", `
		SELECT *
		FROM reports INDEXED BY reports_target
		WHERE target_id = ? AND id > ? AND account_id = ?
		ORDER BY id DESC
		LIMIT 1000`, target, since.UnixMilli()<<sequenceBits, account)
}

// CountReportsFrom counts the reports by accounts of a domain since a time, up to limit.
func (r reader) CountReportsFrom(ctx context.Context, domain string, since time.Time, limit int) (int, error) {
	return value[int](ctx, r, "reports of a domain", `
		SELECT count(*)
		FROM (
			SELECT 1
			FROM reports r CROSS JOIN accounts a ON a.id = r.account_id
			WHERE r.id > ? AND a.domain = ?
			LIMIT ?)`, since.UnixMilli()<<sequenceBits, domain, limit)
}
