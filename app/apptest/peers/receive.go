package peers

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"svc/app/apptest"
	"svc/internal/httpsig"
)

// maxBody is the size of a delivery that most servers accept.
const maxBody = 1 << 20

// maxAge is the age of a signature that the strictest servers accept.
const maxAge = 5 * time.Minute

// receive verifies a delivery and takes its effects over. An error is the reason of a refusal.
func (s *Server) receive(r *http.Request, body []byte) (status int, err error) {
	limit := maxBody
	if s.MaxBody > 0 {
		limit = s.MaxBody
	}
	if len(body) > limit {
		return http.StatusRequestEntityTooLarge, fmt.Errorf("%d bytes", len(body))
	}
	signer, claim, err := s.verify(r, body)
	if err != nil {
		return http.StatusUnauthorized, err
	}
	var activity Doc
	if err := json.Unmarshal(body, &activity); err != nil {
		return http.StatusBadRequest, err
	}
	if actor, _ := activity["actor"].(string); actor != signer {
		return http.StatusUnauthorized, fmt.Errorf("the activity of %v is signed by %s", activity["actor"], signer)
	}
	for _, need := range s.Needs {
		if err := need(s, r, activity); err != nil {
			return http.StatusBadRequest, err
		}
	}
	kind, _ := activity["type"].(string)
	if slices.Contains(strings.Fields(s.Drops), kind) {
		return http.StatusAccepted, nil
	}
	id, _ := activity["id"].(string)
	s.mu.Lock()
	seen := s.seen[id]
	s.mu.Unlock()
	if seen {
		return http.StatusAccepted, nil
	}
	effects, err := s.read(activity)
	if err != nil {
		return http.StatusBadRequest, err
	}
	differences, err := s.readSynchronization(r, claim, signer)
	if err != nil {
		return http.StatusBadRequest, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != "" {
		s.seen[id] = true
	}
	s.took = append(append(s.took, effects...), differences...)
	return http.StatusAccepted, nil
}

var coveredHeaders = regexp.MustCompile(`headers="([^"]*)"`)

// verify returns the actor that signed a request, and the signature. It fetches the key of an unknown actor, and of one whose signature does not match unless
// it keeps keys until an Update.
func (s *Server) verify(r *http.Request, body []byte) (actor string, claim *httpsig.Claim, err error) {
	if r.Header.Get("Signature-Input") != "" && !s.VerifiesRFC {
		return "", nil, errors.New("the signature is not draft-cavage")
	}
	if m := coveredHeaders.FindStringSubmatch(r.Header.Get("Signature")); m != nil {
		wanted := fetchHeaders
		if body != nil {
			wanted = commonHeaders
		}
		for _, name := range strings.Fields(wanted) {
			if !slices.Contains(strings.Fields(m[1]), name) {
				return "", nil, fmt.Errorf("the signature does not cover %s", name)
			}
		}
	}
	base, _ := url.Parse(s.URL)
	claims, err := httpsig.Read(r, httpsig.Policy{Base: base, Now: s.Now(), MaxAge: maxAge, MaxAhead: maxAge, Body: body})
	if err != nil {
		return "", nil, err
	}
	if len(claims) != 1 {
		return "", nil, fmt.Errorf("%d signatures", len(claims))
	}
	claim = claims[0]
	actor, _, _ = strings.Cut(claim.KeyID, "#")
	known := s.cachedKey(actor)
	if known != "" && verifyWith(known, claim) == nil {
		return actor, claim, nil
	}
	if known != "" && s.KeyUntilUpdate {
		return "", nil, errors.New("the signature does not match the known key")
	}
	doc, err := s.fetch(actor)
	if err != nil {
		return "", nil, err
	}
	for _, need := range s.Needs {
		if err := need(s, nil, doc); err != nil {
			return "", nil, err
		}
	}
	return actor, claim, s.trust(doc, claim)
}

func (s *Server) cachedKey(actor string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys[actor]
}

// trust stores the key of an actor if the claim matches it.
func (s *Server) trust(actor Doc, claim *httpsig.Claim) error {
	key, _ := actor["publicKey"].(Doc)
	text, _ := key["publicKeyPem"].(string)
	id, _ := actor["id"].(string)
	if key["owner"] != id {
		return fmt.Errorf("the key of %s belongs to %v", id, key["owner"])
	}
	if claim != nil {
		if key["id"] != claim.KeyID {
			return fmt.Errorf("the key of %s is %v, not %s", id, key["id"], claim.KeyID)
		}
		if err := verifyWith(text, claim); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[id] = text
	return nil
}

func verifyWith(text string, claim *httpsig.Claim) error {
	key, err := httpsig.ParsePublicKey(text)
	if err != nil {
		return err
	}
	return claim.Verify(key)
}

// Need is a demand on deliveries, or, without a request, on actors that it fetches. An error is the reason of a refusal.
type Need func(s *Server, r *http.Request, d Doc) error

// needContext demands the exact context of ActivityStreams.
func needContext(_ *Server, _ *http.Request, d Doc) error {
	if !slices.Contains(values(d["@context"]), any(activityStreams)) {
		return fmt.Errorf("@context is %v", d["@context"])
	}
	return nil
}

// needMediaType demands the media type of ActivityPub.
func needMediaType(_ *Server, r *http.Request, _ Doc) error {
	if r != nil && !strings.HasPrefix(r.Header.Get("Content-Type"), "application/activity+json") {
		return fmt.Errorf("Content-Type is %s", r.Header.Get("Content-Type"))
	}
	return nil
}

// needID demands an id of at least eight characters without a fragment, on the host of the actor.
func needID(_ *Server, _ *http.Request, d Doc) error {
	id, _ := d["id"].(string)
	u, err := url.Parse(id)
	if err != nil || len(id) < 8 || u.Fragment != "" {
		return fmt.Errorf("id is %v", d["id"])
	}
	if actor, ok := d["actor"].(string); ok && !strings.HasPrefix(actor, u.Scheme+"://"+u.Host+"/") {
		return fmt.Errorf("id %s is on another host than %s", id, actor)
	}
	return nil
}

// needTo demands that activities and their posts are addressed, in lists.
func needTo(_ *Server, r *http.Request, d Doc) error {
	if r == nil {
		return nil
	}
	if _, ok := d["to"].([]any); !ok {
		return fmt.Errorf("to is %v", d["to"])
	}
	o, ok := d["object"].(Doc)
	if ok && o["attributedTo"] != nil && len(values(o["to"]))+len(values(o["cc"])) == 0 {
		return fmt.Errorf("the object %v is not addressed", o["id"])
	}
	return nil
}

// needObjectIDs requires a bare id for an object of another account.
func needObjectIDs(_ *Server, _ *http.Request, d Doc) error {
	switch d["type"] {
	case "Like", "Announce", "Follow", "EmojiReact", "Block":
		if _, ok := d["object"].(string); !ok {
			return fmt.Errorf("object of %v is %v", d["type"], d["object"])
		}
	}
	return nil
}

// needEmbeddedUndo demands that Undo, Accept and Reject have a copy of the activity.
func needEmbeddedUndo(_ *Server, _ *http.Request, d Doc) error {
	switch d["type"] {
	case "Undo", "Accept", "Reject":
		o, ok := d["object"].(Doc)
		if !ok || o["type"] == nil || o["actor"] == nil || o["object"] == nil {
			return fmt.Errorf("object of %v is %v", d["type"], d["object"])
		}
	}
	return nil
}

// needKnownUndo demands that an undone activity is known by its id. A Follow is known by its accounts.
func needKnownUndo(s *Server, _ *http.Request, d Doc) error {
	o, _ := d["object"].(Doc)
	s.mu.Lock()
	defer s.mu.Unlock()
	if d["type"] == "Undo" && o["type"] != "Follow" && !s.seen[reference(d["object"])] {
		return fmt.Errorf("the undone %v is unknown", d["object"])
	}
	return nil
}

// needRecipient demands that the owner of a personal inbox is addressed, or the followers of the actor are.
func needRecipient(s *Server, r *http.Request, d Doc) error {
	if r == nil || !strings.HasSuffix(r.URL.Path, "/inbox") || len(strings.Split(r.URL.Path, "/")) < 4 {
		return nil
	}
	owner := s.URL + strings.TrimSuffix(r.URL.Path, "/inbox")
	all := slices.Concat(values(d["to"]), values(d["cc"]))
	if len(all) > 0 && !slices.Contains(all, any(owner)) && !slices.Contains(all, any(fmt.Sprint(d["actor"], "/followers"))) {
		return fmt.Errorf("%s is not addressed by %v", owner, all)
	}
	return nil
}

var remoteNames = regexp.MustCompile(`^\w([\w.-]*\w)?$`)

// needName demands a name of word characters in actors.
func needName(_ *Server, r *http.Request, d Doc) error {
	if name, _ := d["preferredUsername"].(string); r == nil && !remoteNames.MatchString(name) {
		return fmt.Errorf("the name of %v is %q", d["id"], name)
	}
	return nil
}

// needWebFinger demands that the handle of an actor leads back to it.
func needWebFinger(s *Server, r *http.Request, d Doc) error {
	if r != nil {
		return nil
	}
	id, _ := d["id"].(string)
	u, err := url.Parse(id)
	if err != nil {
		return err
	}
	resource := url.QueryEscape(fmt.Sprintf("acct:%v@%s", d["preferredUsername"], u.Host))
	resp, err := http.Get(u.Scheme + "://" + u.Host + "/.well-known/webfinger?resource=" + resource)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var finger struct {
		Links []struct{ Rel, Type, Href string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&finger); err != nil {
		return err
	}
	for _, l := range finger.Links {
		if l.Rel == "self" && l.Href == id && (l.Type == apptest.ActivityJSON || l.Type == apptest.LinkedDataJSON) {
			return nil
		}
	}
	return fmt.Errorf("WebFinger of %v: %+v", d["preferredUsername"], finger)
}

// needSameHostURL demands that the address of the page of a post is on the host of its id.
func needSameHostURL(_ *Server, _ *http.Request, d Doc) error {
	o, ok := d["object"].(Doc)
	if !ok || o["attributedTo"] == nil {
		return nil
	}
	id, _ := url.Parse(fmt.Sprint(o["id"]))
	page, err := url.Parse(fmt.Sprint(o["url"]))
	if err != nil || id == nil || o["url"] != nil && page.Host != id.Host {
		return fmt.Errorf("url of %v is %v", o["id"], o["url"])
	}
	return nil
}

// values returns a member as a list.
func values(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}
