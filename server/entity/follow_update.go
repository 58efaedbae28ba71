package entity

import (
	"context"

	"svc/store"
)

// FollowUpdate is the stream event of a follow (spec 6.1).
type FollowUpdate struct {
	State     string       `json:"state"`
	Follower  FollowCounts `json:"follower"`
	Following FollowCounts `json:"following"`
}

// FollowCounts are the counters of one of the two accounts.
type FollowCounts struct {
	ID             store.AccountID `json:"id"`
	FollowerCount  int             `json:"follower_count"`
	FollowingCount int             `json:"following_count"`
}

// FollowUpdate renders the event for the follower with the current counters. Counters that the followed account hides are 0 (extension
// API 24).
func (b *Builder) FollowUpdate(ctx context.Context, state string, f *store.Follow) (*FollowUpdate, error) {
	accounts, err := b.db.Accounts(ctx, []store.AccountID{f.FollowerID, f.TargetID})
	if err != nil {
		return nil, err
	}
	of := byID(accounts, func(a *store.Account) store.AccountID { return a.ID })
	follower, target := of[f.FollowerID], of[f.TargetID]
	if follower == nil || target == nil {
		return nil, notFound
	}
	u := &FollowUpdate{
		State:     state,
		Follower:  FollowCounts{follower.ID, follower.FollowersCount, follower.FollowingCount},
		Following: FollowCounts{target.ID, target.FollowersCount, target.FollowingCount},
	}
	if target.HideFollowers || target.HideFollowersCount {
		u.Following.FollowerCount = 0
	}
	if target.HideFollows || target.HideFollowsCount {
		u.Following.FollowingCount = 0
	}
	return u, nil
}
