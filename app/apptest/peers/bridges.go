package peers

import (
	"fmt"
	"strings"
	"time"

	"svc/app/apptest"
	"svc/internal/httpsig"
)

// BridgyFed is Bridgy Fed for accounts of Bluesky. Ids hold the address of the original, names are domains, and pages are on another host.
var BridgyFed = &Profile{
	Name: "Bridgy Fed", Software: "bridgy-fed", Version: "1.0.0",
	Sends: `follow accept unfollow public media reply mention hashtag boost favourite delete quote profile`,
	Reads: `follow accept unfollow public media reply mention hashtag boost favourite edit delete profile`,

	Actor: "/ap/did:plc:NAME", Object: "/convert/ap/at://did:plc:NAME/app.bsky.feed.post/3kN", Inbox: "/ap/did:plc:NAME/inbox",
	Page: "/r/https://bsky.example/profile/did:plc:NAME/post/3kN", ActivityID: "HOST/convert/ap/at://did:plc:x/app.bsky.TYPE/3kN", SharedInbox: true,
	Context: []any{securityV1, Doc{"quoteUrl": "as:quoteUrl", "_misskey_quote": "https://misskey-hub.net/ns#_misskey_quote"}},
	KeyID:   "#key", Headers: typedHeaders, FetchHeader: fetchHeaders, Algorithm: "rsa-sha256",
	Needs: []Need{needContext, needMediaType}, Drops: "EmojiReact Add Remove Move QuoteRequest Flag Block", Attempts: 5,

	ShapeActor: func(s *Server, d Doc) {
		id, name := d["id"].(string), fmt.Sprint(d["preferredUsername"], ".bsky.example")
		page := "https://bsky.example/profile/" + name
		d["preferredUsername"], d["endpoints"] = name, Doc{"sharedInbox": s.URL + "/ap/sharedInbox"}
		d["url"], d["alsoKnownAs"] = []any{s.URL + "/r/" + page, page}, []any{"at://did:plc:x"}
		d["icon"] = []any{Doc{"type": "Image", "url": s.URL + "/media/1.jpg", "name": name}}
		d["image"], d["featured"], d["summary"] = []any{}, nil, `<p>about</p><br><br>[<a href="https://fed.example/docs">bridged</a> from <a href="`+page+`">`+name+`</a>]`
		s.AddWebFinger(name, id)
	},
	ShapePost: func(s *Server, d Doc, draft Draft) {
		d["to"], d["cc"] = []any{apptest.Public}, mentionsOnly(d)
		d["url"], d["sensitive"] = []any{d["url"], "https://bsky.example/profile/x/post/1"}, nil
		d["content"] = `<p>` + draft.Text + ` <a href="https://example.org/long"><span class="invisible">https://</span>example.org<span class="invisible">/long</span></a></p>`
		if draft.Quote != "" {
			d["quoteUrl"], d["_misskey_quote"] = draft.Quote, draft.Quote
			d["content"] = d["content"].(string) + `<span class="quote-inline"><br><br>RE: <a href="` + draft.Quote + `">` + draft.Quote + `</a></span>`
		}
		d["contentMap"] = Doc{"en": d["content"]}
		if draft.AltText != "" {
			d["image"] = d["attachment"]
		}
		if parent := d["inReplyTo"]; parent != nil {
			d["inReplyTo"] = []any{parent}
		}
	},
	ShapeActivity: func(s *Server, d Doc) {
		o, _ := d["object"].(Doc)
		if id, ok := o["id"].(string); ok && (d["type"] == "Create" || d["type"] == "Delete") {
			d["id"] = id + "#bridgy-fed-" + strings.ToLower(d["type"].(string))
		}
		if d["type"] == "Delete" {
			d["object"] = o["id"]
		}
	},
}

// mentionsOnly returns the recipients of a post but for collections.
func mentionsOnly(d Doc) []any {
	list := []any{}
	for _, v := range append(values(d["to"]), values(d["cc"])...) {
		if id, _ := v.(string); id != apptest.Public && !strings.HasSuffix(id, "/followers") {
			list = append(list, v)
		}
	}
	return list
}

