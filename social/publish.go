package social

import (
	"context"
	"slices"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// Draft is a status that somebody wants to publish.
type Draft struct {
	Text           string
	SpoilerText    string
	ContentType    string // one that is not allowed is read as text/plain
	MediaIDs       []store.MediaID
	InReplyTo      store.StatusID    // 0: no reply
	Visibility     *store.Visibility // nil: the author's default, but not wider than the parent
	List           store.ListID      // of visibility list
	To             []string          // nicknames or handles; nil: those mentioned in the text
	Sensitive      bool
	Language       string
	ExpiresIn      time.Duration // 0: never
	App            *store.AppID
	IdempotencyKey string
}

// Composed is a status as it would be published.
type Composed struct {
	Status     *store.Status
	Recipients []store.Recipient
	Tags       []string
	Media      []*store.Media
}

// Publish posts a status: to timelines, to the notifications of who is addressed, to open streams. A repeated IdempotencyKey
// returns the status of the first time.
func (s *Service) Publish(ctx context.Context, author *store.Account, d Draft) (*store.Status, error) {
	var st *store.Status
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		if d.IdempotencyKey != "" {
			earlier, err := tx.IdempotentStatus(ctx, author.ID, d.IdempotencyKey)
			if err != nil || earlier != nil {
				st = earlier
				return err
			}
		}
		c, err := s.compose(ctx, tx, author, d)
		if err != nil {
			return err
		}
		st = c.Status
		if err := s.add(ctx, tx, author, c); err != nil {
			return err
		}
		if d.IdempotencyKey != "" {
			return tx.RememberIdempotent(ctx, author.ID, d.IdempotencyKey, st.ID)
		}
		return nil
	})
	return st, err
}

// Preview returns the status that Publish would make of a draft, and stores nothing. Its id is that of no status.
func (s *Service) Preview(ctx context.Context, author *store.Account, d Draft) (*Composed, error) {
	return s.compose(ctx, s.db, author, d)
}

// reads is what composing reads: from the database, or within the transaction.
type reads interface {
	User(context.Context, store.AccountID) (*store.User, error)
	AccountByName(ctx context.Context, nickname, domain string) (*store.Account, error)
	Account(context.Context, store.AccountID) (*store.Account, error)
	VisibleStatus(context.Context, store.AccountID, store.StatusID) (*store.Status, error)
	MediaByIDs(context.Context, []store.MediaID) ([]*store.Media, error)
	OwnList(context.Context, store.AccountID, store.ListID) (*store.List, error)
	ListMemberIDs(context.Context, store.ListID) ([]store.AccountID, error)
}

// compose checks a draft and renders it.
func (s *Service) compose(ctx context.Context, r reads, author *store.Account, d Draft) (*Composed, error) {
	user, err := r.User(ctx, author.ID)
	if err != nil {
		return nil, err
	}
	if text.Length(d.Text, d.SpoilerText) > s.MaxStatus {
		return nil, errs.Invalid("The status is over the character limit")
	}
	if !slices.Contains(s.ContentTypes, d.ContentType) {
		d.ContentType = string(text.PlainText)
	}
	st := &store.Status{
		AccountID:   author.ID,
		Domain:      author.Domain,
		AppID:       d.App,
		SpoilerText: strings.TrimSpace(d.SpoilerText),
		Text:        strings.TrimSpace(d.Text),
		ContentType: d.ContentType,
		Language:    text.Language(d.Language),
		Sensitive:   d.Sensitive,
	}
	if st.Language == "" {
		st.Language = user.DefaultLanguage
	}
	c := &Composed{Status: st}
	if c.Media, err = s.usableMedia(ctx, r, author, d.MediaIDs, 0); err != nil {
		return nil, err
	}
	st.HasMedia = len(c.Media) > 0
	if st.Text == "" && st.SpoilerText == "" && !st.HasMedia {
		return nil, errs.Invalid("Cannot post an empty status without attachments")
	}
	if d.ExpiresIn != 0 {
		if d.ExpiresIn <= s.MinExpiry {
			return nil, errs.Invalid("Expiry date is too soon")
		}
		at := store.At(s.db.Now().Add(d.ExpiresIn))
		st.ExpiresAt = &at
	}
	parent, err := s.parentOf(ctx, r, author, d.InReplyTo)
	if err != nil {
		return nil, err
	}
	if st.Visibility, err = visibilityOf(d, user, parent); err != nil {
		return nil, err
	}
	if parent != nil {
		st.InReplyToID, st.InReplyToAccountID, st.ConversationID = &parent.ID, &parent.AccountID, parent.ConversationID
	}
	return c, s.address(ctx, r, c, d, parent)
}

