// Package federation is ActivityPub: the documents that stand for what is here, the signatures of requests, WebFinger, the inbox and
// what comes in by it, the activities that tell others of what people here do, and their delivery.
//
// It knows both vocabularies: a deed of the client API becomes an activity here, and an activity a deed; nobody else speaks of
// Notes and Announces. What an activity does is done by social, in one transaction; what that needs of other servers is fetched
// before.
//
// Documents are plain JSON (package activity). One is believed if its actor has signed the request that brought it, if it was read from
// its own address, or if it carries a proof by its actor; of what others have embedded in it only the ids count (federation D2, 5.1).
// Authority is the host of an id.
package federation

import (
	"context"
	"crypto/rsa"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"svc/emoji"
	"svc/federation/delivery"
	"svc/federation/inbox"
	"svc/federation/policy"
	"svc/internal/cache"
	"svc/internal/config"
	"svc/internal/fetch"
	"svc/internal/keys"
	"svc/internal/limit"
	"svc/social"
	"svc/store"
)

// Config are the settings that this package goes by.
type Config struct {
	Disabled        bool          // there are no dealings with other servers: nobody is asked to begin any
	BaseURL         string        // https://example.org
	Host            string        // of ids and handles: with its port, if that is unusual
	AllowLoopback   bool          // http is spoken, and with this machine: allow_loopback
	AuthorizedFetch bool          // documents are shown to those only who prove who they are
	SendBlocks      bool          // the blocked are told
	SignatureAge    time.Duration // how long ago a request may have been signed (federation 2.2)
	StoreAll        bool          // posts are kept even if they concern nobody here

	Policies    *policy.Chain                   // the rules that what comes and goes has to pass
	GenerateKey func() (*rsa.PrivateKey, error) // makes a key for an account; nil: a new one of the usual size
	AllowRelay  bool                            // other servers may follow ours as a relay
}

// FromSettings takes what this package needs from the settings.
func FromSettings(c *config.Config) Config {
	return Config{
		Disabled:        !c.Federation.Enabled,
		BaseURL:         c.URL().String(),
		Host:            c.Host(),
		AllowLoopback:   c.Federation.AllowLoopback,
		AuthorizedFetch: c.Federation.AuthorizedFetch,
		StoreAll:        c.Federation.StoreAll,
		AllowRelay:      c.Federation.AllowRelay,
		SendBlocks:      c.Federation.SendBlocks,
		SignatureAge:    c.Federation.SignatureAge,
	}
}

// Service has the dealings with other servers.
type Service struct {
	Config
	db            *store.DB
	social        *social.Service
	client        *fetch.Client
	secrets       *keys.Keys
	emojis        *emoji.Packs
	documentCache *cache.Cache[store.StatusID, *cachedDocument]
	log           *slog.Logger

	signers        *signers
	accounts       *accountCache
	fetchActorID   atomic.Int64 // of the account that asks others in the name of this server
	failures       *failureCache
	fetches        flights[fetchedDocument]
	actorFetches   flights[*store.Account] // accounts that are being asked for
	accountChecks  *accountChecks
	statusViews    *statusViews
	newHosts       *newHostLimit
	keyFailures    *keyFetchLimit
	keySlots       *limit.Slots[string] // for keys
	keys           *keyCache
	relays         *relays
	inbox          *inbox.Inbox
	deliveries     *delivery.Queue
	fetcherLookups chan struct{}  // taken while somebody is met who has fetched something
	outboxLocks    [64]sync.Mutex // held while deeds of those are told who share one by their ids
}

// New makes a service that follows the changes of db. Call it before db is used, and Open before the service is.
func New(db *store.DB, people *social.Service, emojis *emoji.Packs, client *fetch.Client, secrets *keys.Keys, c Config, log *slog.Logger) *Service {
	if c.GenerateKey == nil {
		c.GenerateKey = generateRSAKey
	}
	s := &Service{
		Config: c, db: db, social: people, client: client, secrets: secrets, emojis: emojis, documentCache: newDocumentCache(db), log: log,
		signers: newSigners(), accounts: newAccountCache(db), failures: newFailureCache(), keys: newKeyCache(), relays: newRelays(), accountChecks: newAccountChecks(),
		statusViews: newStatusViews(), newHosts: newNewHostLimit(), keyFailures: newKeyFetchLimit(), keySlots: limit.NewSlots[string](maxKeyFetches, maxKeyFetchesPerDomain, maxQueuedKeyFetches), fetcherLookups: make(chan struct{}, maxFetcherLookups),
	}
	s.inbox = inbox.New(inbox.Config{DB: db, Log: log, Process: s.process, NeedsFetch: needsFetch, IsFinal: IsFinal, HostOf: s.hostOf})
	s.deliveries = newDeliveries(s)
	return s
}

// Register tells the worker which jobs this package does.
func (s *Service) Register(w *store.Worker) {
	store.Handle(w, s.publish)
	store.HandleLimited(w, refreshWorkers, s.refreshActor)
	store.HandleLimited(w, threadWorkers, s.completeStatus)
	store.HandleLimited(w, threadWorkers, s.fetchReplies)
	store.HandleLimited(w, threadWorkers, s.refreshPoll)
	store.HandleLimited(w, collectionWorkers, s.fetchCollections)
	store.HandleLimited(w, collectionWorkers, s.fetchNodeInfo)
	store.HandleLimited(w, maxEmojiCopies, s.copyEmoji)
}

// Run receives and delivers until ctx ends. What is not done by then stays in the database.
func (s *Service) Run(ctx context.Context) {
	delivered := make(chan struct{})
	go func() {
		defer close(delivered)
		s.deliveries.Run(ctx)
	}()
	s.inbox.Run(ctx)
	<-delivered
}

// Settle does what is due of receiving and delivering, one thing after another. Tests use it instead of Run.
func (s *Service) Settle(ctx context.Context) error {
	s.waitForFetchers()
	if err := s.inbox.ProcessDue(ctx); err != nil {
		return err
	}
	return s.deliveries.Settle(ctx)
}

func (s *Service) now() time.Time { return s.db.Now() }

// MarkReachable notes that a server has made itself heard, in a way that only it can have: what waits for it is delivered now.
func (s *Service) MarkReachable(ctx context.Context, domain string) error {
	return s.deliveries.MarkReachable(ctx, domain)
}
