package social

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// Composed is a status that is being published, or has been, with its parts.
type Composed struct {
	*store.Status
	Recipients        []store.Recipient // without list members
	Tags              []string
	Media             []*store.Media
	Poll              *store.Poll
	MentionedAccounts []*store.Account // mentioned in the text
	Parent            *store.Status    // nil: not a reply
	Quoted            *store.Status    // nil: no quote, or an unknown one
	QuoteURI          string           // of the quoted status of an incoming one
	Card              *store.Card      // nil: none, or not fetched yet
	reply             approval         // what the author of the parent says
	Link              string           // the page of the card; "": that of the first link in the text
	Existing          bool             // an earlier request with the same key published it; only Status or Scheduled is set

	Scheduled *store.ScheduledStatus // not nil: it is published later
}

// Content is what a draft and an edit say of a status alike.
type Content struct {
	Text        string `json:"text"`
	SpoilerText string `json:"spoiler_text"`
	ContentType string `json:"content_type"` // unknown ones become text/plain; "" in an edit: unchanged
	Language    string `json:"language"`     // "": the author's default; in an edit: unchanged
}

// parsedContent is the validated content of a status with its parsed text.
type parsedContent struct {
	Content
	doc *text.Document
}

// parseContent validates the content of a status and parses its text. It runs before the transaction, because long texts take time.
func (s *Service) parseContent(c Content) (*parsedContent, error) {
	if text.Length(c.Text, c.SpoilerText) > s.Settings.Load().Statuses.MaxLength {
		return nil, errs.Invalid("The status is over the character limit")
	}
	if !slices.Contains(s.Settings.Load().Statuses.AllowedFormats, c.ContentType) {
		c.ContentType = string(text.PlainText)
	}
	c.Text, c.SpoilerText = strings.TrimSpace(c.Text), removeControls(c.SpoilerText)
	return &parsedContent{c, text.Parse(c.Text, text.ContentType(c.ContentType))}, nil
}

// setOn gives a status the content. language is used if it names none.
func (w *parsedContent) setOn(st *store.Status, language string) {
	st.Text, st.SpoilerText, st.ContentType = w.Text, w.SpoilerText, w.ContentType
	st.Language = cmp.Or(text.Language(w.Language), language)
}

// sameContent returns true if two versions have the same content and options.
func sameContent(a, b *store.Status) bool {
	return a.Text == b.Text && a.SpoilerText == b.SpoilerText && a.ContentType == b.ContentType &&
		a.Sensitive == b.Sensitive && a.Language == b.Language
}

// removeControls replaces line breaks by spaces and removes control characters.
func removeControls(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, s))
}

// checkNotEmpty returns an error for a status without text and attachments.
func checkNotEmpty(body, spoilerText string, media []*store.Media) error {
	if body == "" && spoilerText == "" && len(media) == 0 {
		return errs.Invalid("Cannot post an empty status without attachments")
	}
	return nil
}

// statusReader is what compose reads, from the database (preview) or in the transaction.
type statusReader interface {
	PostingDefaults(context.Context, store.AccountID) (store.PostingDefaults, error)
	Account(context.Context, store.AccountID) (*store.Account, error)
	AccountByName(ctx context.Context, nickname, domain string) (*store.Account, error)
	Status(context.Context, store.StatusID) (*store.Status, error)
	VisibleStatus(context.Context, store.AccountID, store.StatusID) (*store.Status, error)
	MediaByIDs(context.Context, []store.MediaID) ([]*store.Media, error)
	OwnList(context.Context, store.AccountID, store.ListID) (*store.List, error)
	DirectConversation(context.Context, store.AccountID, store.DirectConversationID) (*store.VisibleConversation, error)
	Follows(ctx context.Context, follower, target store.AccountID) (bool, error)
	AvailableAccounts(context.Context, []store.AccountID) ([]store.AccountID, error)
	Recipients(context.Context, []store.StatusID) ([]store.Recipient, error)
	GroupOf(context.Context, store.StatusID) (store.AccountID, error)
}

