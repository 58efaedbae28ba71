package moving

import (
	"context"
	"html"
	"strconv"
	"strings"

	"svc/internal/text"
	"svc/store"
)

// publicAddresses are the forms of the collection of everybody.
var publicAddresses = []string{"https://www.w3.org/ns/activitystreams#Public", "as:Public", "Public"}

// maxPollOptions bounds the options of a poll that are read.
const maxPollOptions = 500

// pleromaObjects are posts, what was deleted, votes, chat messages, and uploads, which come along with the posts that have them.
var pleromaObjects = &mapping{
	columns: []string{"id", "data", "inserted_at", "updated_at"},
	load: func(l *loader, r *row) error {
		d := r.document("data")
		uri := d.text("id")
		isLocal := strings.HasPrefix(uri, l.baseURL+"/")
		switch d.text("type") {
		case "":
			return pleromaLeft(l, "objects", "they have no type, or cannot be read")
		case "Tombstone":
			if isLocal {
				return l.put(r, "tombstones", uri, r.time("updated_at"))
			}
		case "Note", "Question":
			return pleromaPost(l, r, d)
		case "Article", "Page", "Video", "Event":
			if !isLocal {
				return pleromaPost(l, r, d)
			}
		case "Audio":
			if !isLocal {
				return pleromaPost(l, r, d)
			}
			return pleromaLeft(l, "scrobbles", "they are not posts")
		case "Answer":
			return l.put(r, "pleroma_answers", nil, d.id("inReplyTo"), pleromaActor(d), d.text("name"))
		case "ChatMessage":
			return pleromaChatMessage(l, r, d)
		}
		return r.err
	},
}

// pleromaLeft counts a row that is left out while the source is read.
func pleromaLeft(l *loader, kind, reason string) error {
	return l.leaveOut(context.Background(), kind, reason, 1, false)
}

// pleromaActor returns the account that an object or activity is of.
func pleromaActor(d document) string {
	if actor := d.id("actor"); actor != "" {
		return actor
	}
	return d.id("attributedTo")
}

// pleromaOwn returns true if an address and its actor are both of this server, or both are not: nobody else can speak for a local account.
func pleromaOwn(l *loader, uri, actor string) bool {
	own := l.baseURL + "/"
	return uri != "" && actor != "" && strings.HasPrefix(uri, own) == strings.HasPrefix(actor, own)
}

func pleromaPost(l *loader, r *row, d document) error {
	uri, actor := d.text("id"), pleromaActor(d)
	if !pleromaOwn(l, uri, actor) {
		return pleromaLeft(l, "posts", "their address is that of another server than their author's")
	}
	isLocal := strings.HasPrefix(uri, l.baseURL+"/")
	at := d.time("published")
	if at == 0 {
		at = r.time("inserted_at")
	}
	address := "" // of local posts: see pleromaFinish
	if !isLocal {
		if address = d.link("url"); address == "" {
			address = uri
		}
	}
	content := d.text("content")
	if content == "" && !isLocal {
		content = html.EscapeString(d.text("name"))
	}
	typed, kind := "", string(text.PlainText)
	if isLocal {
		typed, kind = pleromaSource(d)
	}
	poll := ""
	if options, _ := pleromaOptions(d); len(options) > 0 {
		poll = uri
	}
	if err := l.put(r, "posts", uri, actor, uri, address, at, d.time("updated"), pleromaVisibility(l, d), d.id("inReplyTo"), "", "", d.text("context"),
		content, typed, kind, d.text("summary"), d.bool("sensitive"), d.text("language"), poll, "", false, false); err != nil {
		return err
	}
	if err := pleromaRecipients(l, r, uri, d); err != nil {
		return err
	}
	files, err := pleromaAttachments(l, r, uri, actor, at, isLocal, d)
	if err != nil {
		return err
	}
	if err := pleromaPoll(l, r, uri, d); err != nil {
		return err
	}
	if err := pleromaEmoji(l, r, actor, isLocal, d); err != nil {
		return err
	}
	return pleromaEdits(l, r, uri, isLocal, files, d)
}

// pleromaVisibility returns who can see a post by its addressing. Direct becomes private in pleromaFinish if it has the followers of its author.
func pleromaVisibility(l *loader, d document) store.Visibility {
	if d.bool("directMessage") || len(d["listMessage"]) > 0 && string(d["listMessage"]) != "null" {
		return store.Direct
	}
	to, cc := d.ids("to"), d.ids("cc")
	switch {
	case hasAny(to, publicAddresses...):
		return store.Public
	case hasAny(cc, publicAddresses...):
		return store.Unlisted
	case hasAny(to, l.baseURL+"/#Public") || hasAny(cc, l.baseURL+"/#Public"):
		return store.Local
	}
	return store.Direct
}

// hasAny returns true if a list has one of the texts.
func hasAny(list []string, texts ...string) bool {
	for _, s := range list {
		for _, wanted := range texts {
			if s == wanted {
				return true
			}
		}
	}
	return false
}

// pleromaSource returns what the author of a local post has typed.
func pleromaSource(d document) (typed, kind string) {
	typed, kind = d.text("source"), string(text.PlainText)
	if source := d.document("source"); source != nil {
		typed = source.text("content")
		switch k := text.ContentType(source.text("mediaType")); k {
		case text.HTML, text.Markdown, text.BBCode:
			kind = string(k)
		}
	}
	if typed == "" {
		typed = text.HTMLToText(text.Shorten(d.text("content"), maxTakenContent))
	}
	return typed, kind
}

