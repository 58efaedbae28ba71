package social

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// IncomingStatus is a status of a remote account, with sanitized HTML and URLs that may be shown.
type IncomingStatus struct {
	URI         string
	URL         string
	Visibility  store.Visibility
	Published   time.Time
	Updated     time.Time // zero: unknown or never
	Content     string    // HTML
	SpoilerText string
	Language    string
	Sensitive   bool
	Emojis      []store.RemoteEmoji
	Tags        []string
	Media       []*store.Media
	Poll        *store.Poll
	Link        string // the page of its card; "": that of the first link in the content

	Audience   []string                  // ids of addressed accounts
	Mentions   []string                  // ids of mentioned accounts
	Accounts   map[string]*store.Account // the known ones of Audience and Mentions; nil: they are looked up
	InboxOwner *store.AccountID          // whose inbox received it; nil: the shared inbox, or fetched

	ParentURI          string // of the parent
	QuoteURI           string // of the quoted status
	QuoteLinkRemoved   bool   // the content had a link to the quoted status, for clients without quotes
	QuoteAuthorization string // id of the authorization by the quoted author; "": none
	QuotePolicy        store.QuotePolicy
	InteractionPolicy  store.InteractionPolicy
	Request            string // id of the ReplyRequest that has it; "": none
	ThreadURI          string // of its thread, if the author's server owns that URI
	RepliesURI         string // of the collection of its replies

	KeepAudience bool // of an Update: it names no audience, so that of the status stays

	NoFollowers bool // keep it out of the home timelines of the author's followers
	Quiet       bool // it causes no notifications, and is in no home timeline and no stream, before it is delivered

	Fetched       bool // fetched, not delivered: its id is made from Published
	KeepUnrelated bool // store it even if no local account is related to it
	FetchBudget   int  // how many further documents may be fetched because of it
}

// Errors of ReceiveStatus and its siblings.
var (
	ErrUnrelated = errs.Forbidden("no local account is related to it")
	ErrDeleted   = errs.New(http.StatusGone, "it has been deleted")
	ErrNotOwner  = errs.Forbidden("it belongs to another account")
)

const (
	maxIncomingMentions = 50                 // more notify only followers of the author (federation 5.5)
	maxFetchedMentions  = 5                  // unknown ones that are resolved for a fetched status, because threads have many
	maxNotificationAge  = 2 * 24 * time.Hour // of a fetched status (federation 5.2)
	maxStreamAge        = time.Hour          // of a fetched status
	maxWaitingStatuses  = 500                // replies and quotes that are linked with a new status
)

