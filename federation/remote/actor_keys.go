package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"svc/internal/activity"
	"svc/internal/fetch"
	"svc/store"
)

// fetchKeyOwner fetches a key by its id, and stores its owner with all keys. The owner's own document must list the key, or it is not
// theirs (federation 2.3).
func (a *Actors) fetchKeyOwner(ctx context.Context, id string) error {
	host, err := a.fetcher.FetchableHost(activity.WithoutFragment(id))
	if err != nil {
		return err
	}
	if err := MayFetch(ctx); err != nil {
		return err
	}
	if err := a.checkNewHost(ctx, host, false); err != nil {
		return err
	}
	_, err = a.actorFetches.do(ctx, "key "+id, actorTimeout, func(ctx context.Context) (*store.Account, error) {
		doc, err := a.fetcher.fetchKeyDocument(ctx, id)
		if err != nil {
			return nil, err
		}
		return a.storeKeyOwner(ctx, id, doc)
	})
	return err
}

// fetchKeyDocument fetches the document at a key id: the owner, or the key alone. If the path of the key id ends like those of GoToSocial, it
// fetches the owner in the first place, whose document has the key and is needed anyway. If there is no document at the key id, it derives
// the owner's id from the key id.
func (f *Fetcher) fetchKeyDocument(ctx context.Context, id string) (activity.Object, error) {
	at := activity.WithoutFragment(id)
	addresses := []string{at, withoutQuery(at)}
	if owner := withoutKeyPath(at); owner != at {
		addresses = []string{owner, at}
	}
	var doc activity.Object
	var err error
	for i, address := range addresses {
		if i > 0 && address == addresses[0] {
			continue
		}
		doc, err = f.Document(ctx, address)
		if status := HTTPStatus(err); err == nil || status != 404 && status != 401 && status != 403 && !errors.Is(err, fetch.ErrContentType) {
			break
		}
	}
	return doc, err
}

func withoutKeyPath(id string) string {
	return strings.TrimSuffix(strings.TrimSuffix(id, "/main-key"), "/publickey")
}

func withoutQuery(id string) string {
	id, _, _ = strings.Cut(id, "?")
	return id
}

// storeKeyOwner stores the owner of a key by the document that was found at the key id.
func (a *Actors) storeKeyOwner(ctx context.Context, id string, doc activity.Object) (*store.Account, error) {
	var separate *store.ActorKey // a key that its owner only lists
	if !IsActor(doc) && !doc.Is("Tombstone") {
		if doc.ID() != id {
			return nil, refuseKey("document at the key id has another key")
		}
		owner := cmp.Or(doc.Ref("owner"), doc.Ref("controller"))
		if !activity.SameHost(owner, id, a.Settings.AllowLoopback) {
			return nil, refuseKey("key owner is on another host than the key")
		}
		if separate = a.reader.parseActorKey(doc, owner); separate == nil {
			return nil, refuseKey("document at the key id has no valid key")
		}
		var err error
		if doc, err = a.fetcher.Document(ctx, owner); err != nil {
			return nil, err
		}
		if doc.ID() != owner {
			return nil, refuseKey("key belongs to another owner")
		}
	}
	p, err := a.reader.parseFetchedActor(doc)
	if err != nil {
		return nil, err
	}
	has := func(k *store.ActorKey) bool { return k.URI == id }
	switch {
	case slices.ContainsFunc(p.keys, has):
	case separate != nil && slices.Contains(p.listedKeys, id):
		p.keys = append(p.keys, separate)
	default:
		return nil, refuseKey("actor %s does not list the key", p.account.URI)
	}
	return a.importParsedActor(ctx, p, nil, false)
}

// refuseKey returns a final error of a key whose owner can be read.
func refuseKey(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errWrongSignature, Refuse(format, args...))
}
