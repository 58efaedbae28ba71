package store

import "maps"

// Event is something that happened and that open streams, caches and counters may want to know: one of the types in this file
// and of those beside the rows they speak of. Events are sent after the commit and before the writer is answered, in the order
// of the transactions; what failed sends none.
type Event interface{ event() }

// changes are the rows of a transaction whose rendered form is out of date.
type changes struct {
	statuses []StatusID
	accounts []AccountID
	counters map[AccountID]AccountCounters
	all      bool // too much to list
}

// RowsChanged says that rows changed: what was rendered from them must be rendered again.
type RowsChanged struct {
	Statuses []StatusID
	Accounts []AccountID
	Counters map[AccountID]AccountCounters // accounts of which only counters changed, into these
	All      bool                          // anything may have changed
}

// StatusPosted says that a status, or a boost, has come in.
type StatusPosted struct{ Status *Status }

// StatusEdited says that a status has a new version, or looks different for another reason that open streams want to know.
type StatusEdited struct{ Status *Status }

// StatusRemoved says that a status is gone; Status is what it was. The rest is known only while somebody wants it (KeepDeletedAudiences).
type StatusRemoved struct {
	Status   *Status
	Original *Status   // of a boost: what it boosted
	Audience *Audience // where it stood
}

// NotificationAdded says that somebody has a new notification.
type NotificationAdded struct{ Notification *Notification }

// FollowChanged says that a follow was requested, accepted, rejected or ended (Follow.ID is 0 then).
type FollowChanged struct {
	Follow   *Follow
	Rejected bool
	Ended    bool
}

// ConversationChanged says that something came into a person's conversation.
type ConversationChanged struct {
	AccountID AccountID
	ID        DirectConversationID
}

// ChatChanged says that something came into a person's chat.
type ChatChanged struct {
	AccountID AccountID
	ID        ChatID
}

// AnnouncementChanged says that the staff announces something, or (Deleted) no longer does.
type AnnouncementChanged struct {
	ID      AnnouncementID
	Deleted bool
}

// FiltersChanged says that somebody's keyword filters are others now.
type FiltersChanged struct{ AccountID AccountID }

// TokensRevoked says that tokens are no longer valid: those listed, or all of an account's.
type TokensRevoked struct {
	Tokens    []TokenID
	AccountID AccountID // 0: only those listed
}

func (RowsChanged) event() {}

func (StatusPosted) event() {}

func (StatusEdited) event() {}

func (StatusRemoved) event() {}

func (NotificationAdded) event() {}

func (FollowChanged) event() {}

func (FiltersChanged) event() {}

func (ConversationChanged) event() {}

func (ChatChanged) event() {}

func (AnnouncementChanged) event() {}

func (TokensRevoked) event() {}

// Emit adds an event to the transaction.
func (tx *Tx) Emit(e Event) { tx.events = append(tx.events, e) }

// Subscribe has fn called with the events of each commit. fn runs on the writing goroutine: it must be quick, and must neither
// block nor write to the database. Call it before the database is used.
func (db *DB) Subscribe(fn func([]Event)) { db.subscribers = append(db.subscribers, fn) }

// invalidateStatus marks a status as changed, invalidateAccount an account.
func (tx *Tx) invalidateStatus(id StatusID) { tx.changed.statuses = append(tx.changed.statuses, id) }

func (tx *Tx) invalidateAccount(id AccountID) { tx.changed.accounts = append(tx.changed.accounts, id) }

// invalidateAll is for changes of unknown reach.
func (tx *Tx) invalidateAll() { tx.changed.all = true }

// invalidateRelations marks that what id blocks, mutes or hides has changed, or who blocks it.
func (tx *Tx) invalidateRelations(ids ...AccountID) {
	tx.changedRelations = append(tx.changedRelations, ids...)
}

// invalidateFlags marks that what id did with statuses has changed.
func (tx *Tx) invalidateFlags(id AccountID) { tx.changedFlags = append(tx.changedFlags, id) }

// publishCommit tells the world of a group that is on disk.
func (db *DB) publishCommit(group []*request) {
	var events []Event
	var changed RowsChanged
	jobs, post := false, false
	for _, r := range group {
		if r.err != nil {
			continue
		}
		tx := &r.tx
		changed.Statuses = append(changed.Statuses, tx.changed.statuses...)
		changed.Accounts = append(changed.Accounts, tx.changed.accounts...)
		if changed.Counters == nil {
			changed.Counters = tx.changed.counters
		} else {
			maps.Copy(changed.Counters, tx.changed.counters) // in the order of the transactions
		}
		changed.All = changed.All || tx.changed.all
		if tx.changed.all {
			db.lookupCache.Clear()
			db.flagCache.Clear()
		}
		db.lookupCache.Drop(tx.changedRelations...)
		db.flagCache.Drop(tx.changedRelations...)
		db.flagCache.Drop(tx.changedFlags...)
		events = append(events, tx.events...)
		jobs, post = jobs || tx.newJobs, post || tx.newDeliveries
	}
	if changed.All || len(changed.Statuses)+len(changed.Accounts)+len(changed.Counters) > 0 {
		events = append([]Event{changed}, events...) // caches first
	}
	if len(events) > 0 {
		for _, fn := range db.subscribers {
			fn(events)
		}
	}
	if jobs {
		db.wakeWorker()
	}
	if post {
		db.WakeDelivery()
	}
}
