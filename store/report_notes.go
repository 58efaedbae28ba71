package store

import "context"

// ReportNote is a note of the staff on a report. Its id says when it was written.
type ReportNote struct {
	ID        ReportNoteID
	ReportID  ReportID
	AccountID *AccountID // the author; nil: the command line, or an account that was removed
	Content   string     // as typed
}

// ReportNotes returns the notes on reports, in order of report and time.
func (r reader) ReportNotes(ctx context.Context, ids []ReportID) ([]*ReportNote, error) {
	return list[*ReportNote](ctx, r, "report notes", `
		SELECT n.*
		FROM json_each(?) j
		CROSS JOIN report_notes n ON n.report_id = j.value
		ORDER BY j.key, n.id`, jsonArray(ids))
}

// ReportNote returns a note on a report, and errs.ErrRecordNotFound if there is none.
func (r reader) ReportNote(ctx context.Context, report ReportID, id ReportNoteID) (*ReportNote, error) {
	return get[ReportNote](ctx, r, "report note", `SELECT * FROM report_notes WHERE id = ? AND report_id = ?`, id, report)
}

// CountReportNotes counts the notes on a report.
func (r reader) CountReportNotes(ctx context.Context, report ReportID) (int, error) {
	return value[int](ctx, r, "count report notes", `SELECT count(*) FROM report_notes WHERE report_id = ?`, report)
}

// AddReportNote inserts a note with a new id.
func (tx *Tx) AddReportNote(ctx context.Context, n *ReportNote) error {
	n.ID = ReportNoteID(tx.newID())
	return tx.exec(ctx, "add report note", insertReportNote.text, insertReportNote.args(n)...)
}

// DeleteReportNote deletes a note.
func (tx *Tx) DeleteReportNote(ctx context.Context, id ReportNoteID) error {
	return tx.exec(ctx, "delete report note", `DELETE FROM report_notes WHERE id = ?`, id)
}
