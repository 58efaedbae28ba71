package policy

import (
	"context"
	"slices"
	"strings"
	"time"

	"svc/store"
)

// Post is a post on its way in or out. Policies change it in place.
type Post struct {
	Spoiler     string   // content warning, subject
	Content     string   // HTML, sanitized before and after
	OtherText   []string // options of a poll, descriptions of attachments
	Sensitive   bool
	Attachments []Attachment
	Emoji       []Emoji
	Tags        []string // hashtags, with or without #

	Local        bool
	Author       *store.Account // nil if unknown
	ActorID      string         // of the author
	Host         string         // of the author, normalized (activity.Host); the chain sets it if Local
	ID           string         // "" if it has none yet
	ActivityType string         // Create or Update
	ObjectType   string         // Note, Article, Question …
	Visibility   store.Visibility
	NoFollowers  bool // it stays out of the home timelines of the author's followers

	Recipients []Recipient // without the author and collections
	Parent     *Related    // nil if it is no reply
	Quote      *Related    // nil if it quotes nothing

	PublishedAt time.Time // zero: now
	ExpiresAt   time.Time // zero: never

	Jobs []Job // what policies cause if the post passes
}

// Job is a job to enqueue. Only one job of a key waits at a time; "" is no key.
type Job struct {
	Key     string
	Payload store.JobPayload
}

// EnqueueJobs enqueues the jobs of a post that has passed.
func (p *Post) EnqueueJobs(ctx context.Context, db *store.DB) error {
	if len(p.Jobs) == 0 {
		return nil
	}
	return db.Update(ctx, func(tx *store.Tx) error {
		for _, j := range p.Jobs {
			var err error
			if j.Key == "" {
				err = tx.Enqueue(ctx, j.Payload)
			} else {
				err = tx.EnqueueUnique(ctx, db.Now(), j.Key, j.Payload)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Attachment is an image, video or audio of a post. Callers find by Index which attachments a policy has removed.
type Attachment struct {
	Index     int
	URL       string
	MediaType string // image/png, or only image
}

func (a Attachment) isImage() bool { return strings.HasPrefix(a.MediaType, "image") }

// Emoji is a custom emoji.
type Emoji struct{ Shortcode, URL string }

// Recipient is an account that a post is addressed to.
type Recipient struct {
	ID        string         // actor id; may be "" in a local post unless Chain.NeedsAccounts
	Account   *store.Account // nil if unknown, or not needed
	Mentioned bool
}

// Related is a post that another one replies to or quotes.
type Related struct {
	ID         string
	URL        string         // of the page; "": the ID
	Author     *store.Account // nil if unknown; may be nil in a local post unless Chain.NeedsAccounts
	Spoiler    string
	Visibility store.Visibility
}

// ChatMessage returns a chat message as a post for its recipient. The caller sets the URL of the attachment, if there is one.
func ChatMessage(from, to *store.Account, content string, attachment *store.Media) *Post {
	p := &Post{
		Content: content, Author: from, ActorID: from.URI, ActivityType: "Create", ObjectType: "ChatMessage",
		Visibility: store.Direct, Recipients: []Recipient{{ID: to.URI, Account: to}},
	}
	if attachment != nil {
		p.Attachments = []Attachment{{MediaType: attachment.Mime}}
		p.OtherText = []string{attachment.Description}
	}
	return p
}

// isCreate returns false for edits. Policies about the time and the audience of a post only apply to new ones.
func (p *Post) isCreate() bool { return p.ActivityType == "Create" }

// isNote returns false for polls and chat messages.
func (p *Post) isNote() bool { return p.ObjectType == "Note" || p.ObjectType == "Article" }

// delist makes a public post unlisted. A local post stays local, because no visibility is narrower and still local.
func (p *Post) delist() {
	if p.Visibility == store.Public {
		p.Visibility = store.Unlisted
	}
}

// restrictToFollowers makes a public or unlisted post private. A local post stays local, because a private one would be federated.
func (p *Post) restrictToFollowers() {
	if p.Visibility == store.Public || p.Visibility == store.Unlisted {
		p.Visibility = store.Private
	}
}

// stripFollowers keeps a post out of the home timelines of the author's followers.
func (p *Post) stripFollowers() {
	p.NoFollowers = true
	if p.Visibility == store.Private {
		p.Visibility = store.Direct
	}
}

// markSensitive marks a post with attachments as sensitive.
func (p *Post) markSensitive() { p.Sensitive = p.Sensitive || len(p.Attachments) > 0 }

// mention marks an account as mentioned. A post with a narrow audience does not get another recipient.
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

// textSize returns how much text a post has, in bytes.
func (p *Post) textSize() int {
	n := len(p.Spoiler) + len(p.Content)
	for _, t := range p.OtherText {
		n += len(t)
	}
	return n
}

// Profile is a remote actor document.
type Profile struct {
	ActorID   string
	ActorType string // Person, Service …
	Host      string
	Domain    string // of the handle
	Nickname  string
	Name      string
	Note      string // HTML
	Fields    []store.Field
	Avatar    string // URL, or ""
	Banner    string // URL, or ""
	Emoji     []Emoji
}

// Activity is an activity without a post: Follow, Like, EmojiReact, Announce, Delete, Undo, Move, Flag …
type Activity struct {
	Local      bool
	Type       string
	InnerType  string // of the object: what an Undo, Accept or Reject is about
	Actor      *store.Account
	ActorID    string
	Host       string           // of the actor; the chain sets it if Local
	ObjectIDs  []string         // the liked status, the followed account, all that is reported
	Target     *store.Account   // the account to follow; nil if unknown, or no Follow
	Content    string           // of a report
	Emoji      *Emoji           // of a reaction with a custom emoji
	Visibility store.Visibility // of an Announce; policies may narrow it
}

// isBot returns true if an account says that it is automated.
func isBot(a *store.Account) bool {
	return a != nil && (a.ActorType == "Service" || a.ActorType == "Application")
}
