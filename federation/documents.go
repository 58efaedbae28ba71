package federation

import (
	"context"
	"fmt"
	"slices"

	"svc/emoji"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// The documents that stand for what is here. They are built of rows, whole pages at a time, with a fixed number of queries. Nothing
// here decides who may read them, but what is only for this server has no document at all.

// documentContext says what the names in documents mean (federation 1.8). Nobody has to fetch it.
var documentContext = []any{
	activity.Context,
	"https://w3id.org/security/v1",
	part{
		"toot": "http://joinmastodon.org/ns#", "litepub": "http://litepub.social/ns#", "schema": "http://schema.org#",
		"ostatus": "http://ostatus.org#", "fedibird": "http://fedibird.com/ns#", "misskey": "https://misskey-hub.net/ns#",
		"vcard": "http://www.w3.org/2006/vcard/ns#", "gts": "https://gotosocial.org/ns#",

		"Hashtag": "as:Hashtag", "Emoji": "toot:Emoji", "PropertyValue": "schema:PropertyValue", "value": "schema:value",
		"sensitive": "as:sensitive", "manuallyApprovesFollowers": "as:manuallyApprovesFollowers",
		"alsoKnownAs": reference("as:alsoKnownAs"), "movedTo": reference("as:movedTo"),
		"featured": reference("toot:featured"), "discoverable": "toot:discoverable", "indexable": "toot:indexable",
		"votersCount": "toot:votersCount", "webfinger": "https://purl.archive.org/socialweb/webfinger#webfinger",
		"conversation": reference("ostatus:conversation"),

		"EmojiReact": "litepub:EmojiReact", "ChatMessage": "litepub:ChatMessage", "directMessage": "litepub:directMessage",
		"listMessage": reference("litepub:listMessage"), "capabilities": "litepub:capabilities",
		"acceptsChatMessages": "litepub:acceptsChatMessages", "invisible": "litepub:invisible",
		"formerRepresentations":     "litepub:formerRepresentations",
		"oauthRegistrationEndpoint": reference("litepub:oauthRegistrationEndpoint"),

		"quoteUrl": "as:quoteUrl", "quoteUri": "fedibird:quoteUri", "_misskey_quote": "misskey:_misskey_quote",
		"quote":        reference("https://w3id.org/fep/044f#quote"),
		"QuoteRequest": "https://w3id.org/fep/044f#QuoteRequest", "QuoteAuthorization": "https://w3id.org/fep/044f#QuoteAuthorization",
		"interactionPolicy": reference("gts:interactionPolicy"), "canQuote": reference("gts:canQuote"),
		"automaticApproval": reference("gts:automaticApproval"),
		"interactingObject": reference("gts:interactingObject"), "interactionTarget": reference("gts:interactionTarget"),
	},
}

// part is an object in a document.
type part = map[string]any

// reference is a name whose values are ids.
func reference(name string) part { return part{"@id": name, "@type": "@id"} }

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
func (s *Service) actorURI(a *store.Account) string { return a.URI }

// followersURI returns the collection of a local account's followers.
func (s *Service) followersURI(a *store.Account) string { return a.URI + "/followers" }

// activityURI returns the id of the activity that made the row of an id: the Create of a status, a boost's Announce, the Like of a
// favourite …
func (s *Service) activityURI(id int64) string {
	return s.BaseURL + "/activities/" + store.ActivityID(id).String()
}

// contextURI returns what a thread that began here is called.
func (s *Service) contextURI(id store.ConversationID) string {
	return s.BaseURL + "/contexts/" + store.StatusID(id).String()
}

// handle returns the name of an account as people write it, without the first @.
func (s *Service) handle(a *store.Account) string {
	if a.Local() {
		return a.Nickname + "@" + s.Host
	}
	return a.Acct()
}

// mediaURL returns the address of a file, or an address as it is.
func (s *Service) mediaURL(name string) string {
	if len(name) > 8 && (name[:7] == "http://" || name[:8] == "https://") {
		return name
	}
	return s.BaseURL + "/media/" + name
}

// parts are rows that belong to a page of statuses and boosts.
type parts struct {
	accounts   map[store.AccountID]*store.Account
	statuses   map[store.StatusID]*store.Status // what is answered, quoted or boosted
	recipients map[store.StatusID][]store.Recipient
	tags       map[store.StatusID][]string
	media      map[store.StatusID][]*store.Media
	polls      map[store.StatusID]*store.Poll
	contexts   map[store.ConversationID]string
	edits      map[store.StatusID][]*store.StatusEdit
	former     map[store.MediaID]*store.Media // what earlier versions had
	replies    map[store.StatusID][]store.StatusID
}

const (
	maxFormer  = 5 // earlier versions in a document
	maxReplies = 5 // own answers in a document
)

// load reads what belongs to statuses.
func (s *Service) load(ctx context.Context, list []*store.Status) (*parts, error) {
	p := &parts{
		accounts: make(map[store.AccountID]*store.Account), statuses: make(map[store.StatusID]*store.Status),
		recipients: make(map[store.StatusID][]store.Recipient), tags: make(map[store.StatusID][]string),
		media: make(map[store.StatusID][]*store.Media), polls: make(map[store.StatusID]*store.Poll),
		edits: make(map[store.StatusID][]*store.StatusEdit), former: make(map[store.MediaID]*store.Media),
		replies: make(map[store.StatusID][]store.StatusID),
	}
	var boosted, around []store.StatusID
	for _, st := range list {
		if st.ReblogOfID != nil {
			boosted = append(boosted, *st.ReblogOfID)
		}
	}
	if err := s.loadStatuses(ctx, boosted, p); err != nil {
		return nil, err
	}
	var posts []*store.Status // those that have a document of their own
	for _, st := range list {
		switch o := p.boosted(st); {
		case st.ReblogOfID == nil:
			posts = append(posts, st)
		case o != nil && embedded(st, o):
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
	if err := s.loadStatuses(ctx, around, p); err != nil {
		return nil, err
	}
	if len(posts) > 0 {
		if err := s.loadPosts(ctx, posts, p); err != nil {
			return nil, err
		}
	}
	return p, s.loadPeople(ctx, list, p)
}

// boosted returns what a status boosts, nil if it is no boost.
func (p *parts) boosted(st *store.Status) *store.Status {
	if st.ReblogOfID == nil {
		return nil
	}
	return p.statuses[*st.ReblogOfID]
}

// embedded tells whether a boost carries what it boosts, because nobody could fetch that: a private post of one's own
// (federation 4.8).
func embedded(boost, original *store.Status) bool {
	return original.AccountID == boost.AccountID && original.Visibility == store.Private && original.Local()
}

func (s *Service) loadStatuses(ctx context.Context, ids []store.StatusID, p *parts) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := s.db.Statuses(ctx, ids)
	for _, st := range rows {
		p.statuses[st.ID] = st
	}
	return err
}

// loadPosts loads what the documents of posts show.
func (s *Service) loadPosts(ctx context.Context, posts []*store.Status, p *parts) error {
	var ids, edited, open, withMedia []store.StatusID
	var threads []store.ConversationID
	for _, st := range posts {
		ids = append(ids, st.ID)
		if st.EditedAt != nil {
			edited = append(edited, st.ID)
		}
		if st.RepliesCount > 0 && isOpen(st.Visibility) {
			open = append(open, st.ID)
		}
		if st.HasMedia {
			withMedia = append(withMedia, st.ID)
		}
		threads = append(threads, st.ConversationID)
	}
	recipients, err := s.db.Recipients(ctx, ids)
	if err != nil {
		return err
	}
	for _, r := range recipients {
		p.recipients[r.StatusID] = append(p.recipients[r.StatusID], r)
	}
	tags, err := s.db.StatusTags(ctx, ids)
	if err != nil {
		return err
	}
	for _, t := range tags {
		p.tags[t.StatusID] = append(p.tags[t.StatusID], t.Name)
	}
	media, err := s.db.MediaOf(ctx, withMedia)
	if err != nil {
		return err
	}
	for _, m := range media {
		p.media[*m.StatusID] = append(p.media[*m.StatusID], m)
	}
	polls, err := s.db.PollsOf(ctx, ids)
	if err != nil {
		return err
	}
	for _, poll := range polls {
		p.polls[poll.StatusID] = poll
	}
	if p.contexts, err = s.db.ContextURIs(ctx, threads); err != nil {
		return err
	}
	replies, err := s.db.OwnReplies(ctx, open, maxReplies)
	if err != nil {
		return err
	}
	for _, r := range replies {
		p.replies[r.StatusID] = append(p.replies[r.StatusID], r.ID)
	}
	return s.loadFormer(ctx, edited, p)
}

// loadFormer loads the earlier versions of posts.
func (s *Service) loadFormer(ctx context.Context, ids []store.StatusID, p *parts) error {
	if len(ids) == 0 {
		return nil
	}
	edits, err := s.db.LatestEdits(ctx, ids, maxFormer)
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
	rows, err := s.db.MediaByIDs(ctx, media)
	for _, m := range rows {
		p.former[m.ID] = m
	}
	return err
}

// loadPeople loads the authors of statuses and of what they boost, and those they are addressed to.
func (s *Service) loadPeople(ctx context.Context, list []*store.Status, p *parts) error {
	var ids []store.AccountID
	for _, st := range list {
		ids = append(ids, st.AccountID)
		if o := p.boosted(st); o != nil {
			ids = append(ids, o.AccountID)
		}
	}
	for _, some := range p.recipients {
		for _, r := range some {
			ids = append(ids, r.AccountID)
		}
	}
	slices.Sort(ids)
	rows, err := s.db.Accounts(ctx, slices.Compact(ids))
	for _, a := range rows {
		p.accounts[a.ID] = a
	}
	return err
}

// isOpen tells whether posts of a visibility may be read by everybody everywhere.
func isOpen(v store.Visibility) bool { return v == store.Public || v == store.Unlisted }

func (s *Service) audienceOf(st *store.Status, p *parts) (to, cc []string, err error) {
	author := p.accounts[st.AccountID]
	if !st.Visibility.Federated() || author == nil {
		return nil, nil, errs.ErrRecordNotFound
	}
	to, cc = []string{}, []string{}
	followers := s.followersURI(author)
	people := s.addressees(st, p)
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
	if o := p.boosted(st); o != nil && o.AccountID != st.AccountID && p.accounts[o.AccountID] != nil {
		cc = append(cc, p.accounts[o.AccountID].URI) // who is boosted hears of it, also where no follower lives
	}
	return to, cc, nil
}

// addressees returns the ids of those whom a status names. Of a list post these are the mentioned, not the members.
func (s *Service) addressees(st *store.Status, p *parts) []string {
	var people []string
	for _, r := range p.recipients[st.ID] {
		if a := p.accounts[r.AccountID]; a != nil && a.ID != st.AccountID && (r.Mentioned || st.Visibility != store.ListOnly) {
			people = append(people, a.URI)
		}
	}
	return people
}

// texts returns a list of text as documents have it.
func texts(list []string) []any {
	values := make([]any, 0, len(list))
	for _, text := range list {
		values = append(values, text)
	}
	return values
}

// emojiTags returns the custom emoji that occur in texts.
func (s *Service) emojiTags(in ...string) []any {
	var tags []any
	for _, e := range s.emojis.In(in...) {
		tags = append(tags, s.emojiTag(e))
	}
	return tags
}

func (s *Service) emojiTag(e emoji.Emoji) part {
	return pictureTag(":"+e.Shortcode+":", s.BaseURL+e.Path)
}

// pictureTag is a custom emoji. When its picture changed last is not known: peers get another address for another picture.
func pictureTag(name, url string) part {
	icon := part{"type": "Image", "url": url}
	if kind := pictureType(url); kind != "" {
		icon["mediaType"] = kind
	}
	return part{"type": "Emoji", "id": url, "name": name, "updated": "1970-01-01T00:00:00Z", "icon": icon}
}

func (s *Service) mentionTag(a *store.Account) part {
	return part{"type": "Mention", "href": a.URI, "name": "@" + s.handle(a)}
}

func (s *Service) hashtagTag(name string) part {
	return part{"type": "Hashtag", "href": text.TagURL(s.BaseURL, name), "name": "#" + name}
}

// one builds a document of one status.
func (s *Service) one(ctx context.Context, st *store.Status, build func(*store.Status, *parts) (activity.Object, error)) (activity.Object, error) {
	if !st.Local() {
		return nil, fmt.Errorf("document of %s: %w", st.URI, errs.ErrRecordNotFound)
	}
	p, err := s.load(ctx, []*store.Status{st})
	if err != nil {
		return nil, err
	}
	return build(st, p)
}