// usableMedia returns the author's uploads of these ids that are not attached to another status than of; unknown and foreign
// ones are left out (extension API 15).
func (s *Service) usableMedia(ctx context.Context, r reads, author *store.Account, ids []store.MediaID, of store.StatusID) ([]*store.Media, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if s.MaxMedia > 0 && len(ids) > s.MaxMedia {
		return nil, errs.Invalid("Too many attachments")
	}
	media, err := r.MediaByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	seen := make(map[store.MediaID]bool, len(media))
	return slices.DeleteFunc(media, func(m *store.Media) bool {
		unusable := m.AccountID != author.ID || m.StatusID != nil && *m.StatusID != of || seen[m.ID]
		seen[m.ID] = true
		return unusable
	}), nil
}

func (s *Service) parentOf(ctx context.Context, r reads, author *store.Account, id store.StatusID) (*store.Status, error) {
	if id == 0 {
		return nil, nil
	}
	parent, err := r.VisibleStatus(ctx, author.ID, id)
	if err == nil && parent.ReblogOfID != nil { // one replies to what was boosted
		parent, err = r.VisibleStatus(ctx, author.ID, *parent.ReblogOfID)
	}
	if errs.IsNotFound(err) {
		return nil, errs.Invalid("Cannot reply to a deleted status")
	}
	return parent, err
}

// visibilityOf decides whom a draft is for.
func visibilityOf(d Draft, user *store.User, parent *store.Status) (store.Visibility, error) {
	if d.Visibility == nil {
		v := user.DefaultVisibility
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
		return store.Local, nil // what is only for this server is not talked about elsewhere
	}
	return v, nil
}

// address renders the text and finds out who is addressed.
func (s *Service) address(ctx context.Context, r reads, c *Composed, d Draft, parent *store.Status) error {
	st := c.Status
	doc := text.Parse(st.Text, text.ContentType(st.ContentType))
	known, ids, err := s.mentioned(ctx, r, doc)
	if err != nil {
		return err
	}
	rendered := doc.Render(s.BaseURL, known)
	st.Content, c.Tags = rendered.HTML, rendered.Tags
	st.Sensitive = st.Sensitive || slices.Contains(c.Tags, "nsfw")

	var people []store.AccountID
	if parent != nil && parent.AccountID != st.AccountID && d.To == nil &&
		(st.Visibility.Open() || st.Visibility == store.Direct || parent.Visibility == store.Direct) {
		people = append(people, parent.AccountID)
	}
	if d.To != nil {
		if people, err = s.named(ctx, r, d.To); err != nil {
			return err
		}
	} else {
		for _, a := range rendered.Mentions {
			people = append(people, ids[a.ID])
		}
	}
	for _, id := range people {
		c.addRecipient(id, true)
	}
	switch st.Visibility {
	case store.Direct:
		c.addRecipient(st.AccountID, false)
	case store.ListOnly:
		l, err := r.OwnList(ctx, st.AccountID, d.List)
		if err != nil {
			return err
		}
		members, err := r.ListMemberIDs(ctx, l.ID)
		if err != nil {
			return err
		}
		st.ListID = &l.ID
		for _, id := range members {
			c.addRecipient(id, false)
		}
	}
	return nil
}

