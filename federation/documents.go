package federation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"svc/emoji"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/cache"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// ActivityPub documents of local rows, built for whole pages with a fixed number of queries. The caller decides who may read them.
// Local-only statuses have no document.

// Documents builds ActivityPub documents of local rows.
type Documents struct {
	Settings *config.Live
	db       *store.DB
	emojis   *emoji.Packs
	signers  *remote.Signers
	cache    *cache.Cache[store.StatusID, *cachedDocument]
	archive  bool // documents of a backup: local-only statuses have one too, and files are named by their path in the backup
}

// documentContext defines the terms of documents (federation 1.8). Peers need not fetch it.
var documentContext = []any{
	activity.Context,
	"https://w3id.org/security/v1",
	jsonMap{
		"toot": "http://joinmastodon.org/ns#", "litepub": "http://litepub.social/ns#", "schema": "http://schema.org#",
		"ostatus": "http://ostatus.org#", "fedibird": "http://fedibird.com/ns#", "misskey": "https://misskey-hub.net/ns#",
		"vcard": "http://www.w3.org/2006/vcard/ns#", "gts": "https://gotosocial.org/ns#", "security": "https://w3id.org/security#",

		"Hashtag": "as:Hashtag", "Emoji": "toot:Emoji", "PropertyValue": "schema:PropertyValue", "value": "schema:value",
		"sensitive": "as:sensitive", "manuallyApprovesFollowers": "as:manuallyApprovesFollowers",
		"alsoKnownAs": idTerm("as:alsoKnownAs"), "movedTo": idTerm("as:movedTo"),
		"featured": idTerm("toot:featured"), "attributionDomains": idTerm("toot:attributionDomains"), "discoverable": "toot:discoverable", "indexable": "toot:indexable",
		"showMedia": "toot:showMedia", "showRepliesInMedia": "toot:showRepliesInMedia", "showFeatured": "toot:showFeatured",
		"votersCount": "toot:votersCount", "blurhash": "toot:blurhash",
		"focalPoint": jsonMap{"@container": "@list", "@id": "toot:focalPoint"},
		"webfinger":  "https://purl.archive.org/socialweb/webfinger#webfinger",
		"Multikey":   "security:Multikey", "controller": idTerm("security:controller"), "assertionMethod": idTerm("security:assertionMethod"),
		"publicKeyMultibase": "security:publicKeyMultibase",
		"implements":         jsonMap{"@id": "https://w3id.org/fep/844e#implements", "@type": "@id", "@container": "@list"},
		"conversation":       idTerm("ostatus:conversation"),

		"EmojiReact": "litepub:EmojiReact", "ChatMessage": "litepub:ChatMessage", "directMessage": "litepub:directMessage",
		"listMessage": idTerm("litepub:listMessage"), "capabilities": "litepub:capabilities",
		"acceptsChatMessages": "litepub:acceptsChatMessages", "invisible": "litepub:invisible",
		"formerRepresentations":     "litepub:formerRepresentations",
		"oauthRegistrationEndpoint": idTerm("litepub:oauthRegistrationEndpoint"),

		"quoteUrl": "as:quoteUrl", "quoteUri": "fedibird:quoteUri", "_misskey_quote": "misskey:_misskey_quote",
		"quote":              idTerm("https://w3id.org/fep/044f#quote"),
		"quoteAuthorization": idTerm("https://w3id.org/fep/044f#quoteAuthorization"),
		"QuoteRequest":       "https://w3id.org/fep/044f#QuoteRequest", "QuoteAuthorization": "https://w3id.org/fep/044f#QuoteAuthorization",
		"interactionPolicy": idTerm("gts:interactionPolicy"), "canQuote": idTerm("gts:canQuote"),
		"canLike": idTerm("gts:canLike"), "canReply": idTerm("gts:canReply"), "canAnnounce": idTerm("gts:canAnnounce"),
		"automaticApproval": idTerm("gts:automaticApproval"), "manualApproval": idTerm("gts:manualApproval"),
		"LikeRequest": "gts:LikeRequest", "ReplyRequest": "gts:ReplyRequest", "AnnounceRequest": "gts:AnnounceRequest",
		"LikeAuthorization": "gts:LikeAuthorization", "ReplyAuthorization": "gts:ReplyAuthorization", "AnnounceAuthorization": "gts:AnnounceAuthorization",
		"likeAuthorization":  idTerm("gts:likeAuthorization"),
		"replyAuthorization": idTerm("gts:replyAuthorization"), "announceAuthorization": idTerm("gts:announceAuthorization"),
		"canFeature": idTerm("https://w3id.org/fep/7aa9#canFeature"), "FeatureRequest": "https://w3id.org/fep/7aa9#FeatureRequest",
		"FeatureAuthorization": "https://w3id.org/fep/7aa9#FeatureAuthorization",
		"FeaturedCollection":   "https://w3id.org/fep/7aa9#FeaturedCollection", "FeaturedItem": "https://w3id.org/fep/7aa9#FeaturedItem",
		"featuredCollections": idTerm("https://w3id.org/fep/7aa9#featuredCollections"), "featuredObject": idTerm("https://w3id.org/fep/7aa9#featuredObject"),
		"featuredObjectType": idTerm("https://w3id.org/fep/7aa9#featuredObjectType"), "topic": "https://w3id.org/fep/7aa9#topic",
		"featureAuthorization": idTerm("https://w3id.org/fep/7aa9#featureAuthorization"),
		"interactingObject":    idTerm("gts:interactingObject"), "interactionTarget": idTerm("gts:interactionTarget"),
	},
}

