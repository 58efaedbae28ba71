package store

import (
	"slices"
	"strings"

	"svc/internal/text"
)

// Limits of entities, in bytes of JSON (spec 8). An account counts without the account that it has moved to, a status without accounts and
// without the statuses in it. Rows are cut to these before they are stored. Rendered entities are checked again, because addresses of the
// media proxy are longer than the stored ones.
const (
	MaxRemoteAccount = 32_000  // an account of another server
	MaxRemoteStatus  = 160_000 // a post of another server
	MaxLocalAccount  = 128_000 // a local account
	MaxLocalStatus   = 256_000 // a post of a local account
	MaxChatMessage   = 128_000 // a chat message of another server
)

// Limits of parts of remote entities, in bytes of JSON unless noted.
const (
	MaxRemoteContent     = 64_000 // HTML of a post or chat message
	MaxRemoteNote        = 12_000 // HTML of a bio
	MaxRemoteFields      = 12_000 // all fields of a profile
	MaxRemoteEmojis      = 6_000  // all custom emoji of a profile
	MaxStatusEmojis      = 50     // emoji of a post or message
	MaxStatusEmojiBytes  = 12_000 // all of them
	maxRemoteName        = 1_000  // display name
	maxRemoteFieldName   = 1_000
	maxRemoteField       = 4_000 // HTML of a field
	maxRemoteAliases     = 8_000 // all aliases
	maxRemoteSpoiler     = 5_000
	maxRemotePoll        = 16_000 // all options
	maxRemoteOption      = 1_000
	maxRemoteDescription = 20_000 // of an attachment
	maxRemoteMedia       = 80_000 // all attachments
	maxRemotePicture     = 2_000  // description of an avatar or header
	maxMime              = 255    // a media type has two names of at most 127 characters (RFC 6838)
)

// MaxAttributionDomains is how many hosts an account, local or remote, may list whose pages may name it as their author.
const MaxAttributionDomains = 100

// MaxPictureDescription is how many characters the description of an avatar or header may have. It is in each status of the account.
const MaxPictureDescription = 500

// What members around a value take in JSON, roughly.
const (
	emojiMembers      = 80
	fieldMembers      = 70
	attachmentMembers = 500
	optionMembers     = 40
)

// CutRemote cuts the texts and lists of a remote account to what may be stored, and returns whether it changed anything.
func (a *Account) CutRemote() bool {
	changed := cutText(&a.DisplayName, maxRemoteName)
	changed = cutHTML(&a.Note, MaxRemoteNote, a.URL) || changed
	changed = a.cutFields() || changed
	changed = cutText(&a.AvatarDescription, maxRemotePicture) || changed
	changed = cutText(&a.HeaderDescription, maxRemotePicture) || changed
	aliases := MaxPrefix(a.AlsoKnownAs.V, maxRemoteAliases, func(s string) int { return text.JSONSize(s) + len(`"",`) })
	if len(aliases) < len(a.AlsoKnownAs.V) {
		a.AlsoKnownAs.V, changed = aliases, true
	}
	if len(a.Emojis.V) == 0 {
		return changed
	}
	texts := []string{a.DisplayName, a.Note}
	for _, f := range a.Fields.V {
		texts = append(texts, f.Name, f.Value)
	}
	emojis := UsedEmojis(a.Emojis.V, MaxStatusEmojis, MaxRemoteEmojis, texts...)
	changed = changed || len(emojis) < len(a.Emojis.V)
	a.Emojis.V = emojis
	return changed
}

// FitsRemote returns whether the texts of an account are surely short enough, as those of most are.
func (a *Account) FitsRemote() bool {
	return a.fieldsFit() && text.FitsJSON(a.DisplayName, maxRemoteName) && text.FitsJSON(a.Note, MaxRemoteNote) &&
		text.FitsJSON(a.AvatarDescription, maxRemotePicture) && text.FitsJSON(a.HeaderDescription, maxRemotePicture)
}

// fieldsFit returns whether the fields are surely short enough.
func (a *Account) fieldsFit() bool {
	size := 0
	for _, f := range a.Fields.V {
		name, value := text.MaxEscape*len(f.Name), text.MaxEscape*len(f.Value)
		if name > maxRemoteFieldName || value > maxRemoteField {
			return false
		}
		size += name + value + fieldMembers
	}
	return size <= MaxRemoteFields
}

func (a *Account) cutFields() (changed bool) {
	if a.fieldsFit() {
		return false
	}
	fields := slices.Clone(a.Fields.V)
	for i := range fields {
		changed = cutText(&fields[i].Name, maxRemoteFieldName) || changed
		changed = cutHTML(&fields[i].Value, maxRemoteField, "") || changed
	}
	kept := MaxPrefix(fields, MaxRemoteFields, func(f Field) int { return text.JSONSize(f.Name) + text.JSONSize(f.Value) + fieldMembers })
	changed = changed || len(kept) < len(fields)
	a.Fields.V = kept
	return changed
}

