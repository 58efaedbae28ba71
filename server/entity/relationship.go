package entity

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

var notFound = errs.ErrRecordNotFound

// Relationship is the relationship of the viewer with an account.
type Relationship struct {
	ID                  store.AccountID `json:"id"`
	Following           bool            `json:"following"`
	FollowedBy          bool            `json:"followed_by"`
	Requested           bool            `json:"requested"`
	RequestedBy         bool            `json:"requested_by"`
	Blocking            bool            `json:"blocking"`
	BlockedBy           bool            `json:"blocked_by"`
	Muting              bool            `json:"muting"`
	MutingNotifications bool            `json:"muting_notifications"`
	MutingExpiresAt     *store.Time     `json:"muting_expires_at"`
	DomainBlocking      bool            `json:"domain_blocking"`
	Endorsed            bool            `json:"endorsed"`
	ShowingReblogs      bool            `json:"showing_reblogs"`
	Notifying           bool            `json:"notifying"`
	Subscribing         bool            `json:"subscribing"`
	Languages           []string        `json:"languages"`
	Note                string          `json:"note"`
}

// Relationships returns the relationships of the viewer with the accounts that exist, in the order of ids.
func (b *Builder) Relationships(ctx context.Context, viewer *store.Account, ids []store.AccountID) ([]*Relationship, error) {
	rows, err := b.db.Relationships(ctx, viewer.ID, ids)
	if err != nil {
		return nil, err
	}
	list := make([]*Relationship, 0, len(rows))
	for _, r := range rows {
		list = append(list, &Relationship{
			ID:                  r.ID,
			Following:           r.Following,
			FollowedBy:          r.FollowedBy,
			Requested:           r.Requested,
			RequestedBy:         r.RequestedBy,
			Blocking:            r.Blocking,
			BlockedBy:           r.BlockedBy,
			Muting:              r.Muting,
			MutingNotifications: r.MutingNotifications,
			MutingExpiresAt:     r.MuteExpiresAt,
			DomainBlocking:      r.DomainBlocking,
			Endorsed:            r.Endorsed,
			ShowingReblogs:      r.ShowReblogs,
			Notifying:           r.Subscribed,
			Subscribing:         r.Subscribed,
			Languages:           orEmpty(r.Languages),
			Note:                r.Note,
		})
	}
	return list, nil
}
