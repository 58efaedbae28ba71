package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"svc/internal/activity"
	"svc/internal/cache"
	"svc/internal/errs"
	"svc/internal/httpsig"
	"svc/internal/limit"
	"svc/social"
	"svc/store"
)

// Synchronization of followers (FEP-8fcf). The server of an author adds a digest of the followers on the recipient's host to posts for
// followers. If the recipient's digest differs, it fetches the list of these followers, and ends or accepts follows accordingly.

// SynchronizationHeader is the header with the digest.
const SynchronizationHeader = "Collection-Synchronization"

// synchronizationComponent is the name of the header in a signature.
const synchronizationComponent = "collection-synchronization"

const (
	maxSyncFollowers  = 20_000 // of an account; an account with more is not synchronized
	maxUnknownFollows = 100    // listed follows that do not exist here, and of which one synchronization sends an Undo
	syncBatch         = 100    // follows that one transaction changes
	digestCacheBytes  = 16 << 20
	digestEntryBytes  = 96 // of one host
	digestTimeout     = time.Minute
)

var (
	syncRate       = limit.Rate{Count: 1, Window: time.Hour}   // of an account
	syncDomainRate = limit.Rate{Count: 100, Window: time.Hour} // of a registered domain
)

// followerDigest is the XOR of the SHA-256 sums of the ids of followers.
type followerDigest [sha256.Size]byte

func (d *followerDigest) add(uri string) {
	for i, b := range sha256.Sum256([]byte(uri)) {
		d[i] ^= b
	}
}

// hostDigests are the digests of the followers of an account by host. It is nil for an account with too many followers.
type hostDigests map[string]followerDigest

func (d hostDigests) size() int { return cache.EntryBytes + len(d)*digestEntryBytes }

// FollowerSync synchronizes followers with other servers.
type FollowerSync struct {
	Config
	reader  *Reader
	fetcher *Fetcher
	actors  *AccountCache
	db      *store.DB
	social  *social.Service
	log     *slog.Logger
	digests *cache.Cache[store.AccountID, hostDigests]
	flights singleFlight[hostDigests]
	checks  *limit.Window[string] // synchronizations by account and by registered domain
}

func newFollowerSync(c Config, reader *Reader, fetcher *Fetcher, actors *AccountCache, db *store.DB, social *social.Service, log *slog.Logger) *FollowerSync {
	s := &FollowerSync{
		Config: c, reader: reader, fetcher: fetcher, actors: actors, db: db, social: social, log: log,
		digests: cache.NewWeighted[store.AccountID](digestCacheBytes, hostDigests.size), checks: limit.NewWindow[string](maxAccountChecks),
	}
	db.Subscribe(s.invalidate)
	return s
}

// invalidate removes the digests of accounts whose number of followers changed.
func (s *FollowerSync) invalidate(events []store.Event) {
	changed, ok := events[0].(store.RowsChanged) // always the first event
	switch {
	case !ok:
	case changed.All:
		s.digests.Clear()
	default:
		s.digests.Drop(changed.Accounts...)
		for id := range changed.Counters {
			s.digests.Drop(id)
		}
	}
}

// digest returns the digest of the followers of an account on a host, and false if the account has too many followers.
func (s *FollowerSync) digest(ctx context.Context, id store.AccountID, host string) (d followerDigest, ok bool, err error) {
	digests, found := s.digests.Get(id)
	if !found {
		digests, err = s.flights.do(ctx, id.String(), digestTimeout, func(ctx context.Context) (hostDigests, error) {
			return s.digests.Load(id, func() (hostDigests, error) { return s.readDigests(ctx, id) })
		})
	}
	return digests[host], digests != nil, err
}

