package moving

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

const maxActorBytes = 1 << 20

// outbox reads the ActivityPub form: actor.json and outbox.json, as Mastodon, Pleroma, Akkoma, GoToSocial and this server write them.
type outbox struct {
	archive *Archive
	of      Origin
	pinned  map[string]bool // ids
	now     time.Time
}

func newOutbox(a *Archive) (*outbox, error) {
	b, err := a.readAll(actorName, maxActorBytes)
	if err != nil {
		return nil, err
	}
	actor, err := activity.Parse(b)
	if err != nil {
		return nil, errs.Invalid("The file actor.json of the archive cannot be read: %v", err)
	}
	id := address(actor.ID())
	f := &outbox{archive: a, of: Origin{id, handleOf(cut(actor.Text("preferredUsername"), 200), id, true)}, pinned: make(map[string]bool), now: time.Now()}
	if id == "" || f.of.Handle == "" {
		return nil, errs.Invalid("The file actor.json of the archive names no account")
	}
	return f, f.readPins()
}

// maxPins is how many pinned posts are read.
const maxPins = 50

func (f *outbox) readPins() error {
	const name = "featured.json"
	if !f.archive.Has(name) {
		return nil
	}
	return f.archive.eachEntry(name, func(entry json.RawMessage) error {
		var id string
		if json.Unmarshal(entry, &id) == nil && len(f.pinned) < maxPins {
			f.pinned[id] = true
		}
		return nil
	})
}

func (f *outbox) origin() Origin { return f.of }
func (f *outbox) list() string   { return outboxName }

// id reads as little of the entry as needed, because it is called for all entries before any is imported.
func (f *outbox) id(entry json.RawMessage) string {
	var a struct {
		ID     string          `json:"id"`
		Object json.RawMessage `json:"object"`
	}
	if json.Unmarshal(entry, &a) != nil {
		return ""
	}
	var o struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(a.Object, &o) == nil && o.ID != "" {
		return o.ID
	}
	return a.ID
}

func (f *outbox) post(entry json.RawMessage) (*Post, string) {
	o, err := activity.Parse(entry)
	if err != nil {
		if f.id(entry) != "" {
			return nil, "the post cannot be read: " + err.Error()
		}
		return nil, "" // an id only, or no activity
	}
	if o.Is("Create", "Update") {
		if o = o.Object("object"); o == nil {
			return nil, ""
		}
	}
	if !o.Is("Note", "Question", "Article", "Page") {
		return nil, ""
	}
	p := &Post{}
	if p.URI = address(o.ID()); p.URI == "" {
		return nil, "the post has no id"
	}
	if author := o.Ref("attributedTo"); author != "" && author != f.of.ActorURI {
		return nil, "the post is of another account"
	}
	ok := false
	if p.Published, ok = plausible(o.Time("published"), f.now); !ok {
		return nil, "the post has no date"
	}
	if p.Updated = o.Time("updated"); p.Updated.After(f.now) {
		p.Updated = f.now
	}
	p.URL = address(o.Ref("url"))
	if p.URL == "" {
		p.URL = p.URI
	}
	f.readContent(p, o)
	f.readAudience(p, o)
	p.ParentURI = address(o.Ref("inReplyTo"))
	for _, tag := range o.Objects("tag", 1000) {
		if tag.Is("Hashtag") {
			p.Tags = addTag(p.Tags, tag.Text("name"))
		}
	}
	p.Emojis = f.emojis(o)
	f.readAttachments(p, o)
	p.Poll = f.poll(o, p.Published)
	f.readVersions(p, o)
	p.Pinned = f.pinned[p.URI]
	return p, ""
}

func (f *outbox) readContent(p *Post, o activity.Object) {
	v := f.version(o)
	p.Content, p.Text, p.ContentType, p.SpoilerText, p.Sensitive = v.Content, v.Text, v.ContentType, v.SpoilerText, v.Sensitive
	_, language := o.TextAndLanguage("content")
	p.Language = text.Language(language)
}

// version reads the content of a post, or of an earlier version of it.
func (f *outbox) version(o activity.Object) social.ImportedVersion {
	content, _ := o.TextAndLanguage("content")
	summary, _ := o.TextAndLanguage("summary")
	v := social.ImportedVersion{
		Content:     foreign(content, mentionsOf(o)),
		SpoilerText: text.OneLine(text.HTMLToText(cut(summary, maxSpoiler))),
	}
	v.Sensitive, _ = o.Bool("sensitive")
	v.Text, v.ContentType = text.HTMLToText(v.Content), string(text.PlainText)
	if source := o.Object("source"); source != nil {
		typed := source.Text("content")
		if kind := source.Text("mediaType"); typed != "" && len(typed) <= maxSource && slices.Contains([]text.ContentType{text.PlainText, text.HTML, text.Markdown, text.BBCode}, text.ContentType(kind)) {
			v.Text, v.ContentType = typed, kind
		}
	}
	return v
}