// pleromaRecipients loads mentions, other addresses of to and cc, and hashtags. Addresses of collections go in pleromaFinish.
func pleromaRecipients(l *loader, r *row, post string, d document) error {
	for _, b := range d.list("tag") {
		tag := (document{"x": b}).document("x")
		if tag.text("type") == "Mention" {
			if err := l.put(r, "mentions", nil, post, tag.text("href"), false); err != nil {
				return err
			}
			continue
		}
		name := textOfJSON(b) // Pleroma adds the names of hashtags as texts
		if tag.text("type") == "Hashtag" {
			name = tag.text("name")
		}
		key := text.TagKey(strings.TrimPrefix(name, "#"))
		if key == "" {
			continue
		}
		if err := l.put(r, "tags", "#"+key, strings.TrimPrefix(name, "#")); err != nil {
			return err
		}
		if err := l.put(r, "post_tags", nil, post, "#"+key); err != nil {
			return err
		}
	}
	for _, address := range append(d.ids("to"), d.ids("cc")...) {
		if hasAny(publicAddresses, address) {
			continue
		}
		if err := l.put(r, "mentions", nil, post, address, true); err != nil {
			return err
		}
	}
	return nil
}

// pleromaAttachments loads the files of a post, and returns their ids by address.
func pleromaAttachments(l *loader, r *row, post, actor string, at int64, isLocal bool, d document) (map[string]string, error) {
	files := make(map[string]string)
	for i, a := range d.documents("attachment") {
		address := pleromaAddress(a)
		if address == "" || files[address] != "" {
			continue
		}
		id := post + " " + strconv.Itoa(i)
		files[address] = id
		if err := pleromaMedia(l, r, id, actor, at, isLocal, a); err != nil {
			return nil, err
		}
		if err := l.put(r, "attachments", post, i, id); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// pleromaAddress returns the address of the file of an attachment.
func pleromaAddress(a document) string {
	if address := a.link("url"); address != "" {
		return address
	}
	return a.link("href")
}

// pleromaMedia loads the file of an attachment.
func pleromaMedia(l *loader, r *row, id, actor string, at int64, isLocal bool, a document) error {
	file, path, remote := "", "", pleromaAddress(a)
	if isLocal {
		file, path = pleromaFile(remote)
		remote = ""
	}
	size := a
	if links := a.documents("url"); len(links) > 0 && size.number("width") == 0 {
		size = links[0]
	}
	return l.put(r, "media", id, actor, pleromaKind(a), a.text("mediaType"), file, "", path, "", remote, a.text("name"), a.text("blurhash"),
		size.number("width"), size.number("height"), 0.0, 0.0, at, true)
}

// pleromaKind returns the type of an attachment in the client API.
func pleromaKind(a document) string {
	mime := a.text("mediaType")
	if mime == "" {
		mime = strings.ToLower(a.text("type")) + "/"
	}
	switch kind, _, _ := strings.Cut(mime, "/"); kind {
	case "image", "video", "audio":
		return kind
	}
	return "unknown"
}

// pleromaOptions returns the options of a question, and whether voters can choose several; none of what is no question.
func pleromaOptions(d document) (options []document, isMultiple bool) {
	if d.text("type") != "Question" {
		return nil, false
	}
	options = d.documents("oneOf")
	if len(options) == 0 {
		options, isMultiple = d.documents("anyOf"), true
	}
	return options[:min(len(options), maxPollOptions)], isMultiple
}

// pleromaPoll loads the options of a question and their counts.
func pleromaPoll(l *loader, r *row, post string, d document) error {
	options, isMultiple := pleromaOptions(d)
	if len(options) == 0 {
		return nil
	}
	var titles, votes []string
	for _, o := range options {
		titles = append(titles, o.text("name"))
		votes = append(votes, strconv.FormatInt(o.document("replies").number("totalItems"), 10))
	}
	voters := int64(len(d.list("voters")))
	if voters == 0 {
		voters = d.number("votersCount")
	}
	ends := d.time("closed")
	if ends == 0 {
		ends = d.time("endTime")
	}
	return l.put(r, "polls", post, post, isMultiple, false, jsonOf(titles), jsonOf(votes), voters, ends)
}

// pleromaEmoji loads the custom emoji of remote posts. Those of local ones are files.
func pleromaEmoji(l *loader, r *row, actor string, isLocal bool, d document) error {
	host := hostOf(actor)
	if isLocal || host == "" {
		return nil
	}
	emoji := d.document("emoji")
	left := maxListElements
	for code := range emoji {
		if left--; left < 0 {
			break
		}
		if address := emoji.link(code); address != "" && text.ValidRemoteShortcode(code) {
			if err := l.put(r, "emoji", host+":"+code, code, host, "", address, "", false); err != nil {
				return err
			}
		}
	}
	return nil
}

// pleromaEdits loads the earlier versions of a post, the newest of which is the first one there.
func pleromaEdits(l *loader, r *row, post string, isLocal bool, files map[string]string, d document) error {
	versions := d.document("formerRepresentations").documents("orderedItems")
	for i := len(versions) - 1; i >= 0; i-- {
		v := versions[i]
		at := v.time("updated")
		if at == 0 {
			at = v.time("published")
		}
		typed, kind := "", string(text.PlainText)
		if isLocal {
			typed, kind = pleromaSource(v)
		}
		var media, descriptions, options []string
		for _, a := range v.documents("attachment") {
			if id := files[a.link("url")]; id != "" {
				media, descriptions = append(media, id), append(descriptions, a.text("name"))
			}
		}
		earlier, _ := pleromaOptions(v)
		for _, o := range earlier {
			options = append(options, o.text("name"))
		}
		if err := l.put(r, "edits", nil, post, at, v.text("content"), typed, kind, v.text("summary"), v.bool("sensitive"), jsonOf(media), jsonOf(descriptions), jsonOf(options)); err != nil {
			return err
		}
	}
	return nil
}
