package store

import "maps"

// Event is something that open streams, caches and counters are sent after the commit: one of the types in this file. Subscribers get
// events in the order of the transactions, before Update returns. A transaction that was rolled back has no events.
type Event interface{ event() }

// RowsChanged invalidates entities that were rendered from rows.
type RowsChanged struct {
	Statuses []StatusID
	Accounts []AccountID
	Counters map[AccountID]AccountCounters // accounts of which only these counters changed
	All      bool                          // any row may have changed
}

// StatusPosted is a new status or boost.
type StatusPosted struct{ Status *Status }

// StatusEdited is a new version of a status, or another change that open streams show.
type StatusEdited struct{ Status *Status }

// StatusRemoved is the deletion of a status. Audience is set only after KeepDeletedAudiences.
type StatusRemoved struct {
	Status   *Status
	Original *Status   // of a boost
	Audience *Audience // timelines that had it
	Narrowed bool      // it still exists, for a smaller audience
}

// NotificationAdded is a new notification.
type NotificationAdded struct{ Notification *Notification }

// NotificationsMerged is the acceptance of filtered notifications of an account into its list.
type NotificationsMerged struct{ AccountID AccountID }

// FollowChanged is a follow that was requested, accepted, rejected or ended (Follow.ID is 0 then).
type FollowChanged struct {
	Follow   *Follow
	Rejected bool
	Ended    bool
}

// ConversationChanged is a new post in a conversation of an account.
type ConversationChanged struct {
	AccountID AccountID
	ID        DirectConversationID
}

// ChatChanged is a new message in a chat of an account.
type ChatChanged struct {
	AccountID AccountID
	ID        ChatID
}

// AnnouncementChanged is a new or changed announcement, or one that is no longer shown.
type AnnouncementChanged struct {
	ID      AnnouncementID
	Deleted bool
}

// AnnouncementReacted is a new number of reactions to an announcement with an emoji.
type AnnouncementReacted struct {
	ID    AnnouncementID
	Emoji string
}

// InstanceChanged is a change of the rules or documents of the server.
type InstanceChanged struct{}

// FiltersChanged is a change of an account's keyword filters.
type FiltersChanged struct{ AccountID AccountID }

// TokensRevoked lists tokens that are no longer valid, or all tokens of an account.
type TokensRevoked struct {
	Tokens    []TokenID
	AccountID AccountID // 0: only the tokens listed
}

// ServerClosureChanged is the closing of this server, or its cancellation.
type ServerClosureChanged struct{ Closed bool }

func (RowsChanged) event()          {}
func (StatusPosted) event()         {}
func (StatusEdited) event()         {}
func (StatusRemoved) event()        {}
func (NotificationAdded) event()    {}
func (FollowChanged) event()        {}
func (FiltersChanged) event()       {}
func (NotificationsMerged) event()  {}
func (ConversationChanged) event()  {}
func (ChatChanged) event()          {}
func (AnnouncementChanged) event()  {}
func (AnnouncementReacted) event()  {}
func (InstanceChanged) event()      {}
func (TokensRevoked) event()        {}
func (ServerClosureChanged) event() {}

// Emit adds an event to the transaction.
func (tx *Tx) Emit(e Event) { tx.events = append(tx.events, e) }

// Subscribe calls fn with the events of each commit. fn runs on the writing goroutine: it must be fast, must not block and must not write
// to the database. Call it before the database is used.
func (db *DB) Subscribe(fn func([]Event)) { db.subscribers = append(db.subscribers, fn) }

// invalidateStatus marks a status as changed.
func (tx *Tx) invalidateStatus(id StatusID) { tx.changed.Statuses = append(tx.changed.Statuses, id) }

func (tx *Tx) invalidateAccount(id AccountID) { tx.changed.Accounts = append(tx.changed.Accounts, id) }

// invalidateAll marks all rows as changed, for changes that cannot be listed.
func (tx *Tx) invalidateAll() { tx.changed.All = true }

// invalidateRelations marks the blocks, mutes, follows, subscriptions and notes of accounts, and the blocks against them, as changed.
func (tx *Tx) invalidateRelations(ids ...AccountID) {
	tx.changedRelations = append(tx.changedRelations, ids...)
}

// invalidateFlags marks the favourites, boosts and bookmarks of an account as changed.
func (tx *Tx) invalidateFlags(id AccountID) { tx.changedFlags = append(tx.changedFlags, id) }

// Commits returns how many commits there were since the start. It grows after the caches were invalidated and before Update returns, so
// that what was read from rows and caches after a call stays current until the number grows.
func (db *DB) Commits() uint64 { return db.commits.Load() }

// publishCommit invalidates caches and sends events after the commit of a group.
func (db *DB) publishCommit(group []*request) {
	var events []Event
	var changed RowsChanged
	jobs, post := false, false
	for _, r := range group {
		if r.err != nil {
			continue
		}
		tx := &r.tx
		changed.Statuses = append(changed.Statuses, tx.changed.Statuses...)
		changed.Accounts = append(changed.Accounts, tx.changed.Accounts...)
		if changed.Counters == nil {
			changed.Counters = tx.changed.Counters
		} else {
			maps.Copy(changed.Counters, tx.changed.Counters) // in the order of the transactions
		}
		changed.All = changed.All || tx.changed.All
		if tx.changed.All {
			db.lookupCache.Clear()
			db.networks.Clear()
			db.flagCache.Clear()
		}
		db.lookupCache.Drop(tx.changedRelations...)
		db.flagCache.Drop(tx.changedRelations...)
		db.flagCache.Drop(tx.changedFlags...)
		events = append(events, tx.events...)
		jobs, post = jobs || tx.newJobs, post || tx.newDeliveries
	}
	if changed.All || len(changed.Statuses)+len(changed.Accounts)+len(changed.Counters) > 0 {
		events = append([]Event{changed}, events...) // before the events that are rendered from rows
	}
	if len(events) > 0 {
		for _, fn := range db.subscribers {
			fn(events)
		}
	}
	db.commits.Add(1)
	if jobs {
		db.wakeWorker()
	}
	if post {
		db.WakeDelivery()
	}
}
