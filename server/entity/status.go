package entity

import (
	"context"
	"strconv"

	"svc/internal/cache"
	"svc/internal/text"
	"svc/store"
)

// statusHead are the members that a boost has of its own.
type statusHead struct {
	ID         string           `json:"id"`
	URI        string           `json:"uri"`
	URL        *string          `json:"url"`
	CreatedAt  store.Time       `json:"created_at"`
	Visibility store.Visibility `json:"visibility"`
}

// statusBody are the members that a boost copies from the original.
type statusBody struct {
	EditedAt           *store.Time      `json:"edited_at"`
	InReplyToID        *store.StatusID  `json:"in_reply_to_id"`
	InReplyToAccountID *store.AccountID `json:"in_reply_to_account_id"`
	Sensitive          bool             `json:"sensitive"`
	SpoilerText        string           `json:"spoiler_text"`
	Language           *string          `json:"language"`
	RepliesCount       int              `json:"replies_count"`
	ReblogsCount       int              `json:"reblogs_count"`
	FavouritesCount    int              `json:"favourites_count"`
	Content            string           `json:"content"`
	MediaAttachments   []object         `json:"media_attachments"`
	Mentions           []Mention        `json:"mentions"`
	Tags               []Tag            `json:"tags"`
	Emojis             []Emoji          `json:"emojis"`
	Card               *object          `json:"card"`
	Application        *Application     `json:"application"`
}

// statusExtension is what of the svc object everybody sees.
type statusExtension struct {
	ConversationID       *store.ConversationID `json:"conversation_id"`
	InReplyToAccountAcct *string               `json:"in_reply_to_account_acct"`
	Content              map[string]string     `json:"content"`
	SpoilerText          map[string]string     `json:"spoiler_text"`
	PinnedAt             *store.Time           `json:"pinned_at"`
	QuotesCount          int                   `json:"quotes_count"`
}

// Mention is an account that a status mentions. URL is the href in the content, byte for byte.
type Mention struct {
	ID       store.AccountID `json:"id"`
	Username string          `json:"username"`
	Acct     string          `json:"acct"`
	URL      string          `json:"url"`
}

// Tag is a hashtag.
type Tag struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// Application is what a status was posted with.
type Application struct {
	Name    string  `json:"name"`
	Website *string `json:"website"`
}

func (a *Application) size() int {
	if a.Website == nil {
		return cache.EntryBytes + len(a.Name)
	}
	return cache.EntryBytes + len(a.Name) + len(*a.Website)
}

// renderedStatus is a status as everybody sees it, in the parts from which AppendJSON makes the whole. A boost has only a head.
type renderedStatus struct {
	id             store.StatusID
	accountID      store.AccountID
	reblogOfID     *store.StatusID
	conversationID store.ConversationID
	expiresAt      *store.Time
	listID         *store.ListID
	pinned         bool
	local          bool
	direct         bool
	parent         *parentStatus
	quoteOfID      *store.StatusID
	quoteURL       []byte // for people, as JSON text
	poll           *renderedPoll
	reactions      []renderedReaction // in order of first use

	head          []byte        // members
	body          []byte        // members
	extension     []byte        // members
	plainBody     func() []byte // body for those who want no rich text
	plainBodySize int           // about what it holds

	filterText     func() *text.Folded // what filters look at
	filterTextSize int                 // about what it holds
}

// parentStatus is what it takes to know whether a viewer sees the status that another replies to.
type parentStatus struct {
	id         store.StatusID
	accountID  store.AccountID
	visibility store.Visibility
}

func (s *renderedStatus) size() int {
	return cache.EntryBytes + 300 + len(s.head) + len(s.body) + len(s.extension) + s.plainBodySize + s.poll.size() + s.filterTextSize + reactionsSize(s.reactions)
}

