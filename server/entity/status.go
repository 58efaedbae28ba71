package entity

import (
	"context"
	"strconv"

	"svc/internal/cache"
	"svc/internal/text"
	"svc/store"
)

// statusMembers are the members of a status. A boost has its own values up to Account and of Reblog, Text and Pinned, and those of the
// boosted status for the others; in its extension, of Local and PendingApproval.
type statusMembers struct {
	ID                 string             `json:"id"`
	URI                string             `json:"uri"`
	URL                *string            `json:"url"`
	CreatedAt          store.Time         `json:"created_at"`
	Visibility         store.Visibility   `json:"visibility"`
	Account            slot               `json:"account"`
	EditedAt           *store.Time        `json:"edited_at"`
	InReplyToID        *store.StatusID    `json:"in_reply_to_id"`
	InReplyToAccountID *store.AccountID   `json:"in_reply_to_account_id"`
	Sensitive          bool               `json:"sensitive"`
	SpoilerText        string             `json:"spoiler_text"`
	Language           *string            `json:"language"`
	RepliesCount       int                `json:"replies_count"`
	ReblogsCount       int                `json:"reblogs_count"`
	FavouritesCount    int                `json:"favourites_count"`
	QuotesCount        int                `json:"quotes_count"`
	Content            slot               `json:"content"`
	MediaAttachments   []object           `json:"media_attachments"`
	Mentions           []Mention          `json:"mentions"`
	Tags               []StatusTag        `json:"tags"`
	Emojis             []Emoji            `json:"emojis"`
	Card               slot               `json:"card"`
	Application        *Application       `json:"application"`
	Poll               slot               `json:"poll"`
	QuoteApproval      quoteApproval      `json:"quote_approval"`
	InteractionPolicy  *InteractionPolicy `json:"interaction_policy,omitempty"` // nil: the author allows everyone everything
	Quote              slot               `json:"quote"`
	Reblog             slot               `json:"reblog"`
	Text               slot               `json:"text"` // only in the answer to a deletion
	Favourited         slot               `json:"favourited"`
	Reblogged          slot               `json:"reblogged"`
	Bookmarked         slot               `json:"bookmarked"`
	Muted              slot               `json:"muted"`
	Pinned             slot               `json:"pinned"`
	Filtered           slot               `json:"filtered"`
}

// statusExtension is the svc object of a status.
type statusExtension struct {
	Local                slot                  `json:"local"`
	ConversationID       *store.ConversationID `json:"conversation_id"`
	InReplyToAccountAcct *string               `json:"in_reply_to_account_acct"`
	Content              map[string]string     `json:"content"`
	SpoilerText          map[string]string     `json:"spoiler_text"`
	PinnedAt             *store.Time           `json:"pinned_at"`
	ImportedFrom         *ImportedFrom         `json:"imported_from,omitempty"` // nil: not imported
	PendingApproval      slot                  `json:"pending_approval"`        // the author of the other post has to approve this reply or boost
	PendingFavourite     slot                  `json:"pending_favourite"`       // the author has to approve the viewer's favourite
	QuotesCount          int                   `json:"quotes_count"`
	ThreadMuted          slot                  `json:"thread_muted"`
	ParentVisible        slot                  `json:"parent_visible"`
	DirectConversationID slot                  `json:"direct_conversation_id"`
	EmojiReactions       slot                  `json:"emoji_reactions"`
	BookmarkFolder       slot                  `json:"bookmark_folder"`
	Quote                slot                  `json:"quote"`
	QuoteID              slot                  `json:"quote_id"`
	QuoteURL             slot                  `json:"quote_url"`
	QuoteAPID            slot                  `json:"quote_apid"`       // ActivityPub id
	InReplyToAPID        slot                  `json:"in_reply_to_apid"` // of a status that the viewer may see
	QuoteVisible         slot                  `json:"quote_visible"`
	ExpiresAt            slot                  `json:"expires_at"` // only for the author
	ListID               slot                  `json:"list_id"`    // only for the author, and only with a list
}

// ImportedFrom says where an imported post is from. It is not verified.
type ImportedFrom struct {
	Acct string `json:"acct"`
	URL  string `json:"url"` // the page of the original
}

// statusSlots are the slots of a status. A boost shows most members of the boosted status.
var statusSlots slotTable[*Status]