// compose makes a status of a draft and its parsed text.
func (s *Service) compose(ctx context.Context, r statusReader, author *store.Account, d Draft, w *parsedContent) (*Composed, error) {
	defaults, err := r.PostingDefaults(ctx, author.ID)
	if err != nil {
		return nil, err
	}
	st := &store.Status{
		AccountID:   author.ID,
		Domain:      author.Domain,
		AppID:       d.App,
		Sensitive:   defaults.Sensitive,
		QuotePolicy: defaults.QuotePolicy,
		Addressed:   d.To != nil || d.InConversation != nil,
	}
	w.setOn(st, defaults.Language)
	if d.Sensitive != nil {
		st.Sensitive = *d.Sensitive
	}
	if d.QuotePolicy != nil {
		st.QuotePolicy = *d.QuotePolicy
	}
	c := &Composed{Status: st}
	if err := s.composeParts(ctx, r, c, d); err != nil {
		return nil, err
	}
	reply, err := composeContext(ctx, r, c, d, defaults.Visibility)
	if err != nil {
		return nil, err
	}
	if st.InteractionPolicy = defaults.InteractionPolicies.V.For(st.Visibility); d.Interactions != nil {
		st.InteractionPolicy = *d.Interactions
	}
	if err := s.addRecipients(ctx, r, c, d, w, reply); err != nil {
		return nil, err
	}
	if err := s.applyPolicies(ctx, author, c); err != nil {
		return nil, err
	}
	if err := s.checkStatusSize(ctx, c); err != nil {
		return nil, err
	}
	return c, checkReply(ctx, r, author, c)
}

// checkReply returns an error if the author of the parent does not allow a reply, and holds one that needs approval. A direct one is shown
// to its recipients only, so it needs none.
func checkReply(ctx context.Context, r statusReader, author *store.Account, c *Composed) error {
	if c.Parent == nil {
		return nil
	}
	var err error
	if c.reply, err = checkInteraction(ctx, r, author, c.Parent, store.Replying); err != nil {
		return err
	}
	c.holdReply()
	return nil
}

// holdReply holds a reply that needs approval. The author of a local parent, who decides about it, sees it.
func (c *Composed) holdReply() {
	switch {
	case c.reply != needsApproval:
	case c.Visibility > store.Private || c.Visibility == store.Local && !c.Parent.Local():
		c.reply = allowed
	default:
		if c.Parent.Local() {
			c.addRecipient(c.Parent.AccountID, false)
		}
		hold(c.Status)
	}
}

// composeParts sets the attachments, the expiry and the poll of a status.
func (s *Service) composeParts(ctx context.Context, r statusReader, c *Composed, d Draft) (err error) {
	if c.Media, err = s.usableMedia(ctx, r, c.AccountID, d.MediaIDs, 0); err != nil {
		return err
	}
	c.HasMedia = len(c.Media) > 0
	if err := checkNotEmpty(c.Text, c.SpoilerText, c.Media); err != nil {
		return err
	}
	if d.ExpiresIn != nil {
		if *d.ExpiresIn <= s.Settings.Load().Statuses.MinExpiry {
			return errs.Invalid("Expiry date is too soon")
		}
		c.ExpiresAt = new(store.At(s.db.Now().Add(*d.ExpiresIn)))
	}
	if d.Poll != nil {
		c.HasPoll = true
		c.Poll, err = s.newPoll(d.Poll)
	}
	return err
}

// composeContext sets what a status replies to and quotes, and its visibility. It returns the conversation that the draft continues,
// nil if none.
func composeContext(ctx context.Context, r statusReader, c *Composed, d Draft, defaultVisibility store.Visibility) (*directReply, error) {
	st := c.Status
	parent, err := parentOf(ctx, r, st.AccountID, d.InReplyTo)
	if err != nil {
		return nil, err
	}
	reply, err := directReplyOf(ctx, r, st.AccountID, d)
	if err != nil {
		return nil, err
	}
	if reply != nil {
		direct := store.Direct
		parent, d.Visibility = reply.parent, &direct
		st.ConversationID = reply.conversation.ConversationID
	}
	if st.Visibility, err = draftVisibility(d, defaultVisibility, parent); err != nil {
		return nil, err
	}
	if st.Visibility, err = localVisibility(d, st.Visibility); err != nil {
		return nil, err
	}
	if parent != nil {
		c.Parent = parent
		st.InReplyToID, st.InReplyToAccountID, st.ConversationID = &parent.ID, &parent.AccountID, parent.ConversationID
	}
	if c.Quoted, err = quotableStatus(ctx, r, st, d.Quote); err != nil {
		return nil, err
	}
	if c.Quoted != nil {
		st.QuoteOfID = &c.Quoted.ID
	}
	if st.Visibility == store.ListOnly {
		l, err := r.OwnList(ctx, st.AccountID, d.List)
		if err != nil {
			return nil, err
		}
		st.ListID = &l.ID
	}
	return reply, nil
}

