package entity

import "svc/store"

// UserList is a list of accounts that a user made.
type UserList struct {
	ID            store.ListID        `json:"id"`
	Title         string              `json:"title"`
	RepliesPolicy store.RepliesPolicy `json:"replies_policy"`
	Exclusive     bool                `json:"exclusive"`
}

// UserList renders a list for its owner.
func (b *Builder) UserList(l *store.List) UserList {
	return UserList{ID: l.ID, Title: l.Title, RepliesPolicy: l.RepliesPolicy, Exclusive: l.Exclusive}
}

// UserLists renders lists for their owner.
func (b *Builder) UserLists(rows []*store.List) []UserList {
	lists := make([]UserList, 0, len(rows))
	for _, l := range rows {
		lists = append(lists, b.UserList(l))
	}
	return lists
}