func init() { // not in the declaration, because statuses contain statuses
	statusSlots = newSlots(statusMembers{}, statusExtension{}, map[string]slotOf[*Status]{
		"account":                     {"{}", always[*Status], func(s *Status, dst []byte) []byte { return s.account.AppendJSON(dst) }},
		"content":                     {`""`, func(s *Status) bool { return s.original().noRichText }, (*Status).appendPlainContent},
		"card":                        {"null", func(s *Status) bool { return s.original().cardAuthor.cachedAccount != nil }, (*Status).appendCard},
		"poll":                        {"null", (*Status).HasPoll, (*Status).appendPoll},
		"quote_approval.current_user": {`"` + quoteAllowed + `"`, func(s *Status) bool { return !s.original().quotable() }, (*Status).appendQuoteDenied},
		"quote":                       {"null", func(s *Status) bool { return s.original().quoteShown != "" }, (*Status).appendQuote},
		"reblog":                      {"null", func(s *Status) bool { return s.reblog != nil }, func(s *Status, dst []byte) []byte { return s.reblog.AppendJSON(dst) }},
		"text":                        {"", func(s *Status) bool { return s.text != nil }, func(s *Status, dst []byte) []byte { return appendValue(dst, *s.text) }},
		"favourited":                  flagSlot(func(s *Status) bool { return s.original().flags.Favourited }),
		"reblogged":                   flagSlot(func(s *Status) bool { return s.original().flags.Reblogged }),
		"bookmarked":                  flagSlot(func(s *Status) bool { return s.original().flags.Bookmarked }),
		"muted":                       flagSlot(func(s *Status) bool { return s.original().flags.ThreadMuted || s.original().flags.AuthorMuted }),
		"pinned":                      flagSlot(func(s *Status) bool { return s.hasViewer && s.pinned }),
		"filtered":                    {"[]", func(s *Status) bool { return s.original().filtered != nil }, (*Status).appendFiltered},

		"svc.local":                  {"false", func(s *Status) bool { return s.local != s.original().local }, func(s *Status, dst []byte) []byte { return strconv.AppendBool(dst, s.local) }},
		"svc.pending_approval":       {"false", func(s *Status) bool { return s.pending != s.original().pending }, func(s *Status, dst []byte) []byte { return strconv.AppendBool(dst, s.pending) }},
		"svc.pending_favourite":      flagSlot(func(s *Status) bool { return s.original().flags.FavouritePending }),
		"svc.thread_muted":           flagSlot(func(s *Status) bool { return s.original().flags.ThreadMuted }),
		"svc.parent_visible":         flagSlot(func(s *Status) bool { return s.original().parentVisible }),
		"svc.direct_conversation_id": {"null", func(s *Status) bool { return s.original().directConversation != 0 }, (*Status).appendDirectConversation},
		"svc.emoji_reactions":        {"[]", func(s *Status) bool { return len(s.original().reactions) > 0 }, (*Status).appendReactions},
		"svc.bookmark_folder":        {"null", func(s *Status) bool { return s.original().flags.Folder != 0 }, (*Status).appendFolder},
		"svc.quote":                  {"null", (*Status).showsQuote, func(s *Status, dst []byte) []byte { return s.original().quote.AppendJSON(dst) }},
		"svc.quote_id":               {"null", (*Status).showsQuote, func(s *Status, dst []byte) []byte { return appendQuoted(dst, s.original().quote.id.String()) }},
		"svc.quote_url":              {"null", (*Status).showsQuote, func(s *Status, dst []byte) []byte { return append(dst, s.original().quote.quoteURL...) }},
		"svc.quote_apid":             {"null", (*Status).showsQuote, func(s *Status, dst []byte) []byte { return append(dst, s.original().quote.uri...) }},
		"svc.in_reply_to_apid":       {"null", func(s *Status) bool { return s.original().parentVisible }, func(s *Status, dst []byte) []byte { return appendValue(dst, s.original().parent.uri) }},
		"svc.quote_visible":          flagSlot((*Status).showsQuote),
		"svc.expires_at":             {"null", (*Status).showsExpiry, func(s *Status, dst []byte) []byte { return appendQuoted(dst, s.original().expiresAt.String()) }},
		"svc.list_id":                {"", func(s *Status) bool { return s.ByViewer() && s.original().listID != nil }, func(s *Status, dst []byte) []byte { return appendQuoted(dst, s.original().listID.String()) }},
	})
}

// showsQuote returns false for a quote inside of a quote.
func (s *Status) showsQuote() bool { return s.original().quote != nil }

// showsExpiry returns true for authors. Pinned statuses do not expire.
func (s *Status) showsExpiry() bool {
	o := s.original()
	return o.byViewer && o.expiresAt != nil && !o.pinned
}

// Mention is an account that a status mentions. URL is the href in the content, byte for byte.
type Mention struct {
	ID       store.AccountID `json:"id"`
	Username string          `json:"username"`
	Acct     string          `json:"acct"`
	URL      string          `json:"url"`
}

// Status is a status for one viewer.
type Status struct {
	*cachedStatus
	builder       *Builder
	account       Account
	cardAuthor    Account // none: no author is shown
	reblog        *Status // nil unless it is a boost
	flags         store.StatusFlags
	hasViewer     bool
	noRichText    bool // the viewer's setting
	byViewer      bool
	parentVisible bool // for the viewer
	text          *string

	quote              *Status                    // nil: nothing, or nothing that the viewer may see
	quoteShown         string                     // state of the quote for the viewer; "": it quotes nothing
	shallowQuote       bool                       // it is quoted itself: only the id of its quote is shown
	followsAuthor      bool                       // set only if the author lets followers quote it
	directConversation store.DirectConversationID // 0: none
	ownVotes           []int                      // of the viewer in the poll
	filtered           *filtered                  // nil: no filter matches
	reactionsOfViewer  *viewerReactions           // nil: none, or none that depend on the viewer
}

