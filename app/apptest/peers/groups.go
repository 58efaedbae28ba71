package peers

import (
	"time"

	"svc/app/apptest"
)

// Lemmy is Lemmy 0.19. Its accounts post in communities, whose Announces embed the activities.
var Lemmy = &Profile{
	Name: "Lemmy", Software: "lemmy", Version: "0.19.12",
	Sends: `accept direct reply mention media edit delete group`,
	Reads: `follow unfollow direct reply favourite edit delete report rotation`,

	Actor: "/u/NAME", Object: "/post/N", Inbox: "/u/NAME/inbox", Page: "/post/N",
	ActivityID: "HOST/activities/TYPE/N", SharedInbox: true, Context: []any{Doc{"lemmy": "https://join-lemmy.org/ns#"}},
	KeyID: "#main-key", Headers: "(request-target) host (created) (expires) digest content-type", FetchHeader: "(request-target) host (created) (expires)",
	Algorithm: "hs2019", Created: true, Needs: []Need{needContext, needTo, needID, needObjectIDs, needEmbeddedUndo},
	Drops: "Announce EmojiReact Add Remove Block Move QuoteRequest", Attempts: 10,

	ShapeActor: func(s *Server, d Doc) {
		d["following"], d["featured"], d["url"] = nil, nil, d["id"]
		d["source"] = Doc{"content": "about", "mediaType": "text/markdown"}
		if d["type"] == "Person" {
			d["followers"] = nil
		} else {
			d["attributedTo"], d["postingRestrictedToMods"] = d["id"].(string)+"/moderators", false
		}
	},
	ShapePost: func(s *Server, d Doc, draft Draft) {
		d["mediaType"], d["source"], d["url"] = "text/html", Doc{"content": draft.Text, "mediaType": "text/markdown"}, nil
		d["published"] = time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
		if draft.Visibility == "direct" {
			d["cc"], d["tag"], d["attachment"] = nil, nil, nil
		}
		if draft.AltText != "" {
			d["attachment"] = []any{Doc{"type": "Image", "url": s.URL + "/media/1.png", "name": draft.AltText}}
		}
		if d["type"] == "Page" {
			d["commentsEnabled"], d["to"] = true, []any{draft.Audience, apptest.Public}
			d["cc"] = []any{}
		}
		d["language"] = Doc{"identifier": "en", "name": "English"}
	},
}

// PeerTube is PeerTube 7. A channel, which is a Group, announces the videos of its account.
var PeerTube = &Profile{
	Name: "PeerTube", Software: "peertube", Version: "7.3.0",
	Sends: `accept reject reply mention edit delete group video`,
	Reads: `follow unfollow reply favourite boost delete report rotation`,

	Actor: "/accounts/NAME", Object: "/videos/watch/00-N", Inbox: "/accounts/NAME/inbox", Page: "/w/N",
	ActivityID: "ACTOR/TYPEs/N", SharedInbox: true,
	Context: []any{securityV1, Doc{"RsaSignature2017": "https://w3id.org/security#RsaSignature2017", "pt": "https://joinpeertube.org/ns#"}},
	KeyID:   "", Headers: commonHeaders, FetchHeader: fetchHeaders, Algorithm: "rsa-sha256",
	Needs: []Need{needContext, needEmbeddedUndo}, Drops: "EmojiReact Add Remove Block Move QuoteRequest", Attempts: 5,

	ShapeActor: func(s *Server, d Doc) {
		d["featured"], d["summary"] = nil, "about"
		if d["type"] == "Group" {
			d["attributedTo"] = []any{Doc{"type": "Person", "id": s.ActorID("ben")}}
			d["postingRestrictedToMods"] = true
		}
	},
	ShapePost: func(s *Server, d Doc, draft Draft) {
		if d["type"] != "Video" {
			return // a comment
		}
		page := d["url"].(string)
		d["attributedTo"] = []any{Doc{"type": "Person", "id": d["attributedTo"]}, Doc{"type": "Group", "id": draft.Audience}}
		d["content"], d["mediaType"], d["duration"], d["uuid"] = draft.Text, "text/markdown", "PT90S", "00"
		d["url"] = []any{
			Doc{"type": "Link", "mediaType": "text/html", "href": page},
			Doc{"type": "Link", "mediaType": "video/mp4", "href": s.URL + "/media/1.mp4", "height": 720, "size": 1000},
			Doc{"type": "Link", "mediaType": "application/x-bittorrent", "href": s.URL + "/media/1.torrent", "height": 720},
		}
		d["icon"] = []any{Doc{"type": "Image", "url": s.URL + "/media/1.jpg", "mediaType": "image/jpeg", "width": 280, "height": 157}}
		d["tag"] = []any{Doc{"type": "Hashtag", "name": "cats"}}
		d["category"], d["licence"], d["language"] = Doc{"identifier": "15", "name": "Animals"}, nil, Doc{"identifier": "en", "name": "English"}
		d["attachment"], d["audience"] = []any{}, nil
		for _, list := range []string{"likes", "dislikes", "shares", "comments"} {
			d[list] = d["id"].(string) + "/" + list
		}
	},
	ShapeActivity: func(s *Server, d Doc) {
		d["signature"] = Doc{"type": "RsaSignature2017", "creator": d["actor"], "created": d["published"], "signatureValue": "AAAA"}
	},
}

