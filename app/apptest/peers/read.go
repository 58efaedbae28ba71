package peers

import (
	"fmt"
	"slices"
	"strings"

	"svc/app/apptest"
)

// Post is a received post, as this server shows it.
type Post struct {
	ID, Author, Type, Visibility, Text, Warning, ReplyTo, Quote, Authorization string

	Sensitive, Edited                            bool
	AltTexts, Options, Mentions, Hashtags, Emoji []string
}

// read returns the effects of an activity: the function, or its name after "un", and the id of what it is about. It returns nothing for an
// activity without effect, and an error for one in a shape that no server reads.
func (s *Server) read(activity Doc) (effects []string, err error) {
	actor := activity["actor"].(string)
	kind, _ := activity["type"].(string)
	object, _ := activity["object"].(Doc)
	about := reference(activity["object"])
	switch kind {
	case "Create":
		return s.readCreate(activity, object)
	case "Update":
		return s.readUpdate(actor, object)
	case "Delete":
		return s.readDelete(actor, about)
	case "Undo":
		return s.readUndo(actor, activity)
	case "Accept", "Reject":
		return s.readAnswer(kind, activity, object)
	case "Add", "Remove":
		return s.readPin(kind, actor, about, activity["target"])
	case "Move":
		return s.readMove(actor, about, activity["target"])
	case "Follow", "Like", "Announce", "EmojiReact", "Block", "Flag", "QuoteRequest":
		return s.readAbout(kind, activity, about)
	}
	return nil, fmt.Errorf("unknown type %s", kind)
}

// verbs are the functions of activities about one object.
var verbs = map[string]string{"Follow": "follow", "Like": "favourite", "Announce": "boost", "EmojiReact": "reaction", "Block": "block", "QuoteRequest": "quote"}

func (s *Server) readAbout(kind string, activity Doc, about string) ([]string, error) {
	switch kind {
	case "Flag":
		var ids []string
		for _, v := range values(activity["object"]) {
			ids = append(ids, reference(v))
		}
		return []string{fmt.Sprintf("report %s: %v", strings.Join(ids, " "), activity["content"])}, nil
	case "EmojiReact":
		content, _ := activity["content"].(string)
		if content == "" {
			return nil, fmt.Errorf("a reaction without content")
		}
		return []string{"reaction " + about + " " + content}, nil
	case "QuoteRequest":
		instrument, _ := activity["instrument"].(Doc)
		if p := s.readPost(instrument, activity["actor"].(string)); p.Quote != about {
			return nil, fmt.Errorf("the instrument quotes %q, not %s", p.Quote, about)
		}
	}
	if !strings.HasPrefix(about, s.URL) && kind != "Announce" {
		return nil, fmt.Errorf("%s of %q, which is not of this server", kind, about)
	}
	if verbs[kind] == "" {
		return nil, fmt.Errorf("unknown type %s", kind)
	}
	return []string{verbs[kind] + " " + about}, nil
}

func (s *Server) readUndo(actor string, activity Doc) ([]string, error) {
	inner, ok := activity["object"].(Doc)
	if !ok {
		return nil, fmt.Errorf("a bare id is undone")
	}
	if inner["actor"] != actor {
		return nil, fmt.Errorf("%s undoes an activity of %v", actor, inner["actor"])
	}
	kind, _ := inner["type"].(string)
	effects, err := s.readAbout(kind, inner, reference(inner["object"]))
	for i, e := range effects {
		effects[i] = "un" + e
	}
	return effects, err
}

func (s *Server) readCreate(activity, o Doc) ([]string, error) {
	actor := activity["actor"].(string)
	if o["type"] == "ChatMessage" {
		return s.readChat(activity, o)
	}
	if o["id"] == nil || o["attributedTo"] != actor {
		return nil, fmt.Errorf("object is %v", activity["object"])
	}
	if name, _ := o["name"].(string); name != "" && o["content"] == nil && o["inReplyTo"] != nil {
		return []string{"vote " + reference(o["inReplyTo"]) + " " + name}, nil
	}
	for _, key := range []string{"to", "cc"} {
		if fmt.Sprint(values(o[key])) != fmt.Sprint(values(activity[key])) {
			return nil, fmt.Errorf("%s of the activity is %v, of the object %v", key, activity[key], o[key])
		}
	}
	p := s.readPost(o, actor)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts[p.ID] = p
	return []string{p.Visibility + " " + p.ID}, nil
}

func (s *Server) readUpdate(actor string, o Doc) ([]string, error) {
	id, _ := o["id"].(string)
	if id == actor {
		if err := s.trust(o, nil); err != nil {
			return nil, err
		}
		return []string{fmt.Sprintf("profile %s %v", id, o["name"])}, nil
	}
	if o["attributedTo"] != actor {
		return nil, fmt.Errorf("%s updates an object of %v", actor, o["attributedTo"])
	}
	p := s.readPost(o, actor)
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.posts[id]; known != nil && known.Author != actor {
		return nil, fmt.Errorf("%s updates a post of %s", actor, known.Author)
	}
	s.posts[id] = p
	if !p.Edited {
		return []string{"update " + id}, nil // of a tally or an authorization
	}
	return []string{"edit " + id}, nil
}

// readDelete returns nothing for an unknown object.
func (s *Server) readDelete(actor, about string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	author := s.messages[about]
	if p := s.posts[about]; p != nil {
		author = p.Author
	}
	if about == actor {
		author = actor
	}
	switch author {
	case "":
		return nil, nil
	case actor:
		delete(s.posts, about)
		delete(s.messages, about)
		return []string{"delete " + about}, nil
	}
	return nil, fmt.Errorf("%s deletes an object of %s", actor, author)
}

