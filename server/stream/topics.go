package stream

import (
	"context"
	"encoding/json"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/rest"
	"svc/store"
)

// A stream is what clients subscribe to, by name (client API 4.10, extension API 24). It is made of feeds: what happens goes to feeds,
// and the hub knows who listens to each. So user has the feed of a home timeline, and those of notifications and chats if the token
// may read them.

// topic is a kind of news, and whose or of what.
type topic struct {
	kind  topicKind
	media bool   // only posts with attachments
	id    int64  // of the account, or of the list
	text  string // hashtag, or the domain of a server
}

type topicKind uint8

const (
	homeTopic topicKind = iota
	listTopic
	directTopic
	publicTopic
	localTopic
	remoteTopic // of all other servers, or of one
	hashtagTopic
	localHashtagTopic
	notificationTopic
	chatTopic
	followTopic       // what becomes of an account's own follows
	filterTopic       // changes of an account's keyword filters
	announcementTopic // of the staff, to all who have an account
	topicKinds
)

// isTimeline tells whether the feed is of statuses, open whether it is everybody's.
func (k topicKind) isTimeline() bool { return k <= localHashtagTopic }
func (k topicKind) isPublic() bool   { return k >= publicTopic && k <= localHashtagTopic }

// ownedTopic is a feed of one account.
func ownedTopic(kind topicKind, account store.AccountID) topic {
	return topic{kind: kind, id: int64(account)}
}

// subscription is a stream that somebody listens to. The first feed identifies it.
type subscription struct {
	label  string // the value of "stream" in its frames: a JSON array
	topics []topic
}

// name is what a client calls a stream.
type name struct{ stream, list, tag, instance string }

var (
	errUnknownStream = errs.NotFound("Unknown stream")
	errStreamScopes  = errs.Unauthorized("The access token does not allow this stream")
	errStreamUser    = errs.Unauthorized("This stream requires an authenticated user")
)

// subscription returns the stream of a name for who has an identity (nil: the anonymous): errUnknownStream if there is none, also if a list
// is somebody else's, and a 401 if the identity may not listen to it.
func (h *Hub) subscription(ctx context.Context, who rest.Identity, name name) (subscription, error) {
	label := []string{name.stream}
	stream, media := name.stream, false
	if rest, ok := strings.CutSuffix(stream, ":media"); ok {
		stream, media = rest, true
	}
	open := func(f topic) (subscription, error) {
		if media && f.kind != publicTopic && f.kind != localTopic && f.kind != remoteTopic {
			return subscription{}, errUnknownStream
		}
		if h.viewerOf(who) == 0 && !h.settings.Instance.Public {
			return subscription{}, errStreamUser
		}
		f.media = media
		return newSubscription(label, f), nil
	}
	switch stream {
	case "public":
		return open(topic{kind: publicTopic})
	case "public:local":
		return open(topic{kind: localTopic})
	case "public:remote":
		f := topic{kind: remoteTopic}
		if name.instance != "" {
			label = append(label, name.instance)
			if f.text = text.NormalizeDomain(name.instance); f.text == "" {
				return subscription{}, errUnknownStream
			}
		}
		return open(f)
	case "hashtag", "hashtag:local":
		tag := text.TagName(name.tag)
		if tag == "" {
			return subscription{}, errUnknownStream
		}
		label = append(label, name.tag)
		if stream == "hashtag" {
			return open(topic{kind: hashtagTopic, text: tag})
		}
		return open(topic{kind: localHashtagTopic, text: tag})
	}
	if media {
		return subscription{}, errUnknownStream
	}
	return h.ownSubscription(ctx, who, name, label)
}

