package peers

import (
	"fmt"
	"strings"

	"svc/app/apptest"
)

// toot has terms of Mastodon that others use, too.
var toot = Doc{"toot": "http://joinmastodon.org/ns#", "ostatus": "http://ostatus.org#", "sensitive": "as:sensitive", "votersCount": "toot:votersCount"}

// Mastodon is Mastodon 4.5.
var Mastodon = &Profile{
	Name: "Mastodon", Software: "mastodon", Version: "4.5.2",
	Sends: `follow accept reject unfollow public unlisted followers direct warning media poll vote reply mention hashtag emoji boost favourite
		edit delete quote pin move block report profile rotation thread page synchronization`,
	Reads: `follow accept reject unfollow public unlisted followers direct warning media poll vote reply mention hashtag emoji boost favourite
		edit delete quote pin move block report profile rotation thread page synchronization`,

	Actor: "/users/NAME", Object: "/users/NAME/statuses/1150000N", Inbox: "/users/NAME/inbox", Page: "/@NAME/1150000N",
	ActivityID: "ACTOR#TYPEs/N", SharedInbox: true, Context: []any{securityV1, toot}, Unaddressed: "Follow Accept Reject Like Block Add Remove",
	KeyID: "#main-key", Headers: "host date digest content-type (request-target)", FetchHeader: "host date accept (request-target)",
	Algorithm: "rsa-sha256", VerifiesRFC: true, Needs: []Need{needContext, needWebFinger, needEmbeddedUndo}, Drops: "EmojiReact Listen", Attempts: 16,
	Synchronizes: true,

	ShapeActor: func(s *Server, d Doc) {
		id := d["id"].(string)
		d["featuredTags"], d["memorial"], d["indexable"], d["attributionDomains"] = id+"/collections/tags", false, true, []any{}
		d["attachment"] = []any{Doc{"type": "PropertyValue", "name": "web", "value": `<a href="https://example.org" rel="me">example.org</a>`}}
	},
	ShapePost: func(s *Server, d Doc, draft Draft) {
		id := d["id"].(string)
		if d["content"] == nil {
			return // a vote
		}
		if d["summary"] == nil {
			d["summary"] = null
		}
		d["atomUri"], d["inReplyToAtomUri"] = id, d["inReplyTo"]
		d["conversation"] = fmt.Sprintf("tag:%s,2026-01-02:objectId=%s:objectType=Conversation", s.Host, id[strings.LastIndex(id, "/")+1:])
		d["contentMap"] = Doc{"en": d["content"]}
		d["replies"] = Doc{"id": id + "/replies", "type": "Collection", "first": Doc{
			"type": "CollectionPage", "next": id + "/replies?only_other_accounts=true&page=true", "partOf": id + "/replies", "items": []any{},
		}}
		d["likes"] = Doc{"id": id + "/likes", "type": "Collection", "totalItems": 0}
		d["interactionPolicy"] = Doc{"canQuote": Doc{"automaticApproval": []any{apptest.Public}}}
		for _, a := range d["attachment"].([]any) {
			a.(Doc)["blurhash"], a.(Doc)["width"], a.(Doc)["height"] = "UBL_:rOpGG-oBUNG,qRj2so|=eE1w^n4S5NH", 640, 480
		}
		if draft.Quote != "" {
			d["quote"], d["quoteUri"], d["_misskey_quote"] = draft.Quote, draft.Quote, draft.Quote
		}
	},
	ShapeActivity: func(s *Server, d Doc) {
		switch d["type"] {
		case "Add", "Remove":
			d["id"] = nil
		case "Create":
			o := d["object"].(Doc)
			d["id"] = o["id"].(string) + "/activity"
		case "Flag":
			d["actor"] = s.instance
		}
	},
}

// GoToSocial is GoToSocial 0.20.
var GoToSocial = &Profile{
	Name: "GoToSocial", Software: "gotosocial", Version: "0.20.0",
	Sends: `follow accept reject unfollow public unlisted followers direct warning media poll vote reply mention hashtag emoji boost favourite
		edit delete pin move block report profile thread page`,
	Reads: `follow accept reject unfollow public unlisted followers direct warning media poll vote reply mention hashtag emoji boost favourite
		edit delete move block report profile rotation thread page`,

	Actor: "/users/NAME", Object: "/users/NAME/statuses/01HN", Inbox: "/users/NAME/inbox", Page: "/@NAME/statuses/01HN",
	ActivityID: "ACTOR/TYPE/01HN", Context: []any{securityV1, activityStreams, toot}, Collapse: true, VoteList: true,
	KeyID: "/main-key", Headers: commonHeaders, FetchHeader: fetchHeaders, Algorithm: "hs2019",
	SignedFetch: true, Needs: []Need{needMediaType, needTo, needEmbeddedUndo}, Drops: "EmojiReact Add Remove QuoteRequest", Attempts: 5,

	ShapePost: func(s *Server, d Doc, draft Draft) {
		if d["content"] == nil {
			delete(d, "cc")
			return // a vote
		}
		anyone := Doc{"automaticApproval": []any{apptest.Public}, "manualApproval": []any{}}
		d["interactionPolicy"] = Doc{"canLike": anyone, "canReply": anyone, "canAnnounce": anyone}
		d["contentMap"] = Doc{"en": d["content"]}
		id := d["id"].(string)
		d["replies"] = Doc{"id": id + "/replies", "type": "Collection", "first": Doc{"type": "CollectionPage", "partOf": id + "/replies", "items": []any{}}}
		for _, a := range d["attachment"].([]any) {
			a.(Doc)["type"], a.(Doc)["summary"] = "Image", a.(Doc)["name"]
		}
	},
	ShapeActivity: func(s *Server, d Doc) {
		o, isPost := d["object"].(Doc)
		switch {
		case d["type"] == "Create" && isPost:
			d["id"] = o["id"].(string) + "/activity#Create"
		case d["type"] == "Flag":
			d["bto"], d["to"] = d["to"], nil
			d["actor"] = s.instance
		}
	},
}