// Errors of media ids. The first is that of the reference API, without the ids, which mean nothing to people.
var (
	errMediaUnusable = errs.Invalid("Media not found or already attached to another post")
	errMediaRepeated = errs.Invalid("Media attached more than once")
)

// usableMedia returns the owner's uploads with these ids, which must be unattached or attached to the status of. A post without a picture that its
// author has chosen is not published, because nobody would notice before others have read it.
func (s *Service) usableMedia(ctx context.Context, r statusReader, owner store.AccountID, ids []store.MediaID, of store.StatusID) ([]*store.Media, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	seen := make(map[store.MediaID]bool, len(ids))
	for _, id := range ids {
		if id != 0 && seen[id] { // 0 is any malformed id
			return nil, errMediaRepeated
		}
		seen[id] = true
	}
	media, err := r.MediaByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	unusable := func(m *store.Media) bool {
		return m.AccountID != owner || !m.Detached() && (m.StatusID == nil || *m.StatusID != of)
	}
	if len(media) < len(ids) || slices.ContainsFunc(media, unusable) {
		return nil, errMediaUnusable
	}
	return media, nil
}

func parentOf(ctx context.Context, r statusReader, author store.AccountID, id store.StatusID) (*store.Status, error) {
	if id == 0 {
		return nil, nil
	}
	parent, err := visibleOriginal(ctx, r, author, id)
	if errs.IsNotFound(err) {
		return nil, errs.Invalid("Cannot reply to a deleted status")
	}
	return parent, err
}

// visibleOriginal returns a status that viewer can see, or the original of a reblog, to which replies and quotes of the reblog refer.
func visibleOriginal(ctx context.Context, r statusReader, viewer store.AccountID, id store.StatusID) (*store.Status, error) {
	st, err := r.VisibleStatus(ctx, viewer, id)
	if err == nil && st.ReblogOfID != nil {
		st, err = r.VisibleStatus(ctx, viewer, *st.ReblogOfID)
	}
	return st, err
}

// draftVisibility returns the requested visibility, or the author's default narrowed to that of the parent. A reply to a direct status
// must be direct, and a reply to a local one stays local.
func draftVisibility(d Draft, defaultVisibility store.Visibility, parent *store.Status) (store.Visibility, error) {
	if d.Visibility == nil {
		v := defaultVisibility
		switch {
		case parent == nil:
		case parent.Visibility == store.ListOnly:
			v = store.Direct
		case v.Wider(parent.Visibility):
			v = parent.Visibility
		}
		return v, nil
	}
	v := *d.Visibility
	if parent == nil {
		return v, nil
	}
	switch {
	case parent.Visibility == store.Direct && v != store.Direct:
		return 0, errs.Invalid("The message visibility must be direct")
	case parent.Visibility == store.Local && v.Wider(store.Local):
		return store.Local, nil // replies to local statuses stay local
	}
	return v, nil
}

// addRecipients renders the text and adds the recipients: those of the conversation, the accounts in to, or the mentioned accounts. A
// reply that is public, or to a direct or list status, also addresses the author of its parent (extension API 15.1). A public one also goes to
// the group in whose thread it is.
func (s *Service) addRecipients(ctx context.Context, r statusReader, c *Composed, d Draft, w *parsedContent, reply *directReply) error {
	st, parent := c.Status, c.Parent
	mentioned, err := s.renderStatus(ctx, r, c, w)
	if err != nil {
		return err
	}
	var recipients []store.AccountID
	switch {
	case reply != nil:
		recipients = reply.recipients
	case d.To != nil:
		if recipients, err = s.accountsByHandles(ctx, r, d.To); err != nil {
			return err
		}
		mentioned = recipients
	case parent != nil && parent.AccountID != st.AccountID && (st.Visibility.Unrestricted() || parent.Visibility >= store.Direct):
		recipients = append([]store.AccountID{parent.AccountID}, mentioned...)
	default:
		recipients = mentioned
	}
	if err := checkMentions(d, mentioned); err != nil {
		return err
	}
	for _, id := range recipients {
		c.addRecipient(id, true)
	}
	if parent != nil && (st.Visibility == store.Public || st.Visibility == store.Unlisted) {
		group, err := r.GroupOf(ctx, parent.ID)
		if err != nil {
			return err
		}
		if group != 0 {
			c.addRecipient(group, false) // it sends the reply to its members, wherever its author lives (FEP-1b12)
		}
	}
	if st.Visibility == store.Direct {
		c.addRecipient(st.AccountID, false)
	}
	return s.checkLocalRecipients(ctx, r, c, d)
}

