package remote

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/social"
	"svc/store"
)

// Statuses fetches and stores the statuses of other servers.
type Statuses struct {
	Config
	reader  *Reader
	fetcher *Fetcher
	actors  *Actors
	db      *store.DB
	social  *social.Service
	log     *slog.Logger
}

// MaxFetches is how many statuses and mentioned accounts one activity may cause to be fetched (federation 3.9).
const MaxFetches = 100

const maxWrappers = 2 // activities that lead to another before one leads to a status

// FetchOptions is how a post is fetched.
type FetchOptions struct {
	Author       string           // whose it must be; "": anybody's
	OnlyRelevant bool             // it is kept only if it concerns somebody here
	Accept       func(*Note) bool // tells whether it is wanted; nil: it is
	Budget       int              // how many more posts it can lead to
}

// Status returns the post of an id: as it is known here, or else as its origin has it.
func (s *Statuses) Status(ctx context.Context, uri string) (*store.Status, error) {
	return s.FetchStatus(ctx, uri, FetchOptions{Budget: MaxFetches})
}

// FetchStatus returns the post of an id, asking its origin if it is not known (federation 5.2). What is found there may be the activity
// that made the post.
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
				return nil, Refuse("it is about nothing")
			}
			continue
		}
		return s.receiveFetched(ctx, o, f)
	}
	return nil, Refuse("it leads to no post")
}

// KnownStatus returns the post of an id, nil if it is to be asked for.
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

// receiveFetched stores a post that was read from its origin.
func (s *Statuses) receiveFetched(ctx context.Context, o activity.Object, f FetchOptions) (*store.Status, error) {
	n, err := s.reader.ReadNote(o, nil)
	if err != nil {
		return nil, err
	}
	switch {
	case IsVote(o):
		return nil, Refuse("it is a vote")
	case f.Author != "" && n.AuthorURI != f.Author:
		return nil, Refuse("it is attributed to somebody else")
	case f.Accept != nil && !f.Accept(n):
		return nil, Refuse("it is not what it was named for")
	}
	author, err := s.actors.Actor(ctx, n.AuthorURI)
	if err != nil {
		return nil, err
	}
	if author.Unavailable || author.Local() {
		return nil, Refuse("its author has no say here")
	}
	if HasNoAudience(o, nil) {
		n.Visibility = store.Unlisted
	}
	if err := s.ApplyFollowers(ctx, n, o, nil, author); err != nil {
		return nil, err
	}
	n.Fetched, n.KeepUnrelated, n.FetchBudget = true, !f.OnlyRelevant || s.StoreAll, f.Budget
	if err := s.ApplyPolicies(ctx, author, n, "Create"); err != nil {
		return nil, err
	}
	return s.social.ReceiveStatus(ctx, author, n.IncomingStatus)
}

// ApplyFollowers goes by the address of the followers of a post's author where it matters.
func (s *Statuses) ApplyFollowers(ctx context.Context, n *Note, o, by activity.Object, author *store.Account) error {
	if n.Visibility < store.Private {
		return nil
	}
	actor, err := s.db.Actor(ctx, author.ID)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	n.applyFollowersURI(s.reader, o, by, actor.Followers)
	return nil
}

// EditStatus gives a post the form that a document has, which must be its author's.
func (s *Statuses) EditStatus(ctx context.Context, author *store.Account, st *store.Status, o, by activity.Object) error {
	n, err := s.reader.ReadNote(o, by)
	if err != nil {
		return err
	}
	if n.AuthorURI != author.URI || n.URI != st.URI {
		return Refuse("its object is somebody else's")
	}
	if err := s.ApplyPolicies(ctx, author, n, "Update"); err != nil {
		return err
	}
	_, err = s.social.ReceiveStatusEdit(ctx, author, st.ID, n.IncomingStatus)
	return err
}

// RefreshStatus gives a post from elsewhere the form that its origin has now. One of which that says that it is no more is deleted.
func (s *Statuses) RefreshStatus(ctx context.Context, st *store.Status) error {
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

// DeleteIfGone removes a post that its origin does not have any more. Whoever says so has no right to it themself: they are a moderator of
// that server, or a relay.
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
		return Refuse("its origin has it still")
	}
	return err
}

// isGoneAtOrigin tells whether the origin of a post says that it is no more. That nothing was found does not say so: servers are out of order at
// times.
func isGoneAtOrigin(o activity.Object, err error) bool {
	return err == nil && o.Is("Tombstone") || HTTPStatus(err) == http.StatusGone
}

// notFoundConfirmsDelete tells whether it bears out who says that a post is no more that its origin finds nothing. It does for a post for everybody: we
// ask in the name of this server, and of what is for few it is told that there is no such thing. Boosts often cannot be asked for at all.
func notFoundConfirmsDelete(st *store.Status, err error) bool {
	return HTTPStatus(err) == http.StatusNotFound && st.Visibility <= store.Unlisted && st.ReblogOfID == nil
}

// IsVote tells whether a Note is a vote in a poll: it has a name, answers something, and says nothing else (federation 4.3).
func IsVote(note activity.Object) bool {
	content, _ := note.TextAndLanguage("content")
	return note.Is("Note", "Answer") && note.Text("name") != "" && content == "" && note.Ref("inReplyTo") != "" && len(note.Values("attachment")) == 0
}
