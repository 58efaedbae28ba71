package federation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/social"
	"svc/store"
)

const maxAnnounced = 10 // per Announce

// handleAnnounce handles a boost (federation 4.8) or an activity forwarded by a relay (6.3). A group announces the activities of
// others, of which only those about statuses count.
func (r *Receiver) handleAnnounce(ctx context.Context, in *inbox.Activity) error {
	relay := r.relays.isAccepted(in.Actor.ID)
	if !relay {
		if relevant, err := r.isRelevantAnnounce(ctx, in); !relevant || err != nil {
			return err
		}
	}
	objects := in.Values("object")
	if len(objects) == 0 {
		return remote.Refuse("activity has no object")
	}
	var refused, missing error
	for i, v := range objects[:min(len(objects), maxAnnounced)] {
		id, uri, err := r.announcedStatus(ctx, in, v)
		if err == nil && id != 0 && !relay {
			err = r.receiveBoost(ctx, in, id, uri, i)
		}
		switch {
		case err == nil:
		case !relay && r.mayArrive(in, err):
			missing = errors.Join(missing, fmt.Errorf("object has not arrived: %v", err)) // not final
		case !remote.IsFinal(err):
			return err
		default:
			refused = errors.Join(refused, err)
		}
	}
	if missing != nil {
		return missing
	}
	return refused
}

// maxAnnounceWait is how long an Announce is retried whose object cannot be fetched. Its Create may arrive later, because servers send
// in any order.
const maxAnnounceWait = time.Hour

// mayArrive returns whether err says that an announced object cannot be fetched, but the Announce is recent.
func (r *Receiver) mayArrive(in *inbox.Activity, err error) bool {
	switch remote.HTTPStatus(err) {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return r.db.Now().Sub(in.Row.ReceivedAt.Time()) < maxAnnounceWait
	}
	return false
}

// isRelevantAnnounce returns whether a local account is related to a boost: a follower of the actor, or the author of the status.
func (r *Receiver) isRelevantAnnounce(ctx context.Context, in *inbox.Activity) (bool, error) {
	if r.Settings.Load().Federation.StoreAll {
		return true, nil
	}
	for _, v := range in.Values("object") {
		if o, ok := v.(map[string]any); ok && activity.Object(o).Is("Like", "Undo") {
			if v = o["object"]; activity.Object(o).Is("Undo") {
				v = activity.Object(o).Object("object")["object"]
			}
		}
		if host, err := activity.Host(activity.Reference(v), r.Settings.AllowLoopback); err == nil && host == r.Settings.WebHost {
			return true, nil
		}
	}
	return r.db.AccountHasLocalAudience(ctx, in.Actor.ID)
}

// announcedStatus returns the announced status and its URI; 0 if there is none to boost.
func (r *Receiver) announcedStatus(ctx context.Context, in *inbox.Activity, v any) (id store.StatusID, uri string, err error) {
	ref := activity.Reference(v)
	embedded, _ := v.(map[string]any)
	o := activity.Object(embedded)
	switch {
	case o.Is("Create", "Update"):
		ref = o.Ref("object")
	case o.Is("Delete"):
		return 0, "", r.handleAnnouncedDelete(ctx, o)
	case o.Is("Like", "Undo"):
		return 0, "", r.handleAnnouncedLike(ctx, in, o)
	case o != nil && o.Type() != "" && !o.Is(remote.NoteTypes...):
		return 0, "", nil // a dislike or similar in a group
	}
	if ref == "" {
		return 0, "", remote.Refuse("activity has no object")
	}
	if host, err := activity.Host(ref, r.Settings.AllowLoopback); err == nil && host == r.Settings.WebHost {
		id, err := r.local.statusIDByURI(ctx, ref)
		if err == nil && id == 0 {
			err = remote.Refuse("status does not exist on this server")
		}
		return id, ref, err
	}
	st, err := r.announcedRemoteStatus(ctx, in, o, ref)
	if st == nil || err != nil {
		return 0, "", err
	}
	return st.ID, st.URI, nil
}

