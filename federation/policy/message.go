package policy

import (
	"slices"
	"strings"
	"time"

	"svc/store"
)

// Post is a post on its way in or out, in the words of neither the network nor the database. Policies change it in place.
type Post struct {
	Version           // what is to be read and seen of it
	Former  []Version // what was before it was edited; policies that look at words and pictures look at these too

	Local        bool           // made here
	Author       *store.Account // nil if not known yet
	ActorID      string         // the author's ActivityPub id
	Host         string         // of the author, in its one form (activity.Host); set by the chain if Local
	ID           string         // of the post, "" if it has none yet
	ActivityType string         // Create or Update
	ObjectType   string         // Note, Article, Question …
	Visibility   store.Visibility
	NoFollowers  bool // it is not for the timelines of the author's followers, though its visibility would have it there

	Recipients []Recipient // who is addressed, without the author, collections and everybody
	Parent     *Related    // what it replies to, nil if nothing
	Quote      *Related    // what it quotes, nil if nothing
	Links      []Link      // tags of the type Link

	PublishedAt time.Time // the zero time: now
	ExpiresAt   time.Time // the zero time: never
}

// Version is one version of a post.
type Version struct {
	Name        string   // title
	Spoiler     string   // subject
	Content     string   // HTML, sanitised before and after
	OtherText   []string // what else there is to read: options of a poll, descriptions of attachments
	Sensitive   bool
	Attachments []Attachment
	Emoji       []Emoji
	Tags        []string // hashtags, with or without #
}

// Attachment is a picture, video or sound of a post. Index is for the caller, who finds by it what has been taken away.
type Attachment struct {
	Index     int
	URL       string
	MediaType string // image/png, or only image
}

// Emoji is a custom emoji.
type Emoji struct{ Shortcode, URL string }

// Link is a tag of the type Link (FEP-e232).
type Link struct{ Href, MediaType, Name string }

// Recipient is somebody to whom a post is addressed.
type Recipient struct {
	ID        string         // ActivityPub id; may be "" for a post of this server unless Chain.NeedsAccounts
	Account   *store.Account // nil if not known, or not needed
	Mentioned bool           // named as a mention, not only addressed
}

// Related is a post that another one replies to or quotes.
type Related struct {
	ID         string
	URL        string         // where people read it; "": at ID
	Author     *store.Account // nil if not known; may be nil for a post of this server unless Chain.NeedsAccounts
	Spoiler    string
	Visibility store.Visibility
}

// ChatMessage returns a chat message as a post for its recipient. The caller sets the URL of the attachment, if there is one.
func ChatMessage(from, to *store.Account, content string, attachment *store.Media) *Post {
	p := &Post{
		Version: Version{Content: content}, Author: from, ActorID: from.URI, ActivityType: "Create", ObjectType: "ChatMessage",
		Visibility: store.Direct, Recipients: []Recipient{{ID: to.URI, Account: to}},
	}
	if attachment != nil {
		p.Attachments = []Attachment{{MediaType: attachment.Mime}}
		p.OtherText = []string{attachment.Description}
	}
	return p
}

// eachVersion calls look with each version of the post, until one is refused.
func (p *Post) eachVersion(look func(*Version) error) error {
	if err := look(&p.Version); err != nil {
		return err
	}
	for i := range p.Former {
		if err := look(&p.Former[i]); err != nil {
			return err
		}
	}
	return nil
}

// isCreate tells whether the post is new. Most policies that are about when and to whom a post is sent look at new ones only.
func (p *Post) isCreate() bool { return p.ActivityType == "Create" }

// isNote tells whether it is what people write, and neither a poll nor a message of a chat.
func (p *Post) isNote() bool { return p.ObjectType == "Note" || p.ObjectType == "Article" }

// delist takes the post out of the public timelines. What is for this server only stays: there is nothing between that and less.
func (p *Post) delist() {
	if p.Visibility == store.Public {
		p.Visibility = store.Unlisted
	}
}

// restrictToFollowers makes a post that everybody can see one for followers. What is for this server only stays so: else it would leave it.
func (p *Post) restrictToFollowers() {
	if p.Visibility == store.Public || p.Visibility == store.Unlisted {
		p.Visibility = store.Private
	}
}

// stripFollowers keeps a post from the author's followers, who may still look it up if it is for everybody.
func (p *Post) stripFollowers() {
	p.NoFollowers = true
	if p.Visibility == store.Private {
		p.Visibility = store.Direct
	}
}

// mention names somebody as mentioned. Who is not addressed by a post that is not for everybody stays so: it is none of their business.
func (p *Post) mention(a *store.Account) {
	if a == nil || a.URI == p.ActorID {
		return
	}
	i := slices.IndexFunc(p.Recipients, func(r Recipient) bool { return r.ID == a.URI })
	switch {
	case i >= 0:
		p.Recipients[i].Mentioned = true
	case p.Visibility.Unrestricted():
		p.Recipients = append([]Recipient{{ID: a.URI, Account: a, Mentioned: true}}, p.Recipients...)
	}
}

// Profile is an actor document from elsewhere.
type Profile struct {
	ActorID   string
	ActorType string // Person, Service …
	Host      string
	Domain    string // of its handle
	Nickname  string
	Name      string
	Note      string // HTML
	Fields    []store.Field
	Avatar    string // address; "": none
	Banner    string // likewise
	Emoji     []Emoji
}

// Activity is every activity that brings no post of its own: Follow, Like, EmojiReact, Announce, Delete, Undo, Move, Flag …
type Activity struct {
	Local      bool // done here
	Type       string
	InnerType  string // what an Undo, Accept or Reject is about: Follow, Like …; of others the type of the object if it came along
	Actor      *store.Account
	ActorID    string
	Host       string           // of the actor; set by the chain if Local
	ObjectIDs  []string         // what it is about: the post that is liked, the account that is followed, all that is reported
	Target     *store.Account   // who is followed, nil if unknown or not that kind of deed
	Content    string           // what a report says
	Emoji      *Emoji           // of a reaction with a custom one
	Visibility store.Visibility // of an Announce; policies may narrow it
}

// isBot tells whether an account says that it is no person.
func isBot(a *store.Account) bool {
	return a != nil && (a.ActorType == "Service" || a.ActorType == "Application")
}

// isImage tells whether an attachment can be looked at by who judges pictures.
func (a Attachment) isImage() bool { return strings.HasPrefix(a.MediaType, "image") }
