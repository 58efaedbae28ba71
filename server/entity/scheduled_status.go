package entity

import (
	"context"

	"svc/social"
	"svc/store"
)

// ScheduledStatus is a scheduled status.
type ScheduledStatus struct {
	ID               store.ScheduledID `json:"id"`
	ScheduledAt      store.Time        `json:"scheduled_at"`
	Params           scheduledParams   `json:"params"`
	MediaAttachments []object          `json:"media_attachments"`
}

// scheduledParams are the parameters of a scheduled status. expires_in is an addition to the reference (spec 2.10).
type scheduledParams struct {
	Text          string             `json:"text"`
	InReplyToID   *store.StatusID    `json:"in_reply_to_id"`
	MediaIDs      []store.MediaID    `json:"media_ids"`
	Sensitive     *bool              `json:"sensitive"`
	SpoilerText   string             `json:"spoiler_text"`
	Visibility    string             `json:"visibility"`
	Language      *string            `json:"language"`
	ScheduledAt   *store.Time        `json:"scheduled_at"` // always null
	Poll          *scheduledPoll     `json:"poll"`
	ExpiresIn     *int64             `json:"expires_in"` // seconds after publication
	QuotedID      *store.StatusID    `json:"quoted_status_id"`
	QuotePolicy   *string            `json:"quote_approval_policy"` // null: the author's default
	Interactions  *InteractionPolicy `json:"interaction_policy"`    // null: the author's default
	ApplicationID *store.AppID       `json:"application_id"`
	Idempotency   *string            `json:"idempotency"`
	WithRateLimit bool               `json:"with_rate_limit"`
}

type scheduledPoll struct {
	Options    []string `json:"options"`
	ExpiresIn  int64    `json:"expires_in"` // seconds after publication
	Multiple   bool     `json:"multiple"`
	HideTotals bool     `json:"hide_totals"`
}

// ScheduledStatus renders a scheduled status for its author.
func (b *Builder) ScheduledStatus(ctx context.Context, row *store.ScheduledStatus) (*ScheduledStatus, error) {
	list, err := b.ScheduledStatuses(ctx, []*store.ScheduledStatus{row})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// ScheduledStatuses renders scheduled statuses for their author.
func (b *Builder) ScheduledStatuses(ctx context.Context, rows []*store.ScheduledStatus) ([]*ScheduledStatus, error) {
	ids := make([]store.ScheduledID, 0, len(rows))
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	media, err := b.db.ScheduledMedia(ctx, ids)
	if err != nil {
		return nil, err
	}
	of := make(map[store.ScheduledID][]object)
	for _, m := range media {
		o, err := b.attachment(m)
		if err != nil {
			return nil, err
		}
		of[*m.ScheduledID] = append(of[*m.ScheduledID], o)
	}
	list := make([]*ScheduledStatus, 0, len(rows))
	for _, row := range rows {
		d, err := social.ScheduledDraft(row)
		if err != nil {
			return nil, err
		}
		list = append(list, &ScheduledStatus{
			ID: row.ID, ScheduledAt: row.ScheduledAt, Params: scheduledParamsOf(d), MediaAttachments: orEmpty(of[row.ID]),
		})
	}
	return list, nil
}

func scheduledParamsOf(d social.Draft) scheduledParams {
	p := scheduledParams{Text: d.Text, MediaIDs: d.MediaIDs, Sensitive: d.Sensitive, SpoilerText: d.SpoilerText, ApplicationID: d.App}
	if d.InReplyTo != 0 {
		p.InReplyToID = &d.InReplyTo
	}
	if d.Quote != 0 {
		p.QuotedID = &d.Quote
	}
	if d.QuotePolicy != nil {
		policy := d.QuotePolicy.String()
		p.QuotePolicy = &policy
	}
	visibility := store.Public
	if d.Visibility != nil {
		visibility, p.Visibility = *d.Visibility, d.Visibility.String()
	}
	if d.Interactions != nil {
		p.Interactions = new(newInteractionPolicy(*d.Interactions, visibility))
	}
	if d.List != 0 {
		p.Visibility += ":" + d.List.String()
	}
	if d.Language != "" {
		p.Language = &d.Language
	}
	if d.Poll != nil {
		p.Poll = &scheduledPoll{Options: d.Poll.Options, Multiple: d.Poll.Multiple, HideTotals: d.Poll.HideTotals}
		if d.Poll.ExpiresIn != nil {
			p.Poll.ExpiresIn = seconds(*d.Poll.ExpiresIn)
		}
	}
	if d.ExpiresIn != nil {
		n := seconds(*d.ExpiresIn)
		p.ExpiresIn = &n
	}
	if d.IdempotencyKey != "" {
		p.Idempotency = &d.IdempotencyKey
	}
	return p
}
