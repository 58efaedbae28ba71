package moving

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

// Bounds of a post of an archive. The content is also cut to store.MaxRemoteContent.
const (
	maxSource      = 200_000 // bytes of the content with its markup
	maxSpoiler     = 5_000   // bytes
	maxDescription = 10_000  // bytes
	maxAttachments = 16
	maxTags        = 100
	maxOptions     = 100
	maxOption      = 500 // characters
	maxVersions    = 50
	maxAddress     = 2048 // bytes of an id or URL
)

// Post is a post of an archive. Its attachments are not stored yet.
type Post struct {
	social.ImportedPost
	Attachments []Attachment
}

// Attachment is an attachment of a post in an archive.
type Attachment struct {
	Path        string // in the archive; "": it is not there
	Address     string // as the post has it
	Description string
	Focus       social.Focus
}

// Origin is the account that an archive is of.
type Origin struct {
	ActorURI string
	Handle   string // nickname@host
}

// form reads the archives of one kind of software.
type form interface {
	// origin returns the account that the archive is of.
	origin() Origin
	// list returns the name of the file that lists the posts.
	list() string
	// id returns the id of the post in an entry of that list, "" if it has none.
	id(entry json.RawMessage) string
	// post returns the post of an entry, or the reason why it is skipped; nil and "" for an entry that is no post.
	post(entry json.RawMessage) (p *Post, reason string)
}

// Names of the files by which the form is known.
const (
	outboxName = "outbox.json"
	actorName  = "actor.json"
	notesName  = "notes.json"
)

// detect returns the reader for the form of an archive. aliases are the accounts that it may be of, for a form that does not say it.
func detect(a *Archive, aliases []Origin) (form, error) {
	switch {
	case a.Has(outboxName) && a.Has(actorName):
		return newOutbox(a)
	case a.notes() != "":
		return newNotes(a, aliases)
	}
	return nil, errs.Invalid("The archive has no posts in a known form: it must have the files outbox.json and actor.json (Mastodon, Pleroma, Akkoma, GoToSocial, this server), or notes.json (Misskey and its kin)")
}

// plausible returns the time of a post, and false if it has none, or one that cannot be.
func plausible(t, now time.Time) (time.Time, bool) {
	return t, !t.IsZero() && t.Year() >= 1990 && !t.After(now.Add(time.Minute))
}

// foreign returns HTML as that of remote posts is stored.
func foreign(source string, isMention func(string) bool) string {
	return text.SanitizeForeign(store.CutRemoteHTML(text.Sanitize(cut(source, maxSource)), ""), isMention)
}

// cut cuts a text to a number of bytes, at a character.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	return strings.ToValidUTF8(s[:max], "")
}

// address returns a web address, "" for anything else.
func address(s string) string {
	if len(s) > maxAddress {
		return ""
	}
	if u, err := activity.ParseURL(s); err != nil || u.Host == "" {
		return ""
	}
	return s
}

// addTag adds a hashtag, unless it is there in any spelling.
func addTag(tags []string, name string) []string {
	name = text.TagName(cut(name, 1000))
	same := func(other string) bool { return text.TagKey(other) == text.TagKey(name) }
	if name == "" || len(tags) >= maxTags || slices.ContainsFunc(tags, same) {
		return tags
	}
	return append(tags, name)
}

// option returns the title of an option of a poll.
func option(title string) string {
	return text.Shorten(text.OneLine(cut(title, 8*maxOption)), maxOption)
}

// endPoll closes a poll: its results stay as they were.
func endPoll(p *store.Poll, end, published, now time.Time) *store.Poll {
	if len(p.Options.V) < 2 {
		return nil
	}
	if end.IsZero() || end.After(now) || end.Before(published) {
		end = now
	}
	p.ExpiresAt, p.Closed = new(store.At(end)), true
	return p
}

// focus returns a focal point, the middle if a coordinate is none.
func focus(x, y float64) social.Focus {
	if !(math.Abs(x) <= 1 && math.Abs(y) <= 1) {
		return social.Focus{}
	}
	return social.Focus{X: x, Y: y}
}

// handleOf returns the handle of a nickname on the host of an actor.
func handleOf(nickname, actorURI string, allowLoopback bool) string {
	host, err := activity.Host(actorURI, allowLoopback)
	if err != nil || nickname == "" {
		return ""
	}
	return nickname + "@" + host
}
