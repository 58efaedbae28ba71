package entity

import "svc/store"

// StatusKey identifies what a viewer is shown of a status.
type StatusKey struct {
	id, original              store.StatusID
	version, originalVersion  uint64
	author, originalAuthor    *accountDocument
	differ                    slotSet
	hasViewer, byViewer, rich bool
	folder                    store.BookmarkFolderID
}

// Key returns the key of the status: statuses with equal keys have the same JSON, but for the counters of accounts. ok is false if the JSON
// depends on more: polls, quotes, filters, the viewer's reactions.
func (s *Status) Key() (key StatusKey, ok bool) {
	o := s.original()
	if o.poll != nil || o.quoteShown != "" || o.filtered != nil || o.reactionsOfViewer != nil || s.text != nil || s.account.cachedAccount == nil || o.account.cachedAccount == nil {
		return key, false
	}
	return StatusKey{
		id: s.id, version: s.version, author: s.account.accountDocument,
		original: o.id, originalVersion: o.version, originalAuthor: o.account.accountDocument,
		differ: statusSlots.differing(s), hasViewer: s.hasViewer, byViewer: o.byViewer, rich: !o.noRichText, folder: o.flags.Folder,
	}, true
}

// ParentID returns the id of the status that this one replies to, 0 if there is none.
func (s *Status) ParentID() store.StatusID {
	if s.parent == nil {
		return 0
	}
	return s.parent.id
}

// HasPoll returns true if the status, or the boosted one, has a poll.
func (s *Status) HasPoll() bool { return s.original().poll != nil }

// ByViewer returns true if the viewer wrote the status, or the boosted one.
func (s *Status) ByViewer() bool { return s.original().byViewer }
