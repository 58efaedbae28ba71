package entity

import (
	"context"
	"slices"

	"svc/internal/text"
	"svc/social"
	"svc/store"
)

// How the limits of entities are kept (store.MaxRemoteStatus and its neighbours). Nearly all stored rows are small enough; this file
// cuts the others: rows that an earlier version stored, and those that only the addresses of the media proxy make too large.

// Parts of a status that is cut because it would be too large, in bytes of JSON.
const (
	maxCutEmojis   = 6_000
	maxCutMentions = 6_000
	maxCutTags     = 3_000
	maxCutCard     = 4_000
	maxReactionsIn = 16_000                       // the reactions to a status, which others make after it was measured
	maxPollEmojis  = 4_000                        // custom emoji of a remote poll
	maxLocalText   = store.MaxLocalStatus - 2_000 // HTML of a local status, which is refused before it is as long

	// What a status has beside its cached document: slots that are filled in for a viewer, such as the id of its parent, and the addresses of what it quotes.
	statusRoom   = 3_500
	quoteRoom    = 11_000
	composedRoom = 500 // ids and addresses that a status gets when it is published
	accountRoom  = 600 // counters, the relationship, its members for staff
)

// cutAccount returns a remote account, which is copied if its texts are too long. For most accounts that is a few comparisons.
func cutAccount(row *store.Account) *store.Account {
	if row.Local() || row.FitsRemote() {
		return row
	}
	cut := *row
	cut.CutRemote()
	return &cut
}

// fitAccount removes members of an account until its JSON is small enough: what clients need least comes first. An account sees all of its own.
func (r *renderer) fitAccount(row *store.Account, members *accountMembers, extension *accountExtension, json object) (object, error) {
	limit := store.MaxRemoteAccount
	if row.Local() {
		limit = store.MaxLocalAccount
	}
	size := func() int {
		if members.Moved == nil {
			return len(json) + accountRoom
		}
		return len(json) - len(*members.Moved) + accountRoom
	}
	if size() <= limit || extension.credentialExtension != nil {
		return json, nil
	}
	for _, shrink := range []func(over int){
		func(over int) {
			extension.AlsoKnownAs = shorterList(extension.AlsoKnownAs, over, func(s string) int { return text.JSONSize(s) + 3 })
		},
		func(over int) { members.Source = r.shorterSource(row, over) },
		func(over int) { members.Emojis = shorterList(members.Emojis, over, emojiSize) },
		func(over int) {
			members.Fields = shorterList(members.Fields, over, func(f store.Field) int { return text.JSONSize(f.Name) + text.JSONSize(f.Value) })
		},
		func(over int) {
			members.Note = text.CutHTML(members.Note, max(0, text.JSONSize(members.Note)-over), row.URL)
		},
		func(int) {
			members.Avatar, members.Header = r.picture("", standardAvatar), r.picture("", standardBanner)
			members.AvatarStatic, members.HeaderStatic, extension.BackgroundImage = members.Avatar, members.Header, nil
		},
	} {
		shrink(size() - limit)
		var err error
		if json, err = r.extended(members, extension); err != nil || size() <= limit {
			return json, err
		}
	}
	return json, nil
}

// shorterSource returns the source of an account with a shorter text and without fields.
func (r *renderer) shorterSource(row *store.Account, over int) any {
	plain := text.HTMLToText(row.Note)
	return r.sourceWith(row, text.CutJSON(plain, max(0, text.JSONSize(plain)-over)), nil)
}

// shorterList returns a list without as many of its last elements as take a number of bytes.
func shorterList[T any](list []T, over int, size func(T) int) []T {
	for len(list) > 0 && over > 0 {
		over -= size(list[len(list)-1])
		list = list[:len(list)-1]
	}
	return list
}

func emojiSize(e Emoji) int {
	return len(`{"shortcode":"","url":"","static_url":"","visible_in_picker":false},`) + len(e.Shortcode) + text.JSONSize(e.URL) + text.JSONSize(e.StaticURL)
}

// maxEmojis returns the first custom emoji that an entity may have, in bytes of JSON.
func maxEmojis(found []Emoji, maxBytes int) []Emoji {
	return store.MaxPrefix(found, maxBytes, emojiSize)
}

// cutStatus returns a status, which is copied if its texts are too long.
func cutStatus(row *store.Status) *store.Status {
	most := store.MaxRemoteContent
	if row.Local() {
		most = maxLocalText
	}
	if text.FitsJSON(row.Content, most) && (row.Local() || text.FitsJSON(row.SpoilerText, 1_000)) {
		return row
	}
	cut := *row
	if row.Local() {
		cut.Content = text.CutHTML(row.Content, most, row.URL)
	} else {
		cut.CutTexts()
	}
	return &cut
}

// renderedStatus is a status that is measured before it is cached.
type renderedStatus struct {
	row     *store.Status
	members *statusMembers
	plain   string // the text of the content
	content []byte // JSON
	card    *cachedCard
	parts   *statusParts
}

// size returns how many bytes a status takes as JSON, without accounts and other statuses.
func (s *renderedStatus) size(json object) int {
	return len(json) + len(s.content) + s.card.size() + s.parts.polls[s.row.ID].entitySize() + reactionsJSON(s.parts.reactions[s.row.ID]) + roomOf(s.row.QuoteOfID)
}

