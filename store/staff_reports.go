package store

import (
	"context"
	"math"
)

// ReportFilter selects reports in the lists of the staff. All conditions must hold.
type ReportFilter struct {
	State        ReportState // "": any
	Decided      *bool       // false: open ones, true: all others; nil: any
	Account      AccountID   // by this account; 0: any
	Target       AccountID   // of this account; 0: any
	TargetDomain *string     // of accounts of this domain, "" for local ones; nil: any
	Rule         RuleID      // that break this rule; 0: any
}

const (
	maxReportsCounted = 20_000
	maxDecidedReports = 50_000 // that are kept
)

// Conditions of the lists of reports. The id is below ?1 and above ?2. The size of the table bounds what a list looks at (PruneReports).
const (
	reportCondition = ` r.id < ?1 AND r.id > ?2
			AND (?3 = '' OR r.state = ?3) AND (?4 IS NULL OR (r.state <> 'open') = ?4) AND (?5 = 0 OR r.account_id = ?5) AND (?6 = 0 OR r.target_id = ?6)
			AND (?7 IS NULL OR (SELECT a.domain FROM accounts a WHERE a.id = r.target_id) = ?7)
			AND (?8 = 0 OR EXISTS (SELECT 1 FROM json_each(r.rules) j WHERE j.value = ?8))`
	reportsOfAll     = ` FROM reports r WHERE` + reportCondition
	reportsOfState   = ` FROM reports r INDEXED BY reports_state WHERE r.state = ?3 AND` + reportCondition
	reportsByAccount = ` FROM reports r INDEXED BY reports_account WHERE r.account_id = ?5 AND` + reportCondition
	reportsOfTarget  = ` FROM reports r INDEXED BY reports_target WHERE r.target_id = ?6 AND` + reportCondition
)

// reportList are the queries of a list of reports.
type reportList struct {
	keyset
	count string
}

func newReportList(from string) *reportList {
	return &reportList{
		newKeyset(`SELECT r.id` + from + `
		ORDER BY r.id DESC
		LIMIT ?9 OFFSET ?10`),
		`SELECT count(*) FROM (SELECT 1` + from + ` LIMIT ?9)`,
	}
}

var (
	allReports       = newReportList(reportsOfAll)
	reportsInState   = newReportList(reportsOfState)
	reportsOfAccount = newReportList(reportsByAccount)
	reportsAbout     = newReportList(reportsOfTarget)
)

// list returns the queries that read the fewest rows.
func (f *ReportFilter) list() *reportList {
	switch {
	case f.Account != 0:
		return reportsOfAccount
	case f.Target != 0:
		return reportsAbout
	case f.State != "":
		return reportsInState
	}
	return allReports
}

func (f *ReportFilter) args(below, above int64) []any {
	return []any{below, above, f.State, f.Decided, f.Account, f.Target, f.TargetDomain, f.Rule}
}

// StaffReports returns a page of the ids of the reports that a filter selects, newest first.
func (r reader) StaffReports(ctx context.Context, f ReportFilter, p Page, offset int) ([]ReportID, error) {
	query, below, above, ascending := f.list().query(p)
	rows, err := ids[ReportID](ctx, r, "reports for staff", query, append(f.args(below, above), p.Limit, offset)...)
	return newestFirst(rows, ascending), err
}

// CountStaffReports counts the reports that a filter selects, up to maxReportsCounted.
func (r reader) CountStaffReports(ctx context.Context, f ReportFilter) (int, error) {
	return value[int](ctx, r, "count reports for staff", f.list().count, append(f.args(math.MaxInt64, 0), maxReportsCounted)...)
}

// ReportsWithStatuses returns the newest reports that are about posts.
func (r reader) ReportsWithStatuses(ctx context.Context, limit int) ([]ReportID, error) {
	return ids[ReportID](ctx, r, "reports with statuses", `
		SELECT r.id
		FROM reports r
		WHERE r.id > 0 AND EXISTS (SELECT 1 FROM report_statuses s WHERE s.report_id = r.id)
		ORDER BY r.id DESC
		LIMIT ?`, limit)
}

// SetReportState stores a decision about a report. by is the account that made it, nil: the command line. An open report has none.
func (tx *Tx) SetReportState(ctx context.Context, report *Report, state ReportState, by *AccountID) error {
	report.State, report.StateAt, report.DecidedByID = state, nil, nil
	if state != ReportOpen {
		report.StateAt, report.DecidedByID = new(At(tx.db.now())), by
	}
	return tx.exec(ctx, "set report state", `
		UPDATE reports
		SET state = ?, state_at = ?, decided_by_id = ?
		WHERE id = ?`, report.State, report.StateAt, report.DecidedByID, report.ID)
}

// AssignReport stores who looks after a report; nil: nobody.
func (tx *Tx) AssignReport(ctx context.Context, report *Report, to *AccountID) error {
	report.AssignedID = to
	return tx.exec(ctx, "assign report", `UPDATE reports SET assigned_id = ? WHERE id = ?`, to, report.ID)
}

// SetReportReason changes the category of a report and the rules that it names.
func (tx *Tx) SetReportReason(ctx context.Context, report *Report, c ReportCategory, rules []RuleID) error {
	report.Category, report.Rules.V = c, rules
	orEmpty(&report.Rules.V)
	return tx.exec(ctx, "set report reason", `UPDATE reports SET category = ?, rules = ? WHERE id = ?`, c, report.Rules, report.ID)
}

// PruneReports deletes a batch of the oldest decided reports beyond maxDecidedReports. It returns whether there may be more.
func (tx *Tx) PruneReports(ctx context.Context) (more bool, err error) {
	n, err := tx.execRows(ctx, "prune reports", `
		DELETE FROM reports
		WHERE id IN (
			SELECT id
			FROM reports INDEXED BY reports_decided
			WHERE state_at <= (SELECT state_at FROM reports WHERE state_at IS NOT NULL ORDER BY state_at DESC LIMIT 1 OFFSET ?)
			ORDER BY state_at
			LIMIT ?)`, maxDecidedReports, pruneBatch)
	return n == pruneBatch, err
}