func (s *FollowerSync) readDigests(ctx context.Context, id store.AccountID) (hostDigests, error) {
	uris, err := s.db.FollowerURIs(ctx, id, maxSyncFollowers+1)
	if err != nil || len(uris) > maxSyncFollowers {
		return nil, err
	}
	digests := make(hostDigests)
	for _, uri := range uris {
		host, err := activity.Host(uri, s.Settings.AllowLoopback)
		if err != nil {
			continue
		}
		d := digests[host]
		d.add(uri)
		digests[host] = d
	}
	return digests, nil
}

// Header returns the header of a post for the followers of a local account that goes to a host; "" if there is none.
func (s *FollowerSync) Header(ctx context.Context, author store.AccountID, host string) (string, error) {
	digest, ok, err := s.digest(ctx, author, host)
	if !ok || err != nil {
		return "", err
	}
	a, err := s.actors.Get(ctx, author)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`collectionId="%s/followers", url="%s", digest="%x"`, a.URI, SynchronizationURL(a), digest), nil
}

// SynchronizationURL returns the address of the list of the followers of a local account on the requester's host.
func SynchronizationURL(a *store.Account) string { return a.URI + "/followers_synchronization" }

// Followers returns the ids of the followers of a local account on the host of a remote one. The error is errs.ErrRecordNotFound if it has
// too many.
func (s *FollowerSync) Followers(ctx context.Context, id store.AccountID, requester *store.Account) ([]string, error) {
	host := s.reader.HostOf(requester)
	uris, err := s.db.FollowerURIs(ctx, id, maxSyncFollowers+1)
	if err == nil && len(uris) > maxSyncFollowers {
		err = errs.ErrRecordNotFound
	}
	return slices.DeleteFunc(uris, func(uri string) bool {
		of, err := activity.Host(uri, s.Settings.AllowLoopback)
		return err != nil || of != host
	}), err
}

// HasFollowers returns whether a local account has followers on a host that are synchronized.
func (s *FollowerSync) HasFollowers(ctx context.Context, id store.AccountID, host string) (bool, error) {
	digest, _, err := s.digest(ctx, id, host)
	return digest != followerDigest{}, err
}

// Check reads the header of a request of a remote account, and queues a synchronization if its digest differs from that of the local
// followers. It ignores a header that one of the signatures does not cover. Errors are logged, because the activity is accepted.
func (s *FollowerSync) Check(ctx context.Context, r *http.Request, claims []*httpsig.Claim, signer *store.Account) {
	text := r.Header.Get(SynchronizationHeader)
	if text == "" || slices.ContainsFunc(claims, func(c *httpsig.Claim) bool { return !c.Covers(synchronizationComponent) }) {
		return
	}
	if err := s.check(ctx, text, signer); err != nil && ctx.Err() == nil {
		s.log.Error("could not check the followers of an account", "actor", signer.URI, "err", err)
	}
}

func (s *FollowerSync) check(ctx context.Context, header string, signer *store.Account) error {
	params, err := httpsig.Params(header)
	if err != nil {
		return nil
	}
	theirs, err := hex.DecodeString(params["digest"])
	if err != nil || len(theirs) != len(followerDigest{}) {
		return nil
	}
	ours, ok, err := s.digest(ctx, signer.ID, s.Settings.WebHost)
	if !ok || err != nil || ours == followerDigest(theirs) {
		return err
	}
	actor, err := s.db.Actor(ctx, signer.ID)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	url := params["url"]
	if actor.Followers == "" || params["collectionid"] != actor.Followers || !activity.SameHost(url, signer.URI, s.Settings.AllowLoopback) {
		return nil
	}
	now := s.db.Now()
	if _, ok := s.checks.Allow(signer.URI, syncRate, now); !ok {
		return nil
	}
	if _, ok := s.checks.Allow(activity.RegisteredDomain(s.reader.HostOf(signer)), syncDomainRate, now); !ok {
		return nil
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueUnlessQueued(ctx, now, "followers:"+signer.ID.String(), store.SynchronizeFollowers{AccountID: signer.ID, URL: url})
	})
}

