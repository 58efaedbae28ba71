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

// A stream is what clients subscribe to by name (client API 4.10, extension API 24). It consists of topics: the stream user, for example,
// has the topic of the home timeline, and those of notifications and chats if the token may read them. Events are sent to the
// subscribers of topics.

// topic is a kind of events, with the account, list, hashtag or domain that they belong to.
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
	remoteTopic // all other servers, or one
	hashtagTopic
	localHashtagTopic
	notificationTopic
	chatTopic
	followTopic       // follows of an account
	filterTopic       // changes of filters of an account
	announcementTopic // announcements, for all users
	topicKinds
)

// isTimeline returns true for topics of statuses, isPublic for those that anyone may subscribe to.
func (k topicKind) isTimeline() bool { return k <= localHashtagTopic }
func (k topicKind) isPublic() bool   { return k >= publicTopic && k <= localHashtagTopic }

func ownedTopic(kind topicKind, account store.AccountID) topic {
	return topic{kind: kind, id: int64(account)}
}

// subscription is a stream of a client. Its first topic identifies it.
type subscription struct {
	label  string // the value of "stream" in its frames: a JSON array
	topics []topic
}

// name identifies a stream to clients.
type name struct{ stream, list, tag, instance string }

var (
	errUnknownStream = errs.NotFound("Unknown stream")
	errStreamScopes  = errs.Unauthorized("The access token does not allow this stream")
	errStreamUser    = errs.Unauthorized("This stream requires an authenticated user")
)

// subscription returns the stream with a name for an identity (zero: anonymous). It fails with errUnknownStream if there is none,
// also for a list of another account, and with 401 if the identity may not subscribe.
func (h *Hub) subscription(ctx context.Context, identity rest.Identity, name name) (subscription, error) {
	label := []string{name.stream}
	stream, media := name.stream, false
	if rest, ok := strings.CutSuffix(stream, ":media"); ok {
		stream, media = rest, true
	}
	open := func(f topic) (subscription, error) {
		if media && f.kind != publicTopic && f.kind != localTopic && f.kind != remoteTopic {
			return subscription{}, errUnknownStream
		}
		if h.viewerOf(identity) == 0 && !h.Settings.Load().Instance.Public {
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
		label, tag = append(label, name.tag), text.TagKey(tag)
		if stream == "hashtag" {
			return open(topic{kind: hashtagTopic, text: tag})
		}
		return open(topic{kind: localHashtagTopic, text: tag})
	}
	if media {
		return subscription{}, errUnknownStream
	}
	return h.ownSubscription(ctx, identity, name, label)
}

// ownSubscription returns a stream that requires a user.
func (h *Hub) ownSubscription(ctx context.Context, identity rest.Identity, name name, label []string) (subscription, error) {
	allows := func(scope string) bool {
		return identity.Token != nil && identity.Account != nil && identity.Token.Scopes.Allow(scope)
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
	case "user:notification", "user:notifications": // some clients use the plural
		scope, kinds = "read:notifications", []topicKind{notificationTopic, filterTopic}
	case "user:" + h.Settings.Load().API.Name + "_chat":
		scope, kinds = "read:chats", []topicKind{chatTopic}
	case "direct":
		scope, kinds = "read:statuses", []topicKind{directTopic}
	case "list":
		scope = "read:lists"
	default:
		return subscription{}, errUnknownStream
	}
	switch {
	case identity.Token == nil || identity.Account == nil:
		return subscription{}, errStreamUser
	case !allows(scope):
		return subscription{}, errStreamScopes
	case name.stream == "list":
		id := store.ParseID[store.ListID](name.list)
		list, err := h.DB.OwnList(ctx, identity.Account.ID, id)
		if errs.IsNotFound(err) {
			return subscription{}, errUnknownStream
		}
		if err != nil {
			return subscription{}, err
		}
		return newSubscription(append(label, name.list), topic{kind: listTopic, id: int64(list.ID)}), nil
	}
	topics := make([]topic, 0, len(kinds)+1)
	for _, kind := range kinds {
		topics = append(topics, ownedTopic(kind, identity.Account.ID))
	}
	if name.stream == "user" {
		topics = append(topics, topic{kind: announcementTopic})
	}
	return newSubscription(label, topics...), nil
}

func newSubscription(label []string, topics ...topic) subscription {
	b, _ := json.Marshal(label) // strings
	return subscription{label: string(b), topics: topics}
}

// viewerOf returns the account as which an identity reads public streams, 0 if its token may not read posts.
func (h *Hub) viewerOf(identity rest.Identity) store.AccountID {
	if identity.Token == nil || identity.Account == nil || !identity.Token.Scopes.Allow("read:statuses") {
		return 0
	}
	return identity.Account.ID
}

// statusTopics returns the topics of a status or boost with an audience.
func statusTopics(st *store.Status, a *store.Audience) []topic {
	topics := make([]topic, 0, 8+len(a.Homes)+len(a.Lists))
	for _, id := range a.Homes {
		topics = append(topics, ownedTopic(homeTopic, id))
	}
	for _, id := range a.Lists {
		topics = append(topics, topic{kind: listTopic, id: int64(id)})
	}
	if st.ReblogOfID != nil { // boosts are in no other topic
		return topics
	}
	switch st.Visibility {
	case store.Public, store.Local:
		topics = appendPublicTopics(topics, st, a.Tags)
	case store.Direct:
		for _, r := range a.Recipients {
			topics = append(topics, ownedTopic(directTopic, r.AccountID))
		}
	}
	return topics
}

// appendPublicTopics appends the public topics of a status. A local-only status without a hashtag is in the local topic only
// (extension API 15.1).
func appendPublicTopics(topics []topic, st *store.Status, tags []string) []topic {
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
		topics = append(topics, f)
		if st.HasMedia {
			f.media = true
			topics = append(topics, f)
		}
	}
	for _, tag := range tags {
		topics = append(topics, topic{kind: hashtagTopic, text: tag})
		if st.Local() {
			topics = append(topics, topic{kind: localHashtagTopic, text: tag})
		}
	}
	return topics
}