// CutRemote cuts the texts of a remote status to what may be stored, and removes custom emoji that do not occur in them or in more, such as
// the options of its poll. It returns whether it changed anything.
func (s *Status) CutRemote(more ...string) bool {
	changed := s.CutTexts()
	if len(s.Emojis.V) == 0 {
		return changed
	}
	emojis := UsedEmojis(s.Emojis.V, MaxStatusEmojis, MaxStatusEmojiBytes, append(more, s.SpoilerText, s.Content)...)
	changed = changed || len(emojis) < len(s.Emojis.V)
	s.Emojis.V = emojis
	return changed
}

// CutTexts is CutRemote without the custom emoji.
func (s *Status) CutTexts() bool {
	changed := cutText(&s.SpoilerText, maxRemoteSpoiler)
	return cutHTML(&s.Content, MaxRemoteContent, s.originalURL()) || changed
}

// originalURL returns where the whole status is shown.
func (s *Status) originalURL() string {
	if s.URL != "" {
		return s.URL
	}
	return s.URI
}

// CutRemote cuts the texts of an earlier version of a remote status to what may be stored, and returns whether it changed anything.
func (v *StatusEdit) CutRemote(of *Status) bool {
	changed := cutText(&v.SpoilerText, maxRemoteSpoiler)
	changed = cutHTML(&v.Content, MaxRemoteContent, of.originalURL()) || changed
	left := maxRemoteMedia
	for i := range v.Media.V {
		changed = cutText(&v.Media.V[i].Description, min(left, maxRemoteDescription)) || changed
		left = max(0, left-text.JSONSize(v.Media.V[i].Description))
	}
	options := MaxPrefix(v.Poll.V, maxRemotePoll, func(s string) int { return text.JSONSize(s) + optionMembers })
	changed = changed || len(options) < len(v.Poll.V)
	v.Poll.V = options
	return changed
}

// CutRemote cuts the options of a remote poll to what may be stored, and returns whether it changed anything. Votes name an option by
// its title, so a cut one gets no votes from here.
func (p *Poll) CutRemote() bool {
	size, longest := 0, 0
	for _, o := range p.Options.V {
		size += text.MaxEscape*len(o.Title) + optionMembers
		longest = max(longest, text.MaxEscape*len(o.Title))
	}
	if size <= maxRemotePoll && longest <= maxRemoteOption { // most polls
		return false
	}
	changed := false
	options := slices.Clone(p.Options.V)
	for i := range options {
		changed = cutText(&options[i].Title, maxRemoteOption) || changed
	}
	kept := MaxPrefix(options, maxRemotePoll, func(o PollOption) int { return text.JSONSize(o.Title) + optionMembers })
	changed = changed || len(kept) < len(options)
	p.Options.V = kept
	return changed
}

// CutRemote cuts what describes a remote file to what may be stored, and returns whether it changed anything.
func (m *Media) CutRemote() bool {
	changed := cutText(&m.Description, maxRemoteDescription)
	if len(m.Mime) > maxMime {
		m.Mime, changed = "application/octet-stream", true
	}
	return changed
}

// CutRemoteMedia returns the first attachments of a remote status that may be stored together.
func CutRemoteMedia(media []*Media) []*Media {
	for _, m := range media {
		m.CutRemote()
	}
	return MaxPrefix(media, maxRemoteMedia, func(m *Media) int {
		return text.JSONSize(m.Description) + 3*len(m.RemoteURL) + len(m.PreviewURL) + attachmentMembers
	})
}

// UsedEmojis returns the first custom emoji that occur in texts, at most a number of them and a number of bytes of JSON.
func UsedEmojis(emojis []RemoteEmoji, max, maxBytes int, texts ...string) []RemoteEmoji {
	used := []RemoteEmoji{}
	for _, e := range emojis {
		size := len(e.Shortcode) + 2*text.JSONSize(e.URL) + emojiMembers
		name := ":" + e.Shortcode + ":"
		if len(used) == max || size > maxBytes || !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, name) }) {
			continue
		}
		maxBytes -= size
		used = append(used, e)
	}
	return used
}

// MaxPrefix returns the first elements of a list that take at most a number of bytes. If these are not all, it copies them, so that the others,
// which may be large, do not stay in memory.
func MaxPrefix[T any](list []T, max int, size func(T) int) []T {
	for i, v := range list {
		if max -= size(v); max < 0 {
			return append(make([]T, 0, i), list[:i]...)
		}
	}
	return list
}

// CutRemoteHTML cuts the sanitised HTML of a post or chat message that is about to be stored.
func CutRemoteHTML(content, link string) string { return text.CutHTML(content, MaxRemoteContent, link) }

func cutText(s *string, max int) bool {
	if text.FitsJSON(*s, max) {
		return false
	}
	*s = text.CutJSON(*s, max)
	return true
}

func cutHTML(s *string, max int, link string) bool {
	if text.FitsJSON(*s, max) {
		return false
	}
	*s = text.CutHTML(*s, max, link)
	return true
}
