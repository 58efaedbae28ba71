package remote

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

// Statuses fetches and stores the statuses of other servers.
type Statuses struct {
	Config
	reader  *Reader
	fetcher *Fetcher
	actors  *Actors
	own     *OwnReferences
	db      *store.DB
	social  *social.Service
	log     *slog.Logger
}

// MaxFetches is how many statuses and mentioned accounts one activity may cause to be fetched (federation 3.9).
const MaxFetches = 100

// maxWrappers is the maximum number of documents fetched until one is a status: the others are activities about it.
const maxWrappers = 2

// maxEmptyMarkup is the length up to which the content of a vote may be markup without text, in bytes.
const maxEmptyMarkup = 1000

// FetchOptions configure the fetch of a status.
type FetchOptions struct {
	Author       string           // required author; "": any
	OnlyRelevant bool             // store it only if a local account is related to it
	Accept       func(*Note) bool // nil: accept all
	Budget       int              // number of further statuses that it may cause to be fetched
	Quiet        bool             // it causes no notifications, and is in no home timeline and no stream, before it is delivered
}

// Status returns the status of an id: the stored one, or the fetched one.
func (s *Statuses) Status(ctx context.Context, uri string) (*store.Status, error) {
	return s.FetchStatus(ctx, uri, FetchOptions{Budget: MaxFetches})
}

// FetchStatus returns the status of an id and fetches it if it is unknown (federation 5.2). The document may also be the activity that
// created the status.
func (s *Statuses) FetchStatus(ctx context.Context, uri string, f FetchOptions) (*store.Status, error) {
	for range maxWrappers {
		st, err := s.KnownStatus(ctx, uri)
		if st != nil || err != nil {
			return st, err
		}
		o, err := s.fetcher.Document(ctx, uri)
		if err != nil {
			return nil, err
		}
		if o.Is("Create", "Update", "Announce") {
			if uri = o.Ref("object"); uri == "" {
				return nil, Refuse("activity has no object")
			}
			continue
		}
		return s.receiveFetched(ctx, o, f)
	}
	return nil, Refuse("activities lead to no status")
}

// KnownStatus returns the status of an id, nil if it has to be fetched.
func (s *Statuses) KnownStatus(ctx context.Context, uri string) (*store.Status, error) {
	st, err := s.db.StatusByURI(ctx, uri)
	if st != nil || err != nil {
		if st != nil && st.ReblogOfID != nil {
			return s.db.Status(ctx, *st.ReblogOfID)
		}
		return st, err
	}
	if gone, err := s.db.Tombstone(ctx, uri); gone != nil || err != nil {
		if err == nil {
			err = social.ErrDeleted
		}
		return nil, err
	}
	if _, err := s.fetcher.FetchableHost(uri); err != nil {
		return nil, fmt.Errorf("%s: %w", truncateBytes(uri, 500), err)
	}
	return nil, nil
}

// receiveFetched stores a status that was fetched from its origin.
func (s *Statuses) receiveFetched(ctx context.Context, o activity.Object, f FetchOptions) (*store.Status, error) {
	o, err := s.own.Resolve(ctx, o)
	if err != nil {
		return nil, err
	}
	n, err := s.reader.ReadNote(o, nil)
	if err != nil {
		return nil, err
	}
	switch {
	case IsVote(o):
		return nil, Refuse("object is a vote")
	case f.Author != "" && n.AuthorURI != f.Author:
		return nil, Refuse("object is attributed to another actor")
	case f.Accept != nil && !f.Accept(n):
		return nil, Refuse("object is not accepted by the caller")
	}
	author, err := s.actors.Actor(ctx, n.AuthorURI)
	if err != nil {
		return nil, err
	}
	if author.Unavailable || author.Local() {
		return nil, Refuse("author is suspended or deleted")
	}
	if isUnaddressed(o) {
		n.Visibility = store.Unlisted
	}
	if err := s.ApplyFollowers(ctx, n, o, nil, author); err != nil {
		return nil, err
	}
	n.Fetched, n.KeepUnrelated, n.FetchBudget = true, !f.OnlyRelevant || s.Settings.Load().Federation.StoreAll, f.Budget
	n.Quiet = f.Quiet
	if err := s.ApplyPolicies(ctx, author, n, "Create"); err != nil {
		return nil, err
	}
	return s.social.ReceiveStatus(ctx, author, n.IncomingStatus)
}

