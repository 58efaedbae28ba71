package peers

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"svc/app/apptest"
	"svc/internal/httpsig"
)

// Synchronization of followers (FEP-8fcf), as Mastodon does it.

const synchronizationHeader = "Collection-Synchronization"

// setFollow records that an account follows another, or does not.
func (s *Server) setFollow(follower, target string, follows bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.followers[target] == nil {
		s.followers[target] = make(map[string]bool)
	}
	if s.followers[target][follower] = follows; !follows {
		delete(s.followers[target], follower)
	}
}

// LoseFollow makes the server forget that one of its accounts follows another.
func (s *Server) LoseFollow(follower, target string) { s.setFollow(follower, target, false) }

// SetFollowers sets which users of another server follow an account. From now on its posts for followers have their digest.
func (s *Server) SetFollowers(actor string, followers ...string) {
	items := []any{}
	for _, follower := range followers {
		s.setFollow(follower, actor, true)
		items = append(items, follower)
	}
	s.Serve(Doc{"@context": s.context(), "id": actor + "/followers_synchronization", "type": "OrderedCollection", "orderedItems": items})
}

// followerIDs returns the known followers of an account.
func (s *Server) followerIDs(target string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for id := range s.followers[target] {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// followersDigest returns the XOR of the SHA-256 sums of ids.
func followersDigest(ids []string) string {
	digest := make([]byte, sha256.Size)
	for _, id := range ids {
		for i, b := range sha256.Sum256([]byte(id)) {
			digest[i] ^= b
		}
	}
	return hex.EncodeToString(digest)
}

// setSynchronization sets the header of a post for followers.
func (s *Server) setSynchronization(req *http.Request, activity Doc) {
	actor := activity["actor"].(string)
	if !s.Synchronizes || s.Document(actor+"/followers_synchronization") == nil || slices.Contains(append(values(activity["to"]), values(activity["cc"])...), any(apptest.Public)) {
		return
	}
	req.Header.Set(synchronizationHeader, fmt.Sprintf(`collectionId="%s/followers", digest="%s", url="%s/followers_synchronization"`,
		actor, followersDigest(s.followerIDs(actor)), actor))
}

// readSynchronization compares the followers of an account with those that its server lists, if the digest differs. The effects are the ids of
// those that one of both does not have.
func (s *Server) readSynchronization(r *http.Request, claim *httpsig.Claim, actor string) (effects []string, err error) {
	header := r.Header.Get(synchronizationHeader)
	if !s.Synchronizes || header == "" {
		return nil, nil
	}
	if !claim.Covers(strings.ToLower(synchronizationHeader)) {
		return nil, fmt.Errorf("the signature does not cover %s", synchronizationHeader)
	}
	params, err := httpsig.Params(header)
	if err != nil {
		return nil, err
	}
	doc, err := s.fetch(actor)
	if err != nil {
		return nil, err
	}
	known := s.followerIDs(actor)
	switch {
	case params["collectionid"] != doc["followers"] || !strings.HasPrefix(params["url"], actor+"/"):
		return nil, fmt.Errorf("%s of %s is %s", synchronizationHeader, actor, header)
	case params["digest"] == followersDigest(known):
		return nil, nil
	}
	list, err := s.fetch(params["url"])
	if err != nil {
		return nil, err
	}
	for _, item := range values(list["orderedItems"]) {
		if !slices.Contains(known, reference(item)) {
			effects = append(effects, "synchronization "+reference(item))
			s.setFollow(reference(item), actor, true)
		}
	}
	for _, id := range known {
		if !slices.Contains(values(list["orderedItems"]), any(id)) {
			effects = append(effects, "synchronization "+id)
			s.setFollow(id, actor, false)
		}
	}
	return effects, nil
}
