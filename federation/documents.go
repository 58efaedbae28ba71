package federation

import (
	"context"
	"fmt"
	"slices"

	"svc/emoji"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/cache"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// The documents that stand for what is here. They are built of rows, whole pages at a time, with a fixed number of queries. Nothing
// here decides who may read them, but what is only for this server has no document at all.

// Documents builds ActivityPub documents of local rows.
type Documents struct {
	BaseURL string
	Host    string
	db      *store.DB
	emojis  *emoji.Packs
	signers *remote.Signers
	cache   *cache.Cache[store.StatusID, *cachedDocument]
}

// documentContext says what the names in documents mean (federation 1.8). Nobody has to fetch it.
var documentContext = []any{
	activity.Context,
	"https://w3id.org/security/v1",
	jsonMap{
		"toot": "http://joinmastodon.org/ns#", "litepub": "http://litepub.social/ns#", "schema": "http://schema.org#",
		"ostatus": "http://ostatus.org#", "fedibird": "http://fedibird.com/ns#", "misskey": "https://misskey-hub.net/ns#",
		"vcard": "http://www.w3.org/2006/vcard/ns#", "gts": "https://gotosocial.org/ns#",

		"Hashtag": "as:Hashtag", "Emoji": "toot:Emoji", "PropertyValue": "schema:PropertyValue", "value": "schema:value",
		"sensitive": "as:sensitive", "manuallyApprovesFollowers": "as:manuallyApprovesFollowers",
		"alsoKnownAs": idTerm("as:alsoKnownAs"), "movedTo": idTerm("as:movedTo"),
		"featured": idTerm("toot:featured"), "discoverable": "toot:discoverable", "indexable": "toot:indexable",
		"votersCount": "toot:votersCount", "webfinger": "https://purl.archive.org/socialweb/webfinger#webfinger",
		"conversation": idTerm("ostatus:conversation"),

		"EmojiReact": "litepub:EmojiReact", "ChatMessage": "litepub:ChatMessage", "directMessage": "litepub:directMessage",
		"listMessage": idTerm("litepub:listMessage"), "capabilities": "litepub:capabilities",
		"acceptsChatMessages": "litepub:acceptsChatMessages", "invisible": "litepub:invisible",
		"formerRepresentations":     "litepub:formerRepresentations",
		"oauthRegistrationEndpoint": idTerm("litepub:oauthRegistrationEndpoint"),

		"quoteUrl": "as:quoteUrl", "quoteUri": "fedibird:quoteUri", "_misskey_quote": "misskey:_misskey_quote",
		"quote":        idTerm("https://w3id.org/fep/044f#quote"),
		"QuoteRequest": "https://w3id.org/fep/044f#QuoteRequest", "QuoteAuthorization": "https://w3id.org/fep/044f#QuoteAuthorization",
		"interactionPolicy": idTerm("gts:interactionPolicy"), "canQuote": idTerm("gts:canQuote"),
		"automaticApproval": idTerm("gts:automaticApproval"),
		"interactingObject": idTerm("gts:interactingObject"), "interactionTarget": idTerm("gts:interactionTarget"),
	},
}

// jsonMap is an object in a document.
type jsonMap = map[string]any

// idTerm is a name whose values are ids.
func idTerm(name string) jsonMap { return jsonMap{"@id": name, "@type": "@id"} }

// withContext returns a document as it stands alone.
func withContext(o activity.Object) activity.Object {
	whole := make(activity.Object, len(o)+1)
	for key, value := range o {
		whole[key] = value
	}
	whole["@context"] = documentContext
	return whole
}

// actorURI returns the id of an account.
func (d *Documents) actorURI(a *store.Account) string { return a.URI }

// followersURI returns the collection of a local account's followers.
func (d *Documents) followersURI(a *store.Account) string { return a.URI + "/followers" }

// activityURI returns the id of the activity that made the row of an id: the Create of a status, a boost's Announce, the Like of a
// favourite …
func (d *Documents) activityURI(id int64) string {
	return d.BaseURL + "/activities/" + store.ActivityID(id).String()
}

// contextURI returns what a thread that began here is called.
func (d *Documents) contextURI(id store.ConversationID) string {
	return d.BaseURL + "/contexts/" + store.StatusID(id).String()
}

// handleOf returns the name of an account as people write it, without the first @.
func (d *Documents) handleOf(a *store.Account) string {
	if a.Local() {
		return a.Nickname + "@" + d.Host
	}
	return a.Acct()
}

// mediaURL returns the address of a file, or an address as it is.
func (d *Documents) mediaURL(name string) string {
	if len(name) > 8 && (name[:7] == "http://" || name[:8] == "https://") {
		return name
	}
	return d.BaseURL + "/media/" + name
}

// documentRows are rows that belong to a page of statuses and boosts.
type documentRows struct {
	accounts    map[store.AccountID]*store.Account
	statuses    map[store.StatusID]*store.Status // what is answered, quoted or boosted
	recipients  map[store.StatusID][]store.Recipient
	tags        map[store.StatusID][]string
	media       map[store.StatusID][]*store.Media
	polls       map[store.StatusID]*store.Poll
	contextURIs map[store.ConversationID]string
	edits       map[store.StatusID][]*store.StatusEdit
	formerMedia map[store.MediaID]*store.Media // what earlier versions had
	replies     map[store.StatusID][]store.StatusID
}

const (
	maxFormerVersions = 5 // earlier versions in a document
	maxInlineReplies  = 5 // own answers in a document
)

// loadDocumentRows reads what belongs to statuses.
func (d *Documents) loadDocumentRows(ctx context.Context, list []*store.Status) (*documentRows, error) {
	p := &documentRows{
		accounts: make(map[store.AccountID]*store.Account), statuses: make(map[store.StatusID]*store.Status),
		recipients: make(map[store.StatusID][]store.Recipient), tags: make(map[store.StatusID][]string),
		media: make(map[store.StatusID][]*store.Media), polls: make(map[store.StatusID]*store.Poll),
		edits: make(map[store.StatusID][]*store.StatusEdit), formerMedia: make(map[store.MediaID]*store.Media),
		replies: make(map[store.StatusID][]store.StatusID),
	}
	var boosted, around []store.StatusID
	for _, st := range list {
		if st.ReblogOfID != nil {
			boosted = append(boosted, *st.ReblogOfID)
		}
	}
	if err := d.loadStatuses(ctx, boosted, p); err != nil {
		return nil, err
	}
	var posts []*store.Status // those that have a document of their own
	for _, st := range list {
		switch o := p.reblogged(st); {
		case st.ReblogOfID == nil:
			posts = append(posts, st)
		case o != nil && embedsOriginal(st, o):
			posts = append(posts, o)
		}
	}
	for _, st := range posts {
		for _, id := range []*store.StatusID{st.InReplyToID, st.QuoteOfID} {
			if id != nil {
				around = append(around, *id)
			}
		}
	}
	if err := d.loadStatuses(ctx, around, p); err != nil {
		return nil, err
	}
	if len(posts) > 0 {
		if err := d.loadObjectRows(ctx, posts, p); err != nil {
			return nil, err
		}
	}
	return p, d.loadAccounts(ctx, list, p)
}

// reblogged returns what a status boosts, nil if it is no boost.
func (p *documentRows) reblogged(st *store.Status) *store.Status {
	if st.ReblogOfID == nil {
		return nil
	}
	return p.statuses[*st.ReblogOfID]
}

// embedsOriginal tells whether a boost carries what it boosts, because nobody could fetch that: a private post of one's own
// (federation 4.8).
func embedsOriginal(boost, original *store.Status) bool {
	return original.AccountID == boost.AccountID && original.Visibility == store.Private && original.Local()
}

func (d *Documents) loadStatuses(ctx context.Context, ids []store.StatusID, p *documentRows) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := d.db.Statuses(ctx, ids)
	for _, st := range rows {
		p.statuses[st.ID] = st
	}
	return err
}

