package entity

import "svc/store"

// UserList is a list of accounts that a user made.
type UserList struct {
	ID            store.ListID        `json:"id"`
	Title         string              `json:"title"`
	RepliesPolicy store.RepliesPolicy `json:"replies_policy"`
	Exclusive     bool                `json:"exclusive"`
}

// NewUserList renders a list for its owner.
func NewUserList(l *store.List) UserList {
	return UserList{ID: l.ID, Title: l.Title, RepliesPolicy: l.RepliesPolicy, Exclusive: l.Exclusive}
}
