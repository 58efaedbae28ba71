package entity

import (
	"context"

	"svc/store"
)

// InteractionRequest is a favourite, reply or boost of a status of the viewer's that waits for approval, or has an answer.
type InteractionRequest struct {
	ID         store.InteractionRequestID `json:"id"`
	Type       string                     `json:"type"`
	CreatedAt  store.Time                 `json:"created_at"`
	Account    Account                    `json:"account"`
	Status     *Status                    `json:"status"`
	Reply      *Status                    `json:"reply"` // null unless it is a reply
	AcceptedAt *store.Time                `json:"accepted_at"`
	RejectedAt *store.Time                `json:"rejected_at"`
	URI        *string                    `json:"uri"` // of the authorization
}

var interactionNames = map[store.Interaction]string{store.Favouriting: "favourite", store.Replying: "reply", store.Reblogging: "reblog"}

// InteractionRequests renders requests to the viewer, in their order. A reply that was deleted is left out.
func (b *Builder) InteractionRequests(ctx context.Context, viewer *store.Account, rows []*store.InteractionRequest) ([]*InteractionRequest, error) {
	var accountIDs []store.AccountID
	var statusIDs []store.StatusID
	for _, row := range rows {
		accountIDs = append(accountIDs, row.AccountID)
		statusIDs = append(statusIDs, row.StatusID)
		if row.Interaction == store.Replying {
			statusIDs = append(statusIDs, *row.InteractingID)
		}
	}
	accountOf, err := b.loadAccounts(ctx, accountIDs)
	if err != nil {
		return nil, err
	}
	statuses, err := b.Statuses(ctx, viewer, unique(statusIDs))
	if err != nil {
		return nil, err
	}
	statusOf := byID(statuses, (*Status).ID)
	list := make([]*InteractionRequest, 0, len(rows))
	for _, row := range rows {
		q := &InteractionRequest{
			ID: row.ID, Type: interactionNames[row.Interaction], CreatedAt: store.At(row.ID.Time()), Account: accountOf[row.AccountID],
			Status: statusOf[row.StatusID], AcceptedAt: row.AcceptedAt,
		}
		if row.Interaction == store.Replying {
			q.Reply = statusOf[*row.InteractingID]
		}
		if row.AcceptedAt != nil {
			q.URI = new(b.Settings.BaseURL + "/authorizations/" + row.ID.String())
		}
		if q.Account.cachedAccount != nil && q.Status != nil {
			list = append(list, q)
		}
	}
	return list, nil
}
