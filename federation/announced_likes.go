package federation

import (
	"context"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// handleAnnouncedLike handles a Like, or its Undo, that a group announces (FEP-1b12). Accounts on the group's own server are vouched for by
// it. Others count for local posts only, and if their server confirms the activity, because each costs requests.
func (r *Receiver) handleAnnouncedLike(ctx context.Context, in *inbox.Activity, o activity.Object) error {
	like := o
	if o.Is("Undo") {
		like = o.Object("object")
	}
	if !like.Is("Like") || like.Ref("actor") != o.Ref("actor") {
		return nil // a dislike or similar
	}
	id, err := r.local.statusIDByURI(ctx, like.Ref("object"))
	if id == 0 || err != nil {
		return err
	}
	st, err := r.db.Status(ctx, id)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	actor, err := r.announcedActor(ctx, in, o, st.Local())
	if actor == nil || err != nil {
		return err
	}
	if o.Is("Undo") {
		_, err = r.undoLike(ctx, actor, id, like)
		return err
	}
	_, err = r.social.ReceiveFavourite(ctx, actor, id, like.ID(), "")
	return err
}

// announcedActor returns the actor of an announced activity, nil if it does not count. It fetches unknown actors and activities if mayFetch.
func (r *Receiver) announcedActor(ctx context.Context, in *inbox.Activity, o activity.Object, mayFetch bool) (*store.Account, error) {
	uri := o.Ref("actor")
	host, err := r.fetcher.FetchableHost(uri)
	if err != nil {
		return nil, remote.Refuse("announced actor: %v", err)
	}
	if host != r.reader.HostOf(in.Actor) {
		if !mayFetch {
			return nil, nil
		}
		if !activity.SameHost(o.ID(), uri, r.Settings.AllowLoopback) {
			return nil, remote.Refuse("announced activity is on another host than its actor")
		}
		confirmed, err := r.fetcher.Document(ctx, o.ID())
		if err != nil {
			return nil, err
		}
		if confirmed.Type() != o.Type() || confirmed.Ref("actor") != uri || confirmed.Ref("object") != o.Ref("object") {
			return nil, remote.Refuse("server of the announced activity does not confirm it")
		}
	}
	actor, err := r.accounts.GetByURI(ctx, uri)
	if errs.IsNotFound(err) && mayFetch {
		actor, err = r.actors.Actor(ctx, uri)
	}
	switch {
	case errs.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case actor.Unavailable || actor.DeletedAt != nil || actor.Local():
		return nil, nil
	}
	return actor, r.fetcher.CheckHostPolicy(actor.Domain)
}