// announcedRemoteStatus returns an announced remote status, nil if there is none.
func (r *Receiver) announcedRemoteStatus(ctx context.Context, in *inbox.Activity, o activity.Object, ref string) (*store.Status, error) {
	st, err := r.statuses.KnownStatus(ctx, ref)
	if st != nil && o.Is("Update") {
		if err := r.statuses.RefreshStatus(ctx, st); err != nil { // groups announce edits like this
			return nil, err
		}
		st, err = r.db.Status(ctx, st.ID)
		return st, errs.IgnoreNotFound(err)
	}
	if st != nil || err != nil {
		return st, err
	}
	if o.Is(remote.NoteTypes...) && slices.Contains(o.Refs("attributedTo", 20), in.Actor.URI) && activity.SameHost(ref, in.Actor.URI, r.Settings.AllowLoopback) {
		return r.receiveAnnouncedNote(ctx, in, o)
	}
	return r.statuses.FetchStatus(ctx, ref, remote.FetchOptions{Budget: in.FetchBudget})
}

// receiveAnnouncedNote stores an embedded status of the actor itself, which could not be fetched if it is for followers only.
func (r *Receiver) receiveAnnouncedNote(ctx context.Context, in *inbox.Activity, o activity.Object) (*store.Status, error) {
	n, err := r.reader.ReadNote(o, nil)
	if err != nil {
		return nil, err
	}
	if n.AuthorURI != in.Actor.URI {
		return nil, remote.Refuse("object is attributed to another actor")
	}
	if err := r.statuses.ApplyFollowers(ctx, n, o, nil, in.Actor); err != nil {
		return nil, err
	}
	if err := r.statuses.ApplyPolicies(ctx, in.Actor, n, "Create"); err != nil {
		return nil, err
	}
	n.Fetched, n.KeepUnrelated, n.FetchBudget = true, n.Visibility <= store.Private, in.FetchBudget
	return r.social.ReceiveStatus(ctx, in.Actor, n.IncomingStatus)
}

// handleAnnouncedDelete handles the Delete of a status announced by a group. Its origin must confirm it.
func (r *Receiver) handleAnnouncedDelete(ctx context.Context, o activity.Object) error {
	ref := o.Ref("object")
	st, err := r.db.StatusByURI(ctx, ref)
	if err != nil || st == nil || st.Local() {
		return err
	}
	return r.statuses.DeleteIfGone(ctx, ref)
}

// receiveBoost stores a boost of a status. i is its index among several of one Announce, because each needs an id.
func (r *Receiver) receiveBoost(ctx context.Context, in *inbox.Activity, id store.StatusID, uri string, i int) error {
	if err := r.checkBoostAudience(ctx, in.Actor, in.Object); err != nil {
		return err
	}
	b := social.IncomingReblog{URI: in.URI, Visibility: in.Visibility, Published: remote.PlausibleTime(in.Time("published"), in.Row.ReceivedAt.Time())}
	if i > 0 {
		b.URI += "#" + contentHash(uri)
	}
	_, err := r.social.ReceiveReblog(ctx, in.Actor, id, b)
	return err
}

// checkBoostAudience refuses a boost that is addressed to others than the public and the followers of its actor, because a boost for some accounts
// would be shown to all followers.
func (r *Receiver) checkBoostAudience(ctx context.Context, actor *store.Account, o activity.Object) error {
	if boostVisibility(o) != store.Private {
		return nil
	}
	addressed := append(o.Refs("to", remote.MaxAddressees), o.Refs("cc", remote.MaxAddressees)...)
	if len(addressed) == 0 {
		return nil
	}
	followers, err := r.db.FollowersURI(ctx, actor.ID)
	if err != nil || followers == "" || slices.Contains(addressed, followers) {
		return err
	}
	return remote.Refuse("boost is addressed to neither the public nor the followers of its actor")
}

// boostVisibility returns the visibility of a boost. Without `to` and `cc` it is public; with values that cannot be read it is not.
func boostVisibility(o activity.Object) store.Visibility {
	to, cc := o.Refs("to", remote.MaxAddressees), o.Refs("cc", remote.MaxAddressees)
	switch {
	case slices.ContainsFunc(to, activity.IsPublic), o["to"] == nil && o["cc"] == nil:
		return store.Public
	case slices.ContainsFunc(cc, activity.IsPublic):
		return store.Unlisted
	}
	return store.Private
}
