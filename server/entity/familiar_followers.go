package entity

import (
	"context"

	"svc/store"
)

// FamiliarFollowers are the followers of an account that the viewer follows.
type FamiliarFollowers struct {
	ID       store.AccountID `json:"id"`
	Accounts List[Account]   `json:"accounts"`
}

// FamiliarFollowers renders one entry for each of the ids.
func (b *Builder) FamiliarFollowers(ctx context.Context, ids []store.AccountID, rows []store.FamiliarFollower) ([]FamiliarFollowers, error) {
	accountIDs := make([]store.AccountID, 0, len(rows))
	for _, row := range rows {
		accountIDs = append(accountIDs, row.AccountID)
	}
	rendered, err := b.loadAccounts(ctx, unique(accountIDs))
	if err != nil {
		return nil, err
	}
	of := make(map[store.AccountID]List[Account])
	for _, row := range rows {
		if a, ok := rendered[row.AccountID]; ok {
			of[row.TargetID] = append(of[row.TargetID], a)
		}
	}
	list := make([]FamiliarFollowers, 0, len(ids))
	for _, id := range unique(ids) {
		list = append(list, FamiliarFollowers{id, orEmpty(of[id])})
	}
	return list, nil
}
