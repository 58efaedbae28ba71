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
	"time"

	"svc/emoji"
	"svc/federation/delivery"
	"svc/federation/inbox"
	"svc/federation/policy"
	"svc/federation/remote"
	"svc/internal/config"
	"svc/internal/fetch"
	"svc/internal/keys"
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

// Service joins the parts of the package.
type Service struct {
	*remote.Remote
	Receiver       *Receiver
	Documents      *Documents
	DocumentServer *DocumentServer
	Outbox         *Outbox
	Relays         *Relays
	Operator       *Operator

	config     Config
	db         *store.DB
	emoji      *emojiCopier
	inbox      *inbox.Inbox
	deliveries *delivery.Queue
}

// New assembles a service that follows the changes of db. Call it before db is used, and Open before the service is.
func New(db *store.DB, social *social.Service, emojis *emoji.Packs, client *fetch.Client, secrets *keys.Keys, c Config, log *slog.Logger) *Service {
	parts := remote.New(remote.Config{
		BaseURL: c.BaseURL, Host: c.Host, AllowLoopback: c.AllowLoopback, SignatureAge: c.SignatureAge, StoreAll: c.StoreAll, Policies: c.Policies,
		GenerateKey: c.GenerateKey,
	}, db, social, client, secrets, log)
	local := &LocalObjects{db, c.BaseURL}
	out := &sender{fetcher: parts.Fetcher, signers: parts.Signers, actors: parts.Actors, db: db, log: log}
	deliveries := delivery.New(delivery.Config{DB: db, Log: log, Send: out.send, InboxGone: out.handleGoneInbox})
	documents := &Documents{BaseURL: c.BaseURL, Host: c.Host, db: db, emojis: emojis, signers: parts.Signers, cache: newDocumentCache(db)}
	outbox := &Outbox{Config: c, documents: documents, fetcher: parts.Fetcher, local: local, db: db}
	relays := &Relays{
		disabled: c.Disabled, documents: documents, outbox: outbox, actors: parts.Actors, fetcher: parts.Fetcher, local: local, db: db, log: log,
	}
	r := &Receiver{
		Config: c, reader: parts.Reader, fetcher: parts.Fetcher, accounts: parts.Accounts, actors: parts.Actors, verifier: parts.Verifier,
		statuses: parts.Statuses, local: local, documents: documents, outbox: outbox, relays: relays, deliveries: deliveries, db: db, social: social, log: log,
	}
	r.inbox = inbox.New(inbox.Config{DB: db, Log: log, Process: r.process, NeedsFetch: remote.NeedsFetch, IsFinal: remote.IsFinal, HostOf: parts.Reader.HostOf})
	return &Service{
		Remote: parts, Receiver: r, Documents: documents, Outbox: outbox, Relays: relays,
		DocumentServer: &DocumentServer{
			Config: c, documents: documents, verifier: parts.Verifier, relays: relays, local: local, db: db, log: log,
			fetcherLookups: make(chan struct{}, maxFetcherLookups),
		},
		Operator: &Operator{
			Host: c.Host, AllowLoopback: c.AllowLoopback, disabled: c.Disabled, fetcher: parts.Fetcher, signers: parts.Signers, local: local, inbox: r.inbox, db: db,
		},
		config: c, db: db, emoji: &emojiCopier{emojis, client, log}, inbox: r.inbox, deliveries: deliveries,
	}
}

// Register tells the worker which jobs this package does.
func (s *Service) Register(w *store.Worker) {
	s.Remote.Register(w)
	store.Handle(w, s.Outbox.publish)
	store.HandleLimited(w, maxEmojiCopies, s.emoji.copyEmoji)
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
	s.DocumentServer.waitForFetchers()
	if err := s.inbox.ProcessDue(ctx); err != nil {
		return err
	}
	return s.deliveries.Settle(ctx)
}

// MarkReachable notes that a server has made itself heard, in a way that only it can have: what waits for it is delivered now.
func (s *Service) MarkReachable(ctx context.Context, domain string) error {
	return s.deliveries.MarkReachable(ctx, domain)
}
