package social

import (
	"context"
	"net/http"
	"slices"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// IncomingStatus is a post from elsewhere, as its server describes it: in safe HTML, with addresses that may be shown.
type IncomingStatus struct {
	URI         string
	URL         string
	Visibility  store.Visibility
	Published   time.Time
	Updated     time.Time // the zero time: never, as far as is told
	Content     string    // HTML
	SpoilerText string
	Language    string
	Sensitive   bool
	Emojis      []store.RemoteEmoji
	Tags        []string
	Media       []*store.Media
	Poll        *store.Poll
	Link        string // page that it is about, of which it shows a card; "": that of its first link

	Audience   []string         // ids of those whom it is addressed to
	Mentions   []string         // ids of those whom it names
	InboxOwner *store.AccountID // in whose own inbox it came, nil if in none

	ParentURI          string // id of what it replies to
	QuoteURI           string // id of what it quotes
	QuoteLinkRemoved   bool   // a link to that stood below the content, for those who do not show quotes
	QuoteAuthorization string // id of that by which its author allows that, "" if none is named
	ThreadURI          string // name of its thread, if it is its author's server that gives that name
	RepliesURI         string // address of the list of its replies

	NoFollowers bool // it is not for the timelines of those who follow its author

	Fetched       bool // it was read from its origin and not delivered: its place is that of the time when it was published
	KeepUnrelated bool // it is kept also if it concerns nobody here
	FetchBudget   int  // how many posts that it leads to may be fetched
}

// Why a post from elsewhere is not taken.
var (
	ErrUnrelated = errs.Forbidden("It concerns nobody here")
	ErrDeleted   = errs.New(http.StatusGone, "It has been deleted")
	ErrNotOwner  = errs.Forbidden("It is somebody else's")
)

const (
	maxIncomingMentions = 50                 // of which people are told, unless they follow the author (federation 5.5)
	maxFetchedMentions  = 5                  // who are asked for, if it was fetched: of a long thread that would be very many
	maxNotificationAge  = 2 * 24 * time.Hour // nobody is told of a fetched post that is older (federation 5.2)
	maxStreamAge        = time.Hour          // posts that are older do not go to open streams, unless they were delivered
	maxWaitingStatuses  = 500                // replies and quotes that were here before a post
)

// ReceiveStatus takes in a post from elsewhere by author: to timelines, to the notifications of who is addressed and mentioned, to open
// streams. One that is here already is returned as it is. What it replies to and quotes need not be here, now or ever; whatever
// waited for it is linked with it.
func (s *Service) ReceiveStatus(ctx context.Context, author *store.Account, r IncomingStatus) (*store.Status, error) {
	a, err := s.resolveReferences(ctx, author, &r)
	if err != nil {
		return nil, err
	}
	var st *store.Status
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		trace, err := tx.StatusURIState(ctx, r.URI, author.URI)
		switch {
		case err != nil:
			return err
		case trace.Known:
			st, err = tx.StatusByURI(ctx, r.URI)
			if err == nil && st.AccountID != author.ID {
				err = ErrNotOwner
			}
			return err
		case trace.Deleted:
			return ErrDeleted
		}
		c, err := s.newIncomingStatus(ctx, tx, author, &r, a)
		if err != nil {
			return err
		}
		st = c.Status
		if err := s.addIncomingStatus(ctx, tx, author, &r, a, c); err != nil {
			return err
		}
		if trace.Referenced {
			return linkWaitingStatuses(ctx, tx, r.URI, st)
		}
		return nil
	})
	return st, err
}

// references are those whom a post from elsewhere has to do with, as far as they are known here.
type references struct {
	accounts        map[string]*store.Account
	unknownMentions []string // ids of the others that it names
	parentID        store.StatusID
	quotedID        store.StatusID
}

// resolveReferences finds out whom a post has to do with. If that is nobody here, and nobody wants it, it is an error (federation 3.7).
func (s *Service) resolveReferences(ctx context.Context, author *store.Account, r *IncomingStatus) (*references, error) {
	a := new(references)
	concerns := r.KeepUnrelated || r.InboxOwner != nil
	var err error
	if len(r.Audience)+len(r.Mentions) > 0 {
		if a.accounts, err = s.db.AccountsByURI(ctx, slices.Concat(r.Audience, r.Mentions)); err != nil {
			return nil, err
		}
		named := r.Audience
		if r.Visibility.Unrestricted() {
			named = slices.Concat(r.Audience, r.Mentions)
		}
		for _, uri := range named {
			p := a.accounts[uri]
			concerns = concerns || p != nil && p.Local() && !p.Unavailable // the server itself reads nothing, nor who is out of service
		}
		for _, uri := range r.Mentions {
			if a.accounts[uri] == nil {
				a.unknownMentions = append(a.unknownMentions, uri)
			}
		}
	}
	if r.ParentURI != "" {
		parent, err := s.db.StatusByURI(ctx, r.ParentURI)
		if err != nil {
			return nil, err
		}
		if parent != nil {
			a.parentID = parent.OriginalID()
			concerns = concerns || r.Visibility.Unrestricted()
		}
	}
	if r.QuoteURI != "" {
		quoted, err := s.db.StatusByURI(ctx, r.QuoteURI)
		if err != nil {
			return nil, err
		}
		if quoted != nil {
			a.quotedID = quoted.OriginalID()
		}
	}
	switch {
	case concerns:
		return a, nil
	case r.Visibility.Unrestricted():
		concerns, err = s.db.StatusHasLocalAudience(ctx, author.ID, r.Tags)
	case r.Visibility == store.Private:
		concerns, err = s.db.HasLocalFollower(ctx, author.ID)
	}
	if err == nil && !concerns {
		err = ErrUnrelated
	}
	return a, err
}

