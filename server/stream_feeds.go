package server

import (
	"context"
	"encoding/json"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// A stream is what clients subscribe to, by name (client API 4.10, extension API 24). It is made of feeds: what happens goes to feeds,
// and the hub knows who listens to each. So user has the feed of a home timeline, and those of notifications and chats if the token
// may read them.

// feed is a kind of news, and whose or of what.
type feed struct {
	kind  feedKind
	media bool   // only posts with attachments
	id    int64  // of the account, or of the list
	text  string // hashtag, or the domain of a server
}

type feedKind uint8

const (
	homeFeed feedKind = iota
	listFeed
	directFeed
	publicFeed
	localFeed
	remoteFeed // of all other servers, or of one
	hashtagFeed
	localHashtagFeed
	notificationFeed
	chatFeed
	followFeed       // what becomes of an account's own follows
	filterFeed       // changes of an account's keyword filters
	announcementFeed // of the staff, to all who have an account
	feedKinds
)

// timeline tells whether the feed is of statuses, open whether it is everybody's.
func (k feedKind) timeline() bool { return k <= localHashtagFeed }
func (k feedKind) open() bool     { return k >= publicFeed && k <= localHashtagFeed }

// ownedFeed is a feed of one account.
func ownedFeed(kind feedKind, account store.AccountID) feed {
	return feed{kind: kind, id: int64(account)}
}

// subscription is a stream that somebody listens to. The first feed identifies it.
type subscription struct {
	label string // the value of "stream" in its frames: a JSON array
	feeds []feed
}

// streamName is what a client calls a stream.
type streamName struct{ stream, list, tag, instance string }

var (
	errBadTopic     = errs.NotFound("Unknown stream")
	errStreamScopes = errs.Unauthorized("The access token does not allow this stream")
	errStreamUser   = errs.Unauthorized("This stream requires an authenticated user")
)

// subscription returns the stream of a name for who has an identity (nil: the anonymous): errBadTopic if there is none, also if a list
// is somebody else's, and a 401 if the identity may not listen to it.
func (s *Server) subscription(ctx context.Context, who *Identity, name streamName) (subscription, error) {
	label := []string{name.stream}
	stream, media := name.stream, false
	if rest, ok := strings.CutSuffix(stream, ":media"); ok {
		stream, media = rest, true
	}
	open := func(f feed) (subscription, error) {
		if media && f.kind != publicFeed && f.kind != localFeed && f.kind != remoteFeed {
			return subscription{}, errBadTopic
		}
		if s.readsAs(who) == 0 && !s.settings.Instance.Public {
			return subscription{}, errStreamUser
		}
		f.media = media
		return newSubscription(label, f), nil
	}
	switch stream {
	case "public":
		return open(feed{kind: publicFeed})
	case "public:local":
		return open(feed{kind: localFeed})
	case "public:remote":
		f := feed{kind: remoteFeed}
		if name.instance != "" {
			label = append(label, name.instance)
			if f.text = text.NormalizeDomain(name.instance); f.text == "" {
				return subscription{}, errBadTopic
			}
		}
		return open(f)
	case "hashtag", "hashtag:local":
		tag := text.TagName(name.tag)
		if tag == "" {
			return subscription{}, errBadTopic
		}
		label = append(label, name.tag)
		if stream == "hashtag" {
			return open(feed{kind: hashtagFeed, text: tag})
		}
		return open(feed{kind: localHashtagFeed, text: tag})
	}
	if media {
		return subscription{}, errBadTopic
	}
	return s.ownSubscription(ctx, who, name, label)
}

// ownSubscription returns a stream that only a user has.
func (s *Server) ownSubscription(ctx context.Context, who *Identity, name streamName, label []string) (subscription, error) {
	allows := func(scope string) bool { return who != nil && who.Account != nil && who.Token.Scopes.Allow(scope) }
	var scope string
	var kinds []feedKind
	switch name.stream {
	case "user":
		scope, kinds = "read:statuses", []feedKind{homeFeed, followFeed, filterFeed}
		if allows("read:notifications") {
			kinds = append(kinds, notificationFeed)
		}
		if allows("read:chats") {
			kinds = append(kinds, chatFeed)
		}
	case "user:notification", "user:notifications": // some write it in the plural
		scope, kinds = "read:notifications", []feedKind{notificationFeed, filterFeed}
	case "user:" + s.settings.API.Name + "_chat":
		scope, kinds = "read:chats", []feedKind{chatFeed}
	case "direct":
		scope, kinds = "read:statuses", []feedKind{directFeed}
	case "list":
		scope = "read:lists"
	default:
		return subscription{}, errBadTopic
	}
	switch {
	case who == nil || who.Account == nil:
		return subscription{}, errStreamUser
	case !allows(scope):
		return subscription{}, errStreamScopes
	case name.stream == "list":
		var id store.ListID
		id.UnmarshalText([]byte(name.list))
		list, err := s.db.OwnList(ctx, who.Account.ID, id)
		if errs.IsNotFound(err) {
			return subscription{}, errBadTopic
		}
		if err != nil {
			return subscription{}, err
		}
		return newSubscription(append(label, name.list), feed{kind: listFeed, id: int64(list.ID)}), nil
	}
	feeds := make([]feed, 0, len(kinds)+1)
	for _, kind := range kinds {
		feeds = append(feeds, ownedFeed(kind, who.Account.ID))
	}
	if name.stream == "user" {
		feeds = append(feeds, feed{kind: announcementFeed})
	}
	return newSubscription(label, feeds...), nil
}

func newSubscription(label []string, feeds ...feed) subscription {
	b, _ := json.Marshal(label) // strings
	return subscription{label: string(b), feeds: feeds}
}

// readsAs returns as whom an identity reads what is open to all: as nobody (0) if its token may not read posts.
func (s *Server) readsAs(who *Identity) store.AccountID {
	if who == nil || who.Account == nil || !who.Token.Scopes.Allow("read:statuses") {
		return 0
	}
	return who.Account.ID
}

// postFeeds are the feeds that a post or boost is in, given where it stands.
func postFeeds(st *store.Status, a *store.Audience) []feed {
	feeds := make([]feed, 0, 8+len(a.Homes)+len(a.Lists))
	for _, id := range a.Homes {
		feeds = append(feeds, ownedFeed(homeFeed, id))
	}
	for _, id := range a.Lists {
		feeds = append(feeds, feed{kind: listFeed, id: int64(id)})
	}
	if st.ReblogOfID != nil { // boosts are in no other timeline
		return feeds
	}
	switch st.Visibility {
	case store.Public, store.Local:
		feeds = appendOpenFeeds(feeds, st, a.Tags)
	case store.Direct:
		for _, r := range a.Recipients {
			feeds = append(feeds, ownedFeed(directFeed, r.AccountID))
		}
	}
	return feeds
}

// appendOpenFeeds appends the feeds open to all. Local posts are in the stream of local ones only, of those without a hashtag
// (extension API 15.1).
func appendOpenFeeds(feeds []feed, st *store.Status, tags []string) []feed {
	var open []feed
	if st.Visibility == store.Public {
		open = append(open, feed{kind: publicFeed})
	}
	if st.Local() {
		open = append(open, feed{kind: localFeed})
	} else {
		open = append(open, feed{kind: remoteFeed}, feed{kind: remoteFeed, text: st.Domain})
	}
	for _, f := range open {
		feeds = append(feeds, f)
		if st.HasMedia {
			f.media = true
			feeds = append(feeds, f)
		}
	}
	for _, tag := range tags {
		feeds = append(feeds, feed{kind: hashtagFeed, text: tag})
		if st.Local() {
			feeds = append(feeds, feed{kind: localHashtagFeed, text: tag})
		}
	}
	return feeds
}