// readChat reads a chat message, which has one recipient.
func (s *Server) readChat(activity, o Doc) ([]string, error) {
	actor, to := activity["actor"].(string), values(o["to"])
	id, _ := o["id"].(string)
	switch text, _ := o["content"].(string); {
	case !s.DoesRead("chat"):
		return nil, fmt.Errorf("unknown object %v", o["type"])
	case id == "" || o["actor"] != actor && o["attributedTo"] != actor || o["published"] == nil:
		return nil, fmt.Errorf("message %v", o)
	case len(to) != 1 || fmt.Sprint(to) != fmt.Sprint(values(activity["to"])) || len(values(o["cc"]))+len(values(activity["cc"])) > 0:
		return nil, fmt.Errorf("message for %v of an activity for %v", to, activity["to"])
	case text == "" && len(values(o["attachment"])) == 0:
		return nil, fmt.Errorf("message without content")
	default:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.messages[id] = actor
		return []string{fmt.Sprintf("chat %v %s", to[0], text)}, nil
	}
}

func (s *Server) readAnswer(kind string, activity, object Doc) ([]string, error) {
	function := strings.ToLower(kind)
	switch object["type"] {
	case "QuoteRequest":
		result, _ := activity["result"].(string)
		if kind == "Accept" {
			authorization, err := s.fetch(result)
			if err != nil {
				return nil, err
			}
			if authorization["type"] != "QuoteAuthorization" || authorization["interactionTarget"] != object["object"] ||
				authorization["attributedTo"] != activity["actor"] {
				return nil, fmt.Errorf("the authorization is %v", authorization)
			}
		}
		return []string{"quote " + function + " " + reference(object["object"])}, nil
	case "Follow":
		if object["object"] != activity["actor"] {
			return nil, fmt.Errorf("%v answers a follow of %v", activity["actor"], object["object"])
		}
		s.setFollow(reference(object["actor"]), reference(activity["actor"]), kind == "Accept")
		return []string{function + " " + reference(object["actor"])}, nil
	}
	return nil, fmt.Errorf("object of %s is %v", kind, object)
}

func (s *Server) readPin(kind, actor, about string, target any) ([]string, error) {
	doc, err := s.fetch(actor)
	if err != nil {
		return nil, err
	}
	if doc["featured"] != target || about == "" {
		return nil, fmt.Errorf("%s %s, whose target is %v", kind, about, target)
	}
	if kind == "Remove" {
		return []string{"unpin " + about}, nil
	}
	featured, err := s.fetch(doc["featured"].(string))
	if err != nil {
		return nil, err
	}
	for _, item := range values(featured["orderedItems"]) {
		if reference(item) == about {
			return []string{"pin " + about}, nil
		}
	}
	return nil, fmt.Errorf("%s is not in %v", about, featured)
}

func (s *Server) readMove(actor, about string, target any) ([]string, error) {
	origin, err := s.fetch(actor)
	if err != nil {
		return nil, err
	}
	to, _ := target.(string)
	if about != actor || origin["movedTo"] != to {
		return nil, fmt.Errorf("%s moves %s to %s, and its document says %v", actor, about, to, origin["movedTo"])
	}
	return []string{"move " + to}, nil
}

// readPost returns a post as this server shows it.
func (s *Server) readPost(o Doc, author string) *Post {
	text := func(key string) string { t, _ := o[key].(string); return t }
	p := &Post{ID: text("id"), Author: author, Type: text("type"), Text: text("content"), Warning: text("summary"), ReplyTo: reference(o["inReplyTo"])}
	p.Sensitive, p.Edited = o["sensitive"] == true, o["updated"] != nil
	p.Visibility = visibility(values(o["to"]), values(o["cc"]), author)
	for _, key := range []string{"quote", "quoteUrl", "quoteUri", "_misskey_quote"} {
		if p.Quote == "" {
			p.Quote = reference(o[key])
		}
	}
	p.Authorization = reference(o["quoteAuthorization"])
	for _, v := range values(o["attachment"]) {
		a, _ := v.(Doc)
		if a["url"] != nil && a["mediaType"] != nil {
			p.AltTexts = append(p.AltTexts, fmt.Sprint(a["name"]))
		}
	}
	for _, v := range append(values(o["oneOf"]), values(o["anyOf"])...) {
		option, _ := v.(Doc)
		p.Options = append(p.Options, fmt.Sprint(option["name"]))
	}
	for _, v := range values(o["tag"]) {
		tag, _ := v.(Doc)
		name, _ := tag["name"].(string)
		switch tag["type"] {
		case "Mention":
			p.Mentions = append(p.Mentions, reference(tag["href"]))
		case "Hashtag":
			p.Hashtags = append(p.Hashtags, name)
		case "Emoji":
			if icon, _ := tag["icon"].(Doc); icon["url"] != nil {
				p.Emoji = append(p.Emoji, name)
			}
		}
	}
	return p
}

// visibility returns the visibility of a post, as Mastodon reads it.
func visibility(to, cc []any, author string) string {
	switch {
	case slices.Contains(to, any(apptest.Public)):
		return "public"
	case slices.Contains(cc, any(apptest.Public)):
		return "unlisted"
	case slices.Contains(slices.Concat(to, cc), any(author+"/followers")):
		return "followers"
	}
	return "direct"
}

// reference returns the id of a document or a text.
func reference(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case Doc:
		id, _ := v["id"].(string)
		return id
	}
	return ""
}
