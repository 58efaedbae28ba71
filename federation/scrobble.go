package federation

import (
	"context"
	"slices"
	"strconv"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/social"
	"svc/store"
)

// handleListen stores a scrobble of an actor.
func (r *Receiver) handleListen(ctx context.Context, in *inbox.Activity) error {
	track := in.Object.Object("object")
	if track == nil || !track.Is("Audio") {
		return remote.Refuse("object is not an Audio")
	}
	if by := track.Ref("attributedTo"); by != "" && by != in.Actor.URI {
		return remote.Refuse("track is attributed to %s", by)
	}
	l := social.ScrobbleDraft{
		Title: firstText(track, "title", "name"), Artist: firstText(track, "artist"), Album: firstText(track, "album"),
		Length: trackLength(track), ExternalLink: track.Text("externalLink"), Visibility: r.listenVisibility(ctx, in, track),
	}
	return r.social.ReceiveScrobble(ctx, in.Actor, l, in.URI, r.activityTime(in, "published"))
}

// firstText returns the first of several members that is a string.
func firstText(o activity.Object, keys ...string) string {
	for _, key := range keys {
		if s := o.Text(key); s != "" {
			return s
		}
	}
	return ""
}

// trackLength returns a length in milliseconds, which some servers send as a string.
func trackLength(track activity.Object) int {
	if n, err := strconv.Atoi(track.Text("length")); err == nil && n > 0 {
		return min(n, 1<<31-1)
	}
	return track.Count("length")
}

// listenVisibility returns the visibility of a scrobble by the addressing of the track, or else of the activity.
func (r *Receiver) listenVisibility(ctx context.Context, in *inbox.Activity, track activity.Object) store.Visibility {
	o := track
	if len(o.Values("to"))+len(o.Values("cc")) == 0 {
		o = in.Object
	}
	to, cc := o.Refs("to", remote.MaxAddressees), o.Refs("cc", remote.MaxAddressees)
	switch {
	case slices.ContainsFunc(to, activity.IsPublic):
		return store.Public
	case slices.ContainsFunc(cc, activity.IsPublic):
		return store.Unlisted
	}
	actor, err := r.db.Actor(ctx, in.Actor.ID)
	if err == nil && actor.Followers != "" && slices.Contains(slices.Concat(to, cc), actor.Followers) {
		return store.Private
	}
	return store.Direct
}

// activityTime returns the time of an activity if it is plausible: not in the future, and not before such servers existed.
func (r *Receiver) activityTime(in *inbox.Activity, key string) store.Time {
	at := in.Time(key)
	if object := in.Object.Object("object"); at.IsZero() && object != nil {
		at = object.Time(key)
	}
	if at.Year() < 2000 || at.After(in.Row.ReceivedAt.Time()) {
		return in.Row.ReceivedAt
	}
	return store.At(at)
}
