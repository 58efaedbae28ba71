package social

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// Limits of scheduled statuses (extension API 17.1).
const (
	minScheduleDelay   = 5 * time.Minute // earlier ones are published at once
	maxScheduledPerDay = 25              // by UTC days
	maxScheduled       = 300
	scheduledDay       = 24 * time.Hour
)

// schedule stores a composed draft for later, with the author's current defaults resolved. Dropped parts of the draft are not stored, so
// that it is bounded like a status.
func (s *Service) schedule(ctx context.Context, tx *store.Tx, author *store.Account, d Draft, c *Composed) error {
	at := store.At(d.ScheduledAt)
	if err := checkScheduleLimits(ctx, tx, author.ID, at, 0); err != nil {
		return err
	}
	d.IdempotencyKey = storableKey(d.IdempotencyKey)
	d.Text, d.SpoilerText, d.ContentType = c.Text, c.SpoilerText, c.ContentType
	d.Visibility, d.Sensitive, d.Language, d.QuotePolicy = &c.Visibility, &c.Sensitive, c.Language, &c.QuotePolicy
	d.To = normalizeHandles(d.To)
	d.MediaIDs = nil
	for _, m := range c.Media {
		d.MediaIDs = append(d.MediaIDs, m.ID)
	}
	if d.Poll != nil {
		poll := *d.Poll
		poll.Options, d.Poll = c.Poll.Titles(), &poll
	}
	draft, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("schedule status: %w", err)
	}
	c.Scheduled = &store.ScheduledStatus{AccountID: author.ID, AppID: d.App, ScheduledAt: at}
	c.Scheduled.Draft.V = draft
	if err := tx.AddScheduledStatus(ctx, c.Scheduled, c.Media); err != nil {
		return err
	}
	if err := enqueuePublish(ctx, tx, c.Scheduled); err != nil {
		return err
	}
	return saveIdempotencyKey(ctx, tx, author, d, int64(c.Scheduled.ID))
}

// normalizeHandles returns handles in the form that accountsByHandles reads, nil for nil.
func normalizeHandles(handles []string) []string {
	normalized := handles[:0:0]
	for _, h := range handles[:min(len(handles), text.MaxMentions)] {
		if nick, domain, ok := text.SplitHandle(h); ok {
			if domain != "" {
				nick += "@" + domain
			}
			normalized = append(normalized, nick)
		}
	}
	return normalized
}

// checkScheduleLimits returns an error if owner cannot have another scheduled status at this time. It does not count except.
func checkScheduleLimits(ctx context.Context, tx *store.Tx, owner store.AccountID, at store.Time, except store.ScheduledID) error {
	day := at.Time().Truncate(scheduledDay)
	due, total, err := tx.CountScheduled(ctx, owner, store.At(day), store.At(day.Add(scheduledDay)), except)
	switch {
	case err != nil:
		return err
	case due >= maxScheduledPerDay:
		return errs.Invalid("daily limit exceeded")
	case total >= maxScheduled:
		return errs.Invalid("total limit exceeded")
	}
	return nil
}

// ScheduledDraft returns the draft of a scheduled status.
func ScheduledDraft(row *store.ScheduledStatus) (Draft, error) {
	d := Draft{App: row.AppID}
	if err := json.Unmarshal(row.Draft.V, &d); err != nil {
		return d, fmt.Errorf("draft of scheduled status %s: %w", row.ID, err)
	}
	return d, nil
}

// Reschedule changes the time of a scheduled status.
func (s *Service) Reschedule(ctx context.Context, owner *store.Account, id store.ScheduledID, at time.Time) (*store.ScheduledStatus, error) {
	return update(ctx, s.db, func(tx *store.Tx) (*store.ScheduledStatus, error) {
		row, err := tx.OwnScheduledStatus(ctx, owner.ID, id)
		if err != nil {
			return nil, err
		}
		if at.Sub(s.db.Now()) < minScheduleDelay {
			return nil, errs.Invalid("must be at least 5 minutes from now")
		}
		row.ScheduledAt = store.At(at)
		if err := checkScheduleLimits(ctx, tx, owner.ID, row.ScheduledAt, row.ID); err != nil {
			return nil, err
		}
		if err := tx.Reschedule(ctx, row); err != nil {
			return nil, err
		}
		return row, enqueuePublish(ctx, tx, row)
	})
}

// CancelScheduled deletes a scheduled status. Its attachments become free.
func (s *Service) CancelScheduled(ctx context.Context, owner *store.Account, id store.ScheduledID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		if _, err := tx.OwnScheduledStatus(ctx, owner.ID, id); err != nil {
			return err
		}
		if err := tx.RemoveScheduledStatus(ctx, id); err != nil {
			return err
		}
		return tx.DropJob(ctx, publishKey(id))
	})
}

// publishScheduled is the job that publishes a scheduled status. If it cannot be published, for example because its parent is gone, it
// stays in the author's list with its time past, until the author changes or deletes it.
func (s *Service) publishScheduled(ctx context.Context, w store.PublishScheduled) error {
	if s.db.ServerClosed() {
		return nil
	}
	row, err := s.db.ScheduledStatus(ctx, w.ScheduledID)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	d, err := ScheduledDraft(row)
	if err != nil {
		return err
	}
	wording, err := s.parseContent(d.Content)
	if err == nil {
		err = s.inspectAttachments(ctx, row.AccountID, d.MediaIDs)
	}
	if err == nil {
		err = s.db.Update(ctx, func(tx *store.Tx) error { return s.publishDue(ctx, tx, row.ID, d, wording) })
	}
	if refused := new(errs.Error); errors.As(err, &refused) && refused.Status < 500 {
		s.log.Warn("scheduled status could not be published and stays in its author's list", "id", row.ID, "account", row.AccountID, "err", refused)
		return nil
	}
	return err
}

// publishDue publishes a scheduled status, if it still exists and is due.
func (s *Service) publishDue(ctx context.Context, tx *store.Tx, id store.ScheduledID, d Draft, w *parsedContent) error {
	row, err := tx.ScheduledStatus(ctx, id)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	if row.ScheduledAt.Time().After(s.db.Now()) {
		return nil
	}
	author, err := tx.Account(ctx, row.AccountID)
	if err != nil {
		return err
	}
	if author.Unavailable {
		return errs.Forbidden("The account is unavailable")
	}
	if err := tx.RemoveScheduledStatus(ctx, row.ID); err != nil { // this also detaches its media
		return err
	}
	d.App = row.AppID // the row's, because the app may be deleted since
	c, err := s.compose(ctx, tx, author, d, w)
	if err != nil {
		return err
	}
	if err := s.addStatus(ctx, tx, author, c); err != nil {
		return err
	}
	return tx.MoveIdempotencyKey(ctx, author.ID, int64(row.ID), int64(c.ID), idempotencyKey(d))
}

// enqueuePublish enqueues the job that publishes a scheduled status.
func enqueuePublish(ctx context.Context, tx *store.Tx, row *store.ScheduledStatus) error {
	return tx.EnqueueUnique(ctx, row.ScheduledAt.Time(), publishKey(row.ID), store.PublishScheduled{ScheduledID: row.ID})
}

func publishKey(id store.ScheduledID) string { return "publish:" + id.String() }