// Status is a status for one viewer.
type Status struct {
	*renderedStatus
	builder       *Builder
	account       *renderedAccount
	reblog        *Status // nil unless it is a boost
	flags         store.StatusFlags
	hasViewer     bool // there is a viewer
	noRichText    bool // the viewer wants no rich text
	byViewer      bool // the viewer is the author
	parentVisible bool // the parent is, for the viewer
	forViewer     viewerMembers
	text          *string
}

// ID returns the status's id.
func (s *Status) ID() store.StatusID { return s.id }

// Position returns the id as a place in a list.
func (s *Status) Position() int64 { return s.id.Position() }

// original returns what a boost boosts, and the status itself if it is none.
func (s *Status) original() *Status {
	if s.reblog != nil {
		return s.reblog
	}
	return s
}

// AppendJSON renders the status.
func (s *Status) AppendJSON(dst []byte) []byte {
	original := s.original()
	dst = append(append(dst, '{'), s.head...)
	dst = append(dst, `,"account":`...)
	dst = Account{renderedAccount: s.account}.AppendJSON(dst)
	dst = append(dst, ',')
	if original.noRichText {
		dst = append(dst, original.plainBody()...)
	} else {
		dst = append(dst, original.body...)
	}
	dst = original.appendPoll(append(dst, `,"poll":`...))
	dst = append(dst, `,"reblog":`...)
	if s.reblog != nil {
		dst = s.reblog.AppendJSON(dst)
	} else {
		dst = append(dst, "null"...)
	}
	if s.text != nil {
		if b, err := marshal(*s.text); err == nil {
			dst = append(append(dst, `,"text":`...), b...)
		}
	}
	f := original.flags
	dst = appendBool(dst, `,"favourited":`, f.Favourited)
	dst = appendBool(dst, `,"reblogged":`, f.Reblogged)
	dst = appendBool(dst, `,"bookmarked":`, f.Bookmarked)
	dst = appendBool(dst, `,"muted":`, f.ThreadMuted || f.AuthorMuted)
	dst = appendBool(dst, `,"pinned":`, s.hasViewer && s.pinned)
	dst = original.appendFiltered(append(dst, `,"filtered":`...))
	dst = append(s.builder.appendName(append(dst, ',')), '{')
	dst = appendBool(dst, `"local":`, s.local)
	dst = append(append(dst, ','), original.extension...)
	dst = appendBool(dst, `,"thread_muted":`, f.ThreadMuted)
	dst = appendBool(dst, `,"parent_visible":`, original.parentVisible)
	dst = original.appendDirectConversation(append(dst, `,"direct_conversation_id":`...))
	dst = original.appendReactions(append(dst, `,"emoji_reactions":`...))
	dst = original.appendFolder(append(dst, `,"bookmark_folder":`...))
	dst = original.appendQuote(dst)
	dst = append(dst, `,"expires_at":`...)
	if original.byViewer && original.expiresAt != nil && !original.pinned { // what is pinned does not expire
		dst = append(append(append(dst, '"'), original.expiresAt.String()...), '"')
	} else {
		dst = append(dst, "null"...)
	}
	if original.byViewer && original.listID != nil {
		dst = append(append(append(dst, `,"list_id":"`...), original.listID.String()...), '"')
	}
	return append(dst, '}', '}')
}

func appendBool(dst []byte, key string, v bool) []byte {
	return strconv.AppendBool(append(dst, key...), v)
}

// MarshalJSON is AppendJSON for statuses inside of other entities.
func (s *Status) MarshalJSON() ([]byte, error) { return s.AppendJSON(nil), nil }

// WithText adds the source, for the answer to a deletion.
func (s *Status) WithText(source string) *Status {
	s.text = &source
	return s
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
		s := &Status{renderedStatus: r, builder: b}
		if r.reblogOfID != nil {
			original, ok := rendered[*r.reblogOfID]
			if !ok {
				continue // deleted in between
			}
			s.reblog = &Status{renderedStatus: original, builder: b}
			originals = append(originals, s.reblog)
		} else {
			originals = append(originals, s)
		}
		shown = append(shown, s)
	}
	return shown, b.addMembers(ctx, viewer, shown, originals)
}