// newIncomingStatus makes the status of a post from elsewhere.
func (s *Service) newIncomingStatus(ctx context.Context, tx *store.Tx, author *store.Account, r *IncomingStatus, a *references) (*Composed, error) {
	st := &store.Status{
		AccountID: author.ID, Domain: author.Domain, URI: r.URI, URL: r.URL, CreatedAt: store.At(r.Published),
		Visibility: r.Visibility, Content: r.Content, ContentType: "text/html", SpoilerText: r.SpoilerText, Language: r.Language,
		Sensitive: r.Sensitive, HasMedia: len(r.Media) > 0, HasPoll: r.Poll != nil,
	}
	st.Emojis.V = r.Emojis
	if r.Updated.After(r.Published) {
		at := store.At(r.Updated)
		st.EditedAt = &at
	}
	var err error
	if !r.Fetched {
		st.ID = tx.NewStatusID()
	} else if st.ID, err = tx.NewStatusIDAt(ctx, r.Published); err != nil {
		return nil, err
	}
	c := &Composed{Status: st, Tags: r.Tags, Media: r.Media, Poll: r.Poll, Link: r.Link}
	if c.Parent, err = s.incomingParent(ctx, tx, author, a.parentID); err != nil {
		return nil, err
	}
	if c.Parent != nil {
		st.InReplyToID, st.InReplyToAccountID, st.ConversationID = &c.Parent.ID, &c.Parent.AccountID, c.Parent.ConversationID
	} else if st.ConversationID = store.ConversationID(st.ID); r.ThreadURI != "" {
		if st.ConversationID, err = tx.SetThreadURI(ctx, st.ConversationID, r.ThreadURI); err != nil {
			return nil, err
		}
	}
	if c.Quoted, err = incomingQuoted(ctx, tx, st, a.quotedID, r.QuoteAuthorization); err != nil {
		return nil, err
	}
	if c.Quoted != nil {
		st.QuoteOfID = &c.Quoted.ID
	} else if r.QuoteLinkRemoved {
		st.Content += quoteLink(&store.Status{URL: r.QuoteURI})
	}
	c.addIncomingRecipients(r, a)
	return c, nil
}

// incomingParent returns what a post from elsewhere replies to, nil if that is gone, or a post of here that its author cannot see.
func (s *Service) incomingParent(ctx context.Context, tx *store.Tx, author *store.Account, id store.StatusID) (*store.Status, error) {
	if id == 0 {
		return nil, nil
	}
	parent, err := tx.Status(ctx, id)
	if err != nil {
		return nil, ignoreNotFound(err)
	}
	if parent.Local() {
		if sees, err := tx.CanSee(ctx, author.ID, parent); !sees || err != nil {
			return nil, err
		}
	}
	return parent, nil
}

// addIncomingRecipients addresses a post to those whom it is for. Who is named without being addressed is mentioned only where everybody
// may read it anyway; who is addressed without being named is not mentioned, but for the author of what it replies to (federation 4.2).
func (c *Composed) addIncomingRecipients(r *IncomingStatus, a *references) {
	add := func(uri string, mentioned bool) {
		if p := a.accounts[uri]; p != nil && p.ID != c.AccountID {
			c.addRecipient(p.ID, mentioned)
		}
	}
	for _, uri := range r.Mentions {
		if c.Visibility.Unrestricted() || slices.Contains(r.Audience, uri) {
			add(uri, true)
			if p := a.accounts[uri]; p != nil {
				c.MentionedAccounts = append(c.MentionedAccounts, p)
			}
		}
	}
	for _, uri := range r.Audience {
		p := a.accounts[uri]
		add(uri, p != nil && c.Parent != nil && p.ID == c.Parent.AccountID)
	}
	if r.InboxOwner != nil && c.Visibility >= store.Private && *r.InboxOwner != c.AccountID {
		c.addRecipient(*r.InboxOwner, false)
	}
}
