package federation

import (
	"context"
	"time"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// undoneTTL is how long an activity is ignored whose Undo arrived first (federation 4.9).
const undoneTTL = 6 * time.Hour

// handleUndo undoes an activity of the actor. The stored row of its id counts; if the id is unknown, the embedded copy does (federation
// 4.9).
func (r *Receiver) handleUndo(ctx context.Context, in *inbox.Activity) error {
	ref, inner := in.Ref("object"), in.Object.Object("object")
	if ref == "" && inner == nil {
		return remote.Refuse("activity has no object")
	}
	if inner != nil && inner.Ref("actor") != "" && inner.Ref("actor") != in.Actor.URI {
		return remote.Refuse("undone activity is by %s", inner.Ref("actor"))
	}
	if relay, err := r.handleRelayUnfollow(ctx, in, ref, inner); relay || err != nil {
		return err
	}
	done, err := r.undoByURI(ctx, in.Actor, ref)
	if done || err != nil {
		return err
	}
	seen, err := r.db.SeenActivity(ctx, in.URI)
	if err != nil {
		return err
	}
	if inner != nil && !seen { // otherwise it was undone already, and a match would be newer
		if done, err = r.undoEmbedded(ctx, in.Actor, inner); done || err != nil {
			return err
		}
	}
	if !activity.SameHost(ref, in.Actor.URI, r.Settings.AllowLoopback) {
		return nil
	}
	key := undoneKey(in.Actor.URI, ref)
	err = r.db.Update(ctx, func(tx *store.Tx) error {
		return tx.MarkSeen(ctx, store.SeenID{Key: key, Source: store.AbsentFrom(r.reader.HostOf(in.Actor))})
	})
	if err == nil {
		r.inbox.Seen.Add(key)
	}
	return err
}

// undoneKey returns the key recorded for the Undo of an unknown activity. It contains the actor, so that others cannot undo it.
func undoneKey(actor, uri string) store.SeenKey {
	return store.NewSeenKey("undone " + actor + " " + uri)
}

// undoByURI undoes the activity with an id, and returns false if there is none.
func (r *Receiver) undoByURI(ctx context.Context, actor *store.Account, uri string) (bool, error) {
	if uri == "" {
		return false, nil
	}
	f, err := r.db.FollowByURI(ctx, uri)
	switch {
	case err != nil:
		return false, err
	case f != nil && f.FollowerID != actor.ID:
		return true, errNotOwnActivity
	case f != nil:
		return r.social.ReceiveUnfollow(ctx, actor, f.TargetID)
	}
	fav, err := r.db.FavouriteByURI(ctx, uri)
	switch {
	case err != nil:
		return false, err
	case fav != nil && fav.AccountID != actor.ID:
		return true, errNotOwnActivity
	case fav != nil:
		return true, r.unfavourite(ctx, actor, fav.StatusID)
	}
	reaction, err := r.db.ReactionByURI(ctx, uri)
	switch {
	case err != nil:
		return false, err
	case reaction != nil && reaction.AccountID != actor.ID:
		return true, errNotOwnActivity
	case reaction != nil:
		return true, r.social.ReceiveUnreact(ctx, reaction)
	}
	boost, err := r.db.StatusByURI(ctx, uri)
	switch {
	case err != nil:
		return false, err
	case boost != nil && boost.AccountID != actor.ID:
		return true, errNotOwnActivity
	case boost != nil && boost.ReblogOfID != nil:
		return true, r.unreblog(ctx, actor, *boost.ReblogOfID)
	}
	target, err := r.db.BlockByURI(ctx, actor.ID, uri)
	if err != nil || target == 0 {
		return false, err
	}
	return r.social.ReceiveUnblock(ctx, actor, target)
}

var errNotOwnActivity = remote.Refuse("object belongs to another actor")

// undoEmbedded undoes an activity by its embedded copy, and returns false if there is none.
func (r *Receiver) undoEmbedded(ctx context.Context, actor *store.Account, inner activity.Object) (bool, error) {
	switch kind := inner.Type("Follow", "Block", "Accept", "Like", "EmojiReact", "EmojiReaction", "Announce"); kind {
	case "Follow", "Block":
		to, err := r.local.localAccount(ctx, inner.Ref("object"))
		if err != nil || to == nil {
			return false, err
		}
		if kind == "Follow" {
			return r.social.ReceiveUnfollow(ctx, actor, to.ID)
		}
		return r.social.ReceiveUnblock(ctx, actor, to.ID)
	case "Accept": // some servers end a follow like this
		f, err := r.answeredFollow(ctx, actor, inner)
		if err != nil || f == nil {
			return false, err
		}
		return true, r.social.ReceiveReject(ctx, actor, f.FollowerID)
	case "":
		return false, nil
	}
	st, err := r.db.StatusByURI(ctx, inner.Ref("object"))
	if err != nil || st == nil {
		return false, err
	}
	if inner.Is("Announce") {
		boost, err := r.db.Reblog(ctx, actor.ID, st.OriginalID())
		if err != nil || boost == nil {
			return false, err
		}
		return true, r.unreblog(ctx, actor, st.OriginalID())
	}
	return r.undoLike(ctx, actor, st.OriginalID(), inner)
}

// undoLike removes a favourite or a reaction.
func (r *Receiver) undoLike(ctx context.Context, actor *store.Account, id store.StatusID, inner activity.Object) (bool, error) {
	if e, ok := r.reactionEmoji(inner); ok {
		name, _ := r.social.ReactionName(e)
		reaction, err := r.db.Reaction(ctx, actor.ID, id, name)
		if err != nil {
			return false, err
		}
		if reaction != nil {
			return true, r.social.ReceiveUnreact(ctx, reaction)
		}
	}
	if !inner.Is("Like") {
		return false, nil
	}
	fav, err := r.db.FavouriteOf(ctx, actor.ID, id)
	if err != nil || fav == nil {
		return false, err
	}
	return true, r.unfavourite(ctx, actor, id)
}

// unfavourite removes a favourite, also of a status that is no longer visible to the actor.
func (r *Receiver) unfavourite(ctx context.Context, actor *store.Account, id store.StatusID) error {
	_, err := r.social.Unfavourite(ctx, actor, id)
	return errs.IgnoreNotFound(err)
}

// unreblog removes a boost, also of a status that is no longer visible to the actor.
func (r *Receiver) unreblog(ctx context.Context, actor *store.Account, id store.StatusID) error {
	_, err := r.social.Unreblog(ctx, actor, id)
	return errs.IgnoreNotFound(err)
}

// undoableTypes are the types of activities whose Undo may arrive first.
var undoableTypes = map[string]bool{"Follow": true, "Block": true, "Like": true, "EmojiReact": true, "EmojiReaction": true, "Announce": true}