// loadObjectRows loads what the documents of posts show.
func (d *Documents) loadObjectRows(ctx context.Context, posts []*store.Status, p *documentRows) error {
	var ids, edited, open, withMedia []store.StatusID
	var threads []store.ConversationID
	for _, st := range posts {
		ids = append(ids, st.ID)
		if st.EditedAt != nil {
			edited = append(edited, st.ID)
		}
		if st.RepliesCount > 0 && isPublicOrUnlisted(st.Visibility) {
			open = append(open, st.ID)
		}
		if st.HasMedia {
			withMedia = append(withMedia, st.ID)
		}
		threads = append(threads, st.ConversationID)
	}
	recipients, err := d.db.Recipients(ctx, ids)
	if err != nil {
		return err
	}
	for _, r := range recipients {
		p.recipients[r.StatusID] = append(p.recipients[r.StatusID], r)
	}
	tags, err := d.db.StatusTags(ctx, ids)
	if err != nil {
		return err
	}
	for _, t := range tags {
		p.tags[t.StatusID] = append(p.tags[t.StatusID], t.Name)
	}
	media, err := d.db.MediaOf(ctx, withMedia)
	if err != nil {
		return err
	}
	for _, m := range media {
		p.media[*m.StatusID] = append(p.media[*m.StatusID], m)
	}
	polls, err := d.db.PollsOf(ctx, ids)
	if err != nil {
		return err
	}
	for _, poll := range polls {
		p.polls[poll.StatusID] = poll
	}
	if p.contextURIs, err = d.db.ThreadURIs(ctx, threads); err != nil {
		return err
	}
	replies, err := d.db.SelfReplies(ctx, open, maxInlineReplies)
	if err != nil {
		return err
	}
	for _, r := range replies {
		p.replies[r.StatusID] = append(p.replies[r.StatusID], r.ID)
	}
	return d.loadEdits(ctx, edited, p)
}

