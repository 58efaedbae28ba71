package federation

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/fetch"
	"svc/store"
)

const (
	actorTimeout   = 45 * time.Second // for all that has to be asked because of one actor
	minDeletedTime = 24 * time.Hour   // how long an account that was deleted stays so, whatever its server says (federation 4.5)
	handleTTL      = 48 * time.Hour   // how long a handle is not asked for again
)

// actorDeletedError says that an actor is no more.
func actorDeletedError(uri string) error {
	return fmt.Errorf("%s is deleted: %w", uri, &fetch.StatusError{Status: http.StatusGone})
}

// Actor returns the account of an ActivityPub id: the one that is known, which is looked at anew in the background if that was long ago, or
// what its server says. It may be withheld. One that is deleted is an error that IsNotFoundOrGone tells of.
func (s *Service) Actor(ctx context.Context, uri string) (*store.Account, error) {
	uri = activity.WithoutFragment(uri)
	account, err := s.db.AccountByURI(ctx, uri)
	switch {
	case errs.IsNotFound(err):
		return s.FetchActor(ctx, uri)
	case err != nil:
		return nil, err
	case account.Local():
		return account, nil
	case account.DeletedAt != nil:
		return nil, actorDeletedError(uri)
	}
	return account, s.RefreshIfStale(ctx, account)
}

// FetchActor returns the account of an ActivityPub id as its server says now. Who asks for the same meanwhile gets the same answer.
func (s *Service) FetchActor(ctx context.Context, uri string) (*store.Account, error) {
	uri = activity.WithoutFragment(uri)
	host, err := s.FetchableHost(uri)
	if err != nil {
		return nil, err
	}
	if err := MayFetch(ctx); err != nil {
		return nil, err
	}
	if err := s.checkNewHost(ctx, host, false); err != nil {
		return nil, err
	}
	return s.actorFetches.do(ctx, uri, actorTimeout, func(ctx context.Context) (*store.Account, error) {
		doc, err := s.Document(ctx, uri)
		if err != nil {
			return nil, err
		}
		return s.importActor(ctx, doc, nil, true)
	})
}

// importActor stores what the document of an actor says, which must have been read from its origin. named is how WebFinger led to it,
// nil if it was found by its id. One that was deleted long enough ago comes back if that is wanted.
func (s *Service) importActor(ctx context.Context, doc activity.Object, named *webFinger, revive bool) (*store.Account, error) {
	p, err := s.parseFetchedActor(doc)
	if err != nil {
		return nil, err
	}
	return s.importParsedActor(ctx, p, named, revive)
}

// parseFetchedActor reads what was found at the id of an actor, where there may also stand that it is no more.
func (s *Service) parseFetchedActor(doc activity.Object) (*parsedActor, error) {
	if doc.Is("Tombstone") {
		return nil, actorDeletedError(doc.ID())
	}
	return s.parseActor(doc)
}

