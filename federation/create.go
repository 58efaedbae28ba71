package federation

import (
	"context"
	"errors"
	"fmt"

	"svc/internal/activity"
	"svc/social"
	"svc/store"
)

func init() {
	handle("Create", handling{do: (*Service).receiveCreate, strangers: true, brief: true})
}

// Limits of what is fetched because of one post.
const (
	maxObjects   = 20 // that one activity can be about
	askedAtOnce  = 5  // people that a direct post is addressed to, and who are asked for before it is taken in
	nestedObject = 2  // activities that lead to another before one leads to a post
)

// receiveCreate takes in posts, votes and messages that an actor has made (federation 4.2, 4.3).
func (s *Service) receiveCreate(ctx context.Context, in *incoming) error {
	objects := in.Values("object")
	if len(objects) == 0 {
		return refuse("it is about nothing")
	}
	var first error
	for _, v := range objects[:min(len(objects), maxObjects)] {
		if err := s.createOne(ctx, in, v); err != nil {
			if !lasting(err) {
				return err
			}
			first = errors.Join(first, err)
		}
		in.deepest = 0 // of several posts, only the first leads to others
	}
	return first
}

// createOne takes in one object. One that is only named is what its origin says it is.
func (s *Service) createOne(ctx context.Context, in *incoming, v any) error {
	embedded, ok := v.(map[string]any)
	if !ok {
		return s.createNamed(ctx, in, activity.Reference(v))
	}
	o := activity.Object(embedded)
	switch {
	case o.Is("ChatMessage"):
		return s.chatMessage(ctx, in, o)
	case isVote(o):
		return s.vote(ctx, in, o)
	case !o.Is(noteTypes...):
		return nil // of no interest (federation 4.19)
	}
	_, err := s.receiveNote(ctx, in, o)
	return err
}

func (s *Service) createNamed(ctx context.Context, in *incoming, uri string) error {
	if !activity.SameHost(uri, in.actor.URI, s.Trial) {
		return refuse("its object is of another host than its actor")
	}
	st, err := s.fetchStatus(ctx, uri, fetching{author: in.actor.URI, relevant: true, reach: in.deepest})
	if err == nil && st.AccountID != in.actor.ID {
		err = refuse("its object is attributed to somebody else")
	}
	return err
}

// receiveNote takes in a post that its author has sent.
func (s *Service) receiveNote(ctx context.Context, in *incoming, o activity.Object) (*store.Status, error) {
	n, err := s.readNote(o, in.Object)
	if err != nil {
		return nil, err
	}
	if n.author != in.actor.URI {
		return nil, refuse("its object is attributed to somebody else")
	}
	if in.recipient != nil {
		n.For = &in.recipient.ID
	}
	if nobody(o, in.Object) {
		if n.For == nil {
			return nil, refuse("it is for nobody")
		}
		n.Visibility = store.Direct
	}
	if err := s.readFollowers(ctx, n, o, in.Object, in.actor); err != nil {
		return nil, err
	}
	n.Wanted, n.Reach = s.StoreAll, in.deepest
	if n.For != nil && n.Visibility.Open() {
		n.For = nil // by the follow, or because it is named; that somebody's inbox was chosen says nothing
	}
	if n.Visibility == store.Direct {
		if err := s.meet(ctx, n); err != nil {
			return nil, err
		}
	}
	if err := s.reviewNote(ctx, in.actor, n, "Create"); err != nil {
		return nil, err
	}
	return s.social.Receive(ctx, in.actor, n.Received)
}

// meet asks for some of those to whom a direct post is addressed and who are not known: answers go to them, too.
func (s *Service) meet(ctx context.Context, n *note) error {
	known, err := s.db.AccountsByURI(ctx, n.Audience)
	if err != nil {
		return err
	}
	asked := 0
	for _, uri := range n.Audience {
		if known[uri] != nil || asked == askedAtOnce {
			continue
		}
		if _, err := s.hostToAsk(uri); err != nil {
			continue
		}
		if err := mayAsk(ctx); err != nil {
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
	return s.fetchStatus(ctx, uri, fetching{reach: fetchBudget})
}

// fetching is how a post is fetched.
type fetching struct {
	author   string           // whose it must be; "": anybody's
	relevant bool             // it is kept only if it concerns somebody here
	fits     func(*note) bool // tells whether it is wanted; nil: it is
	reach    int              // how many more posts it can lead to
}

// fetchStatus returns the post of an id, asking its origin if it is not known (federation 5.2). What is found there may be the activity
// that made the post.
func (s *Service) fetchStatus(ctx context.Context, uri string, f fetching) (*store.Status, error) {
	for range nestedObject {
		st, err := s.knownStatus(ctx, uri)
		if st != nil || err != nil {
			return st, err
		}
		o, err := s.document(ctx, uri)
		if err != nil {
			return nil, err
		}
		if o.Is("Create", "Update", "Announce") {
			if uri = o.Ref("object"); uri == "" {
				return nil, refuse("it is about nothing")
			}
			continue
		}
		return s.storeFetched(ctx, o, f)
	}
	return nil, refuse("it leads to no post")
}

// knownStatus returns the post of an id, nil if it is to be asked for.
func (s *Service) knownStatus(ctx context.Context, uri string) (*store.Status, error) {
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
	if _, err := s.hostToAsk(uri); err != nil {
		return nil, fmt.Errorf("%s: %w", cut(uri, 500), err)
	}
	return nil, nil
}

// storeFetched stores a post that was read from its origin.
func (s *Service) storeFetched(ctx context.Context, o activity.Object, f fetching) (*store.Status, error) {
	n, err := s.readNote(o, nil)
	if err != nil {
		return nil, err
	}
	switch {
	case isVote(o):
		return nil, refuse("it is a vote")
	case f.author != "" && n.author != f.author:
		return nil, refuse("it is attributed to somebody else")
	case f.fits != nil && !f.fits(n):
		return nil, refuse("it is not what it was named for")
	}
	author, err := s.Actor(ctx, n.author)
	if err != nil {
		return nil, err
	}
	if author.Withheld || author.Local() {
		return nil, refuse("its author has no say here")
	}
	if nobody(o, nil) {
		n.Visibility = store.Unlisted
	}
	if err := s.readFollowers(ctx, n, o, nil, author); err != nil {
		return nil, err
	}
	n.Fetched, n.Wanted, n.Reach = true, !f.relevant || s.StoreAll, f.reach
	if err := s.reviewNote(ctx, author, n, "Create"); err != nil {
		return nil, err
	}
	return s.social.Receive(ctx, author, n.Received)
}
