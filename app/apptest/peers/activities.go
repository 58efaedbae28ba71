package peers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"svc/app/apptest"
)

// Act returns an activity in the shape of the software. changes replace members; nil removes one.
func (s *Server) Act(kind, actor string, object any, changes ...Doc) Doc {
	s.T.Helper()
	d := Doc{
		"@context": s.context(), "type": kind, "actor": actor, "object": object, "published": time.Now().UTC().Format(time.RFC3339),
		"id": strings.NewReplacer("ACTOR", actor, "HOST", s.URL, "TYPE", strings.ToLower(kind), "N", fmt.Sprint(s.next())).Replace(s.ActivityID),
	}
	if o, ok := object.(Doc); ok {
		for _, key := range []string{"to", "cc"} {
			if v, ok := o[key]; ok {
				d[key] = v
			}
		}
	}
	change(d, changes)
	if slices.Contains(strings.Fields(s.Unaddressed), kind) {
		delete(d, "to")
		delete(d, "cc")
	}
	if s.ShapeActivity != nil {
		s.ShapeActivity(s, d)
	}
	s.finish(d)
	return d
}

// Create returns the Create of a post.
func (s *Server) Create(post Doc) Doc {
	s.T.Helper()
	return s.Act("Create", s.author(post), post)
}

// Update returns the Update of a post or an actor, which it serves.
func (s *Server) Update(d Doc, changes ...Doc) Doc {
	s.T.Helper()
	d = Copy(d, changes...)
	s.Serve(Copy(d, Doc{"@context": s.context()}))
	actor := s.author(d)
	return s.Act("Update", actor, d, Doc{"to": []any{apptest.Public}})
}

// Delete returns the Delete of a post, which is gone.
func (s *Server) Delete(post Doc) Doc {
	s.T.Helper()
	id := post["id"].(string)
	s.Remove(id, 410)
	return s.Act("Delete", s.author(post), Doc{"id": id, "type": "Tombstone"}, Doc{"to": []any{apptest.Public}})
}

// Follow returns a Follow.
func (s *Server) Follow(actor, target string) Doc {
	return s.Act("Follow", actor, target, Doc{"to": []any{target}})
}

// Answer returns an Accept or Reject of an activity of a user.
func (s *Server) Answer(kind, actor string, of Doc, changes ...Doc) Doc {
	object := Copy(of, Doc{"@context": nil})
	return s.Act(kind, actor, object, append([]Doc{{"to": []any{of["actor"]}, "cc": nil}}, changes...)...)
}

// Undo returns the Undo of an activity.
func (s *Server) Undo(of Doc) Doc {
	if of["type"] == "Follow" {
		s.setFollow(of["actor"].(string), of["object"].(string), false)
	}
	return s.Act("Undo", of["actor"].(string), Copy(of, Doc{"@context": nil}))
}

// Boost returns the Announce of a post.
func (s *Server) Boost(actor, object string) Doc {
	return s.Act("Announce", actor, object, Doc{"to": []any{apptest.Public}, "cc": []any{actor + "/followers"}})
}

// Vote returns the votes for options of a poll of a user: a Create for each, or one for all.
func (s *Server) Vote(actor string, of *apptest.User, poll string, options ...string) []Doc {
	var votes []any
	for _, option := range options {
		id, _ := s.newObject(actor)
		vote := Doc{"id": id, "type": "Note", "name": option, "attributedTo": actor, "inReplyTo": poll, "to": []any{of.URI()}, "cc": []any{}}
		if s.ShapePost != nil {
			s.ShapePost(s, vote, Draft{})
		}
		s.finish(vote)
		votes = append(votes, vote)
	}
	addressed := Doc{"to": []any{of.URI()}, "cc": []any{}}
	if s.VoteList {
		return []Doc{s.Act("Create", actor, votes, addressed)}
	}
	var creates []Doc
	for _, vote := range votes {
		creates = append(creates, s.Act("Create", actor, vote, addressed))
	}
	return creates
}

// Chat returns the Create of a chat message.
func (s *Server) Chat(actor string, to *apptest.User, text string) Doc {
	id, _ := s.newObject(actor)
	message := Doc{
		"id": id, "type": "ChatMessage", "actor": actor, "to": []any{to.URI()}, "content": text, "published": time.Now().UTC().Format(time.RFC3339), "tag": []any{},
		"emoji": Doc{},
	}
	s.Serve(Copy(message, Doc{"@context": s.context()}))
	return s.Act("Create", actor, message)
}

// LastReceived returns the last activity of a type that it received.
func (s *Server) LastReceived(kind string) Doc {
	s.T.Helper()
	list := s.Delivered(kind)
	if len(list) == 0 {
		s.T.Fatalf("%s received no %s, but %v", s.Name, kind, s.Delivered())
	}
	return list[len(list)-1]
}

// author returns the actor of a post or message, or the actor itself.
func (s *Server) author(d Doc) string {
	for _, v := range values(d["attributedTo"]) {
		switch v := v.(type) {
		case string:
			return v
		case Doc:
			if v["type"] == "Person" {
				return v["id"].(string)
			}
		}
	}
	if actor, ok := d["actor"].(string); ok {
		return actor
	}
	return d["id"].(string)
}
