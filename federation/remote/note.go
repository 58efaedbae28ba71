package remote

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"svc/internal/activity"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

// Note is the parsed document of a status. Its content is sanitised.
type Note struct {
	social.IncomingStatus
	ObjectType string // type of the document
	AuthorURI  string // actor id of the author
	Context    string // URI of its thread as it says, on any host
}

// NoteTypes are the types of objects that are statuses (federation 4.2).
var NoteTypes = []string{"Note", "Question", "Article", "Page", "Event", "Video", "Audio", "Image"}

// Limits of remote statuses (federation 5.5).
const (
	maxNoteSource   = 200_000 // bytes of the source of the content, most of which markup may be; store.MaxRemoteContent is kept of its HTML
	maxNoteSpoiler  = 5_000
	maxNoteTags     = 100
	maxNoteMentions = 100
	maxNoteTagsRead = 1000
	MaxAttachments  = 100
	maxNoteTitle    = 500
	maxPollOptions  = 100
	maxOptionLength = 500
	maxAltText      = 10_000
)

// ReadNote parses the document of a status. Its own addressing counts, else that of the activity that contains it (nil: none). Errors
// are final.
func (r *Reader) ReadNote(o activity.Object, by activity.Object) (*Note, error) {
	n := &Note{ObjectType: o.Type(NoteTypes...)}
	n.URI = o.ID()
	if n.ObjectType == "" {
		return nil, Refuse("object is not a status but %q", truncateBytes(o.Type(), 100))
	}
	host, err := activity.Host(n.URI, r.Settings.AllowLoopback)
	switch {
	case err != nil:
		return nil, Refuse("object has no valid id")
	case r.Settings.IsOwnHost(host):
		return nil, Refuse("object is on this server")
	}
	if n.AuthorURI, err = r.authorOf(o, by.Ref("actor"), host); err != nil {
		return nil, err
	}
	now := r.now()
	n.Published, n.Updated = PlausibleTime(o.Time("published"), now), o.Time("updated")
	if n.Updated.After(now) {
		n.Updated = now
	}
	n.URL = r.pageURL(o, n.URI, host)
	n.readContent(r, o)
	n.readTags(r, o)
	n.readAudience(r, o, by)
	n.Media, n.Link = r.noteMedia(o, n)
	if n.ObjectType == "Question" {
		if n.Poll, err = readPoll(o, now); err != nil {
			return nil, err
		}
	}
	if n.ParentURI = o.Ref("inReplyTo"); n.ParentURI == n.URI || !r.isPublicURL(n.ParentURI) {
		n.ParentURI = ""
	}
	n.readQuote(r, o)
	n.showLink()
	n.readPolicies(r, o)
	n.Content = text.SanitizeForeign(n.Content, mentionsIn(o))
	n.Context = cmp.Or(o.Ref("context"), o.Ref("conversation"))
	if isTagURIOf(n.Context, host) || r.isOn(host, n.Context) {
		n.ThreadURI = n.Context
	}
	if next := nextRepliesOf(o); r.isOn(host, next) {
		n.RepliesURI = next
	} else if n.RepliesURI = repliesOf(o); !r.isOn(host, n.RepliesURI) {
		n.RepliesURI = ""
	}
	return n, nil
}

// isTagURIOf returns whether an id is a tag URI of a host (RFC 4151).
func isTagURIOf(name, host string) bool {
	const maxBytes = 2048
	rest, ok := strings.CutPrefix(name, "tag:")
	authority, _, hasDate := strings.Cut(rest, ",")
	return ok && hasDate && authority == host && len(name) <= maxBytes
}