// roomOf returns how many bytes a status may have beside its document.
func roomOf(quoted *store.StatusID) int {
	if quoted == nil {
		return statusRoom
	}
	return quoteRoom
}

// entitySize returns how many bytes a poll takes as JSON.
func (p *cachedPoll) entitySize() int {
	if p == nil {
		return 0
	}
	return len(p.document.json) + max(len(p.options), len(p.openOptions)) + 8*len(p.titles)
}

func limitOf(row *store.Status) int {
	if row.Local() {
		return store.MaxLocalStatus
	}
	return store.MaxRemoteStatus
}

// fitStatus renders the document of a status, with fewer members if it would be too large: a card that was fetched later, emoji, mentions,
// hashtags and attachments beyond what fits, and the rest of the plain text.
func (r *renderer) fitStatus(s *renderedStatus) (object, error) {
	render := func() (object, error) {
		return r.extended(s.members, r.statusExtension(s.row, s.parts, s.plain))
	}
	json, err := render()
	limit := limitOf(s.row)
	if err != nil || s.size(json) <= limit {
		return json, err
	}
	m := s.members
	if s.row.Local() { // other people add to a status that was measured when it was published
		if list := s.parts.reactions[s.row.ID]; len(list) > 0 {
			s.parts.reactions[s.row.ID] = reactionsWithin(list, reactionsJSON(list)-(s.size(json)-limit))
		}
		if s.size(json) <= limit {
			return json, nil
		}
		s.card = nil
		if json, err = render(); err != nil || s.size(json) <= limit {
			return json, err
		}
	}
	media, plain := m.MediaAttachments, s.plain
	if s.card.size() > maxCutCard {
		s.card = nil
	}
	m.Emojis = maxEmojis(m.Emojis, maxCutEmojis)
	m.Mentions = store.MaxPrefix(m.Mentions, maxCutMentions, func(m Mention) int { return 100 + len(m.Username) + len(m.Acct) + text.JSONSize(m.URL) })
	m.Tags = store.MaxPrefix(m.Tags, maxCutTags, func(t StatusTag) int { return 30 + text.JSONSize(t.Name) + text.JSONSize(t.URL) })
	m.MediaAttachments, s.plain = []object{}, ""
	if json, err = render(); err != nil {
		return nil, err
	}
	left := limit - s.size(json)
	share := max(left/2, left-text.JSONSize(plain))
	m.MediaAttachments = store.MaxPrefix(media, share, func(o object) int { return len(o) + 1 })
	for _, o := range m.MediaAttachments {
		left -= len(o) + 1
	}
	s.plain = text.CutJSON(plain, max(0, left))
	return render()
}

// reactionsJSON returns how many bytes reactions take as JSON.
func reactionsJSON(list []cachedReaction) int {
	n := 0
	for _, r := range list {
		n += r.entitySize()
	}
	return n
}

func (r *cachedReaction) entitySize() int {
	return len(`{"name":,"count":,"me":false,"url":},`) + 10 + len(r.name) + len(r.url)
}

// reactionsWithin returns the reactions to a status that take a number of bytes: those that most accounts use, in their order.
func reactionsWithin(list []cachedReaction, most int) []cachedReaction {
	if reactionsJSON(list) <= most {
		return list
	}
	byUse := slices.Clone(list)
	slices.SortStableFunc(byUse, func(a, b cachedReaction) int { return b.count - a.count })
	kept := make(map[string]bool, len(list))
	for _, r := range store.MaxPrefix(byUse, most, func(r cachedReaction) int { return r.entitySize() }) {
		kept[r.emoji] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(r cachedReaction) bool { return !kept[r.emoji] })
}

// ComposedSize returns how many bytes a status that is not published yet takes as an entity, in JSON, without accounts and other statuses.
func (b *Builder) ComposedSize(ctx context.Context, c *social.Composed) (int, error) {
	p, err := b.composedParts(ctx, c)
	if err != nil {
		return 0, err
	}
	s := &renderedStatus{row: c.Status, members: b.statusMembers(c.Status, p), plain: text.HTMLToText(c.Content), card: p.cardOf(c.Status), parts: p}
	if s.content, err = marshal(c.Content); err != nil {
		return 0, err
	}
	json, err := b.extended(s.members, b.statusExtension(c.Status, p, s.plain))
	return s.size(json) + composedRoom, err
}

// ProfileSize returns how many bytes a local account takes as an entity, in JSON.
func (b *Builder) ProfileSize(row *store.Account, user *store.User) (int, error) {
	members, extension := b.accountMembers(row, user)
	json, err := b.extended(members, extension)
	return len(json) + accountRoom, err
}

// StatusSize returns how many bytes a stored status takes as an entity, in JSON, without accounts and other statuses.
func (b *Builder) StatusSize(ctx context.Context, id store.StatusID) (int, error) {
	rendered, err := b.renderStatuses(ctx, []store.StatusID{id})
	if err != nil || rendered[id] == nil {
		return 0, err
	}
	s := rendered[id]
	return len(s.document.json) + s.poll.entitySize() + reactionsJSON(s.reactions) + roomOf(s.quoteOfID), nil
}
