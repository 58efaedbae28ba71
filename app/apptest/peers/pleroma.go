package peers

import "svc/app/apptest"

// Pleroma is Pleroma 2.7, and in most respects Akkoma.
var Pleroma = &Profile{
	Name: "Pleroma", Software: "pleroma", Version: "2.7.1",
	Sends: `follow accept reject unfollow public unlisted followers direct warning media poll vote reply mention hashtag emoji boost favourite
		reaction edit delete quote pin move block report profile thread page chat`,
	Reads: `follow accept reject unfollow public unlisted followers direct warning media poll vote reply mention hashtag emoji boost favourite
		reaction edit delete quote pin block report profile rotation thread page chat`,

	Actor: "/users/NAME", Object: "/objects/0000-N", Inbox: "/users/NAME/inbox", Page: "/notice/AxN", PageRedirects: true,
	ActivityID: "HOST/activities/0000-N", SharedInbox: true, Context: []any{activityStreams, "https://pleroma.example/schemas/litepub-0.1.jsonld", Doc{"@language": "und"}},
	KeyID: "#main-key", Headers: "(request-target) content-length date digest host", FetchHeader: fetchHeaders, Algorithm: "rsa-sha256", PathOnly: true,
	Needs: []Need{needMediaType, needContext, needID, needRecipient, needKnownUndo}, Drops: "QuoteRequest", Attempts: 5,

	ShapeActor: func(s *Server, d Doc) {
		d["capabilities"], d["tag"], d["attachment"] = Doc{"acceptsChatMessages": true}, []any{}, []any{}
		d["endpoints"] = Doc{"sharedInbox": s.URL + "/inbox", "oauthAuthorizationEndpoint": s.URL + "/oauth/authorize"}
	},
	ShapePost: func(s *Server, d Doc, draft Draft) {
		d["actor"], d["context"], d["conversation"] = d["attributedTo"], s.URL+"/contexts/1", s.URL+"/contexts/1"
		if d["content"] == nil { // a vote
			d["cc"], d["to"] = d["to"], []any{}
			return
		}
		if d["summary"] == nil {
			d["summary"] = ""
		}
		d["source"] = Doc{"content": draft.Text, "mediaType": "text/plain"}
		d["repliesCount"], d["formerRepresentations"] = 0, nil
		for _, a := range d["attachment"].([]any) {
			a := a.(Doc)
			a["url"] = []any{Doc{"type": "Link", "mediaType": a["mediaType"], "href": a["url"]}}
		}
		if draft.Quote != "" {
			d["quoteUrl"] = draft.Quote
			d["content"] = d["content"].(string) + `<span class="quote-inline"><br/><br/>RE: <a href="` + draft.Quote + `">` + draft.Quote + `</a></span>`
		}
	},
	ShapeActivity: func(s *Server, d Doc) {
		o, _ := d["object"].(Doc)
		switch d["type"] {
		case "Create", "Update":
			d["cc"] = []any{} // the object keeps its own
			switch {
			case o["type"] == "ChatMessage":
				d["cc"] = nil
			case d["type"] == "Create" && o["content"] == nil: // a vote
				d["to"] = []any{}
			}
		case "Undo":
			d["object"] = o["id"]
		case "Delete":
			d["object"] = o["id"]
		case "Follow":
			d["state"], d["bto"] = "pending", []any{}
		case "Announce":
			d["to"], d["cc"] = []any{d["actor"].(string) + "/followers", apptest.Public}, []any{}
		}
	},
}