// authorOf returns the author of a status: of several, the actor who sent it, or else the first. It must be on host, that of the status
// (federation R2).
func (r *Reader) authorOf(o activity.Object, sender, host string) (string, error) {
	const maxAuthors = 20
	authors := o.Refs("attributedTo", maxAuthors)
	if len(authors) == 0 {
		authors = o.Refs("actor", 1)
	}
	if len(authors) == 0 {
		return "", Refuse("object has no author")
	}
	author := authors[0]
	if creator := o.Ref("actor"); o.Is("Event") && creator != "" && activity.SameHost(creator, author, r.Settings.AllowLoopback) {
		authors, author = []string{creator}, creator // the author of a group's event is a person
	}
	switch {
	case sender != "" && !slices.Contains(authors, sender):
		return "", Refuse("object is attributed to another actor")
	case sender != "":
		author = sender
	default:
		for _, v := range o.Values("attributedTo") { // a video belongs to a person and a channel
			if m, ok := v.(map[string]any); ok && activity.Object(m).Is("Person") && activity.Reference(v) != "" {
				author = activity.Reference(v)
				break
			}
		}
	}
	if !r.isOn(host, author) {
		return "", Refuse("object is on another host than its author")
	}
	if actor := o.Ref("actor"); actor != "" && actor != author && !slices.Contains(authors, actor) {
		return "", Refuse("object has two authors")
	}
	return author, nil
}

// PlausibleTime returns the time of a document if it is plausible.
func PlausibleTime(t, now time.Time) time.Time {
	if t.Year() < 1970 || t.After(now) {
		return now
	}
	return t
}

// readTags reads hashtags, mentions and emoji.
func (n *Note) readTags(r *Reader, o activity.Object) {
	keys := make(map[string]bool) // of the hashtags: another spelling is no other hashtag
	for _, tag := range o.Objects("tag", maxNoteTagsRead) {
		switch {
		case tag.Is("Hashtag"):
			name := text.TagName(truncateBytes(tag.Text("name"), 1000))
			if key := text.TagKey(name); name != "" && len(n.Tags) < maxNoteTags && !keys[key] {
				keys[key] = true
				n.Tags = append(n.Tags, name)
			}
		case tag.Is("Mention"):
			href := tag.Text("href")
			if r.isPublicURL(href) && len(n.Mentions) < maxNoteMentions && !slices.Contains(n.Mentions, href) {
				n.Mentions = append(n.Mentions, href)
			}
		}
	}
	n.Emojis = r.ParseEmojis(o)
	n.Sensitive = n.Sensitive || slices.Contains(n.Tags, "nsfw")
}

// mentionsIn returns the test whether a link leads to an account that the tags of an object mention: to its actor or, on the same host, to a
// page whose address ends in its nickname.
func mentionsIn(o activity.Object) func(href string) bool {
	hrefs, pages := make(map[string]bool), make(map[[2]string]bool)
	for _, tag := range o.Objects("tag", maxNoteTagsRead) {
		href := tag.Text("href")
		if u, err := activity.ParseURL(href); err == nil && tag.Is("Mention") && len(hrefs) < maxNoteMentions {
			nickname, _, _ := strings.Cut(strings.TrimPrefix(truncateBytes(tag.Text("name"), 1000), "@"), "@")
			hrefs[href], pages[pageOf(u, cmp.Or(nickname, lastSegment(u)))] = true, true
		}
	}
	return func(href string) bool {
		u, err := activity.ParseURL(href)
		return err == nil && (hrefs[href] || pages[pageOf(u, lastSegment(u))])
	}
}

// pageOf returns the host of a URL and a nickname in the form in which they are compared.
func pageOf(u *url.URL, nickname string) [2]string {
	return [2]string{strings.ToLower(u.Host), text.NickKey(nickname)}
}

// lastSegment returns the last segment of a path without the @ of a nickname, and without a host after it.
func lastSegment(u *url.URL) string {
	segment := u.Path[strings.LastIndexByte(u.Path, '/')+1:]
	nickname, _, _ := strings.Cut(strings.TrimPrefix(segment, "@"), "@")
	return nickname
}

// repliesOf returns the URL of the replies collection.
func repliesOf(o activity.Object) string {
	ref := o.Ref("replies")
	if ref == "" {
		if c := o.Object("replies"); c != nil {
			ref = c.Ref("first")
		}
	}
	return ref
}