func (c *Composed) addRecipient(id store.AccountID, mentioned bool) {
	for _, r := range c.Recipients {
		if r.AccountID == id {
			return
		}
	}
	c.Recipients = append(c.Recipients, store.Recipient{
		AccountID: id, Position: len(c.Recipients), Mentioned: mentioned, Direct: c.Status.Visibility == store.Direct,
	})
}

// mentioned looks up the handles in a text. It returns what they link to, by handle, and the ids of the accounts by their text.
func (s *Service) mentioned(ctx context.Context, r reads, doc *text.Document) (map[string]text.Account, map[string]store.AccountID, error) {
	known := make(map[string]text.Account)
	ids := make(map[string]store.AccountID)
	for _, m := range doc.Mentions() {
		a, err := s.byHandle(ctx, r, m.Nick, m.Domain)
		if errs.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		id := a.ID.String()
		known[m.Key()] = text.Account{ID: id, Username: a.Nickname, Acct: a.Acct(), URL: a.URL}
		ids[id] = a.ID
	}
	return known, ids, nil
}

// byHandle returns the account of a handle, unless it is withheld. The server's own domain is the same as none.
func (s *Service) byHandle(ctx context.Context, r reads, nick, domain string) (*store.Account, error) {
	if strings.EqualFold(domain, s.Domain) {
		domain = ""
	}
	a, err := r.AccountByName(ctx, nick, domain)
	if err != nil {
		return nil, err
	}
	if a.Withheld {
		return nil, errs.ErrRecordNotFound
	}
	return a, nil
}

// named returns the accounts of handles, leaving out those that are unknown.
func (s *Service) named(ctx context.Context, r reads, handles []string) ([]store.AccountID, error) {
	var ids []store.AccountID
	for _, h := range handles {
		nick, domain, ok := text.SplitHandle(h)
		if !ok || len(ids) == text.MaxMentions {
			continue
		}
		a, err := s.byHandle(ctx, r, nick, domain)
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

// add stores a composed status with all that follows from it.
func (s *Service) add(ctx context.Context, tx *store.Tx, author *store.Account, c *Composed) error {
	st := c.Status
	st.ID = tx.NewStatusID()
	st.URI = s.BaseURL + "/objects/" + st.ID.String()
	st.URL = author.URL + "/" + st.ID.String()
	if st.ConversationID == 0 {
		st.ConversationID = store.ConversationID(st.ID)
	}
	if err := tx.AddStatus(ctx, st); err != nil {
		return err
	}
	for i := range c.Recipients {
		c.Recipients[i].StatusID = st.ID
	}
	if err := tx.AddRecipients(ctx, c.Recipients); err != nil {
		return err
	}
	if len(c.Tags) > 0 {
		if err := tx.SetTags(ctx, st.ID, c.Tags); err != nil {
			return err
		}
	}
	if len(c.Media) > 0 {
		if err := tx.Attach(ctx, st.ID, c.Media); err != nil {
			return err
		}
	}
	if err := tx.FanOut(ctx, st, nil); err != nil {
		return err
	}
	for _, r := range c.Recipients {
		if !r.Mentioned {
			continue
		}
		n := store.Notification{AccountID: r.AccountID, Type: store.NotifyMention, FromID: st.AccountID}
		if err := notify(ctx, tx, n, st); err != nil {
			return err
		}
	}
	if st.ExpiresAt != nil {
		if err := tx.EnqueueOnce(ctx, st.ExpiresAt.Time(), expiryKey(st.ID), store.ExpireStatus{StatusID: st.ID}); err != nil {
			return err
		}
	}
	tx.Emit(store.StatusPosted{Status: st})
	return nil
}

func ignoreMissing(err error) error {
	if errs.IsNotFound(err) {
		return nil
	}
	return err
}