// Ghost is Ghost 6. It publishes articles and notes through Fedify, which writes single values for lists, and signs by RFC 9421 first.
var Ghost = &Profile{
	Name: "Ghost", Software: "ghost", Version: "6.0.0",
	Sends: `follow accept unfollow public media reply mention boost favourite delete profile article`,
	Reads: `follow accept unfollow public media reply mention boost favourite delete profile`,

	Actor: "/.ghost/activitypub/users/NAME", Object: "/.ghost/activitypub/note/0000-N", Inbox: "/.ghost/activitypub/inbox/NAME", Page: "/post-N/",
	ActivityID: "HOST/.ghost/activitypub/TYPE/0000-N", SharedInbox: true, Collapse: true, KeyID: "#main-key", RFC9421: true, VerifiesRFC: true, Proofs: true,
	Context: []any{securityV1, "https://w3id.org/security/data-integrity/v1", "https://w3id.org/security/multikey/v1", toot},
	Needs:   []Need{needContext, needObjectIDs, needEmbeddedUndo}, Drops: "EmojiReact Add Remove Block Move QuoteRequest Flag", Attempts: 10,

	ShapeActor: func(s *Server, d Doc) {
		id := d["id"].(string)
		base, name := s.URL+"/.ghost/activitypub/", id[strings.LastIndex(id, "/")+1:]
		d["followers"], d["following"], d["outbox"], d["liked"] = base+"followers/"+name, base+"following/"+name, base+"outbox/"+name, base+"liked/"+name
		d["endpoints"], d["featured"], d["url"] = Doc{"type": "as:Endpoints", "sharedInbox": base + "inbox"}, nil, s.URL+"/"
		d["assertionMethod"] = []any{
			Doc{"id": id + s.KeyID, "type": "Multikey", "controller": id, "publicKeyMultibase": httpsig.FormatMultikey(s.Keys[id].Public())},
			Doc{"id": id + proofKeyID, "type": "Multikey", "controller": id, "publicKeyMultibase": httpsig.FormatMultikey(s.proofKey.Public())},
		}
	},
	ShapePost: func(s *Server, d Doc, draft Draft) {
		author := d["attributedTo"].(string)
		for _, key := range []string{"to", "cc"} {
			d[key] = replaced(d[key], map[string]string{apptest.Public: "as:Public", author + "/followers": ghostFollowers(s, author)})
		}
		if draft.Type == "Article" {
			d["id"] = strings.Replace(d["id"].(string), "/note/", "/article/", 1)
			d["content"] = `<!--kg-card-begin: html--><p>` + draft.Text + `</p><figure><img src="` + s.URL + `/media/2.png" alt=""><figcaption>a lake</figcaption></figure>`
			d["summary"], d["image"] = "An excerpt", s.URL+"/media/1.png"
			d["preview"] = Doc{"id": d["id"].(string) + "/preview", "type": "Note", "content": "An excerpt"}
		}
	},
	ShapeActivity: func(s *Server, d Doc) {
		if actor := d["actor"].(string); d["type"] == "Announce" {
			d["to"], d["cc"] = []any{"as:Public"}, []any{ghostFollowers(s, actor)}
		}
	},
}

func ghostFollowers(s *Server, actor string) string {
	return s.URL + "/.ghost/activitypub/followers/" + actor[strings.LastIndex(actor, "/")+1:]
}

// replaced returns a list with other ids in place of some.
func replaced(v any, ids map[string]string) []any {
	list := []any{}
	for _, item := range values(v) {
		if id, ok := ids[fmt.Sprint(item)]; ok {
			item = id
		}
		list = append(list, item)
	}
	return list
}

// Threads is the service of Meta. Its ids are numbers and end in a slash, its pages are on another host, and it answers signed fetches only.
var Threads = &Profile{
	Name: "Threads", Software: "threads", Version: "1.0.0",
	Sends: `follow accept unfollow public media reply mention boost favourite edit delete quote profile`,
	Reads: `follow accept unfollow public media reply mention boost favourite edit delete`,

	Actor: "/ap/users/1784140N/", Object: "/ap/users/1784140/post/1796000N/", Inbox: "/ap/users/1784140N/inbox/", Page: "/@NAME/post/CN",
	ActivityID: "ACTOR#TYPEs/N", SharedInbox: true, Context: []any{securityV1, toot, Doc{"quoteUrl": "as:quoteUrl"}}, Unaddressed: "Like",
	KeyID: "#main-key", Headers: commonHeaders, FetchHeader: fetchHeaders, Algorithm: "rsa-sha256", SignedFetch: true,
	Needs: []Need{needContext, needMediaType, needWebFinger, needEmbeddedUndo}, Drops: "EmojiReact Add Remove Block Move QuoteRequest Flag", Attempts: 5,

	ShapeActor: func(s *Server, d Doc) {
		id := d["id"].(string)
		d["followers"], d["following"], d["outbox"], d["featured"] = id+"followers/", id+"following/", id+"outbox/", nil
		d["url"], d["endpoints"] = "https://www.threads.example/@"+fmt.Sprint(d["preferredUsername"]), Doc{"sharedInbox": s.URL + "/ap/inbox/"}
		d["indexable"], d["icon"] = true, Doc{"type": "Image", "url": s.URL + "/media/1.jpg"}
	},
	ShapePost: func(s *Server, d Doc, draft Draft) {
		author := d["attributedTo"].(string)
		for _, key := range []string{"to", "cc"} {
			d[key] = replaced(d[key], map[string]string{author + "/followers": author + "followers/"})
		}
		d["url"] = "https://www.threads.example" + strings.TrimPrefix(d["url"].(string), s.URL)
		d["published"] = time.Now().UTC().Format("2006-01-02T15:04:05+0000")
		if draft.Quote != "" {
			d["quoteUrl"], d["_misskey_quote"] = draft.Quote, draft.Quote
			d["content"] = "<p>" + draft.Text + `<span class="quote-inline"><br/><br/>RE: <a href="` + draft.Quote + `">` + draft.Quote + `</a></span></p>`
		}
		d["contentMap"] = Doc{"en": d["content"]}
	},
	ShapeActivity: func(s *Server, d Doc) {
		actor := d["actor"].(string)
		o, _ := d["object"].(Doc)
		switch d["type"] {
		case "Create":
			d["id"] = o["id"].(string) + "/create"
		case "Delete":
			d["object"] = o["id"]
		case "Announce":
			d["cc"] = []any{actor + "followers/"}
		}
	},
}