func (s *Service) importParsedActor(ctx context.Context, p *parsedActor, named *webFinger, revive bool) (*store.Account, error) {
	known, actor, err := s.storedActor(ctx, p.account.URI)
	if err != nil {
		return nil, err
	}
	if known != nil && known.DeletedAt != nil && (!revive || s.now().Sub(known.DeletedAt.Time()) < minDeletedTime) {
		return nil, actorDeletedError(known.URI)
	}
	h := confirmedHandle{nick: p.account.Nickname, domain: p.host}
	switch {
	case known != nil && named == nil && actor != nil && known.Nickname == p.account.Nickname && s.now().Sub(actor.HandleVerifiedAt.Time()) < handleTTL:
		h = confirmedHandle{nick: known.Nickname, domain: known.Domain, confirmedAt: actor.HandleVerifiedAt}
	case named != nil:
		h, err = s.confirmRequestedHandle(ctx, p, named)
	default:
		h, err = s.confirmHandle(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	if h.confirmedAt == 0 && known != nil { // what was confirmed once is not given up because nobody answers
		h.nick, h.domain = known.Nickname, known.Domain
	}
	if err := s.checkHostPolicy(h.domain); err != nil {
		return nil, err
	}
	if err := s.applyPoliciesToActor(ctx, p, h.domain); err != nil {
		return nil, err
	}
	if known == nil && named == nil {
		if err := s.checkNewHost(ctx, p.host, true); err != nil {
			return nil, err
		}
	}
	return s.saveActor(ctx, p, h)
}

// storedActor returns what is known of an actor, nil for what is not.
func (s *Service) storedActor(ctx context.Context, uri string) (*store.Account, *store.Actor, error) {
	account, err := s.db.AccountByURI(ctx, uri)
	if err != nil {
		return nil, nil, ignoreNotFound(err)
	}
	actor, err := s.db.Actor(ctx, account.ID)
	if errs.IsNotFound(err) {
		return account, nil, nil
	}
	return account, actor, err
}

// confirmedHandle is what an account is called, and when that was confirmed; 0: it could not be asked for.
type confirmedHandle struct {
	nick, domain string
	confirmedAt  store.Time
}

// saveActor stores an actor that was read from its origin: the account, what federation knows of it, and its keys.
func (s *Service) saveActor(ctx context.Context, p *parsedActor, h confirmedHandle) (*store.Account, error) {
	var account *store.Account
	var keys []string // whose readers have to look again
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		now := store.At(s.now())
		p.actor.FetchedAt, p.actor.AttemptedAt, p.actor.HandleVerifiedAt = now, now, h.confirmedAt
		row, err := tx.AccountByURI(ctx, p.account.URI)
		switch {
		case errs.IsNotFound(err):
			account, err = s.addActor(ctx, tx, p, h)
			for _, k := range p.keys { // another may have had it wrongly
				keys = append(keys, k.URI)
			}
			return err
		case err == nil && row.Local():
			err = ErrLocal
		case err == nil:
			err = s.renameActor(ctx, tx, row, h)
		}
		if err != nil {
			return err
		}
		keys, err = s.saveKeys(ctx, tx, row.ID, p)
		if err != nil {
			return err
		}
		if row.DeletedAt != nil {
			if err := tx.RestoreAccount(ctx, row.ID); err != nil {
				return err
			}
		}
		if err := s.saveProfile(ctx, tx, row, p); err != nil {
			return err
		}
		account, err = tx.Account(ctx, row.ID)
		return err
	})
	if err == nil {
		s.keys.invalidate(keys...)
	}
	return account, err
}

// addActor stores an actor that was not known.
func (s *Service) addActor(ctx context.Context, tx *store.Tx, p *parsedActor, h confirmedHandle) (*store.Account, error) {
	row, actor := p.account, p.actor
	row.Nickname, row.Domain = h.nick, h.domain
	if err := releaseHandle(ctx, tx, h); err != nil {
		return nil, err
	}
	var err error
	if row.MovedToID, err = movedToID(ctx, tx, &row, actor.MovedTo); err != nil {
		return nil, err
	}
	if err := tx.AddAccount(ctx, &row); err != nil {
		return nil, err
	}
	if err := tx.SetActorKeys(ctx, row.ID, p.keys); err != nil {
		return nil, err
	}
	if row.Unavailable = actor.Suspended; row.Unavailable {
		if err := tx.SetUnavailable(ctx, row.ID, true); err != nil {
			return nil, err
		}
	}
	actor.AccountID = row.ID
	return &row, tx.SaveActor(ctx, &actor)
}

// renameActor gives a known account the handle that leads to it now.
func (s *Service) renameActor(ctx context.Context, tx *store.Tx, row *store.Account, h confirmedHandle) error {
	if row.Nickname == h.nick && row.Domain == h.domain {
		return nil
	}
	if !strings.EqualFold(row.Nickname, h.nick) || row.Domain != h.domain {
		if err := releaseHandle(ctx, tx, h); err != nil {
			return err
		}
	}
	row.Nickname, row.Domain = h.nick, h.domain
	return tx.RenameAccount(ctx, row)
}