// proofContext also defines the terms of integrity proofs.
var proofContext = append(slices.Clone(documentContext), jsonMap{
	"DataIntegrityProof": "security:DataIntegrityProof", "cryptosuite": "security:cryptosuite", "verificationMethod": idTerm("security:verificationMethod"),
	"proof":        jsonMap{"@id": "security:proof", "@type": "@id", "@container": "@graph"},
	"proofPurpose": jsonMap{"@id": "security:proofPurpose", "@type": "@vocab"},
	"proofValue":   jsonMap{"@id": "security:proofValue", "@type": "security:multibase"},
})

// jsonMap is an object inside a document.
type jsonMap = map[string]any

// idTerm is a term whose values are ids.
func idTerm(name string) jsonMap { return jsonMap{"@id": name, "@type": "@id"} }

// withContext returns a copy of a document with @context.
func withContext(o activity.Object) activity.Object {
	document := make(activity.Object, len(o)+1)
	for key, value := range o {
		document[key] = value
	}
	document["@context"] = documentContext
	return document
}

// followersURI returns the id of the followers collection of a local account.
func (d *Documents) followersURI(a *store.Account) string { return a.URI + "/followers" }

// activityURI returns the id of the activity that made a row: the Create of a status, the Announce of a reblog, the Like of a favourite …
func (d *Documents) activityURI(id int64) string {
	return store.NewActivityURI(d.Settings.BaseURL, id)
}

// createURI returns the id of the Create of a status: that of other software follows from the id of the object, /users/alice/statuses/1/activity.
func (d *Documents) createURI(st *store.Status) string {
	if _, ours := store.StatusIDInURI(d.Settings.BaseURL, st.URI); !ours && strings.Contains(st.URI, "/statuses/") {
		return st.URI + "/activity"
	}
	return d.activityURI(int64(st.ID))
}

// contextURI returns the context id of a thread that began on this server.
func (d *Documents) contextURI(id store.ConversationID) string {
	return d.Settings.BaseURL + "/contexts/" + store.StatusID(id).String()
}

// handleOf returns the handle of an account without the leading @, with the domain.
func (d *Documents) handleOf(a *store.Account) string {
	if a.Local() {
		return a.Nickname + "@" + d.Settings.Host
	}
	return a.Acct()
}

// mediaURL returns the URL of a file. A URL is returned as it is.
func (d *Documents) mediaURL(name string) string {
	if len(name) > 8 && (name[:7] == "http://" || name[:8] == "https://") {
		return name
	}
	if d.archive {
		return archivedFile(name)
	}
	return d.Settings.BaseURL + "/media/" + name
}