// loadEdits loads the earlier versions of posts.
func (d *Documents) loadEdits(ctx context.Context, ids []store.StatusID, p *documentRows) error {
	if len(ids) == 0 {
		return nil
	}
	edits, err := d.db.LatestEdits(ctx, ids, maxFormerVersions)
	if err != nil {
		return err
	}
	var media []store.MediaID
	for _, e := range edits {
		p.edits[e.StatusID] = append(p.edits[e.StatusID], e)
		for _, m := range e.Media.V {
			media = append(media, m.ID)
		}
	}
	rows, err := d.db.MediaByIDs(ctx, media)
	for _, m := range rows {
		p.formerMedia[m.ID] = m
	}
	return err
}

// loadAccounts loads the authors of statuses and of what they boost, and those they are addressed to.
func (d *Documents) loadAccounts(ctx context.Context, list []*store.Status, p *documentRows) error {
	var ids []store.AccountID
	for _, st := range list {
		ids = append(ids, st.AccountID)
		if o := p.reblogged(st); o != nil {
			ids = append(ids, o.AccountID)
		}
	}
	for _, some := range p.recipients {
		for _, r := range some {
			ids = append(ids, r.AccountID)
		}
	}
	slices.Sort(ids)
	rows, err := d.db.Accounts(ctx, slices.Compact(ids))
	for _, a := range rows {
		p.accounts[a.ID] = a
	}
	return err
}

// isPublicOrUnlisted tells whether posts of a visibility may be read by everybody everywhere.
func isPublicOrUnlisted(v store.Visibility) bool { return v == store.Public || v == store.Unlisted }

func (d *Documents) audienceOf(st *store.Status, p *documentRows) (to, cc []string, err error) {
	author := p.accounts[st.AccountID]
	if !st.Visibility.Federated() || author == nil {
		return nil, nil, errs.ErrRecordNotFound
	}
	to, cc = []string{}, []string{}
	followers := d.followersURI(author)
	people := d.recipientURIs(st, p)
	switch st.Visibility {
	case store.Public:
		to = append(append(to, activity.Public), people...)
		cc = append(cc, followers)
	case store.Unlisted:
		to = append(append(to, followers), people...)
		cc = append(cc, activity.Public)
	case store.Private:
		to = append(append(to, followers), people...)
	default:
		to = append(to, people...)
	}
	if o := p.reblogged(st); o != nil && o.AccountID != st.AccountID && p.accounts[o.AccountID] != nil {
		cc = append(cc, p.accounts[o.AccountID].URI) // who is boosted hears of it, also where no follower lives
	}
	return to, cc, nil
}

// recipientURIs returns the ids of those whom a status names. Of a list post these are the mentioned, not the members.
func (d *Documents) recipientURIs(st *store.Status, p *documentRows) []string {
	var people []string
	for _, r := range p.recipients[st.ID] {
		if a := p.accounts[r.AccountID]; a != nil && a.ID != st.AccountID && (r.Mentioned || st.Visibility != store.ListOnly) {
			people = append(people, a.URI)
		}
	}
	return people
}

// stringValues returns a list of text as documents have it.
func stringValues(list []string) []any {
	values := make([]any, 0, len(list))
	for _, text := range list {
		values = append(values, text)
	}
	return values
}

// emojiTags returns the custom emoji that occur in texts.
func (d *Documents) emojiTags(in ...string) []any {
	var tags []any
	for _, e := range d.emojis.In(in...) {
		tags = append(tags, d.emojiTag(e))
	}
	return tags
}

func (d *Documents) emojiTag(e emoji.Emoji) jsonMap {
	return newEmojiTag(":"+e.Shortcode+":", d.BaseURL+e.Path)
}

// newEmojiTag is a custom emoji. When its picture changed last is not known: peers get another address for another picture.
func newEmojiTag(name, url string) jsonMap {
	icon := jsonMap{"type": "Image", "url": url}
	if kind := imageType(url); kind != "" {
		icon["mediaType"] = kind
	}
	return jsonMap{"type": "Emoji", "id": url, "name": name, "updated": "1970-01-01T00:00:00Z", "icon": icon}
}

func (d *Documents) mentionTag(a *store.Account) jsonMap {
	return jsonMap{"type": "Mention", "href": a.URI, "name": "@" + d.handleOf(a)}
}

func (d *Documents) hashtagTag(name string) jsonMap {
	return jsonMap{"type": "Hashtag", "href": text.TagURL(d.BaseURL, name), "name": "#" + name}
}

// statusDocument builds a document of one status.
func (d *Documents) statusDocument(ctx context.Context, st *store.Status, build func(*store.Status, *documentRows) (activity.Object, error)) (activity.Object, error) {
	if !st.Local() {
		return nil, fmt.Errorf("document of %s: %w", st.URI, errs.ErrRecordNotFound)
	}
	p, err := d.loadDocumentRows(ctx, []*store.Status{st})
	if err != nil {
		return nil, err
	}
	return build(st, p)
}