// synchronize is the job that fetches the list of local followers of a remote account, and applies it. Follows are read before the fetch, so
// that one that is accepted meanwhile does not count as missing in the list.
func (s *FollowerSync) synchronize(ctx context.Context, w store.SynchronizeFollowers) error {
	account, err := s.db.Account(ctx, w.AccountID)
	if err != nil || account.Local() || account.Unavailable {
		return errs.IgnoreNotFound(err)
	}
	follows, err := s.localFollows(ctx, account.ID)
	if err != nil {
		return err
	}
	doc, err := s.fetcher.refetchDocument(ctx, w.URL)
	switch {
	case err != nil && IsTemporary(err):
		return err
	case err != nil:
		s.log.Debug("list of followers could not be fetched", "url", w.URL, "err", err)
		return nil
	}
	listed, complete := completeItems(doc, maxSyncFollowers)
	if !complete {
		s.log.Debug("list of followers is not complete", "url", w.URL)
		return nil
	}
	missing, err := s.missing(ctx, follows, listed)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(missing, syncBatch) {
		if err := s.social.EndUnknownFollows(ctx, some); err != nil {
			return err
		}
	}
	return s.confirm(ctx, account, listed)
}

// localFollows returns the follows of an account by local accounts.
func (s *FollowerSync) localFollows(ctx context.Context, id store.AccountID) ([]*store.Follow, error) {
	var all []*store.Follow
	for after := store.AccountID(0); len(all) <= maxSyncFollowers; {
		some, err := s.db.LocalFollowersAfter(ctx, id, after, syncBatch)
		if err != nil || len(some) == 0 {
			return all, err
		}
		all = append(all, some...)
		after = some[len(some)-1].FollowerID
	}
	return all, nil
}

// completeItems returns the ids in a collection that is one document. It returns false if there may be more: missing ones are no followers.
func completeItems(doc activity.Object, max int) (items map[string]bool, complete bool) {
	if first := doc.Object("first"); first != nil {
		doc = first
	}
	for _, key := range []string{"orderedItems", "items"} {
		if _, complete = doc[key]; complete {
			list := doc.Refs(key, max+1)
			items = make(map[string]bool, len(list))
			for _, item := range list {
				items[item] = true
			}
			return items, len(list) <= max && doc["next"] == nil
		}
	}
	return nil, false
}

// missing returns those of the follows whose followers are not listed.
func (s *FollowerSync) missing(ctx context.Context, follows []*store.Follow, listed map[string]bool) ([]*store.Follow, error) {
	var missing []*store.Follow
	for some := range slices.Chunk(follows, syncBatch) {
		ids := make([]store.AccountID, len(some))
		for i, f := range some {
			ids[i] = f.FollowerID
		}
		accounts, err := s.db.Accounts(ctx, ids)
		if err != nil {
			return nil, err
		}
		for _, f := range some {
			if slices.ContainsFunc(accounts, func(a *store.Account) bool { return a.ID == f.FollowerID && !listed[a.URI] }) {
				missing = append(missing, f)
			}
		}
	}
	return missing, nil
}

// confirm accepts the requests of local accounts that are listed as followers, and sends an Undo for those that follow no more.
func (s *FollowerSync) confirm(ctx context.Context, account *store.Account, listed map[string]bool) error {
	unknown := 0
	for uri := range listed {
		if unknown == maxUnknownFollows || !strings.HasPrefix(uri, s.Settings.BaseURL+"/") {
			continue
		}
		follower, err := s.db.AccountByURI(ctx, uri)
		if errs.IsNotFound(err) || err == nil && (!follower.Local() || follower.DeletedAt != nil) {
			continue
		}
		if err != nil {
			return err
		}
		if f, err := s.db.FollowOf(ctx, follower.ID, account.ID); err != nil {
			return err
		} else if f != nil && !f.Pending {
			continue
		}
		unknown++
		if err := s.social.ReceiveFollowing(ctx, account, follower); err != nil {
			return err
		}
	}
	return nil
}
