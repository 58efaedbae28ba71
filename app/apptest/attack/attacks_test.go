package attack_test

import (
	"context"
	"database/sql"
	"time"
)

// attack is one way to attack the server. Its members are optional.
type attack struct {
	name    string
	store   func(*world)                               // sends what the server stores
	last    bool                                       // it stores when the others have
	rows    func(*sql.DB) error                        // changes the database while the server is stopped
	clients int                                        // that run load at the same time
	load    func(*world, context.Context, int, *tally) // attacks until the context ends; the number is that of the client
	reads   func(*world)                               // stores what load reads, in TestAttack
}

// alone returns the attack as TestAttack makes it: it stores what it reads, and few clients ask for what it has made large.
func (a attack) alone() attack {
	if a.reads != nil {
		a.store = a.reads
	}
	if a.load == nil {
		a.clients, a.load = 8, (*world).getHeavy
	}
	return a
}

// attacks are all attacks, those that store before those that read it.
var attacks = []attack{
	{name: "ampersands", store: (*world).storeAmpersands},
	{name: "emoji-posts", store: (*world).storeEmojiPosts},
	{name: "followers", store: (*world).storeFollowers},
	{name: "replies", store: (*world).storeReplies},
	{name: "attachments", store: (*world).storeAttachments},
	{name: "quotes", store: (*world).storeQuotes},
	{name: "boosts", store: (*world).storeBoosts},
	{name: "direct", store: (*world).storeDirect},
	{name: "polls", store: (*world).storePolls},
	{name: "links", store: (*world).storeLinks},
	{name: "mentions", store: (*world).storeMentions},
	{name: "thread", store: (*world).storeThread},
	{name: "chats", store: (*world).storeChats},
	{name: "parsed", store: (*world).storeParsed},
	{name: "member-posts", store: (*world).storeMemberPosts},
	{name: "member-profiles", store: (*world).storeMemberProfiles},
	{name: "member-lists", store: (*world).storeMemberLists},
	{name: "saved", last: true, store: (*world).storeSaved, reads: func(w *world) { w.storeEmojiPosts(); w.storeSaved() }},
	{name: "earlier-rows", store: (*world).storeSome, rows: rowsOfEarlierVersions},

	{name: "routes", clients: 64, load: (*world).getRoutes, reads: (*world).storeReplies},
	{name: "large-answers", clients: 64, load: (*world).getHeavy, reads: (*world).storeReplies},
	{name: "slow-readers", clients: 64, load: (*world).readSlowly, reads: (*world).storeEmojiPosts},
	{name: "streams", clients: 1, load: (*world).keepStreams},
	{name: "ranges", store: (*world).storeFiles, clients: 16, load: (*world).askForRanges},
	{name: "headers", clients: 1, load: (*world).longHeaders},
	{name: "bodies", clients: 24, load: (*world).postBodies},
	{name: "part-headers", clients: 1, load: (*world).partHeaders},
	{name: "bodies-ended-together", clients: 1, load: (*world).endTogether},
	{name: "unfinished-bodies", clients: 1, load: (*world).neverEnd},
	{name: "unfinished-parts", clients: 1, load: (*world).neverEndParts},
	{name: "pictures", clients: 16, load: (*world).uploadPictures},
}

// slots are how long each attack runs, as a part of the whole time: half of it one after the other, then all together.
func slots(whole time.Duration, n int) (each, together time.Duration) {
	each = whole / 2 / time.Duration(max(n, 1))
	return each, whole - each*time.Duration(n)
}