// releaseHandle takes a handle from the account that has had it: it has been found to lead to another one (federation 1.3). Its posts stay.
func releaseHandle(ctx context.Context, tx *store.Tx, h confirmedHandle) error {
	holder, err := tx.AccountByName(ctx, h.nick, h.domain)
	if err != nil {
		return ignoreNotFound(err)
	}
	if h.confirmedAt == 0 && holder.DeletedAt == nil {
		return Refuse("%s@%s is another account", h.nick, h.domain)
	}
	holder.Nickname = holder.ID.String() + "." + holder.Nickname
	return tx.RenameAccount(ctx, holder)
}

// saveKeys stores the keys of an actor: those in its document, and of those that it only names the ones that were read elsewhere. It returns
// the ids of all that it has or has had.
func (s *Service) saveKeys(ctx context.Context, tx *store.Tx, id store.AccountID, p *parsedActor) ([]string, error) {
	old, err := tx.ActorKeys(ctx, id)
	if err != nil {
		return nil, err
	}
	keys := p.keys
	var ids []string
	for _, k := range old {
		ids = append(ids, k.URI)
		same := func(other *store.ActorKey) bool { return other.URI == k.URI }
		if slices.Contains(p.listedKeys, k.URI) && !slices.ContainsFunc(keys, same) && len(keys) < maxActorKeys {
			keys = append(keys, k)
		}
	}
	for _, k := range keys {
		ids = append(ids, k.URI)
	}
	return ids, tx.SetActorKeys(ctx, id, keys)
}

// saveProfile stores what an actor says of itself, but neither its handle nor its keys. The times in p.actor are those to be stored.
func (s *Service) saveProfile(ctx context.Context, tx *store.Tx, row *store.Account, p *parsedActor) error {
	old, err := tx.Actor(ctx, row.ID)
	if err := ignoreNotFound(err); err != nil {
		return err
	}
	actor := p.actor
	actor.AccountID = row.ID
	if old != nil {
		actor.MovedAt, actor.CollectionsFetchedAt = old.MovedAt, old.CollectionsFetchedAt
	}
	if err := tx.SaveActor(ctx, &actor); err != nil {
		return err
	}
	if wasSuspended := old != nil && old.Suspended; wasSuspended != actor.Suspended {
		if err := tx.SetUnavailable(ctx, row.ID, actor.Suspended); err != nil {
			return err
		}
	}
	a := *row
	from := &p.account
	a.URL, a.ActorType, a.DisplayName, a.Note, a.Fields = from.URL, from.ActorType, from.DisplayName, from.Note, from.Fields
	a.Avatar, a.Header, a.Locked, a.Discoverable = from.Avatar, from.Header, from.Locked, from.Discoverable
	a.AcceptsChatMessages, a.Birthday, a.ShowBirthday = from.AcceptsChatMessages, from.Birthday, from.ShowBirthday
	a.AlsoKnownAs, a.Emojis = from.AlsoKnownAs, from.Emojis
	if a.MovedToID, err = movedToID(ctx, tx, &a, actor.MovedTo); err != nil {
		return err
	}
	return tx.SaveAccount(ctx, &a)
}

// movedToID returns the account that an actor has moved to: it must be known here, and say that the actor is one of its own (federation
// 4.13).
func movedToID(ctx context.Context, tx *store.Tx, a *store.Account, uri string) (*store.AccountID, error) {
	if uri == "" {
		return nil, nil
	}
	target, err := tx.AccountByURI(ctx, uri)
	if err != nil {
		return nil, ignoreNotFound(err)
	}
	if target.ID == a.ID || target.Unavailable || !slices.Contains(target.AlsoKnownAs.V, a.URI) {
		return nil, nil
	}
	return &target.ID, nil
}
