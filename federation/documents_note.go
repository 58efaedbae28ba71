package federation

import (
	"slices"
	"strconv"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// quoteRel is the relation of a link to the quoted object (FEP-e232).
const quoteRel = "https://misskey-hub.net/ns#_misskey_quote"

// buildObject returns the Note or Question of a status, without @context. Local-only statuses and reblogs are errs.ErrRecordNotFound.
func (d *Documents) buildObject(st *store.Status, p *documentRows) (activity.Object, error) {
	if st.ReblogOfID != nil {
		return nil, errs.ErrRecordNotFound
	}
	to, cc, err := d.audienceOf(st, p)
	if err != nil {
		return nil, err
	}
	author := p.accounts[st.AccountID].URI
	thread := p.contextURIs[st.ConversationID]
	if thread == "" {
		thread = d.contextURI(st.ConversationID)
	}
	o := activity.Object{
		"id":           st.URI,
		"type":         "Note",
		"attributedTo": author,
		"actor":        author,
		"to":           stringValues(to),
		"cc":           stringValues(cc),
		"published":    st.CreatedAt.String(),
		"content":      st.Content,
		"source":       jsonMap{"content": st.Text, "mediaType": st.ContentType},
		"summary":      st.SpoilerText,
		"sensitive":    st.Sensitive,
		"context":      thread,
		"conversation": thread,
		"attachment":   d.attachments(p.media[st.ID]),
		"tag":          d.tags(st, p),
	}
	if st.URL != "" {
		o["url"] = st.URL
	}
	if group := p.group(st); group != nil {
		o["audience"] = group.URI
	}
	if st.Language != "" {
		o["contentMap"] = jsonMap{st.Language: st.Content}
	}
	if st.EditedAt != nil {
		o["updated"] = st.EditedAt.String()
		o["formerRepresentations"] = d.formerRepresentations(st, p)
	}
	if st.InReplyToID != nil {
		if parent := p.statuses[*st.InReplyToID]; d.mayName(parent) {
			o["inReplyTo"] = parent.URI
		}
	}
	if by := p.approvals[st.ID]; by != "" {
		o["replyAuthorization"] = by
	}
	if st.Visibility == store.Direct {
		o["directMessage"] = true
	}
	o["interactionPolicy"] = d.interactionPolicy(st, p)
	if isPublicOrUnlisted(st.Visibility) {
		o["replies"] = d.repliesOf(st, p.replies[st.ID], p.replyURIs)
	}
	if quoted := p.quoted(st); d.mayName(quoted) {
		o["quote"], o["quoteUrl"], o["quoteUri"], o["_misskey_quote"] = quoted.URI, quoted.URI, quoted.URI, quoted.URI
		if by := p.consents[st.ID]; by != "" {
			o["quoteAuthorization"] = by
		}
	}
	if poll := p.polls[st.ID]; poll != nil {
		d.addPoll(o, poll)
	}
	return o, nil
}

// quoters returns who may quote a status (FEP-044f): an actor or a collection. The author alone means nobody else.
func (d *Documents) quoters(st *store.Status, author *store.Account) string {
	switch st.QuotePolicy {
	case store.QuotableByAll:
		return activity.Public
	case store.QuotableByFollowers:
		return d.followersURI(author)
	}
	return author.URI
}

// quoted returns the quoted status, nil if there is none or it is gone.
func (p *documentRows) quoted(st *store.Status) *store.Status {
	if st.QuoteOfID == nil {
		return nil
	}
	return p.statuses[*st.QuoteOfID]
}

// mayName returns true if a document may name a status: others can fetch it, or the document is for a backup. st may be nil.
func (d *Documents) mayName(st *store.Status) bool {
	return st != nil && (!st.Unfederated || d.archive)
}

// attachments returns the documents of media files.
func (d *Documents) attachments(media []*store.Media) []any {
	list := []any{}
	for _, m := range media {
		list = append(list, d.attachment(m, m.Description))
	}
	return list
}

func (d *Documents) attachment(m *store.Media, description string) jsonMap {
	o := jsonMap{"type": "Document", "mediaType": m.Mime, "url": m.RemoteURL, "name": nil}
	if m.File != "" {
		o["url"] = d.mediaURL(m.File)
	}
	if description != "" {
		o["name"] = description
	}
	if m.Width > 0 && m.Height > 0 {
		o["width"], o["height"] = float64(m.Width), float64(m.Height)
	}
	if m.Duration > 0 {
		o["duration"] = "PT" + strconv.FormatFloat(float64(m.Duration)/1000, 'f', -1, 64) + "S"
	}
	if m.Blurhash != "" {
		o["blurhash"] = m.Blurhash
	}
	if m.FocusX != 0 || m.FocusY != 0 {
		o["focalPoint"] = []any{m.FocusX, m.FocusY}
	}
	if m.File != "" && m.Thumbnail != "" && m.Type != "image" {
		o["icon"] = jsonMap{"type": "Image", "url": d.mediaURL(m.Thumbnail)}
	}
	return o
}

// tags returns the mentions, hashtags, custom emoji and the link to the quoted status.
func (d *Documents) tags(st *store.Status, p *documentRows) []any {
	list := []any{}
	for _, r := range p.recipients[st.ID] {
		if a := p.accounts[r.AccountID]; a != nil && r.Mentioned {
			list = append(list, d.mentionTag(a))
		}
	}
	for _, name := range p.tags[st.ID] {
		list = append(list, d.hashtagTag(name))
	}
	texts := append([]string{st.SpoilerText, st.Content}, p.polls[st.ID].Titles()...)
	list = append(list, d.emojiTags(texts...)...)
	if quoted := p.quoted(st); d.mayName(quoted) {
		address := quoted.URL
		if address == "" {
			address = quoted.URI
		}
		list = append(list, jsonMap{
			"type": "Link", "mediaType": activity.LDMediaType + `; profile="` + activity.LDProfile + `"`,
			"rel": quoteRel, "href": quoted.URI, "name": "RE: " + address,
		})
	}
	return list
}

// repliesOf returns the collection of replies to a status. Its first page has replies of the author; replies of others are on later
// pages, because documents are cached and a block of their authors does not change this document (federation 4.2).
func (d *Documents) repliesOf(st *store.Status, first []store.StatusID, old map[store.StatusID]string) jsonMap {
	uri := st.URI + "/replies"
	page := jsonMap{"id": uri + "?page=true", "type": "CollectionPage", "partOf": uri, "items": d.objectURIs(first, old)}
	switch {
	case len(first) == maxInlineReplies:
		page["next"] = uri + "?page=true&min_id=" + first[len(first)-1].String()
	case st.RepliesCount > len(first):
		page["next"] = uri + "?page=true&others=true"
	}
	return jsonMap{"id": uri, "type": "Collection", "first": page}
}

// objectURIs returns the ids of local statuses. old has those of OldStatusURIs.
func (d *Documents) objectURIs(ids []store.StatusID, old map[store.StatusID]string) []any {
	uris := make([]any, 0, len(ids))
	for _, id := range ids {
		uri := old[id]
		if uri == "" {
			uri = store.NewObjectURI(d.Settings.BaseURL, id)
		}
		uris = append(uris, uri)
	}
	return uris
}

// maxFormerText bounds the bytes of earlier versions in a document, because some servers accept 64 KB at most (federation 3.2).
const maxFormerText = 20 << 10

// formerRepresentations returns the latest earlier versions of a status, the oldest first.
func (d *Documents) formerRepresentations(st *store.Status, p *documentRows) jsonMap {
	versions := []any{}
	author := p.accounts[st.AccountID].URI
	edits, bytesLeft := p.edits[st.ID], maxFormerText
	first := len(edits)
	for first > 0 {
		e := edits[first-1]
		if bytesLeft -= len(e.Content) + len(e.Text) + len(e.SpoilerText); bytesLeft < 0 && !d.archive {
			break
		}
		first--
	}
	for _, e := range edits[first:] {
		v := jsonMap{
			"id": st.URI, "type": "Note", "attributedTo": author, "actor": author,
			"published": st.CreatedAt.String(), "content": e.Content, "summary": e.SpoilerText, "sensitive": e.Sensitive,
			"source": jsonMap{"content": e.Text, "mediaType": e.ContentType},
		}
		if e.CreatedAt != st.CreatedAt {
			v["updated"] = e.CreatedAt.String()
		}
		files := []any{}
		for _, m := range e.Media.V {
			if row := p.formerMedia[m.ID]; row != nil {
				files = append(files, d.attachment(row, m.Description))
			}
		}
		v["attachment"] = files
		if len(e.Poll.V) > 0 {
			v["type"] = "Question"
			v["oneOf"] = pollOptions(slices.Values(e.Poll.V))
		}
		if tags := d.emojiTags(e.SpoilerText, e.Content); tags != nil {
			v["tag"] = tags
		}
		versions = append(versions, v)
	}
	return jsonMap{"type": "OrderedCollection", "totalItems": float64(len(versions)), "orderedItems": versions}
}

func pollOptions(titles func(func(string) bool)) []any {
	list := []any{}
	for title := range titles {
		list = append(list, jsonMap{"type": "Note", "name": title})
	}
	return list
}

// addPoll turns a Note into a Question (federation 4.3).
func (d *Documents) addPoll(o activity.Object, poll *store.Poll) {
	ended := poll.Ended(d.db.Now())
	list := []any{}
	for _, option := range poll.Options.V {
		votes := jsonMap{"type": "Collection"}
		if !poll.HideTotals || ended || d.archive {
			votes["totalItems"] = float64(option.Votes)
		}
		list = append(list, jsonMap{"type": "Note", "name": option.Title, "replies": votes})
	}
	key := "oneOf"
	if poll.Multiple {
		key = "anyOf"
	}
	o["type"], o[key] = "Question", list
	if poll.ExpiresAt != nil {
		o["endTime"] = poll.ExpiresAt.String()
		if ended {
			o["closed"] = poll.ExpiresAt.String()
		}
	}
	if poll.VotersCount != nil {
		o["votersCount"] = float64(*poll.VotersCount)
	}
}
