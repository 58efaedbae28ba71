package federation

import (
	"context"
	"strconv"

	"svc/internal/activity"
	"svc/social"
	"svc/store"
)

func init() {
	handle("Listen", handling{do: (*Service).listen})
}

// listen notes what an actor listens to.
func (s *Service) listen(ctx context.Context, in *incoming) error {
	track := in.Object.Object("object")
	if track == nil || !track.Is("Audio") {
		return refuse("it does not say what is listened to")
	}
	if by := track.Ref("attributedTo"); by != "" && by != in.actor.URI {
		return refuse("it is what %s listens to", by)
	}
	l := social.Listening{
		Title: plainName(track, "title", "name"), Artist: plainName(track, "artist"), Album: plainName(track, "album"),
		Length: lengthOf(track), ExternalLink: track.Text("externalLink"), Visibility: s.listenersOf(ctx, in, track),
	}
	return s.social.ReceiveScrobble(ctx, in.actor, l, in.id, s.timeOf(in, "published"))
}

// plainName returns the first of some members that is text.
func plainName(o activity.Object, keys ...string) string {
	for _, key := range keys {
		if s := o.Text(key); s != "" {
			return s
		}
	}
	return ""
}

// lengthOf returns a length in milliseconds, which some write as text.
func lengthOf(track activity.Object) int {
	if n, err := strconv.Atoi(track.Text("length")); err == nil && n > 0 {
		return min(n, 1<<31-1)
	}
	return track.Count("length")
}

// listenersOf returns who may know what an actor listens to, as it says with the track, or else with the activity.
func (s *Service) listenersOf(ctx context.Context, in *incoming, track activity.Object) store.Visibility {
	o := track
	if len(o.Values("to"))+len(o.Values("cc")) == 0 {
		o = in.Object
	}
	visibility := store.Direct
	for _, to := range o.Refs("to", maxAddressed) {
		if activity.IsPublic(to) {
			return store.Public
		}
	}
	for _, cc := range o.Refs("cc", maxAddressed) {
		if activity.IsPublic(cc) {
			return store.Unlisted
		}
	}
	actor, err := s.db.Actor(ctx, in.actor.ID)
	if err != nil || actor.Followers == "" {
		return visibility
	}
	for _, key := range []string{"to", "cc"} {
		for _, to := range o.Refs(key, maxAddressed) {
			if to == actor.Followers {
				visibility = store.Private
			}
		}
	}
	return visibility
}

// timeOf returns when something was made, as it says itself: if that is not in the future, nor before there were such servers.
func (s *Service) timeOf(in *incoming, key string) store.Time {
	at := in.Time(key)
	if object := in.Object.Object("object"); at.IsZero() && object != nil {
		at = object.Time(key)
	}
	if at.Year() < 2000 || at.After(in.received.Time()) {
		return in.received
	}
	return store.At(at)
}