// ReceiveStatus stores a status of a remote author with its timeline rows, notifications and events. It returns a known status unchanged.
// A known one that was stored quietly has these effects when it is delivered.
// Parent and quoted status may be unknown; replies and quotes that waited for this one are linked with it.
func (s *Service) ReceiveStatus(ctx context.Context, author *store.Account, r IncomingStatus) (*store.Status, error) {
	r.cut()
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
			if err == nil {
				err = answerAgain(ctx, tx, author, &r.URI, r.Request)
			}
			if err == nil && !r.Fetched {
				err = s.announceQuietStatus(ctx, tx, author, &r, a, st)
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
	if errors.Is(err, errReplyForbidden) {
		return nil, s.rejectReply(ctx, author, &r, a.parentID)
	}
	return st, err
}

// references are the accounts and statuses that an incoming status refers to, as far as they are known.
type references struct {
	accounts        map[string]*store.Account
	unknownMentions []string // ids of mentioned accounts that are unknown
	parentID        store.StatusID
	quotedID        store.StatusID
}

// resolveReferences looks up what an incoming status refers to. It returns ErrUnrelated if no local account is related to it and
// KeepUnrelated is not set (federation 3.7).
func (s *Service) resolveReferences(ctx context.Context, author *store.Account, r *IncomingStatus) (*references, error) {
	a := new(references)
	related := r.KeepUnrelated || r.InboxOwner != nil
	var err error
	if len(r.Audience)+len(r.Mentions) > 0 {
		if a.accounts = r.Accounts; a.accounts == nil {
			if a.accounts, err = s.db.AccountsByURI(ctx, slices.Concat(r.Audience, r.Mentions)); err != nil {
				return nil, err
			}
		}
		uris := r.Audience
		if r.Visibility.Unrestricted() {
			uris = slices.Concat(r.Audience, r.Mentions)
		}
		for _, uri := range uris {
			p := a.accounts[uri]
			related = related || p != nil && p.Local() && !p.Unavailable // server actors and unavailable accounts do not count
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
			related = related || r.Visibility.Unrestricted()
		}
	}
	if r.QuoteURI != "" {
		quoted, err := s.db.StatusByURI(ctx, r.QuoteURI)
		if err != nil {
			return nil, err
		}
		if quoted != nil {
			a.quotedID = quoted.OriginalID()
			related = related || r.Visibility.Unrestricted()
		}
	}
	switch {
	case related:
		return a, nil
	case r.Visibility.Unrestricted():
		related, err = s.db.StatusHasLocalAudience(ctx, author.ID, r.Tags)
	case r.Visibility == store.Private:
		related, err = s.db.HasLocalFollower(ctx, author.ID)
	}
	if err == nil && !related {
		err = ErrUnrelated
	}
	return a, err
}

// setOn gives a status what each version of it says anew.
func (r *IncomingStatus) setOn(st *store.Status) {
	st.URL, st.Content, st.SpoilerText, st.Language, st.Sensitive = r.URL, r.Content, r.SpoilerText, r.Language, r.Sensitive
	st.Emojis.V, st.HasMedia, st.HasPoll = r.Emojis, len(r.Media) > 0, r.Poll != nil
}

// newIncomingStatus makes the row of an incoming status and finds its parts.
func (s *Service) newIncomingStatus(ctx context.Context, tx *store.Tx, author *store.Account, r *IncomingStatus, a *references) (*Composed, error) {
	st := &store.Status{
		AccountID: author.ID, Domain: author.Domain, URI: r.URI, CreatedAt: store.At(r.Published),
		Visibility: r.Visibility, ContentType: "text/html", QuotePolicy: r.QuotePolicy, InteractionPolicy: r.InteractionPolicy,
	}
	r.setOn(st)
	if r.Updated.After(r.Published) {
		st.EditedAt = new(store.At(r.Updated))
	}
	var err error
	if !r.Fetched {
		st.ID = tx.NewStatusID()
	} else if st.ID, err = tx.NewStatusIDAt(ctx, r.Published); err != nil {
		return nil, err
	}
	c := &Composed{Status: st, Tags: r.Tags, Media: r.Media, Poll: r.Poll, Link: r.Link, QuoteURI: r.QuoteURI}
	if err := incomingParent(ctx, tx, author, c, a.parentID); err != nil {
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
		st.Content = withQuoteLink(st.Content, &store.Status{URL: r.QuoteURI})
	}
	c.addIncomingRecipients(r, a)
	c.holdReply()
	return c, nil
}

// incomingParent sets the parent of an incoming status, unless it is gone, or local and invisible to the author.
func incomingParent(ctx context.Context, tx *store.Tx, author *store.Account, c *Composed, id store.StatusID) error {
	if id == 0 {
		return nil
	}
	parent, err := tx.Status(ctx, id)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	if parent.Local() {
		if sees, err := tx.CanSee(ctx, author.ID, parent); !sees || err != nil {
			return err
		}
		if c.reply, err = checkInteraction(ctx, tx, author, parent, store.Replying); err != nil {
			return err
		}
		if c.reply == forbidden {
			return errReplyForbidden
		}
	}
	c.Parent = parent
	return nil
}

// addIncomingRecipients adds the recipients of an incoming status. Accounts that are mentioned but not addressed count only in public and
// unlisted statuses. Addressed accounts are not mentioned, except the author of the parent (federation 4.2).
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
