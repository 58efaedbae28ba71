package federation

import (
	"context"
	"time"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/store"
)

// undoneTTL is how long an activity is refused that was taken back before it came (federation 4.9).
const undoneTTL = 6 * time.Hour

// handleUndo takes back what an actor did. What that was is told by what is stored, by its id; the embedded copy counts where the id is not
// known (federation 4.9).
func (r *Receiver) handleUndo(ctx context.Context, in *inbox.Activity) error {
	ref, inner := in.Ref("object"), in.Object.Object("object")
	if ref == "" && inner == nil {
		return remote.Refuse("it is about nothing")
	}
	if inner != nil && inner.Ref("actor") != "" && inner.Ref("actor") != in.Actor.URI {
		return remote.Refuse("it takes back what %s did", inner.Ref("actor"))
	}
	if relay, err := r.handleRelayUnfollow(ctx, in, ref, inner); relay || err != nil {
		return err
	}
	done, err := r.undoByURI(ctx, in.Actor, ref)
	if done || err != nil {
		return err
	}
	heard, err := r.db.SeenActivity(ctx, in.URI)
	if err != nil {
		return err
	}
	if inner != nil && !heard { // else it has done its work, and what it would find now is newer
		if done, err = r.undoEmbedded(ctx, in.Actor, inner); done || err != nil {
			return err
		}
	}
	if !activity.SameHost(ref, in.Actor.URI, r.AllowLoopback) {
		return nil
	}
	key := undoneKey(in.Actor.URI, ref)
	err = r.db.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.MarkSeenKey(ctx, key)
		return err
	})
	if err == nil {
		r.inbox.Seen.Add(key)
	}
	return err
}

// wasUndone tells whether an activity was taken back before it came.
func (r *Receiver) wasUndone(ctx context.Context, in *inbox.Activity) (bool, error) {
	return r.inbox.Seen.IsUndone(ctx, in, undoneKey(in.Actor.URI, in.URI), r.db.Now().Add(-undoneTTL))
}

// undoneKey is what is heard of when an actor takes back what is not known. Nobody can do that to the activities of others.
func undoneKey(actor, uri string) store.SeenKey {
	return store.NewSeenKey("undone " + actor + " " + uri)
}

// undoByURI takes back what an actor did by the activity of an id, and tells whether there is such a thing.
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

var errNotOwnActivity = remote.Refuse("it takes back what another did")

// undoEmbedded takes back what an actor did as an embedded activity says, and tells whether there was such a thing.
func (r *Receiver) undoEmbedded(ctx context.Context, actor *store.Account, inner activity.Object) (bool, error) {
	switch inner.Type("Follow", "Block", "Accept", "Like", "EmojiReact", "EmojiReaction", "Announce") {
	case "Follow":
		to, err := r.local.localAccount(ctx, inner.Ref("object"))
		if err != nil || to == nil {
			return false, err
		}
		return r.social.ReceiveUnfollow(ctx, actor, to.ID)
	case "Block":
		to, err := r.local.localAccount(ctx, inner.Ref("object"))
		if err != nil || to == nil {
			return false, err
		}
		return r.social.ReceiveUnblock(ctx, actor, to.ID)
	case "Accept": // which some do to end a follow
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

// undoLike takes back a favourite or a reaction.
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

// unfavourite takes back a favourite, also of what the actor does not see any more.
func (r *Receiver) unfavourite(ctx context.Context, actor *store.Account, id store.StatusID) error {
	_, err := r.social.Unfavourite(ctx, actor, id)
	return ignoreNotFound(err)
}

// unreblog takes back a boost, likewise.
func (r *Receiver) unreblog(ctx context.Context, actor *store.Account, id store.StatusID) error {
	_, err := r.social.Unreblog(ctx, actor, id)
	return ignoreNotFound(err)
}

// undoableTypes are the types of activities that can be taken back before they come.
var undoableTypes = map[string]bool{"Follow": true, "Block": true, "Like": true, "EmojiReact": true, "EmojiReaction": true, "Announce": true}