// mentionsOf returns the test whether a link leads to an account that the tags of a post mention.
func mentionsOf(o activity.Object) func(string) bool {
	hrefs := make(map[string]bool)
	for _, tag := range o.Objects("tag", 1000) {
		if tag.Is("Mention") && len(hrefs) < maxTags {
			hrefs[tag.Text("href")] = true
		}
	}
	return func(href string) bool { return hrefs[href] }
}

// readAudience keeps public and unlisted posts, and makes all others visible to the author alone.
func (f *outbox) readAudience(p *Post, o activity.Object) {
	const maxAddressees = 1000
	switch {
	case slices.ContainsFunc(o.Refs("to", maxAddressees), activity.IsPublic):
		p.Visibility = store.Public
	case slices.ContainsFunc(o.Refs("cc", maxAddressees), activity.IsPublic):
		p.Visibility = store.Unlisted
	default:
		p.Visibility = store.Direct
	}
}

// emojis returns the custom emoji of a post. Archives do not have their pictures: they are shown from the old server, as those of remote posts are.
func (f *outbox) emojis(o activity.Object) []store.RemoteEmoji {
	var list []store.RemoteEmoji
	for _, tag := range o.Objects("tag", 1000) {
		code := strings.Trim(tag.Text("name"), ":")
		url := address(tag.Object("icon").Ref("url"))
		known := func(e store.RemoteEmoji) bool { return e.Shortcode == code }
		if tag.Is("Emoji") && text.ValidRemoteShortcode(code) && url != "" && len(list) < store.MaxStatusEmojis && !slices.ContainsFunc(list, known) {
			list = append(list, store.RemoteEmoji{Shortcode: code, URL: url})
		}
	}
	return list
}

func (f *outbox) readAttachments(p *Post, o activity.Object) {
	for _, m := range o.Objects("attachment", maxAttachments) {
		if !m.Is("Document", "Image", "Video", "Audio") {
			continue
		}
		a := Attachment{Address: cut(m.Ref("url"), maxAddress), Description: strings.TrimSpace(cut(m.Text("name"), maxDescription))}
		if a.Description == "" {
			a.Description = strings.TrimSpace(cut(m.Text("summary"), maxDescription))
		}
		a.Path = f.archive.find(a.Address)
		if at := m.Values("focalPoint"); len(at) == 2 {
			x, okX := at[0].(float64)
			y, okY := at[1].(float64)
			if okX && okY {
				a.Focus = focus(x, y)
			}
		}
		p.Attachments = append(p.Attachments, a)
	}
}

// poll reads the poll of a Question, with its results.
func (f *outbox) poll(o activity.Object, published time.Time) *store.Poll {
	options := o.Objects("oneOf", maxOptions)
	poll := new(store.Poll)
	if len(options) == 0 {
		options, poll.Multiple = o.Objects("anyOf", maxOptions), true
	}
	votes := 0
	for _, each := range options {
		title, _ := each.TextAndLanguage("name")
		n := each.Object("replies").Count("totalItems")
		votes += n
		poll.Options.V = append(poll.Options.V, store.PollOption{Title: option(title), Votes: n})
	}
	if o["votersCount"] != nil {
		poll.VotersCount = new(o.Count("votersCount"))
	} else if !poll.Multiple {
		poll.VotersCount = &votes
	}
	end := o.Time("closed")
	if end.IsZero() {
		end = o.Time("endTime")
	}
	return endPoll(poll, end, published, f.now)
}

// readVersions reads the earlier versions of an edited post, which backups of this server have.
func (f *outbox) readVersions(p *Post, o activity.Object) {
	for _, former := range o.Object("formerRepresentations").Objects("orderedItems", maxVersions) {
		v := f.version(former)
		if v.At = former.Time("updated"); v.At.IsZero() {
			v.At = p.Published
		}
		for _, each := range slices.Concat(former.Objects("oneOf", maxOptions), former.Objects("anyOf", maxOptions)) {
			v.PollOptions = append(v.PollOptions, option(each.Text("name")))
		}
		p.Versions = append(p.Versions, v)
	}
}
