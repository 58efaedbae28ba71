package federation

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"svc/internal/activity"
	"svc/internal/fetch"
	"svc/store"
)

// learnKey asks for a key by its id, and stores its owner with all keys that it has. The owner's own document must name the key: only then
// it is theirs (federation 2.3).
func (s *Service) learnKey(ctx context.Context, id string) error {
	host, err := s.hostToAsk(activity.WithoutFragment(id))
	if err != nil {
		return err
	}
	if err := mayAsk(ctx); err != nil {
		return err
	}
	if err := s.mayMeet(ctx, host, false); err != nil {
		return err
	}
	_, err = s.actors.do(ctx, "key "+id, actorTime, func(ctx context.Context) (*store.Account, error) {
		doc, err := s.keyDocument(ctx, id)
		if err != nil {
			return nil, err
		}
		return s.learnOwner(ctx, id, doc)
	})
	return err
}

// keyDocument reads what is at the id of a key: its owner, or the key alone. Where there is nothing, the id may be made of that of the owner.
func (s *Service) keyDocument(ctx context.Context, id string) (activity.Object, error) {
	at := activity.WithoutFragment(id)
	doc, err := s.document(ctx, at)
	for _, owner := range []string{trimKey(at), withoutQuery(at)} {
		if err == nil || owner == at || statusOf(err) != 404 && !errors.Is(err, fetch.ErrType) {
			continue
		}
		doc, err = s.document(ctx, owner)
	}
	return doc, err
}

func trimKey(id string) string {
	return strings.TrimSuffix(strings.TrimSuffix(id, "/main-key"), "/publickey")
}

func withoutQuery(id string) string {
	id, _, _ = strings.Cut(id, "?")
	return id
}

// learnOwner stores the owner of a key, of which a document was found at the id of the key.
func (s *Service) learnOwner(ctx context.Context, id string, doc activity.Object) (*store.Account, error) {
	var alone *store.ActorKey // that its owner only names
	if !isActor(doc) && !doc.Is("Tombstone") {
		if doc.ID() != id {
			return nil, refuse("at the id of the key there is another one")
		}
		owner := cmp.Or(doc.Ref("owner"), doc.Ref("controller"))
		if !activity.SameHost(owner, id, s.Trial) {
			return nil, refuse("the key says that it is of another host")
		}
		if alone = s.readKey(doc, owner); alone == nil {
			return nil, refuse("at the id of the key there is no key that can be used")
		}
		var err error
		if doc, err = s.document(ctx, owner); err != nil {
			return nil, err
		}
		if doc.ID() != owner {
			return nil, refuse("the owner of the key is somebody else")
		}
	}
	p, err := s.readFetched(doc)
	if err != nil {
		return nil, err
	}
	has := func(k *store.ActorKey) bool { return k.URI == id }
	switch {
	case slices.ContainsFunc(p.keys, has):
	case alone != nil && slices.Contains(p.listed, id):
		p.keys = append(p.keys, alone)
	default:
		return nil, refuse("%s does not say that it has this key", p.account.URI)
	}
	return s.learnPerson(ctx, p, nil, false)
}