// ownSubscription returns a stream that only a user has.
func (h *Hub) ownSubscription(ctx context.Context, who rest.Identity, name name, label []string) (subscription, error) {
	allows := func(scope string) bool {
		return who.Token != nil && who.Account != nil && who.Token.Scopes.Allow(scope)
	}
	var scope string
	var kinds []topicKind
	switch name.stream {
	case "user":
		scope, kinds = "read:statuses", []topicKind{homeTopic, followTopic, filterTopic}
		if allows("read:notifications") {
			kinds = append(kinds, notificationTopic)
		}
		if allows("read:chats") {
			kinds = append(kinds, chatTopic)
		}
	case "user:notification", "user:notifications": // some write it in the plural
		scope, kinds = "read:notifications", []topicKind{notificationTopic, filterTopic}
	case "user:" + h.settings.API.Name + "_chat":
		scope, kinds = "read:chats", []topicKind{chatTopic}
	case "direct":
		scope, kinds = "read:statuses", []topicKind{directTopic}
	case "list":
		scope = "read:lists"
	default:
		return subscription{}, errUnknownStream
	}
	switch {
	case who.Token == nil || who.Account == nil:
		return subscription{}, errStreamUser
	case !allows(scope):
		return subscription{}, errStreamScopes
	case name.stream == "list":
		var id store.ListID
		id.UnmarshalText([]byte(name.list))
		list, err := h.db.OwnList(ctx, who.Account.ID, id)
		if errs.IsNotFound(err) {
			return subscription{}, errUnknownStream
		}
		if err != nil {
			return subscription{}, err
		}
		return newSubscription(append(label, name.list), topic{kind: listTopic, id: int64(list.ID)}), nil
	}
	feeds := make([]topic, 0, len(kinds)+1)
	for _, kind := range kinds {
		feeds = append(feeds, ownedTopic(kind, who.Account.ID))
	}
	if name.stream == "user" {
		feeds = append(feeds, topic{kind: announcementTopic})
	}
	return newSubscription(label, feeds...), nil
}

func newSubscription(label []string, feeds ...topic) subscription {
	b, _ := json.Marshal(label) // strings
	return subscription{label: string(b), topics: feeds}
}

// viewerOf returns as whom an identity reads what is open to all: as nobody (0) if its token may not read posts.
func (h *Hub) viewerOf(who rest.Identity) store.AccountID {
	if who.Token == nil || who.Account == nil || !who.Token.Scopes.Allow("read:statuses") {
		return 0
	}
	return who.Account.ID
}

// statusTopics are the feeds that a post or boost is in, given where it stands.
func statusTopics(st *store.Status, a *store.Audience) []topic {
	feeds := make([]topic, 0, 8+len(a.Homes)+len(a.Lists))
	for _, id := range a.Homes {
		feeds = append(feeds, ownedTopic(homeTopic, id))
	}
	for _, id := range a.Lists {
		feeds = append(feeds, topic{kind: listTopic, id: int64(id)})
	}
	if st.ReblogOfID != nil { // boosts are in no other timeline
		return feeds
	}
	switch st.Visibility {
	case store.Public, store.Local:
		feeds = appendPublicTopics(feeds, st, a.Tags)
	case store.Direct:
		for _, r := range a.Recipients {
			feeds = append(feeds, ownedTopic(directTopic, r.AccountID))
		}
	}
	return feeds
}

// appendPublicTopics appends the feeds open to all. Local posts are in the stream of local ones only, of those without a hashtag
// (extension API 15.1).
func appendPublicTopics(feeds []topic, st *store.Status, tags []string) []topic {
	var open []topic
	if st.Visibility == store.Public {
		open = append(open, topic{kind: publicTopic})
	}
	if st.Local() {
		open = append(open, topic{kind: localTopic})
	} else {
		open = append(open, topic{kind: remoteTopic}, topic{kind: remoteTopic, text: st.Domain})
	}
	for _, f := range open {
		feeds = append(feeds, f)
		if st.HasMedia {
			f.media = true
			feeds = append(feeds, f)
		}
	}
	for _, tag := range tags {
		feeds = append(feeds, topic{kind: hashtagTopic, text: tag})
		if st.Local() {
			feeds = append(feeds, topic{kind: localHashtagTopic, text: tag})
		}
	}
	return feeds
}