// nextRepliesOf returns the URL of the page after an embedded one that states no items, "" if there is none. GoToSocial names the list of all
// replies there, and leaves those by the author out of the collection itself. Mastodon states the items, even if there are none.
func nextRepliesOf(o activity.Object) string {
	page := o.Object("replies").Object("first")
	if page == nil || page["items"] != nil || page["orderedItems"] != nil {
		return ""
	}
	return page.Ref("next")
}

// MaxAddressees is how many values of `to`, and of `cc`, are read.
const MaxAddressees = 1000

// readAudience reads the visibility and recipients (federation 4.1). Collections other than the author's followers are ignored.
func (n *Note) readAudience(r *Reader, o, by activity.Object) {
	addresses := addressingOf(o, by)
	to, cc := addresses.Refs("to", MaxAddressees), addresses.Refs("cc", MaxAddressees)
	direct, _ := o.Bool("directMessage")
	if d, _ := by.Bool("directMessage"); d {
		direct = true
	}
	switch list := cmp.Or(o.Text("listMessage"), by.Text("listMessage")); {
	case slices.ContainsFunc(to, activity.IsPublic):
		n.Visibility = store.Public
	case slices.ContainsFunc(cc, activity.IsPublic):
		n.Visibility = store.Unlisted
	case slices.ContainsFunc(slices.Concat(to, cc), n.isFollowers):
		n.Visibility = store.Private
	case direct || list == "":
		n.Visibility = store.Direct
	default:
		n.Visibility = store.ListOnly
	}
	seen := make(map[string]bool)
	members := []string{"to", "cc"}
	if n.Visibility.Unrestricted() {
		members = append(members, "audience") // the group of its thread (FEP-1b12)
	}
	for _, from := range []activity.Object{o, by} {
		for _, key := range members {
			for _, id := range from.Refs(key, MaxAddressees) {
				if !activity.IsPublic(id) && !seen[id] && r.isPublicURL(id) && !n.isFollowers(id) && len(n.Audience) < MaxAddressees {
					n.Audience = append(n.Audience, id)
					seen[id] = true
				}
			}
		}
	}
}

// isFollowers returns whether a URI may be that of the author's followers. The exact URI is in the author's document: see
// applyFollowersURI.
func (n *Note) isFollowers(id string) bool {
	return strings.HasSuffix(id, "/followers") && strings.HasPrefix(id, baseURLOf(n.AuthorURI)+"/")
}

// applyFollowersURI applies the known followers URI of the author.
func (n *Note) applyFollowersURI(o, by activity.Object, followers string) {
	if followers == "" || n.Visibility < store.Private {
		return
	}
	addresses := addressingOf(o, by)
	all := slices.Concat(addresses.Refs("to", MaxAddressees), addresses.Refs("cc", MaxAddressees))
	switch is := slices.Contains(all, followers); {
	case is && n.Visibility > store.Private:
		n.Visibility = store.Private
	case !is && n.Visibility == store.Private: // of another account
		n.Visibility = store.Direct
	}
}

// mentionAddressees adds the local accounts that a direct status is addressed to as mentions: some programs send messages without tags.
func (n *Note) mentionAddressees(r *Reader, o, by activity.Object) {
	if n.Visibility != store.Direct {
		return
	}
	for _, id := range addressingOf(o, by).Refs("to", MaxAddressees) {
		if r.isOn(r.Settings.WebHost, id) && len(n.Mentions) < maxNoteMentions && !slices.Contains(n.Mentions, id) {
			n.Mentions = append(n.Mentions, id)
		}
	}
}

// baseURLOf returns the scheme and host of a URL.
func baseURLOf(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// addressingOf returns the object whose addressing counts: the status, or else the activity that contains it.
func addressingOf(o, by activity.Object) activity.Object {
	if len(o.Refs("to", 1)) == 0 && len(o.Refs("cc", 1)) == 0 {
		return by
	}
	return o
}

// HasNoAudience returns whether a status has no addressing.
func HasNoAudience(o, by activity.Object) bool {
	by = addressingOf(o, by)
	return len(by.Refs("to", 1)) == 0 && len(by.Refs("cc", 1)) == 0
}