// documentRows are the rows that the documents of statuses need beside the statuses.
type documentRows struct {
	accounts    map[store.AccountID]*store.Account
	statuses    map[store.StatusID]*store.Status // parents, quoted and reblogged statuses
	recipients  map[store.StatusID][]store.Recipient
	tags        map[store.StatusID][]string
	media       map[store.StatusID][]*store.Media
	polls       map[store.StatusID]*store.Poll
	contextURIs map[store.ConversationID]string
	edits       map[store.StatusID][]*store.StatusEdit
	formerMedia map[store.MediaID]*store.Media // of earlier versions
	replies     map[store.StatusID][]store.StatusID
	replyURIs   map[store.StatusID]string // as OldStatusURIs returns them
	consents    map[store.StatusID]string // ids of the authorizations of quotes
	approvals   map[store.StatusID]string // ids of the authorizations of replies and boosts
}

const (
	maxFormerVersions = 5
	maxInlineReplies  = 5 // by the author of the status
)

// loadDocumentRows reads the rows that belong to statuses and reblogs.
func (d *Documents) loadDocumentRows(ctx context.Context, list []*store.Status) (*documentRows, error) {
	p := &documentRows{
		accounts: make(map[store.AccountID]*store.Account), statuses: make(map[store.StatusID]*store.Status),
		recipients: make(map[store.StatusID][]store.Recipient), tags: make(map[store.StatusID][]string),
		media: make(map[store.StatusID][]*store.Media), polls: make(map[store.StatusID]*store.Poll),
		edits: make(map[store.StatusID][]*store.StatusEdit), formerMedia: make(map[store.MediaID]*store.Media),
		replies: make(map[store.StatusID][]store.StatusID), consents: make(map[store.StatusID]string),
		approvals: make(map[store.StatusID]string),
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
	var objects []*store.Status // that have a document
	for _, st := range list {
		switch o := p.reblogged(st); {
		case st.ReblogOfID == nil:
			objects = append(objects, st)
		case o != nil && embedsOriginal(st, o):
			objects = append(objects, o)
		}
	}
	for _, st := range objects {
		for _, id := range []*store.StatusID{st.InReplyToID, st.QuoteOfID} {
			if id != nil {
				around = append(around, *id)
			}
		}
	}
	if err := d.loadStatuses(ctx, around, p); err != nil {
		return nil, err
	}
	if err := d.loadApprovals(ctx, list, p); err != nil {
		return nil, err
	}
	if len(objects) > 0 {
		if err := d.loadObjectRows(ctx, objects, p); err != nil {
			return nil, err
		}
	}
	return p, d.loadAccounts(ctx, list, p)
}

// reblogged returns the reblogged status, nil if st is no reblog.
func (p *documentRows) reblogged(st *store.Status) *store.Status {
	if st.ReblogOfID == nil {
		return nil
	}
	return p.statuses[*st.ReblogOfID]
}

// embedsOriginal returns true if an Announce has to embed its object, because nobody could fetch it: a private status of the same author
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

// loadObjectRows reads the rows for the objects of statuses.
func (d *Documents) loadObjectRows(ctx context.Context, posts []*store.Status, p *documentRows) error {
	var ids, edited, open, withMedia, quotes []store.StatusID
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
		if st.QuoteOfID != nil {
			quotes = append(quotes, st.ID)
		}
		threads = append(threads, st.ConversationID)
	}
	if err := d.loadConsents(ctx, quotes, p); err != nil {
		return err
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
	var inline []store.StatusID
	for _, r := range replies {
		p.replies[r.StatusID] = append(p.replies[r.StatusID], r.ID)
		inline = append(inline, r.ID)
	}
	if p.replyURIs, err = d.db.OldStatusURIs(ctx, inline); err != nil {
		return err
	}
	return d.loadEdits(ctx, edited, p)
}

// loadConsents reads the authorizations of quotes.
func (d *Documents) loadConsents(ctx context.Context, quotes []store.StatusID, p *documentRows) error {
	if len(quotes) == 0 {
		return nil
	}
	consents, err := d.db.QuoteConsents(ctx, quotes)
	for _, c := range consents {
		if p.consents[c.StatusID] = c.Authorization; c.RowID != 0 {
			p.consents[c.StatusID] = d.quoteAuthorizationURI(c.RowID)
		}
	}
	return err
}

// loadApprovals reads the authorizations of replies to and boosts of statuses whose authors restrict them.
func (d *Documents) loadApprovals(ctx context.Context, list []*store.Status, p *documentRows) error {
	var ids []store.StatusID
	for _, st := range list {
		for _, id := range []*store.StatusID{st.InReplyToID, st.ReblogOfID} {
			if id != nil && p.statuses[*id] != nil && p.statuses[*id].InteractionPolicy != 0 {
				ids = append(ids, st.ID)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	approvals, err := d.db.Approvals(ctx, ids)
	for _, a := range approvals {
		if p.approvals[a.StatusID] = a.Approval; a.RowID != 0 {
			p.approvals[a.StatusID] = d.authorizationURI(a.RowID)
		}
	}
	return err
}

// loadEdits reads the earlier versions of statuses.
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

// loadAccounts reads the authors and recipients of statuses, and the authors of reblogged ones.
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

func isPublicOrUnlisted(v store.Visibility) bool { return v == store.Public || v == store.Unlisted }

func (d *Documents) audienceOf(st *store.Status, p *documentRows) (to, cc []string, err error) {
	author := p.accounts[st.AccountID]
	if !st.Federated() && !d.archive || author == nil {
		return nil, nil, errs.ErrRecordNotFound
	}
	to, cc = []string{}, []string{}
	followers := d.followersURI(author)
	uris := d.recipientURIs(st, p)
	switch st.Visibility {
	case store.Public:
		to = append(append(to, activity.Public), uris...)
		cc = append(cc, followers)
	case store.Unlisted:
		to = append(append(to, followers), uris...)
		cc = append(cc, activity.Public)
	case store.Private:
		to = append(append(to, followers), uris...)
	case store.Local: // of this server only
		to = append(append(to, d.Settings.BaseURL+"/#Public"), uris...)
	default:
		to = append(to, uris...)
	}
	if o := p.reblogged(st); o != nil && o.AccountID != st.AccountID && p.accounts[o.AccountID] != nil {
		cc = append(cc, p.accounts[o.AccountID].URI) // so that the author gets it without followers of the booster there
	}
	if group := p.group(st); group != nil && !slices.Contains(to, group.URI) {
		cc = append(cc, group.URI)
	}
	return to, cc, nil
}

// recipientURIs returns the ids of the recipients of a status. Members of a list and the group of a thread are not among them, unless they are
// mentioned.
func (d *Documents) recipientURIs(st *store.Status, p *documentRows) []string {
	var uris []string
	group := p.group(st)
	for _, r := range p.recipients[st.ID] {
		if a := p.accounts[r.AccountID]; a != nil && a.ID != st.AccountID && (r.Mentioned || st.Visibility != store.ListOnly && a != group) {
			uris = append(uris, a.URI)
		}
	}
	return uris
}

// group returns the group that a public or unlisted status is addressed to, nil if there is none. It gets no others: it would boost them.
func (p *documentRows) group(st *store.Status) *store.Account {
	if !isPublicOrUnlisted(st.Visibility) || st.ReblogOfID != nil {
		return nil
	}
	for _, r := range p.recipients[st.ID] {
		if a := p.accounts[r.AccountID]; a != nil && a.ActorType == "Group" && a.ID != st.AccountID {
			return a
		}
	}
	return nil
}

// stringValues returns a list of strings as documents hold it.
func stringValues(list []string) []any {
	values := make([]any, 0, len(list))
	for _, text := range list {
		values = append(values, text)
	}
	return values
}

// emojiTags returns the tags of the custom emoji in texts.
func (d *Documents) emojiTags(in ...string) []any {
	var tags []any
	for _, e := range d.emojis.In(in...) {
		tags = append(tags, d.emojiTag(e))
	}
	return tags
}

func (d *Documents) emojiTag(e emoji.Emoji) jsonMap {
	return newEmojiTag(":"+e.Shortcode+":", d.Settings.BaseURL+e.Path)
}

// newEmojiTag returns the tag of a custom emoji. updated is constant: a changed image has a new URL.
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
	return jsonMap{"type": "Hashtag", "href": text.TagURL(d.Settings.BaseURL, name), "name": "#" + name}
}

// statusDocument builds a document of one local status.
func (d *Documents) statusDocument(ctx context.Context, st *store.Status, build func(*store.Status, *documentRows) (activity.Object, error)) (activity.Object, error) {
	if !st.Local() {
		return nil, fmt.Errorf("document of %s: %w", st.URI, errs.ErrRecordNotFound)
	}
	st = asPublished(st)
	p, err := d.loadDocumentRows(ctx, []*store.Status{st})
	if err != nil {
		return nil, err
	}
	return build(st, p)
}
