package remote

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/fetch"
	"svc/internal/limit"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

const (
	maxAddresseesFetched = 5                // unknown addressees of a direct status
	actorTimeout         = 45 * time.Second // for all requests for one actor
	minDeletedTime       = 24 * time.Hour   // before a deleted account can come back (federation 4.5)
	handleTTL            = 48 * time.Hour   // until a handle is confirmed again
)

// Actors fetches and stores the accounts of other servers.
type Actors struct {
	Config
	reader        *Reader
	fetcher       *Fetcher
	db            *store.DB
	social        *social.Service
	accounts      *AccountCache
	keys          *keyCache
	log           *slog.Logger
	actorFetches  singleFlight[*store.Account]
	accountChecks *limit.Window[accountCheckKey] // so that not each activity of an account costs a query
	pinRefreshes  *limit.Window[store.AccountID]
	newHosts      *newHostLimit
}

func actorDeletedError(uri string) error {
	return fmt.Errorf("%s is deleted: %w", uri, &fetch.StatusError{Status: http.StatusGone})
}

// Actor returns the account of an actor id: the stored one, which is refreshed in the background if it is old, or the fetched one. It
// may be unavailable. For a deleted account, IsNotFoundOrGone returns true for the error.
func (a *Actors) Actor(ctx context.Context, uri string) (*store.Account, error) {
	uri = activity.WithoutFragment(uri)
	account, err := a.db.AccountByURI(ctx, uri)
	switch {
	case errs.IsNotFound(err):
		return a.FetchActor(ctx, uri)
	case err != nil:
		return nil, err
	case account.Local():
		return account, nil
	case account.DeletedAt != nil:
		return nil, actorDeletedError(uri)
	}
	return account, a.RefreshIfStale(ctx, account)
}

// FetchActor fetches and stores the account of an actor id. Concurrent calls for one id share a fetch.
func (a *Actors) FetchActor(ctx context.Context, uri string) (*store.Account, error) {
	uri = activity.WithoutFragment(uri)
	host, err := a.fetcher.FetchableHost(uri)
	if err != nil {
		return nil, err
	}
	if err := MayFetch(ctx); err != nil {
		return nil, err
	}
	if err := a.checkNewHost(ctx, host, false); err != nil {
		return nil, err
	}
	return a.actorFetches.do(ctx, uri, actorTimeout, func(ctx context.Context) (*store.Account, error) {
		doc, err := a.fetcher.Document(ctx, uri)
		if err != nil {
			return nil, err
		}
		return a.importActor(ctx, doc, nil, true)
	})
}

// importActor stores an actor whose document was fetched from its origin. named is the WebFinger result that led to it, nil if it was
// found by its id. If revive is set, an account that was deleted long enough ago comes back.
func (a *Actors) importActor(ctx context.Context, doc activity.Object, named *webFinger, revive bool) (*store.Account, error) {
	p, err := a.reader.parseFetchedActor(doc)
	if err != nil {
		return nil, err
	}
	return a.importParsedActor(ctx, p, named, revive)
}

