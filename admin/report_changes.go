package admin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

const (
	maxReportNote  = 5000 // characters
	maxReportNotes = 200  // on one report
)

// reportReader is what finding reports needs.
type reportReader interface {
	Report(context.Context, store.ReportID) (*store.Report, error)
}

func (s *Service) report(ctx context.Context, r reportReader, id string) (*store.Report, error) {
	report, err := r.Report(ctx, store.ParseID[store.ReportID](id))
	if errs.IsNotFound(err) {
		return nil, errs.NotFound("There is no report %q", id)
	}
	return report, err
}

// ReportUpdate is a decision about a report.
type ReportUpdate struct {
	ID    string `json:"id"`
	State string `json:"state"` // open, closed or resolved
}

// ReportFault is why a report could not be updated.
type ReportFault struct {
	ID    string `json:"id"`
	Error string `json:"error"`
}

// UpdateReports changes the states of reports. It changes those that it can, and returns why it could not change the others.
func (s *Service) UpdateReports(ctx context.Context, updates []ReportUpdate) ([]ReportFault, error) {
	if len(updates) > maxReportUpdates {
		return nil, errs.BadRequest("At most %d reports can be changed at once", maxReportUpdates)
	}
	var faults []ReportFault
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		faults = nil
		for _, u := range updates {
			state := store.ReportState(u.State)
			if !state.Valid() {
				faults = append(faults, ReportFault{u.ID, "Unsupported state"})
				continue
			}
			report, err := s.report(ctx, tx, u.ID)
			if errs.IsNotFound(err) {
				faults = append(faults, ReportFault{u.ID, "not_found"})
				continue
			}
			if err != nil {
				return err
			}
			if err := s.setReportState(ctx, tx, report, state); err != nil {
				return err
			}
		}
		return nil
	})
	return faults, err
}

// setReportState changes the state of a report.
func (s *Service) setReportState(ctx context.Context, tx *store.Tx, report *store.Report, state store.ReportState) error {
	if report.State == state {
		return nil
	}
	if err := tx.SetReportState(ctx, report, state, s.actorID()); err != nil {
		return err
	}
	user, err := s.onUser(ctx, tx, report)
	if err != nil {
		return err
	}
	if user != "" {
		user = " (" + user + ")"
	}
	data, err := s.reportData(ctx, tx, report)
	if err != nil {
		return err
	}
	return s.record(ctx, tx, "report_update", "updated report #"+report.ID.String()+user+" with '"+string(state)+"' state", data)
}

// actorID returns the id of the actor, nil for the command line.
func (s *Service) actorID() *store.AccountID {
	if s.actor == nil {
		return nil
	}
	return &s.actor.ID
}

// onUser returns how the moderation log names the account that made a report.
func (s *Service) onUser(ctx context.Context, tx *store.Tx, report *store.Report) (string, error) {
	actor, err := tx.Account(ctx, report.AccountID)
	if err != nil {
		return "", errs.IgnoreNotFound(err)
	}
	return "on user @" + actor.Acct(), nil
}

// reportData returns a report as the data of an entry of the moderation log.
func (s *Service) reportData(ctx context.Context, tx *store.Tx, report *store.Report) (map[string]any, error) {
	data := map[string]any{"subject": map[string]any{"type": "report", "id": report.ID.String(), "state": string(report.State)}}
	actor, err := tx.Account(ctx, report.AccountID)
	if err == nil {
		data["subject_actor"] = subject(actor)
	}
	return data, errs.IgnoreNotFound(err)
}

// changeReport runs change on a report in one transaction, and records it as "@alice DONE report #ID".
func (s *Service) changeReport(ctx context.Context, id, action, done string, change func(*store.Tx, *store.Report) (bool, error)) (store.ReportID, error) {
	var report *store.Report
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if report, err = s.report(ctx, tx, id); err != nil {
			return err
		}
		changed, err := change(tx, report)
		if err != nil || !changed {
			return err
		}
		data, err := s.reportData(ctx, tx, report)
		if err != nil {
			return err
		}
		return s.record(ctx, tx, action, done+" report #"+report.ID.String(), data)
	})
	if err != nil {
		return 0, err
	}
	return report.ID, nil
}

// TakeReport assigns a report to the actor.
func (s *Service) TakeReport(ctx context.Context, id string) (store.ReportID, error) {
	return s.assignReport(ctx, id, s.actorID(), "assigned to themselves")
}

// ReleaseReport assigns a report to nobody.
func (s *Service) ReleaseReport(ctx context.Context, id string) (store.ReportID, error) {
	return s.assignReport(ctx, id, nil, "unassigned")
}

func (s *Service) assignReport(ctx context.Context, id string, to *store.AccountID, done string) (store.ReportID, error) {
	return s.changeReport(ctx, id, "report_assign", done, func(tx *store.Tx, r *store.Report) (bool, error) {
		if r.AssignedID == to || r.AssignedID != nil && to != nil && *r.AssignedID == *to {
			return false, nil
		}
		return true, tx.AssignReport(ctx, r, to)
	})
}

