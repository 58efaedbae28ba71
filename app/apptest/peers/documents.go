package peers

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"svc/app/apptest"
	"svc/internal/httpsig"
)

// null is a member whose value is null. A member that is nil is left out.
var null = json.RawMessage("null")

// Draft is a post that a remote account writes.
type Draft struct {
	Type       string // ""; Article, Video …
	Name       string // of these
	Text       string // HTML
	Visibility string // "": public
	Warning    string
	ReplyTo    string
	Quote      string
	Mentions   []*apptest.User
	Hashtags   []string
	Emoji      string // a name without colons
	AltText    string // of a picture
	Options    []string
	Audience   string // a group
}

func (s *Server) context() []any {
	list := slices.Clone(s.Context)
	if !slices.Contains(list, any(activityStreams)) {
		list = append([]any{activityStreams}, list...)
	}
	return list
}

// number returns the number of an actor, for paths without names.
func (s *Server) number(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.numbers[name] == 0 {
		s.numbers[name] = len(s.numbers) + 1
	}
	return s.numbers[name]
}

// expand replaces NAME and N in a pattern.
func expand(pattern, name string, number int) string {
	return strings.NewReplacer("NAME", name, "N", fmt.Sprint(number)).Replace(pattern)
}

// ActorID returns the id of an actor.
func (s *Server) ActorID(name string) string { return s.URL + expand(s.Actor, name, s.number(name)) }

func (s *Server) publicKey(actor string) Doc {
	key := s.Keys[actor]
	pem, err := httpsig.FormatPublicKey(key.Public())
	if err != nil {
		s.T.Fatal(err)
	}
	public := Doc{"id": actor + s.KeyID, "owner": actor, "publicKeyPem": pem}
	if strings.HasPrefix(s.KeyID, "/") { // a document of its own
		s.ServeAt(actor+s.KeyID, Doc{"id": actor, "type": "Person", "publicKey": public})
	}
	return public
}

// AddActor serves an actor and returns its id. changes replace members; nil removes one.
func (s *Server) AddActor(name string, changes ...Doc) string {
	s.T.Helper()
	return s.ActorDocument(name, changes...)["id"].(string)
}

// ActorDocument is AddActor, but returns the document.
func (s *Server) ActorDocument(name string, changes ...Doc) Doc {
	s.T.Helper()
	id := s.ActorID(name)
	if s.Keys[id] == nil {
		s.Keys[id] = apptest.SharedKey()
	}
	inbox := s.URL + expand(s.Inbox, name, s.number(name))
	d := Doc{
		"@context": s.context(), "id": id, "type": "Person", "preferredUsername": name, "name": name, "summary": "<p>about</p>",
		"inbox": inbox, "outbox": strings.TrimSuffix(inbox, "inbox") + "outbox", "followers": id + "/followers", "following": id + "/following",
		"featured": id + "/collections/featured", "url": s.URL + "/@" + name, "manuallyApprovesFollowers": false, "discoverable": true,
		"published": "2024-01-02T00:00:00Z", "publicKey": s.publicKey(id),
	}
	if s.SharedInbox {
		d["endpoints"] = Doc{"sharedInbox": s.URL + "/inbox"}
	}
	change(d, changes)
	if s.ShapeActor != nil {
		s.ShapeActor(s, d)
	}
	s.finish(d)
	s.Serve(d)
	s.AddWebFinger(name, id)
	s.mu.Lock()
	s.names[id] = name
	s.mu.Unlock()
	return d
}

// change sets members of a document.
func change(d Doc, changes []Doc) {
	for _, c := range changes {
		maps.Copy(d, c)
	}
}

// finish removes members that are nil, and applies the habit of the software for lists.
func (s *Server) finish(d Doc) {
	maps.DeleteFunc(d, func(_ string, v any) bool { return v == nil })
	if s.Collapse {
		collapse(d)
	}
}

// collapse replaces lists of one item by the item, except in contexts and collections.
func collapse(d Doc) {
	for key, v := range d {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				if o, ok := item.(Doc); ok {
					collapse(o)
				}
			}
			if len(v) == 1 && key != "@context" && key != "orderedItems" && key != "items" {
				d[key] = v[0]
			}
		case Doc:
			collapse(v)
		}
	}
}

