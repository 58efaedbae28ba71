package entity

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"svc/internal/text"
	"svc/social"
	"svc/store"
)

// statusVersions numbers rendered statuses.
var statusVersions atomic.Uint64

// renderStatuses returns the cached part of statuses and of the statuses that they boost.
func (b *Builder) renderStatuses(ctx context.Context, ids []store.StatusID) (map[store.StatusID]*cachedStatus, error) {
	found := make(map[store.StatusID]*cachedStatus, len(ids)+8)
	if err := b.renderMissing(ctx, ids, found); err != nil {
		return nil, err
	}
	var originals []store.StatusID
	for _, s := range found {
		if s.reblogOfID != nil && found[*s.reblogOfID] == nil {
			originals = append(originals, *s.reblogOfID)
		}
	}
	if len(originals) > 0 {
		if err := b.renderMissing(ctx, unique(originals), found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (b *Builder) renderMissing(ctx context.Context, ids []store.StatusID, found map[store.StatusID]*cachedStatus) error {
	missing, generation := b.statuses.GetAll(ids, found)
	if len(missing) == 0 {
		return nil
	}
	parts, err := b.loadParts(ctx, missing)
	if err != nil {
		return err
	}
	for _, row := range parts.rows {
		s, err := b.renderStatus(row, parts)
		if err != nil {
			return err
		}
		found[row.ID] = s
		b.statuses.Put(row.ID, s, generation)
	}
	return nil
}

// statusParts are the rows that belong to a page of statuses.
type statusParts struct {
	rows       []*store.Status
	media      map[store.StatusID][]object
	polls      map[store.StatusID]*cachedPoll
	mediaTexts map[store.StatusID][]string // descriptions of attachments, for filters
	mentions   map[store.StatusID][]Mention
	tags       map[store.StatusID][]StatusTag
	parents    map[store.StatusID]*store.Status
	acctOf     map[store.AccountID]string // of the accounts replied to
	pins       map[store.StatusID]store.Time
	apps       map[store.AppID]*Application
	cards      map[store.CardID]*cachedCard
	reactions  map[store.StatusID][]cachedReaction
	origins    map[store.StatusID]*ImportedFrom
}

func newStatusParts(rows []*store.Status) *statusParts {
	return &statusParts{
		rows:       rows,
		media:      make(map[store.StatusID][]object),
		mediaTexts: make(map[store.StatusID][]string),
		mentions:   make(map[store.StatusID][]Mention),
		tags:       make(map[store.StatusID][]StatusTag),
		acctOf:     make(map[store.AccountID]string),
		cards:      make(map[store.CardID]*cachedCard),
	}
}

// loadParts loads the parts of stored statuses.
func (b *Builder) loadParts(ctx context.Context, ids []store.StatusID) (*statusParts, error) {
	rows, err := b.db.Statuses(ctx, ids)
	if err != nil {
		return nil, err
	}
	p := newStatusParts(rows)
	var withMedia []store.StatusID
	for _, row := range rows {
		if row.HasMedia {
			withMedia = append(withMedia, row.ID)
		}
	}
	if len(withMedia) > 0 {
		media, err := b.db.MediaOf(ctx, withMedia)
		if err != nil {
			return nil, err
		}
		if err := b.addMedia(media, p); err != nil {
			return nil, err
		}
	}
	if p.polls, err = b.loadPolls(ctx, rows); err != nil {
		return nil, err
	}
	recipients, err := b.db.Recipients(ctx, ids)
	if err != nil {
		return nil, err
	}
	if err := b.loadMentions(ctx, recipients, p); err != nil {
		return nil, err
	}
	tags, err := b.db.StatusTags(ctx, ids)
	if err != nil {
		return nil, err
	}
	b.addTags(tags, p)
	if p.pins, err = b.db.PinnedAt(ctx, ids); err != nil {
		return nil, err
	}
	if err := b.loadOrigins(ctx, p); err != nil {
		return nil, err
	}
	if p.reactions, err = b.loadReactions(ctx, ids); err != nil {
		return nil, err
	}
	return p, b.loadReferences(ctx, p)
}

// loadOrigins loads where imported posts are from. Only posts that are never federated can be imported.
func (b *Builder) loadOrigins(ctx context.Context, p *statusParts) error {
	var imported []store.StatusID
	for _, row := range p.rows {
		if row.Unfederated && row.ReblogOfID == nil {
			imported = append(imported, row.ID)
		}
	}
	if len(imported) == 0 {
		return nil
	}
	rows, err := b.db.ImportedFrom(ctx, imported)
	p.origins = make(map[store.StatusID]*ImportedFrom, len(rows))
	for _, o := range rows {
		p.origins[o.StatusID] = &ImportedFrom{o.Origin, o.URL}
	}
	return err
}

// loadReferences loads parents, cards and apps.
func (b *Builder) loadReferences(ctx context.Context, p *statusParts) error {
	var parents []store.StatusID
	var apps []store.AppID
	for _, row := range p.rows {
		if row.InReplyToID != nil {
			parents = append(parents, *row.InReplyToID)
		}
		if row.AppID != nil {
			apps = append(apps, *row.AppID)
		}
	}
	var err error
	if p.parents, err = b.loadParents(ctx, parents); err != nil {
		return err
	}
	if err := b.loadCards(ctx, p); err != nil {
		return err
	}
	p.apps, err = b.loadApps(ctx, apps)
	return err
}

func (r *renderer) addTags(tags []store.StatusTag, p *statusParts) {
	for _, t := range tags {
		p.tags[t.StatusID] = append(p.tags[t.StatusID], StatusTag{Name: t.Name, URL: text.TagURL(r.Settings.BaseURL, t.Name)})
	}
}

// addMedia adds attachments.
func (r *renderer) addMedia(media []*store.Media, p *statusParts) error {
	for _, m := range media {
		if err := r.addAttachment(m, *m.StatusID, p); err != nil {
			return err
		}
	}
	return nil
}

func (r *renderer) addAttachment(m *store.Media, to store.StatusID, p *statusParts) error {
	o, err := r.attachment(m)
	p.media[to] = append(p.media[to], o)
	if m.Description != "" {
		p.mediaTexts[to] = append(p.mediaTexts[to], m.Description)
	}
	return err
}

// loadMentions loads the mentioned accounts and those replied to, except for known ones.
func (b *Builder) loadMentions(ctx context.Context, recipients []store.Recipient, p *statusParts, known ...*store.Account) error {
	var accountIDs []store.AccountID
	for _, r := range recipients {
		if r.Mentioned {
			accountIDs = append(accountIDs, r.AccountID)
		}
	}
	for _, row := range p.rows {
		if row.InReplyToAccountID != nil {
			accountIDs = append(accountIDs, *row.InReplyToAccountID)
		}
	}
	if len(accountIDs) == 0 {
		return nil
	}
	of := byID(known, func(a *store.Account) store.AccountID { return a.ID })
	missing := slices.DeleteFunc(unique(accountIDs), func(id store.AccountID) bool { return of[id] != nil })
	if len(missing) > 0 {
		accounts, err := b.db.Accounts(ctx, missing)
		if err != nil {
			return err
		}
		for _, a := range accounts {
			of[a.ID] = a
		}
	}
	for _, r := range recipients {
		if a := of[r.AccountID]; a != nil && r.Mentioned {
			p.mentions[r.StatusID] = append(p.mentions[r.StatusID], Mention{ID: a.ID, Username: a.Nickname, Acct: a.Acct(), URL: a.URL})
		}
	}
	for id, a := range of {
		p.acctOf[id] = a.Acct()
	}
	return nil
}

func (b *Builder) loadParents(ctx context.Context, ids []store.StatusID) (map[store.StatusID]*store.Status, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := b.db.Statuses(ctx, unique(ids))
	return byID(rows, func(s *store.Status) store.StatusID { return s.ID }), err
}

func (r *renderer) renderStatus(row *store.Status, p *statusParts) (*cachedStatus, error) {
	s := &cachedStatus{
		id: row.ID, accountID: row.AccountID, reblogOfID: row.ReblogOfID, conversationID: row.ConversationID,
		direct: row.Visibility == store.Direct, poll: p.polls[row.ID], expiresAt: row.ExpiresAt, listID: row.ListID, local: row.Local(),
		pending:    row.PendingVisibility != nil,
		visibility: row.Visibility, quotePolicy: row.QuotePolicy, quoteState: row.QuoteState, quoteOfID: row.QuoteOfID,
	}
	row = cutStatus(row)
	plain := text.HTMLToText(row.Content)
	content, err := marshal(row.Content)
	if err != nil {
		return nil, err
	}
	rendered := &renderedStatus{row: row, members: r.statusMembers(row, p), plain: plain, content: content, card: p.cardOf(row), parts: p}
	json, err := r.fitStatus(rendered)
	if err != nil {
		return nil, err
	}
	own := map[string][]byte{"content": content, "svc.local": strconv.AppendBool(nil, s.local), "svc.pending_approval": strconv.AppendBool(nil, s.pending)}
	if card := rendered.card; card != nil {
		own["card"] = card.json
		if card.author != 0 {
			s.card = card
		}
	}
	if s.document, err = newDocument(json, statusSlots, own); err != nil {
		return nil, err
	}
	if row.ReblogOfID != nil {
		s.document = document{json: bytes.Clone(s.head())}
		return s, nil
	}
	_, s.pinned = p.pins[row.ID]
	s.reactions = p.reactions[row.ID]
	kept := &store.Status{Content: row.Content, SpoilerText: row.SpoilerText} // not the row, whose other texts are not needed any more
	s.plainContentSize = 2 * len(row.Content)
	s.plainContent = sync.OnceValue(func() []byte { return appendValue(nil, text.SanitizeStrict(kept.Content)) })
	address := row.URL
	if address == "" {
		address = row.URI
	}
	if s.quoteURL, err = marshal(address); err != nil {
		return nil, err
	}
	if s.uri, err = marshal(row.URI); err != nil {
		return nil, err
	}
	more := p.mediaTexts[row.ID]
	if s.poll != nil {
		more = append(slices.Clip(more), s.poll.titles...)
	}
	s.version = statusVersions.Add(1)
	s.filterText = sync.OnceValue(func() *text.Folded { return kept.FilterText(plain, more) })
	s.filterTextSize = 200 + 3*(len(plain)+len(row.SpoilerText)) // the text, and what it is folded to
	for _, w := range more {
		s.filterTextSize += 3 * len(w)
	}
	if row.InReplyToID != nil {
		if parent := p.parents[*row.InReplyToID]; parent != nil {
			s.parent = &parentStatus{parent.ID, parent.AccountID, parent.Visibility, parent.URI}
		}
	}
	return s, nil
}

// statusMembers returns the cached members of a status. A preview, which has no id, gets the ids that clients know for previews; so does the
// copy of a deleted status.
func (r *renderer) statusMembers(row *store.Status, p *statusParts) *statusMembers {
	m := &statusMembers{
		ID:                 row.ID.String(),
		URI:                row.URI,
		CreatedAt:          row.CreatedAt,
		Visibility:         shownVisibility(row),
		EditedAt:           row.EditedAt,
		InReplyToID:        row.InReplyToID,
		InReplyToAccountID: row.InReplyToAccountID,
		Sensitive:          row.Sensitive,
		SpoilerText:        row.SpoilerText,
		RepliesCount:       row.RepliesCount,
		ReblogsCount:       row.ReblogsCount,
		FavouritesCount:    row.FavouritesCount,
		QuotesCount:        row.QuotesCount,
		QuoteApproval:      newQuoteApproval(row),
		InteractionPolicy:  statusInteractionPolicy(row),
		MediaAttachments:   orEmpty(p.media[row.ID]),
		Mentions:           orEmpty(p.mentions[row.ID]),
		Tags:               orEmpty(p.tags[row.ID]),
		Emojis:             r.emojisFor(row.Local(), row.Emojis.V, row.Content, row.SpoilerText),
	}
	if limits := r.restrictionsOf(row.Domain, row.URI); limits.RemoveMedia || limits.Sensitive {
		m.Sensitive = m.Sensitive || limits.Sensitive
		if limits.RemoveMedia {
			m.MediaAttachments = []object{}
		}
	}
	switch {
	case row.ID == 0 && row.URI != "":
		m.ID = r.Settings.Load().API.Name + ":fake:" + row.URI
	case row.ID == 0:
		name := r.Settings.Load().API.Name
		m.ID, m.URI = name+":fakeid", name+":fake_object_id"
	}
	if row.URL != "" {
		m.URL = &row.URL
	}
	if row.Language != "" {
		m.Language = &row.Language
	}
	if row.AppID != nil {
		m.Application = p.apps[*row.AppID]
	}
	return m
}

// cardOf returns the card of a status, nil if it has none.
func (p *statusParts) cardOf(row *store.Status) *cachedCard {
	if row.CardID == nil {
		return nil
	}
	return p.cards[*row.CardID]
}

// shownVisibility returns the visibility of a status; of one that waits for approval that with which it was posted.
func shownVisibility(row *store.Status) store.Visibility {
	if row.PendingVisibility != nil {
		return *row.PendingVisibility
	}
	return row.Visibility
}

func (r *renderer) statusExtension(row *store.Status, p *statusParts, plain string) *statusExtension {
	x := &statusExtension{
		QuotesCount: row.QuotesCount,
		Content:     map[string]string{"text/plain": plain},
		SpoilerText: map[string]string{"text/plain": row.SpoilerText},
	}
	if row.ConversationID != 0 {
		x.ConversationID = &row.ConversationID
	}
	if row.InReplyToAccountID != nil {
		if acct, ok := p.acctOf[*row.InReplyToAccountID]; ok {
			x.InReplyToAccountAcct = &acct
		}
	}
	if at, ok := p.pins[row.ID]; ok {
		x.PinnedAt = &at
	}
	x.ImportedFrom = p.origins[row.ID]
	return x
}

// PreviewStatus renders a status that was composed but not published, for its author.
func (b *Builder) PreviewStatus(ctx context.Context, author *store.Account, c *social.Composed) (*Status, error) {
	st := *c.Status
	st.CreatedAt = store.At(b.db.Now())
	preview := *c
	preview.Status = &st
	return b.renderComposed(ctx, author, &preview)
}

// Generation is a point in time of the cache of statuses.
type Generation struct{ statuses uint64 }

// Generation returns the present one.
func (b *Builder) Generation() Generation { return Generation{b.statuses.Generation()} }

// PublishedStatus renders a status that was just published, for its author, without reading it again. It is cached unless it has
// changed since the generation, which was taken before it was published.
func (b *Builder) PublishedStatus(ctx context.Context, author *store.Account, c *social.Composed, since Generation) (*Status, error) {
	s, err := b.renderComposed(ctx, author, c)
	if err == nil {
		b.statuses.Put(s.id, s.cachedStatus, since.statuses)
	}
	return s, err
}

func (b *Builder) renderComposed(ctx context.Context, author *store.Account, c *social.Composed) (*Status, error) {
	p, err := b.composedParts(ctx, c)
	if err != nil {
		return nil, err
	}
	r, err := b.renderStatus(c.Status, p)
	if err != nil {
		return nil, err
	}
	s := &Status{cachedStatus: r, builder: b}
	one := List[*Status]{s}
	if err := b.addMembers(ctx, author, one, one); err != nil {
		return nil, err
	}
	return s, b.addQuotes(ctx, author, one)
}

// composedParts returns the parts of a status that was composed.
func (b *Builder) composedParts(ctx context.Context, c *social.Composed) (*statusParts, error) {
	p := newStatusParts([]*store.Status{c.Status})
	for _, m := range c.Media {
		if err := b.addAttachment(m, c.ID, p); err != nil {
			return nil, err
		}
	}
	if c.Poll != nil {
		poll, err := b.renderPoll(c.Poll, c.Status)
		if err != nil {
			return nil, err
		}
		p.polls = map[store.StatusID]*cachedPoll{c.ID: poll}
	}
	if err := b.loadMentions(ctx, c.Recipients, p, c.MentionedAccounts...); err != nil {
		return nil, err
	}
	for _, name := range c.Tags {
		b.addTags([]store.StatusTag{{StatusID: c.ID, Name: name}}, p)
	}
	if c.Parent != nil {
		p.parents = map[store.StatusID]*store.Status{c.Parent.ID: c.Parent}
	}
	if c.Card != nil {
		if err := b.addCards([]*store.Card{c.Card}, p); err != nil {
			return nil, err
		}
	}
	if c.AppID == nil {
		return p, nil
	}
	var err error
	p.apps, err = b.loadApps(ctx, []store.AppID{*c.AppID})
	return p, err
}
