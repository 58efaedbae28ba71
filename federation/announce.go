package federation

import (
	"context"
	"errors"
	"slices"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/social"
	"svc/store"
)

const maxAnnounced = 10 // objects of one Announce

// handleAnnounce is a boost (federation 4.8), or what a relay passes on (6.3). A group announces the activities of others, of which only the
// posts that they are about count.
func (r *Receiver) handleAnnounce(ctx context.Context, in *inbox.Activity) error {
	relay := r.relays.isAccepted(in.Actor.ID)
	if !relay {
		if wanted, err := r.isRelevantAnnounce(ctx, in); !wanted || err != nil {
			return err
		}
	}
	objects := in.Values("object")
	if len(objects) == 0 {
		return remote.Refuse("it is about nothing")
	}
	var first error
	for i, v := range objects[:min(len(objects), maxAnnounced)] {
		id, uri, err := r.announcedStatus(ctx, in, v)
		if err == nil && id != 0 && !relay {
			err = r.receiveBoost(ctx, in, id, uri, i)
		}
		if err != nil && !remote.IsFinal(err) {
			return err
		}
		first = errors.Join(first, err)
	}
	return first
}

// isRelevantAnnounce tells whether anybody here has to do with what an actor boosts: a follower, or somebody whose own post it is.
func (r *Receiver) isRelevantAnnounce(ctx context.Context, in *inbox.Activity) (bool, error) {
	if r.StoreAll {
		return true, nil
	}
	for _, v := range in.Values("object") {
		if host, err := activity.Host(activity.Reference(v), r.AllowLoopback); err == nil && host == r.Host {
			return true, nil
		}
	}
	return r.db.AccountHasLocalAudience(ctx, in.Actor.ID)
}

// announcedStatus returns the post that is announced, by its id here and elsewhere; 0 if it is none that counts.
func (r *Receiver) announcedStatus(ctx context.Context, in *inbox.Activity, v any) (id store.StatusID, uri string, err error) {
	ref := activity.Reference(v)
	embedded, _ := v.(map[string]any)
	o := activity.Object(embedded)
	switch {
	case o.Is("Create", "Update"):
		ref = o.Ref("object")
	case o.Is("Delete"):
		return 0, "", r.handleAnnouncedDelete(ctx, o)
	case o != nil && o.Type() != "" && !o.Is(remote.NoteTypes...):
		return 0, "", nil // what a group says of favourites and the like
	}
	if ref == "" {
		return 0, "", remote.Refuse("it is about nothing")
	}
	if host, err := activity.Host(ref, r.AllowLoopback); err == nil && host == r.Host {
		id, err := r.local.statusIDByURI(ctx, ref)
		if err == nil && id == 0 {
			err = remote.Refuse("there is no such post here")
		}
		return id, ref, err
	}
	st, err := r.announcedRemoteStatus(ctx, in, o, ref)
	if st == nil || err != nil {
		return 0, "", err
	}
	return st.ID, st.URI, nil
}

// announcedRemoteStatus returns a post from elsewhere that is announced, nil if there is none.
func (r *Receiver) announcedRemoteStatus(ctx context.Context, in *inbox.Activity, o activity.Object, ref string) (*store.Status, error) {
	st, err := r.statuses.KnownStatus(ctx, ref)
	if st != nil && o.Is("Update") {
		if err := r.statuses.RefreshStatus(ctx, st); err != nil { // a group tells its followers of edits like this
			return nil, err
		}
		st, err = r.db.Status(ctx, st.ID)
		return st, ignoreNotFound(err)
	}
	if st != nil || err != nil {
		return st, err
	}
	if o.Is(remote.NoteTypes...) && slices.Contains(o.Refs("attributedTo", 20), in.Actor.URI) && activity.SameHost(ref, in.Actor.URI, r.AllowLoopback) {
		return r.receiveAnnouncedNote(ctx, in, o)
	}
	return r.statuses.FetchStatus(ctx, ref, remote.FetchOptions{Budget: in.FetchBudget})
}

// receiveAnnouncedNote takes in a post of the actor's own that it boosts and sends along, as others could not ask for it: it may be for its
// followers only.
func (r *Receiver) receiveAnnouncedNote(ctx context.Context, in *inbox.Activity, o activity.Object) (*store.Status, error) {
	n, err := r.reader.ReadNote(o, nil)
	if err != nil {
		return nil, err
	}
	if n.AuthorURI != in.Actor.URI {
		return nil, remote.Refuse("its object is attributed to somebody else")
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

// handleAnnouncedDelete is what a group says of the end of a post: its origin must say the same.
func (r *Receiver) handleAnnouncedDelete(ctx context.Context, o activity.Object) error {
	ref := o.Ref("object")
	st, err := r.db.StatusByURI(ctx, ref)
	if err != nil || st == nil || st.Local() {
		return err
	}
	return r.statuses.DeleteIfGone(ctx, ref)
}

// receiveBoost makes a boost of a post. i is its place among those that are boosted at once, of which each has an id of its own.
func (r *Receiver) receiveBoost(ctx context.Context, in *inbox.Activity, id store.StatusID, uri string, i int) error {
	b := social.IncomingReblog{URI: in.URI, Visibility: in.Visibility, Published: remote.PlausibleTime(in.Time("published"), in.Row.ReceivedAt.Time())}
	if i > 0 {
		b.URI += "#" + contentHash(uri)
	}
	_, err := r.social.ReceiveReblog(ctx, in.Actor, id, b)
	return err
}

// boostVisibility returns whom a boost is for. Some servers do not say: it is for everybody then.
func boostVisibility(o activity.Object) store.Visibility {
	to, cc := o.Refs("to", remote.MaxAddressees), o.Refs("cc", remote.MaxAddressees)
	switch {
	case slices.ContainsFunc(to, activity.IsPublic), len(to) == 0 && len(cc) == 0:
		return store.Public
	case slices.ContainsFunc(cc, activity.IsPublic):
		return store.Unlisted
	}
	return store.Private
}