// ReportReason is a change of what a report is about.
type ReportReason struct {
	Category string         // "": unchanged
	Rules    []store.RuleID // nil: unchanged
}

// SetReportReason changes the category of a report, or the rules that it names.
func (s *Service) SetReportReason(ctx context.Context, id string, reason ReportReason) (store.ReportID, error) {
	if reason.Category != "" && !store.ReportCategory(reason.Category).Valid() {
		return 0, errs.Invalid("Validation failed: Category is not included in the list")
	}
	return s.changeReport(ctx, id, "report_reason", "changed the reason of", func(tx *store.Tx, r *store.Report) (bool, error) {
		category, rules := cmp.Or(store.ReportCategory(reason.Category), r.Category), r.Rules.V
		if reason.Rules != nil {
			known, err := s.social.KnownRulesIn(ctx, tx, reason.Rules)
			if err != nil {
				return false, err
			}
			rules = known
		}
		if category == r.Category && slices.Equal(rules, r.Rules.V) {
			return false, nil
		}
		return true, tx.SetReportReason(ctx, r, category, rules)
	})
}

// SetReportState changes the state of one report.
func (s *Service) SetReportState(ctx context.Context, u ReportUpdate) (*Report, error) {
	state := store.ReportState(u.State)
	if !state.Valid() {
		return nil, errs.BadRequest("Unsupported state")
	}
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		report, err := s.report(ctx, tx, u.ID)
		if err != nil {
			return err
		}
		return s.setReportState(ctx, tx, report, state)
	})
	if err != nil {
		return nil, err
	}
	return s.ShowReport(ctx, u.ID)
}

// errInvalidNote is in the error for all notes that cannot be added or deleted. The API answers with its text alone (spec 4.5), commands
// with the reason, too.
var errInvalidNote = errs.BadRequest("Invalid parameters")

func invalidNote(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errInvalidNote}, args...)...)
}

// NewReportNote is a note to add to a report.
type NewReportNote struct {
	Report  string `json:"report"` // its id
	Content string `json:"content"`
}

// AddReportNote adds a note to a report.
func (s *Service) AddReportNote(ctx context.Context, n NewReportNote) (*ReportNote, error) {
	n.Content = strings.TrimSpace(n.Content)
	switch {
	case n.Content == "":
		return nil, invalidNote("the note has no text")
	case text.Length(n.Content, "") > maxReportNote:
		return nil, errs.BadRequest("A note has at most %d characters", maxReportNote)
	}
	note := &store.ReportNote{AccountID: s.actorID(), Content: n.Content}
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		report, err := s.report(ctx, tx, n.Report)
		if errs.IsNotFound(err) {
			return invalidNote("there is no report %q", n.Report)
		}
		if err != nil {
			return err
		}
		count, err := tx.CountReportNotes(ctx, report.ID)
		if err != nil {
			return err
		}
		if count >= maxReportNotes {
			return errs.BadRequest("A report has at most %d notes", maxReportNotes)
		}
		note.ReportID = report.ID
		if err := tx.AddReportNote(ctx, note); err != nil {
			return err
		}
		return s.recordNote(ctx, tx, report, note, "report_note", "added", "to")
	})
	if err != nil {
		return nil, err
	}
	result := &ReportNote{ID: int64(note.ID), Content: note.Content, CreatedAt: note.ID.Time()}
	if s.actor != nil {
		result.Author = s.actor.Nickname
	}
	return result, nil
}

// ReportNoteKey names a note.
type ReportNoteKey struct {
	Report string `json:"report"` // the id of the report
	ID     string `json:"id"`
}

// DeleteReportNote deletes a note by any author.
func (s *Service) DeleteReportNote(ctx context.Context, key ReportNoteKey) (struct{}, error) {
	return struct{}{}, s.db.Update(ctx, func(tx *store.Tx) error {
		report, err := s.report(ctx, tx, key.Report)
		if errs.IsNotFound(err) {
			return invalidNote("there is no report %q", key.Report)
		}
		if err != nil {
			return err
		}
		note, err := tx.ReportNote(ctx, report.ID, store.ReportNoteID(store.ParseDecimal(key.ID)))
		if errs.IsNotFound(err) {
			return invalidNote("report %q has no note %q", key.Report, key.ID)
		}
		if err != nil {
			return err
		}
		if err := tx.DeleteReportNote(ctx, note.ID); err != nil {
			return err
		}
		return s.recordNote(ctx, tx, report, note, "report_note_delete", "deleted", "from")
	})
}

// recordNote adds an entry about a note to the moderation log.
func (s *Service) recordNote(ctx context.Context, tx *store.Tx, report *store.Report, n *store.ReportNote, action, done, preposition string) error {
	user, err := s.onUser(ctx, tx, report)
	if err != nil {
		return err
	}
	data, err := s.reportData(ctx, tx, report)
	if err != nil {
		return err
	}
	data["text"] = n.Content
	what := strings.TrimSpace(done + " note '" + n.Content + "' " + preposition + " report #" + report.ID.String() + " " + user)
	return s.record(ctx, tx, action, what, data)
}
