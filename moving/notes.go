package moving

import (
	"encoding/json"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// notes reads the notes.json of Misskey and its kin: an array of notes. It names neither the account nor its server, so that the account must have
// named the origin as its only alias, or the import must name it.
type notes struct {
	archive *Archive
	name    string // of the file
	of      Origin
	base    string // of the server, such as https://misskey.example
	now     time.Time
}

// note is a note of that file.
type note struct {
	ID         string     `json:"id"`
	Text       *string    `json:"text"`
	Warning    *string    `json:"cw"`
	CreatedAt  time.Time  `json:"createdAt"`
	ReplyID    *string    `json:"replyId"`
	RenoteID   *string    `json:"renoteId"`
	Visibility string     `json:"visibility"` // public, home, followers, specified
	LocalOnly  bool       `json:"localOnly"`
	Files      []noteFile `json:"files"`
	Poll       *notePoll  `json:"poll"`
}

type noteFile struct {
	Name      string `json:"name"`
	URL       string `json:"url"`
	Comment   string `json:"comment"`
	Sensitive bool   `json:"isSensitive"`
}

type notePoll struct {
	Multiple  bool       `json:"multiple"`
	ExpiresAt *time.Time `json:"expiresAt"`
	Choices   []struct {
		Text  string `json:"text"`
		Votes int    `json:"votes"`
	} `json:"choices"`
}

// notes returns the name of the file of notes of an archive, "" if it has none: notes.json, or with a date as Misskey names it.
func (a *Archive) notes() string {
	if a.Has(notesName) {
		return notesName
	}
	found := ""
	for name := range a.files {
		if ok, _ := path.Match("notes-*.json", name); ok && (found == "" || name > found) {
			found = name
		}
	}
	return found
}

func newNotes(a *Archive, aliases []Origin) (*notes, error) {
	if len(aliases) != 1 {
		return nil, errs.Invalid("The archive does not say of which account it is: name one alias in the settings, or let an administrator import it with --origin")
	}
	of := aliases[0]
	scheme, rest, ok := strings.Cut(of.ActorURI, "://")
	host, _, _ := strings.Cut(rest, "/")
	if !ok || host == "" {
		return nil, errs.Invalid("%q is not the id of an account", of.ActorURI)
	}
	return &notes{archive: a, name: a.notes(), of: of, base: scheme + "://" + host, now: time.Now()}, nil
}

func (f *notes) origin() Origin { return f.of }
func (f *notes) list() string   { return f.name }

func (f *notes) id(entry json.RawMessage) string {
	var n struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(entry, &n) != nil || n.ID == "" {
		return ""
	}
	return f.uri(n.ID)
}

// uri returns the id of a note in ActivityPub, which is also its page.
func (f *notes) uri(id string) string { return address(f.base + "/notes/" + id) }

func (f *notes) post(entry json.RawMessage) (*Post, string) {
	var n note
	if err := json.Unmarshal(entry, &n); err != nil || n.ID == "" || len(n.ID) > 100 || strings.Contains(n.ID, "/") {
		return nil, "the note cannot be read"
	}
	source := ""
	if n.Text != nil {
		source = cut(*n.Text, maxSource)
	}
	if source == "" && len(n.Files) == 0 && n.Poll == nil { // a boost
		return nil, ""
	}
	p := &Post{}
	p.URI = f.uri(n.ID)
	p.URL = p.URI
	ok := false
	if p.Published, ok = plausible(n.CreatedAt.UTC(), f.now); !ok {
		return nil, "the note has no date"
	}
	if n.RenoteID != nil {
		source += "\n\n" + f.uri(*n.RenoteID)
	}
	rendered := text.Parse(source, text.PlainText).Render(f.base, nil)
	p.Content = foreign(rendered.HTML, func(string) bool { return false })
	p.Text, p.ContentType = source, string(text.PlainText)
	for _, name := range rendered.Tags {
		p.Tags = addTag(p.Tags, name)
	}
	if n.Warning != nil {
		p.SpoilerText = text.OneLine(cut(*n.Warning, maxSpoiler))
		p.Sensitive = p.SpoilerText != ""
	}
	if n.ReplyID != nil {
		p.ParentURI = f.uri(*n.ReplyID)
	}
	switch {
	case n.LocalOnly, !slices.Contains([]string{"public", "home"}, n.Visibility):
		p.Visibility = store.Direct
	case n.Visibility == "home":
		p.Visibility = store.Unlisted
	}
	for _, file := range n.Files[:min(len(n.Files), maxAttachments)] {
		a := Attachment{Address: cut(file.URL, maxAddress), Description: strings.TrimSpace(cut(file.Comment, maxDescription))}
		if a.Path = f.archive.find(file.URL); a.Path == "" {
			a.Path = f.archive.find(file.Name)
		}
		p.Sensitive = p.Sensitive || file.Sensitive
		p.Attachments = append(p.Attachments, a)
	}
	p.Poll = f.poll(n.Poll, p.Published)
	return p, ""
}

func (f *notes) poll(n *notePoll, published time.Time) *store.Poll {
	if n == nil {
		return nil
	}
	poll := &store.Poll{Multiple: n.Multiple}
	votes := 0
	for _, c := range n.Choices[:min(len(n.Choices), maxOptions)] {
		count := max(0, min(c.Votes, math.MaxInt32)) // as activity.Object.Count
		poll.Options.V = append(poll.Options.V, store.PollOption{Title: option(c.Text), Votes: count})
		votes += count
	}
	if !poll.Multiple {
		poll.VotersCount = &votes
	}
	var end time.Time
	if n.ExpiresAt != nil {
		end = *n.ExpiresAt
	}
	return endPoll(poll, end, published, f.now)
}
