package federation

import (
	"context"
	"errors"
	"fmt"

	"svc/federation/inbox"
	"svc/internal/activity"
	"svc/social"
	"svc/store"
)

// Limits of what is fetched because of one post.
const (
	maxCreatedObjects    = 20 // that one activity can be about
	maxAddresseesFetched = 5  // people that a direct post is addressed to, and who are asked for before it is taken in
	maxWrappers          = 2  // activities that lead to another before one leads to a post
)

// handleCreate takes in posts, votes and messages that an actor has made (federation 4.2, 4.3).
func (s *Service) handleCreate(ctx context.Context, in *inbox.Activity) error {
	objects := in.Values("object")
	if len(objects) == 0 {
		return Refuse("it is about nothing")
	}
	var first error
	for _, v := range objects[:min(len(objects), maxCreatedObjects)] {
		if err := s.createObject(ctx, in, v); err != nil {
			if !IsFinal(err) {
				return err
			}
			first = errors.Join(first, err)
		}
		in.FetchBudget = 0 // of several posts, only the first leads to others
	}
	return first
}

// createObject takes in one object. One that is only named is what its origin says it is.
func (s *Service) createObject(ctx context.Context, in *inbox.Activity, v any) error {
	embedded, ok := v.(map[string]any)
	if !ok {
		return s.createByReference(ctx, in, activity.Reference(v))
	}
	o := activity.Object(embedded)
	switch {
	case o.Is("ChatMessage"):
		return s.receiveChatMessage(ctx, in, o)
	case IsVote(o):
		return s.receiveVote(ctx, in, o)
	case !o.Is(NoteTypes...):
		return nil // of no interest (federation 4.19)
	}
	_, err := s.receiveNote(ctx, in, o)
	return err
}

func (s *Service) createByReference(ctx context.Context, in *inbox.Activity, uri string) error {
	if !activity.SameHost(uri, in.Actor.URI, s.AllowLoopback) {
		return Refuse("its object is of another host than its actor")
	}
	st, err := s.FetchStatus(ctx, uri, FetchOptions{Author: in.Actor.URI, OnlyRelevant: true, Budget: in.FetchBudget})
	if err == nil && st.AccountID != in.Actor.ID {
		err = Refuse("its object is attributed to somebody else")
	}
	return err
}

// receiveNote takes in a post that its author has sent.
func (s *Service) receiveNote(ctx context.Context, in *inbox.Activity, o activity.Object) (*store.Status, error) {
	n, err := s.ReadNote(o, in.Object)
	if err != nil {
		return nil, err
	}
	if n.AuthorURI != in.Actor.URI {
		return nil, Refuse("its object is attributed to somebody else")
	}
	if in.Recipient != nil {
		n.InboxOwner = &in.Recipient.ID
	}
	if HasNoAudience(o, in.Object) {
		if n.InboxOwner == nil {
			return nil, Refuse("it is for nobody")
		}
		n.Visibility = store.Direct
	}
	if err := s.ApplyFollowers(ctx, n, o, in.Object, in.Actor); err != nil {
		return nil, err
	}
	n.KeepUnrelated, n.FetchBudget = s.StoreAll, in.FetchBudget
	if n.InboxOwner != nil && n.Visibility.Unrestricted() {
		n.InboxOwner = nil // by the follow, or because it is named; that somebody's inbox was chosen says nothing
	}
	if n.Visibility == store.Direct {
		if err := s.fetchAddressees(ctx, n); err != nil {
			return nil, err
		}
	}
	if err := s.applyPoliciesToNote(ctx, in.Actor, n, "Create"); err != nil {
		return nil, err
	}
	return s.social.ReceiveStatus(ctx, in.Actor, n.IncomingStatus)
}

// fetchAddressees asks for some of those to whom a direct post is addressed and who are not known: answers go to them, too.
func (s *Service) fetchAddressees(ctx context.Context, n *Note) error {
	known, err := s.db.AccountsByURI(ctx, n.Audience)
	if err != nil {
		return err
	}
	asked := 0
	for _, uri := range n.Audience {
		if known[uri] != nil || asked == maxAddresseesFetched {
			continue
		}
		if _, err := s.FetchableHost(uri); err != nil {
			continue
		}
		if err := MayFetch(ctx); err != nil {
			return err
		}
		asked++
		if _, err := s.Actor(ctx, uri); err != nil {
			s.log.Debug("addressed account not found", "uri", uri, "err", err)
		}
	}
	return nil
}

// Status returns the post of an id: as it is known here, or else as its origin has it.
func (s *Service) Status(ctx context.Context, uri string) (*store.Status, error) {
	return s.FetchStatus(ctx, uri, FetchOptions{Budget: maxFetchesPerActivity})
}

// FetchOptions is how a post is fetched.
type FetchOptions struct {
	Author       string           // whose it must be; "": anybody's
	OnlyRelevant bool             // it is kept only if it concerns somebody here
	Accept       func(*Note) bool // tells whether it is wanted; nil: it is
	Budget       int              // how many more posts it can lead to
}

// FetchStatus returns the post of an id, asking its origin if it is not known (federation 5.2). What is found there may be the activity
// that made the post.
func (s *Service) FetchStatus(ctx context.Context, uri string, f FetchOptions) (*store.Status, error) {
	for range maxWrappers {
		st, err := s.KnownStatus(ctx, uri)
		if st != nil || err != nil {
			return st, err
		}
		o, err := s.Document(ctx, uri)
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
func (s *Service) KnownStatus(ctx context.Context, uri string) (*store.Status, error) {
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
	if _, err := s.FetchableHost(uri); err != nil {
		return nil, fmt.Errorf("%s: %w", truncateBytes(uri, 500), err)
	}
	return nil, nil
}

// receiveFetched stores a post that was read from its origin.
func (s *Service) receiveFetched(ctx context.Context, o activity.Object, f FetchOptions) (*store.Status, error) {
	n, err := s.ReadNote(o, nil)
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
	author, err := s.Actor(ctx, n.AuthorURI)
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
	if err := s.applyPoliciesToNote(ctx, author, n, "Create"); err != nil {
		return nil, err
	}
	return s.social.ReceiveStatus(ctx, author, n.IncomingStatus)
}