// addMembers adds to statuses what is not rendered with them. originals are the same, but for the boosts what they boost.
func (b *Builder) addMembers(ctx context.Context, viewer *store.Account, shown, originals List[*Status]) error {
	if err := b.addAccounts(ctx, shown, originals); err != nil {
		return err
	}
	if err := b.addParents(ctx, viewer, originals); err != nil {
		return err
	}
	if viewer != nil {
		if err := b.addFlags(ctx, viewer, shown, originals); err != nil {
			return err
		}
	}
	return b.addViewerMembers(ctx, viewer, originals)
}

// addAccounts sets the authors.
func (b *Builder) addAccounts(ctx context.Context, shown, originals List[*Status]) error {
	ids := make([]store.AccountID, 0, len(shown)+len(originals))
	for _, s := range shown {
		ids = append(ids, s.accountID)
	}
	for _, s := range originals {
		ids = append(ids, s.accountID)
	}
	accounts, err := b.renderAccounts(ctx, unique(ids))
	if err != nil {
		return err
	}
	for _, s := range shown {
		s.account = accounts[s.accountID]
	}
	for _, s := range originals {
		s.account = accounts[s.accountID]
	}
	return nil
}

// addParents finds out which of the parents the viewer sees.
func (b *Builder) addParents(ctx context.Context, viewer *store.Account, originals []*Status) error {
	var replies []*Status
	var ask []store.StatusID
	open, err := b.db.SeesAllUnrestricted(ctx, idOf(viewer))
	if err != nil {
		return err
	}
	for _, s := range originals {
		switch p := s.parent; {
		case p == nil:
		case p.accountID == idOf(viewer), open && (p.visibility <= store.Unlisted || p.visibility == store.Local && viewer != nil):
			s.parentVisible = true
		default:
			replies = append(replies, s)
			ask = append(ask, p.id)
		}
	}
	if len(ask) == 0 {
		return nil
	}
	rows, err := b.db.VisibleStatuses(ctx, idOf(viewer), ask)
	if err != nil {
		return err
	}
	seen := byID(rows, func(s *store.Status) store.StatusID { return s.ID })
	for _, s := range replies {
		s.parentVisible = seen[s.parent.id] != nil
	}
	return nil
}

// addFlags sets what the viewer did with the statuses.
func (b *Builder) addFlags(ctx context.Context, viewer *store.Account, shown, originals []*Status) error {
	ids := make([]store.StatusID, 0, len(originals))
	for _, s := range originals {
		ids = append(ids, s.id)
	}
	flags, err := b.db.StatusFlags(ctx, viewer.ID, ids)
	if err != nil {
		return err
	}
	plain, err := b.wantsNoRichText(ctx, viewer)
	if err != nil {
		return err
	}
	for _, s := range shown {
		s.hasViewer, s.byViewer = true, s.accountID == viewer.ID
	}
	for _, s := range originals {
		s.flags = flags[s.id]
		s.hasViewer, s.byViewer, s.noRichText = true, s.accountID == viewer.ID, plain
	}
	return nil
}

// wantsNoRichText tells whether the viewer wants no rich text.
func (b *Builder) wantsNoRichText(ctx context.Context, viewer *store.Account) (bool, error) {
	if viewer == nil {
		return false, nil
	}
	self, err := b.renderAccounts(ctx, []store.AccountID{viewer.ID})
	return self[viewer.ID] != nil && self[viewer.ID].noRichText, err
}

// orEmpty makes a missing list an empty one, which is [] in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// unique returns the elements without repetitions, in order of first appearance.
func unique[T comparable](list []T) []T {
	seen := make(map[T]bool, len(list))
	out := list[:0:0]
	for _, v := range list {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}
