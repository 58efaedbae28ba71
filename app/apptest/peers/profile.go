// Package peers has remote servers for tests that behave as well-known software does: in the shape of their documents, their signatures,
// which requests they refuse, how they keep keys and repeat deliveries. The facts are those of the federation reference.
package peers

import (
	"slices"
	"strings"

	"svc/app/apptest"
)

// Doc is a JSON object.
type Doc = apptest.Doc

// Profile describes the behaviour of a kind of server.
type Profile struct {
	Name     string // in subtests and docs/federation.md
	Software string // in NodeInfo, with a version
	Version  string

	Sends string // functions whose activities it sends
	Reads string // functions that it understands

	// Paths of ids, in which NAME is the name of the actor and N a number.
	Actor, Object, Inbox, Page string
	ActivityID                 string // with the id of the actor as ACTOR, the address of the server as HOST, and the type in lower case as TYPE
	SharedInbox                bool
	PageRedirects              bool // the page of a post redirects ActivityPub requests to its id

	Context     []any  // after the context of ActivityStreams, or with it
	Collapse    bool   // a list of one item is sent as the item
	Unaddressed string // types of activities that it sends without to and cc
	VoteList    bool   // all votes for one poll are in one Create

	// How it signs.
	KeyID       string // appended to the id of the actor
	Headers     string // that a delivery covers
	FetchHeader string // that a fetch covers
	Algorithm   string // as declared
	Created     bool   // (created) and (expires) are signed instead of Date
	PathOnly    bool   // the query is not signed
	RFC9421     bool   // it signs by RFC 9421
	Proofs      bool   // its activities have integrity proofs (FEP-8b32), by a second key

	// What it demands.
	SignedFetch    bool // it answers only signed requests for documents
	VerifiesRFC    bool // it verifies RFC 9421, too
	KeyUntilUpdate bool // it keeps a key until an Update brings another one; else it fetches the actor again after a failure
	MaxBody        int  // of a delivery; 0: 1 MiB
	Needs          []Need
	Drops          string // types of activities that it answers with 202 and ignores
	Attempts       int    // for a delivery that is answered with a temporary error
	Synchronizes   bool   // it compares followers, and sends their digest with posts for them (FEP-8fcf)

	// Shapes. They change documents of the form that most servers use, after the changes of the caller; nil changes nothing.
	ShapeActor    func(s *Server, actor Doc)
	ShapePost     func(s *Server, post Doc, d Draft)
	ShapeActivity func(s *Server, activity Doc)
}

// Function is something that servers do together.
type Function struct{ Name, About string }

// Functions are the functions of federation, in the order of docs/federation.md.
var Functions = []Function{
	{"follow", "Follow"}, {"accept", "Accept a follow"}, {"reject", "Reject a follow, remove a follower"}, {"unfollow", "Unfollow"},
	{"public", "Public post"}, {"unlisted", "Unlisted post"}, {"followers", "Post for followers"}, {"direct", "Direct post"},
	{"warning", "Content warning"}, {"media", "Media with description"}, {"poll", "Poll"}, {"vote", "Vote"},
	{"reply", "Reply"}, {"mention", "Mention"}, {"hashtag", "Hashtag"}, {"emoji", "Custom emoji"},
	{"boost", "Boost, and its withdrawal"}, {"favourite", "Favourite, and its withdrawal"}, {"reaction", "Emoji reaction, and its withdrawal"},
	{"edit", "Edit of a post"}, {"delete", "Deletion of a post"}, {"quote", "Quote"}, {"pin", "Pin and unpin"}, {"move", "Account move"},
	{"block", "Block"}, {"report", "Report"}, {"profile", "Profile change"}, {"rotation", "Key rotation"}, {"thread", "Fetch of a thread"},
	{"page", "Fetch by the address of a page"}, {"chat", "Chat message, and its deletion"}, {"synchronization", "Synchronization of followers"}, {"group", "Post in a group"}, {"article", "Article"}, {"video", "Video"},
}

// DoesSend returns whether it has a function in the activities that it sends.
func (p *Profile) DoesSend(function string) bool {
	return slices.Contains(strings.Fields(p.Sends), function)
}

// DoesRead returns whether it understands the activities of a function.
func (p *Profile) DoesRead(function string) bool {
	return slices.Contains(strings.Fields(p.Reads), function)
}

// All are the profiles, in the order of docs/federation.md.
var All = []*Profile{Mastodon, GoToSocial, Pleroma, Misskey, Snac, Lemmy, PeerTube, Pixelfed, WordPress, BridgyFed, Ghost, Threads}

// lists of contexts.
const (
	activityStreams = "https://www.w3.org/ns/activitystreams"
	securityV1      = "https://w3id.org/security/v1"
)

// proofKeyID is appended to the id of the actor, for the key of proofs.
const proofKeyID = "#key-2"

// Lists of header names that signatures cover.
const (
	commonHeaders = "(request-target) host date digest"
	typedHeaders  = commonHeaders + " content-type"
	fetchHeaders  = "(request-target) host date"
)