// UnexpectedMentions is the error of a draft that mentions accounts beyond Draft.AllowedMentions.
type UnexpectedMentions struct{ Accounts []store.AccountID }

func (*UnexpectedMentions) Error() string { return "the status mentions other accounts than allowed" }

// checkMentions returns UnexpectedMentions if a draft addresses accounts by name that it does not allow.
func checkMentions(d Draft, recipients []store.AccountID) error {
	if d.AllowedMentions == nil {
		return nil
	}
	unexpected := slices.DeleteFunc(slices.Clone(recipients), func(id store.AccountID) bool { return slices.Contains(d.AllowedMentions, id) })
	if len(unexpected) == 0 {
		return nil
	}
	return &UnexpectedMentions{unexpected}
}

func (c *Composed) addRecipient(id store.AccountID, mentioned bool) {
	if slices.ContainsFunc(c.Recipients, func(r store.Recipient) bool { return r.AccountID == id }) {
		return
	}
	c.Recipients = append(c.Recipients, store.Recipient{
		AccountID: id, Position: len(c.Recipients), Mentioned: mentioned, Direct: c.Status.Visibility == store.Direct,
	})
}

// renderStatus renders the HTML of a status, sets its hashtags, and returns the mentioned accounts in order.
func (s *Service) renderStatus(ctx context.Context, r statusReader, c *Composed, w *parsedContent) ([]store.AccountID, error) {
	known, accounts, err := s.resolveHandles(ctx, r, w.doc)
	if err != nil {
		return nil, err
	}
	st := c.Status
	rendered := w.doc.Render(s.Settings.BaseURL, known)
	st.Content, c.Tags = rendered.HTML, rendered.Tags
	if c.Quoted != nil {
		st.Content = withQuoteLink(st.Content, c.Quoted)
	}
	st.Sensitive = st.Sensitive || st.HasMedia && st.SpoilerText != "" || slices.Contains(c.Tags, "nsfw")
	mentioned := make([]store.AccountID, 0, len(rendered.Mentions))
	for _, a := range rendered.Mentions {
		c.MentionedAccounts = append(c.MentionedAccounts, accounts[a.ID])
		mentioned = append(mentioned, accounts[a.ID].ID)
	}
	return mentioned, nil
}

// resolveHandles looks up the handles in a text. It returns link targets by handle, and accounts by id.
func (s *Service) resolveHandles(ctx context.Context, r statusReader, doc *text.Document) (map[string]text.Account, map[string]*store.Account, error) {
	known := make(map[string]text.Account)
	accounts := make(map[string]*store.Account)
	for _, m := range doc.Mentions() {
		a, err := s.accountByHandle(ctx, r, m.Nick, m.Domain)
		if errs.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		id := a.ID.String()
		known[m.Key()] = text.Account{ID: id, Username: a.Nickname, Acct: a.Acct(), URL: a.URL}
		accounts[id] = a
	}
	return known, accounts, nil
}

// accountByHandle returns the available account of a handle. The server's own domain means a local account.
func (s *Service) accountByHandle(ctx context.Context, r statusReader, nick, domain string) (*store.Account, error) {
	if s.Settings.IsOwnHost(domain) {
		domain = ""
	}
	a, err := r.AccountByName(ctx, nick, domain)
	if err == nil && a.Unavailable {
		err = errs.ErrRecordNotFound
	}
	return a, err
}

// accountsByHandles returns the accounts of handles, without unknown ones.
func (s *Service) accountsByHandles(ctx context.Context, r statusReader, handles []string) ([]store.AccountID, error) {
	var ids []store.AccountID
	for _, h := range handles[:min(len(handles), text.MaxMentions)] {
		nick, domain, ok := text.SplitHandle(h)
		if !ok {
			continue
		}
		a, err := s.accountByHandle(ctx, r, nick, domain)
		if errs.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, a.ID)
	}
	return ids, nil
}