func (a *Actors) importParsedActor(ctx context.Context, p *parsedActor, named *webFinger, revive bool) (*store.Account, error) {
	known, actor, err := a.storedActor(ctx, p.account.URI)
	if err != nil {
		return nil, err
	}
	if known != nil && known.DeletedAt != nil && (!revive || known.DeletedAt.Age(a.db.Now()) < minDeletedTime) {
		return nil, actorDeletedError(known.URI)
	}
	h := confirmedHandle{nick: p.account.Nickname, domain: p.host}
	switch {
	case known != nil && named == nil && actor != nil && known.Nickname == p.account.Nickname && actor.HandleVerifiedAt.Age(a.db.Now()) < handleTTL:
		h = confirmedHandle{nick: known.Nickname, domain: known.Domain, confirmedAt: actor.HandleVerifiedAt}
	case named != nil:
		h, err = a.confirmRequestedHandle(ctx, p, named)
	default:
		h, err = a.confirmHandle(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	if h.confirmedAt == 0 && known != nil { // a confirmed handle stays if its server does not respond
		h.nick, h.domain = known.Nickname, known.Domain
	}
	if err := a.fetcher.CheckHostPolicy(h.domain); err != nil {
		return nil, err
	}
	if err := a.applyPoliciesToActor(ctx, p, h.domain); err != nil {
		return nil, err
	}
	if known == nil && named == nil {
		if err := a.checkNewHost(ctx, p.host, true); err != nil {
			return nil, err
		}
	}
	return a.saveActor(ctx, p, h)
}

// storedActor returns the stored account and actor, nil if there is none.
func (a *Actors) storedActor(ctx context.Context, uri string) (*store.Account, *store.Actor, error) {
	id, err := a.db.AccountIDByURI(ctx, uri)
	if id == 0 || err != nil {
		return nil, nil, err
	}
	account, err := a.db.Account(ctx, id)
	if err != nil {
		return nil, nil, errs.IgnoreNotFound(err)
	}
	actor, err := a.db.Actor(ctx, id)
	if errs.IsNotFound(err) {
		return account, nil, nil
	}
	return account, actor, err
}

// confirmedHandle is a handle and the time of its confirmation; 0 if it could not be confirmed.
type confirmedHandle struct {
	nick, domain string
	confirmedAt  store.Time
}

// saveActor stores an actor that was fetched from its origin: account, actor, and keys.
func (a *Actors) saveActor(ctx context.Context, p *parsedActor, h confirmedHandle) (*store.Account, error) {
	p.account.CutRemote()
	var account *store.Account
	var keys []string // to invalidate
	generation := a.accounts.accounts.Generation()
	err := a.db.Update(ctx, func(tx *store.Tx) error {
		now := store.At(a.db.Now())
		p.actor.FetchedAt, p.actor.AttemptedAt, p.actor.HandleVerifiedAt = now, now, h.confirmedAt
		id, err := tx.AccountIDByURI(ctx, p.account.URI)
		switch {
		case err != nil:
			return err
		case id == 0:
			account, keys, err = a.addActor(ctx, tx, p, h)
		default:
			account, keys, err = a.replaceActor(ctx, tx, id, p, h)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if p.ed25519 {
		a.fetcher.learnEd25519(ctx, p.host)
	}
	a.keys.invalidate(keys...)
	a.accounts.accounts.Put(account.ID, account, generation)                                    // does nothing for a known account: the transaction has changed it
	allowOnce(a.accountChecks, accountCheckKey{id: account.ID}, minRefreshInterval, a.db.Now()) // RefreshIfStale would find it new
	return account, nil
}

// replaceActor stores a known actor. It returns the account, and the ids of all its present and former keys.
func (a *Actors) replaceActor(ctx context.Context, tx *store.Tx, id store.AccountID, p *parsedActor, h confirmedHandle) (*store.Account, []string, error) {
	row, err := tx.Account(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if row.Local() {
		return nil, nil, ErrLocal
	}
	if err := a.renameActor(ctx, tx, row, h); err != nil {
		return nil, nil, err
	}
	keys, err := a.saveKeys(ctx, tx, id, p)
	if err != nil {
		return nil, nil, err
	}
	if row.DeletedAt != nil {
		if err := tx.RestoreAccount(ctx, id); err != nil {
			return nil, nil, err
		}
	}
	if err := a.saveProfile(ctx, tx, row, p); err != nil {
		return nil, nil, err
	}
	account, err := tx.Account(ctx, id)
	return account, keys, err
}

// addActor stores an unknown actor. It returns the account, as a query would, and the ids of its keys, which another actor may have had.
func (a *Actors) addActor(ctx context.Context, tx *store.Tx, p *parsedActor, h confirmedHandle) (*store.Account, []string, error) {
	row, actor := p.account, p.actor
	row.Nickname, row.Domain = h.nick, h.domain
	if err := releaseHandle(ctx, tx, h); err != nil {
		return nil, nil, err
	}
	var err error
	if row.MovedToID, err = movedToID(ctx, tx, &row, actor.MovedTo); err != nil {
		return nil, nil, err
	}
	if err := tx.AddAccount(ctx, &row); err != nil {
		return nil, nil, err
	}
	if err := tx.AddActorKeys(ctx, row.ID, p.keys); err != nil {
		return nil, nil, err
	}
	if row.Unavailable = actor.Suspended; row.Unavailable {
		if err := tx.SetUnavailable(ctx, row.ID, true); err != nil {
			return nil, nil, err
		}
	}
	actor.AccountID = row.ID
	var keys []string
	for _, k := range p.keys {
		keys = append(keys, k.URI)
	}
	return &row, keys, tx.SaveActor(ctx, &actor)
}

// renameActor gives a known account its new handle.
func (a *Actors) renameActor(ctx context.Context, tx *store.Tx, row *store.Account, h confirmedHandle) error {
	if row.Nickname == h.nick && row.Domain == h.domain {
		return nil
	}
	if !text.SameNick(row.Nickname, h.nick) || row.Domain != h.domain {
		if err := releaseHandle(ctx, tx, h); err != nil {
			return err
		}
	}
	row.Nickname, row.Domain = h.nick, h.domain
	return tx.RenameAccount(ctx, row)
}

// releaseHandle removes a handle from the account that had it, because it leads to another account now (federation 1.3). The statuses
// of that account stay.
func releaseHandle(ctx context.Context, tx *store.Tx, h confirmedHandle) error {
	id, err := tx.AccountIDByName(ctx, h.nick, h.domain)
	if id == 0 || err != nil {
		return err
	}
	holder, err := tx.Account(ctx, id)
	if err != nil {
		return err
	}
	if h.confirmedAt == 0 && holder.DeletedAt == nil {
		return Refuse("handle %s@%s belongs to another account", h.nick, h.domain)
	}
	holder.Nickname = holder.ID.String() + "." + holder.Nickname
	return tx.RenameAccount(ctx, holder)
}

// saveKeys stores the keys of an actor: those in its document, and of those that it only lists the ones that were fetched separately.
// It returns the ids of all its present and former keys.
func (a *Actors) saveKeys(ctx context.Context, tx *store.Tx, id store.AccountID, p *parsedActor) ([]string, error) {
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

// saveProfile stores the profile of an actor, without handle and keys. The times in p.actor are stored as they are.
func (a *Actors) saveProfile(ctx context.Context, tx *store.Tx, row *store.Account, p *parsedActor) error {
	old, err := tx.Actor(ctx, row.ID)
	if err := errs.IgnoreNotFound(err); err != nil {
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
		if err := tx.SetUnavailable(ctx, row.ID, actor.Suspended || row.SuspendedAt != nil || row.Rejected); err != nil {
			return err
		}
	}
	changed := *row
	from := &p.account
	changed.URL, changed.ActorType, changed.DisplayName, changed.Note, changed.Fields = from.URL, from.ActorType, from.DisplayName, from.Note, from.Fields
	changed.Avatar, changed.Header, changed.Locked, changed.Discoverable, changed.Indexable = from.Avatar, from.Header, from.Locked, from.Discoverable, from.Indexable
	changed.AcceptsChatMessages, changed.Birthday, changed.ShowBirthday = from.AcceptsChatMessages, from.Birthday, from.ShowBirthday
	changed.AvatarDescription, changed.HeaderDescription = from.AvatarDescription, from.HeaderDescription
	changed.HideMedia, changed.HideMediaReplies, changed.HideFeatured = from.HideMedia, from.HideMediaReplies, from.HideFeatured
	changed.AlsoKnownAs, changed.Emojis, changed.AttributionDomains = from.AlsoKnownAs, from.Emojis, from.AttributionDomains
	// A Move of an actor whose document never had movedTo stays.
	if actor.MovedTo != "" || old != nil && old.MovedTo != "" {
		if changed.MovedToID, err = movedToID(ctx, tx, &changed, actor.MovedTo); err != nil {
			return err
		}
	}
	store.KeepVerified(changed.Fields.V, row.Fields.V)
	if err := tx.SaveAccount(ctx, &changed); err != nil || slices.Equal(changed.Fields.V, row.Fields.V) {
		return err
	}
	if followed, err := tx.HasLocalFollower(ctx, row.ID); !followed {
		return err
	}
	return tx.EnqueueLinkChecks(ctx, &changed)
}

// movedToID returns the account that an actor has moved to. It must be known, and list the actor as its alias (federation 4.13).
func movedToID(ctx context.Context, tx *store.Tx, a *store.Account, uri string) (*store.AccountID, error) {
	if uri == "" {
		return nil, nil
	}
	target, err := tx.AccountByURI(ctx, uri)
	if err != nil {
		return nil, errs.IgnoreNotFound(err)
	}
	if target.ID == a.ID || target.Unavailable || !slices.Contains(target.AlsoKnownAs.V, a.URI) {
		return nil, nil
	}
	return &target.ID, nil
}

// FetchAddressees fetches some unknown addressees of a direct status, because replies are addressed to them, too.
func (a *Actors) FetchAddressees(ctx context.Context, n *Note) error {
	known, err := a.db.KnownAccountURIs(ctx, n.Audience)
	if err != nil {
		return err
	}
	fetched := 0
	for _, uri := range n.Audience {
		if known[uri] || fetched == maxAddresseesFetched {
			continue
		}
		if _, err := a.fetcher.FetchableHost(uri); err != nil {
			continue
		}
		if err := MayFetch(ctx); err != nil {
			return err
		}
		fetched++
		if _, err := a.Actor(ctx, uri); err != nil {
			a.log.Debug("addressed account not found", "uri", uri, "err", err)
		}
	}
	return nil
}