// Misskey is Sharkey, which is Misskey with edits.
var Misskey = &Profile{
	Name: "Misskey", Software: "sharkey", Version: "2025.4.3",
	Sends: `follow accept reject unfollow public unlisted followers direct warning media poll vote reply mention hashtag emoji boost
		reaction edit delete quote pin move block report profile page`,
	Reads: `follow accept reject unfollow public unlisted followers direct warning media poll vote reply mention hashtag emoji boost favourite
		reaction edit delete quote pin move block report profile rotation thread`,

	Actor: "/users/9NAME0", Object: "/notes/9abcN", Inbox: "/users/9NAME0/inbox", Page: "/notes/9abcN",
	ActivityID: "HOST/TYPEs/9abcN", SharedInbox: true, Context: []any{securityV1, Doc{"misskey": "https://misskey-hub.net/ns#", "isCat": "misskey:isCat"}},
	Unaddressed: "Follow Accept Reject Like Block Add Remove Undo Flag",
	KeyID:       "#main-key", Headers: "(request-target) date host digest", FetchHeader: "(request-target) date host accept", Algorithm: "rsa-sha256", PathOnly: true,
	MaxBody: 64 << 10, Needs: []Need{needContext, needID, needName, needSameHostURL, needObjectIDs, needEmbeddedUndo}, Drops: "QuoteRequest", Attempts: 12,

	ShapeActor: func(s *Server, d Doc) {
		d["sharedInbox"], d["icon"], d["image"], d["isCat"] = s.URL+"/inbox", null, null, true
		d["publicKey"].(Doc)["type"] = "Key"
	},
	ShapePost: func(s *Server, d Doc, draft Draft) {
		if d["content"] == nil {
			return // a vote
		}
		if d["summary"] == nil {
			d["summary"] = null
		}
		d["_misskey_content"], d["source"] = draft.Text, Doc{"content": draft.Text, "mediaType": "text/x.misskeymarkdown"}
		d["name"] = ""
		if d["type"] == "Question" {
			d["endTime"], d["_misskey_fallback_content"], d["votersCount"] = null, "poll", nil
			for _, o := range d["oneOf"].([]any) {
				o.(Doc)["_misskey_votes"] = 0
			}
		}
		for _, a := range d["attachment"].([]any) {
			a.(Doc)["sensitive"] = false
		}
		if draft.Quote != "" {
			d["quoteUrl"], d["_misskey_quote"] = draft.Quote, draft.Quote
			d["content"] = d["content"].(string) + `<span class="quote-inline"><br><br>RE: <a href="` + draft.Quote + `">` + draft.Quote + `</a></span>`
		}
	},
	ShapeActivity: func(s *Server, d Doc) {
		o, _ := d["object"].(Doc)
		switch d["type"] {
		case "Create":
			d["id"] = o["id"].(string) + "/activity"
		case "EmojiReact":
			d["type"], d["_misskey_reaction"] = "Like", d["content"]
		case "Add", "Remove":
			d["id"], d["published"] = nil, nil
		case "Flag":
			d["object"] = values(d["object"])[:1] // the addresses of posts are in the text
			d["actor"] = s.instance
		}
	},
}

// Snac is snac 2.94.
var Snac = &Profile{
	Name: "snac", Software: "snac", Version: "2.94",
	Sends: `follow accept unfollow public unlisted followers direct warning media poll vote reply mention hashtag emoji boost favourite
		edit delete move profile page`,
	Reads: `follow accept unfollow public unlisted followers direct warning media poll vote reply mention hashtag emoji boost favourite
		edit delete move profile rotation thread`,

	Actor: "/NAME", Object: "/NAME/p/1760000000.N", Inbox: "/NAME/inbox", Page: "/NAME/p/1760000000.N",
	ActivityID: "ACTOR/d/1760000000.N/TYPE", SharedInbox: true, Context: []any{securityV1},
	KeyID: "#main-key", Headers: "(request-target) host digest date", FetchHeader: fetchHeaders, Algorithm: "rsa-sha256",
	KeyUntilUpdate: true, Needs: []Need{needEmbeddedUndo, needContext}, Drops: "Add Remove Reject EmojiReact QuoteRequest Block Flag", Attempts: 10,

	ShapePost: func(s *Server, d Doc, draft Draft) {
		if d["content"] == nil { // a vote
			d["content"], d["sensitive"], d["tag"], d["attachment"] = "<br>", false, []any{}, []any{}
			return
		}
		if d["summary"] == nil {
			d["summary"] = ""
		}
		d["context"], d["source"] = s.URL+"/context/1", Doc{"content": draft.Text, "mediaType": "text/markdown"}
	},
	ShapeActivity: func(s *Server, d Doc) {
		o, _ := d["object"].(Doc)
		if d["type"] == "Create" {
			d["id"] = o["id"].(string) + "/Create"
		}
	},
}
