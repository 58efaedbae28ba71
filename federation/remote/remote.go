// Package remote fetches, verifies and stores what other servers publish: actors and their keys, statuses and threads, collections,
// WebFinger and nodeinfo. It verifies the signatures of requests and signs those of local accounts.
//
// The inbox, outgoing activities and local documents are in package federation; address checks and sizes of requests in internal/fetch.
//
// A document counts only if it was fetched from its own id (federation 5.1). Network requests come before the transaction that stores
// their result. A context of WithoutFetching prevents them.
//
// Limits: 100 fetches per activity, 45 s per actor, 5 s per key while a sender waits, 32 key fetches at a time, 30 failed ones per source
// and 100 per registered domain in 5 minutes, 10 new hosts per registered domain and day, 20 pins per account, 1000 posts of a thread, 2 requests at a time and 10 a
// second to a host for threads. The
// followers of an account are synchronized once an hour, 100 accounts of a registered domain an hour, 20 000 followers each.
package remote

import (
	"crypto/rsa"
	"log/slog"

	"svc/internal/cache"
	"svc/internal/config"
	"svc/internal/fetch"
	"svc/internal/keys"
	"svc/internal/limit"
	"svc/policy"
	"svc/social"
	"svc/store"
)

// Config has the settings and the parts of the server that this package uses.
type Config struct {
	Settings    *config.Live
	Policies    *policy.Chain
	GenerateKey func() (*rsa.PrivateKey, error) // for a local account; nil: RSA, 2048 bits
}

// Remote has the parts of this package.
type Remote struct {
	Reader   *Reader
	Fetcher  *Fetcher
	Signers  *Signers
	Accounts *AccountCache
	Actors   *Actors
	Verifier *Verifier
	Statuses *Statuses
	Backfill *Backfill
	Resolver *Resolver
	Sync     *FollowerSync
	Own      *OwnReferences
}

// New assembles the parts. Call it before db is used, because they follow its changes.
func New(c Config, db *store.DB, social *social.Service, client *fetch.Client, secrets *keys.Keys, log *slog.Logger) *Remote {
	if c.GenerateKey == nil {
		c.GenerateKey = generateRSAKey
	}
	r := &Remote{
		Reader: &Reader{Settings: c.Settings, now: db.Now},
		Signers: &Signers{
			Settings: c.Settings, GenerateKey: c.GenerateKey, db: db, secrets: secrets, log: log,
			byAccount: cache.New[store.AccountID, *accountKeys](maxSigners),
		},
		Accounts: newAccountCache(db),
		Own:      &OwnReferences{Settings: c.Settings, db: db},
	}
	keys := newKeyCache()
	r.Fetcher = &Fetcher{Config: c, reader: r.Reader, signers: r.Signers, db: db, client: client, log: log, failures: newFailureCache(), hosts: cache.New[string, *store.Host](maxCachedHosts)}
	r.Actors = &Actors{
		Config: c, reader: r.Reader, fetcher: r.Fetcher, db: db, social: social, accounts: r.Accounts, keys: keys, log: log,
		accountChecks: limit.NewWindow[accountCheckKey](maxAccountChecks), pinRefreshes: limit.NewWindow[store.AccountID](maxAccountChecks), newHosts: newNewHostLimit(),
	}
	r.Verifier = &Verifier{
		Config: c, reader: r.Reader, fetcher: r.Fetcher, actors: r.Actors, accounts: r.Accounts, db: db, keys: keys, log: log,
		keyFailures: newKeyFetchLimit(), failureLog: limit.NewWindow[string](maxCachedKeys), keySlots: limit.NewSlots[string](maxKeyFetches, maxKeyFetchesPerDomain, maxQueuedKeyFetches),
	}
	r.Statuses = &Statuses{Config: c, reader: r.Reader, fetcher: r.Fetcher, actors: r.Actors, own: r.Own, db: db, social: social, log: log}
	r.Backfill = &Backfill{
		Settings: c.Settings, reader: r.Reader, fetcher: r.Fetcher, actors: r.Actors, statuses: r.Statuses, db: db, social: social, log: log,
		statusViews: limit.NewWindow[statusViewKey](maxStatusViews), profiles: limit.NewWindow[store.AccountID](maxProfileUsers),
		profileSlots: make(chan struct{}, maxProfilesFilled),
		threads:      new(threadFetches), threadPace: limit.NewPace[string](threadPerHost, threadInterval), threadUsers: limit.NewWindow[store.AccountID](maxThreadUsers), threadSlice: threadSlice, threadCutOff: threadCutOff,
	}
	r.Resolver = &Resolver{
		Settings: c.Settings, reader: r.Reader, fetcher: r.Fetcher, actors: r.Actors, statuses: r.Statuses, backfill: r.Backfill, db: db, log: log,
	}
	r.Sync = newFollowerSync(c, r.Reader, r.Fetcher, r.Accounts, db, social, log)
	return r
}

// Register registers the jobs of this package.
func (r *Remote) Register(w *store.Worker) {
	store.Handle(w, r.Signers.retireKeys)
	store.Handle(w, r.Signers.makeEd25519Keys)
	store.Handle(w, r.Actors.refreshActor)
	store.Handle(w, r.Backfill.completeStatus)
	store.Handle(w, r.Backfill.fetchThread)
	store.Handle(w, r.Backfill.refreshPoll)
	store.Handle(w, r.Backfill.fetchCollections)
	store.Handle(w, r.Backfill.fetchNodeInfo)
	store.Handle(w, r.Backfill.fetchProfilePosts)
	store.Handle(w, r.Actors.resolveCardAuthor)
	store.Handle(w, r.Sync.synchronize)
}

// CacheStats returns the state of the caches by name.
func (r *Remote) CacheStats() map[string]cache.Stats {
	return map[string]cache.Stats{
		"remote_accounts": r.Accounts.accounts.Stats(), "remote_account_ids": r.Accounts.ids.Stats(),
		"remote_keys": r.Actors.keys.keys.Stats(), "signers": r.Signers.byAccount.Stats(),
		"follower_digests": r.Sync.digests.Stats(),
	}
}