// NewPost serves a post and returns it.
func (s *Server) NewPost(author string, d Draft, changes ...Doc) Doc {
	s.T.Helper()
	id, page := s.newObject(author)
	now := time.Now().UTC().Format(time.RFC3339)
	post := Doc{
		"id": id, "type": "Note", "attributedTo": author, "content": "<p>" + d.Text + "</p>", "published": now,
		"url": page, "sensitive": d.Warning != "", "tag": []any{}, "attachment": []any{},
	}
	followers := author + "/followers"
	var mentioned []any
	for _, m := range d.Mentions {
		mentioned = append(mentioned, m.URI())
	}
	to, cc := []any{apptest.Public}, append([]any{followers}, mentioned...)
	switch d.Visibility {
	case "unlisted":
		to, cc = []any{followers}, append([]any{apptest.Public}, mentioned...)
	case "private":
		to, cc = []any{followers}, mentioned
	case "direct":
		to, cc = mentioned, nil
	}
	if d.Audience != "" {
		cc = append(cc, d.Audience)
		post["audience"] = d.Audience
	}
	post["to"], post["cc"] = to, slices.Concat([]any{}, cc)
	post["tag"] = s.tags(d)
	if d.Warning != "" {
		post["summary"] = d.Warning
	}
	if d.ReplyTo != "" {
		post["inReplyTo"] = d.ReplyTo
	}
	if d.AltText != "" {
		post["attachment"] = []any{Doc{"type": "Document", "mediaType": "image/png", "url": s.URL + "/media/1.png", "name": d.AltText}}
	}
	if d.Options != nil {
		s.shapePoll(post, d)
	}
	if d.Type != "" {
		post["type"], post["name"] = d.Type, d.Name
	}
	change(post, changes)
	if s.ShapePost != nil {
		s.ShapePost(s, post, d)
	}
	s.finish(post)
	s.Serve(Copy(post, Doc{"@context": s.context()}))
	if s.PageRedirects {
		s.redirect(page, id)
	}
	return post
}

// redirect redirects an address to a document.
func (s *Server) redirect(from, to string) {
	path := strings.TrimPrefix(from, s.URL)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redirects[path] = to
}

// newObject returns the id of a new object of an actor, and the address of its page.
func (s *Server) newObject(author string) (id, page string) {
	n := s.next()
	s.mu.Lock()
	name := s.names[author]
	s.mu.Unlock()
	return s.URL + expand(s.Object, name, n), s.URL + expand(s.Page, name, n)
}

// next returns a number for a new id.
func (s *Server) next() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	return s.lastID
}

func (s *Server) tags(d Draft) []any {
	tags := []any{}
	for _, m := range d.Mentions {
		tags = append(tags, Doc{"type": "Mention", "href": m.URI(), "name": "@" + m.Nickname + "@" + strings.TrimPrefix(m.Server.URL, "http://")})
	}
	for _, name := range d.Hashtags {
		tags = append(tags, Doc{"type": "Hashtag", "href": s.URL + "/tags/" + name, "name": "#" + name})
	}
	if d.Emoji != "" {
		tags = append(tags, Doc{
			"id": s.URL + "/emojis/" + d.Emoji, "type": "Emoji", "name": ":" + d.Emoji + ":", "updated": "2024-01-01T00:00:00Z",
			"icon": Doc{"type": "Image", "mediaType": "image/png", "url": s.URL + "/media/" + d.Emoji + ".png"},
		})
	}
	return tags
}

func (s *Server) shapePoll(post Doc, d Draft) {
	options := []any{}
	for _, name := range d.Options {
		options = append(options, Doc{"type": "Note", "name": name, "replies": Doc{"type": "Collection", "totalItems": 0}})
	}
	post["type"], post["oneOf"], post["votersCount"], post["endTime"] = "Question", options, 0, apptest.FromNow(24*time.Hour)
}

// Copy returns a copy of a document with other members; nil removes one.
func Copy(d Doc, changes ...Doc) Doc {
	d = maps.Clone(d)
	for _, c := range changes {
		maps.Copy(d, c)
	}
	maps.DeleteFunc(d, func(_ string, v any) bool { return v == nil })
	return d
}

// Document returns the document that is served at an id.
func (s *Server) Document(id string) Doc {
	s.T.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.documents[id]
}

// Serve serves a document at its id.
func (s *Server) Serve(d Doc) {
	s.T.Helper()
	s.mu.Lock()
	s.documents[d["id"].(string)] = d
	s.mu.Unlock()
	s.FakeServer.Serve(d)
}

// RotateKey gives an actor a new key, and returns its document with that. The actor signs with the old key until UseNewKey.
func (s *Server) RotateKey(actor string) Doc {
	s.T.Helper()
	old := s.Keys[actor]
	key, err := apptest.Key()
	if err != nil {
		s.T.Fatal(err)
	}
	s.Keys[actor] = key
	d := Copy(s.Document(actor), Doc{"publicKey": s.publicKey(actor)})
	s.Serve(d)
	s.nextKey, s.Keys[actor] = key, old
	return d
}

// UseNewKey makes an actor sign with the key of the last RotateKey.
func (s *Server) UseNewKey(actor string) { s.Keys[actor] = s.nextKey }