// isUnaddressed returns true if `to` and `cc` are missing or empty. A value that cannot be read may have been an address.
func isUnaddressed(o activity.Object) bool {
	for _, key := range []string{"to", "cc"} {
		switch v := o[key].(type) {
		case nil:
		case []any:
			if len(v) > 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// ApplyFollowers corrects the visibility of a status by the followers URI in its author's document, and reads what depends on it.
func (s *Statuses) ApplyFollowers(ctx context.Context, n *Note, o, by activity.Object, author *store.Account) error {
	if n.Visibility < store.Private {
		return nil
	}
	followers, err := s.db.FollowersURI(ctx, author.ID)
	if err != nil {
		return err
	}
	n.applyFollowersURI(o, by, followers)
	n.mentionAddressees(s.reader, o, by)
	return nil
}

// EditStatus updates a status by a document, which must be of its author.
func (s *Statuses) EditStatus(ctx context.Context, author *store.Account, st *store.Status, o, by activity.Object) error {
	o, err := s.own.Resolve(ctx, o)
	if err != nil {
		return err
	}
	n, err := s.reader.ReadNote(o, by)
	if err != nil {
		return err
	}
	if n.AuthorURI != author.URI || n.URI != st.URI {
		return Refuse("object belongs to another actor")
	}
	n.KeepAudience = keepsAudience(st, o, by)
	if err := s.ApplyFollowers(ctx, n, o, by, author); err != nil {
		return err
	}
	audience := n.Visibility
	if err := s.ApplyPolicies(ctx, author, n, "Update"); err != nil {
		return err
	}
	n.Visibility = audience // policies decide about that of new posts; a later block limits stored ones by a job
	_, err = s.social.ReceiveStatusEdit(ctx, author, st.ID, n.IncomingStatus)
	return err
}

// keepsAudience returns whether an Update without addressing leaves the audience as it is. Empty lists of a status that everybody could see
// mean that nobody is addressed any more; of others they may only lack recipients that its server does not tell (bto).
func keepsAudience(st *store.Status, o, by activity.Object) bool {
	if !HasNoAudience(o, by) {
		return false
	}
	_, to := o["to"]
	_, cc := o["cc"]
	return !st.Visibility.Unrestricted() || !to && !cc
}

// InThread returns the function that says whether a post belongs to a thread: its server has the thread, or it is a reply that names the thread or
// answers a post of it.
func (s *Statuses) InThread(ctx context.Context, uri string, id store.ConversationID) func(*Note) bool {
	return func(n *Note) bool {
		if uri != "" && (n.ThreadURI == uri || n.Context == uri && n.ParentURI != "") {
			return true
		}
		parent, err := s.db.StatusByURI(ctx, n.ParentURI)
		return err == nil && parent != nil && parent.ConversationID == id
	}
}

// RefreshStatus fetches a remote status again. It deletes a status that is gone at its origin. The fetch of a restricted status is signed by
// a local account that may read it.
func (s *Statuses) RefreshStatus(ctx context.Context, st *store.Status) error {
	if st.Visibility > store.Unlisted {
		viewer, err := s.db.LocalViewer(ctx, st)
		if err != nil {
			return err
		}
		ctx = signedAs(ctx, viewer)
	}
	o, err := s.fetcher.refetchDocument(ctx, st.URI)
	switch {
	case isGoneAtOrigin(o, err):
		return s.social.RemoveRemoteStatus(ctx, st.ID)
	case err != nil:
		return err
	}
	author, err := s.db.Account(ctx, st.AccountID)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	return s.EditStatus(ctx, author, st, o, nil)
}

// DeleteIfGone deletes a status that its origin does not have any more. The sender of the Delete has no authority over it: a moderator
// of that server, or a relay.
func (s *Statuses) DeleteIfGone(ctx context.Context, uri string) error {
	st, err := s.db.StatusByURI(ctx, uri)
	if st == nil || err != nil {
		return err
	}
	o, err := s.fetcher.refetchDocument(ctx, uri)
	switch {
	case isGoneAtOrigin(o, err), notFoundConfirmsDelete(st, err):
		return s.social.RemoveRemoteStatus(ctx, st.ID)
	case err == nil:
		return Refuse("origin still has the object")
	}
	return err
}

// isGoneAtOrigin returns whether the origin of a status says that it is gone (410). A 404 does not count, because a broken server may send
// it.
func isGoneAtOrigin(o activity.Object, err error) bool {
	return err == nil && o.Is("Tombstone") || HTTPStatus(err) == http.StatusGone
}

// notFoundConfirmsDelete returns whether a 404 at the origin confirms a Delete of a status. It does for public statuses: the request is
// signed by the instance actor, which may not see others. Boosts often have no document at all.
func notFoundConfirmsDelete(st *store.Status, err error) bool {
	return HTTPStatus(err) == http.StatusNotFound && st.Visibility <= store.Unlisted && st.ReblogOfID == nil
}

// IsVote returns whether a Note is a vote in a poll: it has a name, a parent, and no text (federation 4.3). Some servers write an empty
// content as markup.
func IsVote(note activity.Object) bool {
	if !note.Is("Note", "Answer") || note.Text("name") == "" || note.Ref("inReplyTo") == "" || len(note.Values("attachment")) > 0 {
		return false
	}
	content, _ := note.TextAndLanguage("content")
	return len(content) <= maxEmptyMarkup && text.OneLine(text.HTMLToText(content)) == ""
}
