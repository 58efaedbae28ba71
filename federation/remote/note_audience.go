package remote

import (
	"cmp"
	"slices"
	"strings"

	"svc/internal/activity"
	"svc/store"
)

// MaxAddressees is how many values of `to`, and of `cc`, are read.
const MaxAddressees = 1000

// readAudience reads the visibility and recipients (federation 4.1). Collections other than the author's followers are ignored.
func (n *Note) readAudience(r *Reader, o, by activity.Object) {
	addresses := addressingOf(o, by)
	to, cc := addresses.Refs("to", MaxAddressees), addresses.Refs("cc", MaxAddressees)
	direct, _ := o.Bool("directMessage")
	if d, _ := by.Bool("directMessage"); d {
		direct = true
	}
	switch list := cmp.Or(o.Text("listMessage"), by.Text("listMessage")); {
	case slices.ContainsFunc(to, activity.IsPublic):
		n.Visibility = store.Public
	case slices.ContainsFunc(cc, activity.IsPublic):
		n.Visibility = store.Unlisted
	case slices.ContainsFunc(slices.Concat(to, cc), n.isFollowers):
		n.Visibility = store.Private
	case direct || list == "":
		n.Visibility = store.Direct
	default:
		n.Visibility = store.ListOnly
	}
	for _, from := range []activity.Object{o, by} {
		for _, key := range []string{"to", "cc"} {
			for _, id := range from.Refs(key, MaxAddressees) {
				if !activity.IsPublic(id) && r.isPublicURL(id) && !n.isFollowers(id) && len(n.Audience) < MaxAddressees && !slices.Contains(n.Audience, id) {
					n.Audience = append(n.Audience, id)
				}
			}
		}
	}
}

// isFollowers returns whether a URI may be that of the author's followers. The exact URI is in the author's document: see
// applyFollowersURI.
func (n *Note) isFollowers(id string) bool {
	return strings.HasSuffix(id, "/followers") && strings.HasPrefix(id, baseURLOf(n.AuthorURI)+"/")
}

// applyFollowersURI applies the known followers URI of the author.
func (n *Note) applyFollowersURI(r *Reader, o, by activity.Object, followers string) {
	if followers == "" || n.Visibility < store.Private {
		return
	}
	addresses := addressingOf(o, by)
	all := slices.Concat(addresses.Refs("to", MaxAddressees), addresses.Refs("cc", MaxAddressees))
	switch is := slices.Contains(all, followers); {
	case is && n.Visibility > store.Private:
		n.Visibility = store.Private
	case !is && n.Visibility == store.Private: // of another account
		n.Visibility = store.Direct
	}
}

// baseURLOf returns the scheme and host of a URL.
func baseURLOf(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// addressingOf returns the object whose addressing counts: the status, or else the activity that contains it.
func addressingOf(o, by activity.Object) activity.Object {
	if len(o.Refs("to", 1)) == 0 && len(o.Refs("cc", 1)) == 0 {
		return by
	}
	return o
}

// HasNoAudience returns whether a status has no addressing.
func HasNoAudience(o, by activity.Object) bool {
	by = addressingOf(o, by)
	return len(by.Refs("to", 1)) == 0 && len(by.Refs("cc", 1)) == 0
}