// Pixelfed is Pixelfed 0.12.
var Pixelfed = &Profile{
	Name: "Pixelfed", Software: "pixelfed", Version: "0.12.6",
	Sends: `follow accept reject unfollow public unlisted followers direct warning media reply mention hashtag boost favourite edit delete report
		profile page`,
	Reads: `follow accept reject unfollow direct warning media reply mention hashtag boost favourite edit delete move report profile rotation`,

	Actor: "/users/NAME", Object: "/p/NAME/7000N", Inbox: "/users/NAME/inbox", Page: "/p/NAME/7000N",
	ActivityID: "ACTOR#TYPEs/N", SharedInbox: true, Context: []any{securityV1, activityStreams, toot}, Unaddressed: "Follow Accept Reject Like",
	KeyID: "#main-key", Headers: typedHeaders, FetchHeader: "(request-target) host date accept", Algorithm: "rsa-sha256",
	Needs: []Need{needContext, needObjectIDs, needEmbeddedUndo, needSameHostURL}, Drops: "EmojiReact Add Remove Block QuoteRequest", Attempts: 3,

	ShapePost: func(s *Server, d Doc, draft Draft) {
		d["commentsEnabled"], d["capabilities"], d["location"] = true, Doc{"announce": apptest.Public, "like": apptest.Public, "reply": apptest.Public}, nil
		if d["inReplyTo"] == nil {
			d["inReplyTo"] = null
		}
		for _, a := range d["attachment"].([]any) {
			a.(Doc)["type"], a.(Doc)["blurhash"], a.(Doc)["focalPoint"] = "Image", "U00000fQfQfQfQfQfQfQfQfQfQfQ", []any{0, 0}
		}
		if draft.AltText == "" && draft.ReplyTo == "" { // no post without a picture
			d["attachment"] = []any{Doc{"type": "Image", "mediaType": "image/jpeg", "url": s.URL + "/media/2.jpg", "name": null}}
		}
	},
	ShapeActivity: func(s *Server, d Doc) {
		o, _ := d["object"].(Doc)
		switch d["type"] {
		case "Create":
			d["id"] = o["id"].(string) + "/activity"
		case "Flag":
			d["actor"] = s.instance
		}
	},
}

// WordPress is the ActivityPub plugin of WordPress. The blog is a Group, and ids have queries.
var WordPress = &Profile{
	Name: "WordPress", Software: "wordpress", Version: "6.9",
	Sends: `accept public hashtag media reply mention edit delete profile group article page`,
	Reads: `follow unfollow reply mention boost favourite edit delete rotation`,

	Actor: "/?author=N", Object: "/?p=N", Inbox: "/wp-json/activitypub/1.0/actors/N/inbox", Page: "/2026/01/post-N/", PageRedirects: true,
	ActivityID: "ACTOR#activity-TYPE-N", SharedInbox: true, Context: []any{securityV1, toot}, KeyID: "#main-key", RFC9421: true, VerifiesRFC: true,
	Needs: []Need{needContext, needEmbeddedUndo}, Drops: "EmojiReact Add Remove Block Move Flag", Attempts: 4,

	ShapeActor: func(s *Server, d Doc) {
		d["webfinger"], d["attachment"] = d["preferredUsername"].(string)+"@"+s.Host, []any{}
		d["generator"] = Doc{"type": "Application", "implements": []any{Doc{"name": "RFC-9421: HTTP Message Signatures", "href": "https://datatracker.ietf.org/doc/html/rfc9421"}}}
		if d["type"] == "Group" {
			d["postingRestrictedToMods"], d["attributedTo"] = true, d["id"].(string)+"/moderators"
		}
	},
	ShapePost: func(s *Server, d Doc, draft Draft) {
		d["contentMap"], d["mediaType"] = Doc{"en": d["content"]}, nil
		if d["type"] == "Article" {
			d["summary"], d["preview"] = "An excerpt", Doc{"type": "Note", "content": "<p>An excerpt</p>"}
			d["image"] = Doc{"type": "Image", "url": s.URL + "/media/1.png", "mediaType": "image/png"}
		}
	},
	ShapeActivity: func(s *Server, d Doc) {
		if o, _ := d["object"].(Doc); d["type"] == "Create" {
			d["id"] = o["id"].(string) + "#activity"
		}
	},
}