// cachedStatus is what of a status is the same for every viewer. The document of a boost is its head.
type cachedStatus struct {
	document
	id             store.StatusID
	accountID      store.AccountID
	reblogOfID     *store.StatusID
	conversationID store.ConversationID
	expiresAt      *store.Time
	listID         *store.ListID
	pinned         bool
	local          bool
	pending        bool // it waits for approval
	direct         bool
	parent         *parentStatus
	visibility     store.Visibility
	quotePolicy    store.QuotePolicy
	quoteState     store.QuoteState
	quoteOfID      *store.StatusID
	quoteURL       []byte // JSON
	uri            []byte // JSON; nil for a boost
	poll           *cachedPoll
	card           *cachedCard      // nil: none that names a known author
	reactions      []cachedReaction // in order of first use

	plainContent     func() []byte // JSON for viewers without rich text
	plainContentSize int           // approximate
	version          uint64        // another one each time that it is rendered
	filterText       func() *text.Folded
	filterTextSize   int // approximate
}

// parentStatus has the columns that decide whether a viewer may see the status that another one replies to, and its ActivityPub id.
type parentStatus struct {
	id         store.StatusID
	accountID  store.AccountID
	visibility store.Visibility
	uri        string
}

func (s *cachedStatus) size() int {
	return cache.EntryBytes + 400 + s.document.size() + s.plainContentSize + s.poll.size() + s.filterTextSize + reactionsSize(s.reactions) + len(s.quoteURL) + len(s.uri) + s.card.size()
}

// ID returns the status's id.
func (s *Status) ID() store.StatusID { return s.id }

// Position returns the id as a position in a list.
func (s *Status) Position() int64 { return s.id.Position() }

// original returns the boosted status, and the status itself if it is no boost.
func (s *Status) original() *Status {
	if s.reblog != nil {
		return s.reblog
	}
	return s
}

// AppendJSON renders the status.
func (s *Status) AppendJSON(dst []byte) []byte {
	head := s.json
	if s.reblog == nil {
		head = s.head()
	}
	return appendDocument(dst, head, &s.original().document, statusSlots, s)
}

// MarshalJSON is AppendJSON for statuses inside of other entities.
func (s *Status) MarshalJSON() ([]byte, error) { return s.AppendJSON(nil), nil }

// WithText adds the source, for the answer to a deletion.
func (s *Status) WithText(source string) *Status {
	s.text = &source
	return s
}

func (s *Status) appendPlainContent(dst []byte) []byte {
	return append(dst, s.original().plainContent()...)
}

// appendFolder appends the folder of the viewer's bookmark of the status.
func (s *Status) appendFolder(dst []byte) []byte {
	return appendQuoted(dst, s.original().flags.Folder.String())
}

// Status returns a status for the viewer (nil: anonymous).
func (b *Builder) Status(ctx context.Context, viewer *store.Account, id store.StatusID) (*Status, error) {
	statuses, err := b.Statuses(ctx, viewer, []store.StatusID{id})
	if err != nil {
		return nil, err
	}
	if len(statuses) == 0 {
		return nil, notFound
	}
	return statuses[0], nil
}

// Statuses returns the statuses of the ids that exist, in the order of the ids, for the viewer (nil: anonymous).
func (b *Builder) Statuses(ctx context.Context, viewer *store.Account, ids []store.StatusID) (List[*Status], error) {
	statuses, err := b.statusesWithoutQuotes(ctx, viewer, ids)
	if err != nil {
		return nil, err
	}
	return statuses, b.addQuotes(ctx, viewer, statuses)
}

func (b *Builder) statusesWithoutQuotes(ctx context.Context, viewer *store.Account, ids []store.StatusID) (List[*Status], error) {
	rendered, err := b.renderStatuses(ctx, ids)
	if err != nil {
		return nil, err
	}
	shown := make(List[*Status], 0, len(ids))
	originals := make([]*Status, 0, len(ids))
	for _, id := range ids {
		r, ok := rendered[id]
		if !ok {
			continue
		}
		s := &Status{cachedStatus: r, builder: b}
		if r.reblogOfID != nil {
			original, ok := rendered[*r.reblogOfID]
			if !ok {
				continue // deleted meanwhile
			}
			s.reblog = &Status{cachedStatus: original, builder: b}
			originals = append(originals, s.reblog)
		} else {
			originals = append(originals, s)
		}
		shown = append(shown, s)
	}
	return shown, b.addMembers(ctx, viewer, shown, originals)
}
