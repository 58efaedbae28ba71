// Package federation is ActivityPub: documents of local objects, the inbox and its handlers, the activities that local changes cause,
// and the assembly of the parts below it (remote, inbox, delivery, policy).
//
// It translates only: an incoming activity becomes one operation of social, an outbox entry becomes an activity with its recipients.
// What an operation needs from other servers is fetched before it begins its transaction. It runs imports, which fetch accounts, and makes
// backups of accounts, which consist of documents.
//
// Documents are plain JSON (package activity). A document is trusted if its actor has signed the request that brought it, if it was
// fetched from its own id, or if it has a proof by its actor. Of an embedded object of another actor, only the id counts (federation D2, 5.1). The
// authority is the host of an id.
//
// Limits: 20 objects per Create, 3 of them fetched; 10 per Announce; 1000 followers of the relay actor. The Undo of an unknown activity
// counts for 6 hours. Two imports run at a time, each with 8 hosts; one backup of an account is made at a time.
package federation

import (
	"context"
	"crypto/rsa"
	"fmt"
	"log/slog"

	"svc/emoji"
	"svc/federation/delivery"
	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/fetch"
	"svc/internal/keys"
	"svc/internal/limit"
	"svc/media"
	"svc/policy"
	"svc/social"
	"svc/store"
)

// The server actors. They have rows in accounts, which clients never see.
const (
	fetchActorName  = "internal.fetch" // signs fetches
	relayActorName  = "relay"          // follows relays, and is followed by them
	relayActorPath  = "/relay"
	serverActorType = "Application"
)

// Config configures federation.
type Config struct {
	Settings    *config.Live
	Policies    *policy.Chain                   // for incoming and outgoing activities
	GenerateKey func() (*rsa.PrivateKey, error) // for an account; nil: RSA, 2048 bits
	Files       *media.Files                    // uploads, for backups of accounts
	Archives    *media.Archives                 // the files of backups
	Memory      *limit.Bytes                    // for backups of accounts; nil: no limit
	Budget      *media.Budget                   // decides whether there is room for remote posts; nil: always
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
	Importer       *Importer
	Archiver       *Archiver
	Closer         *Closer

	config     Config
	db         *store.DB
	emoji      *emojiCopier
	inbox      *inbox.Inbox
	deliveries *delivery.Queue
}

// New assembles a Service. Call it before db is used, because caches follow the changes of db; call Open before other methods.
func New(db *store.DB, social *social.Service, emojis *emoji.Packs, client *fetch.Client, secrets *keys.Keys, c Config, log *slog.Logger) *Service {
	parts := remote.New(remote.Config{Settings: c.Settings, Policies: c.Policies, GenerateKey: c.GenerateKey}, db, social, client, secrets, log)
	local := &LocalObjects{c.Settings, db}
	out := &sender{fetcher: parts.Fetcher, signers: parts.Signers, actors: parts.Actors, sync: parts.Sync, db: db, log: log}
	deliveries := delivery.New(delivery.Config{DB: db, Log: log, Send: out.send, InboxGone: out.handleGoneInbox})
	documents := &Documents{Settings: c.Settings, db: db, emojis: emojis, signers: parts.Signers, cache: newDocumentCache(db)}
	outbox := &Outbox{Config: c, documents: documents, fetcher: parts.Fetcher, local: local, db: db}
	relays := &Relays{
		Settings: c.Settings, documents: documents, outbox: outbox, actors: parts.Actors, fetcher: parts.Fetcher, local: local, db: db, log: log,
	}
	r := &Receiver{
		Config: c, reader: parts.Reader, fetcher: parts.Fetcher, accounts: parts.Accounts, actors: parts.Actors, verifier: parts.Verifier,
		statuses: parts.Statuses, sync: parts.Sync, own: parts.Own, local: local, documents: documents, outbox: outbox, relays: relays, deliveries: deliveries, db: db, social: social, log: log,
	}
	r.inbox = inbox.New(inbox.Config{DB: db, Log: log, Process: r.process, NeedsFetch: remote.NeedsFetch, IsFinal: remote.IsFinal, HostOf: parts.Reader.HostOf})
	return &Service{
		Remote: parts, Receiver: r, Documents: documents, Outbox: outbox, Relays: relays,
		DocumentServer: &DocumentServer{
			Config: c, documents: documents, verifier: parts.Verifier, sync: parts.Sync, relays: relays, local: local, db: db, log: log,
			fetcherLookups: make(chan struct{}, maxFetcherLookups),
		},
		Operator: &Operator{
			Settings: c.Settings, fetcher: parts.Fetcher, signers: parts.Signers, local: local, inbox: r.inbox, db: db,
		},
		Importer: &Importer{Settings: c.Settings, local: local, resolver: parts.Resolver, social: social, db: db, log: log},
		Archiver: newArchiver(documents, c, social, db, log),
		Closer:   &Closer{documents: documents, outbox: outbox, db: db, log: log},
		config:   c, db: db, emoji: &emojiCopier{emojis, client, log}, inbox: r.inbox, deliveries: deliveries,
	}
}

// Open creates the server actors and loads the relays. Call it before the first request.
func (s *Service) Open(ctx context.Context) error {
	for name, path := range map[string]string{fetchActorName: remote.FetchActorPath, relayActorName: relayActorPath} {
		if err := s.ensureServerActor(ctx, name, s.config.Settings.BaseURL+path); err != nil {
			return fmt.Errorf("actor %s: %w", name, err)
		}
	}
	return s.Relays.loadRelays(ctx)
}

func (s *Service) ensureServerActor(ctx context.Context, name, uri string) error {
	if a, err := s.db.AccountByName(ctx, name, ""); err == nil && a.URI == uri {
		return nil // without a write, which a full or damaged disk refuses
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		a, err := tx.AccountByName(ctx, name, "")
		if err == nil && a.URI != uri { // the URL of the server may change until it has users
			return tx.SetAccountURI(ctx, a.ID, uri)
		}
		if !errs.IsNotFound(err) {
			return err
		}
		no := false
		return tx.AddAccount(ctx, &store.Account{
			Nickname: name, URI: uri, URL: uri, ActorType: serverActorType, DisplayName: s.config.Settings.Host,
			AcceptsChatMessages: &no, HideFollowersCount: true, HideFollowsCount: true, Unavailable: true,
		})
	})
}

// Register registers the jobs of this package.
func (s *Service) Register(w *store.Worker) {
	s.Remote.Register(w)
	store.Handle(w, s.Outbox.publish)
	store.Handle(w, s.Importer.run)
	store.Handle(w, s.Archiver.run)
	store.Handle(w, s.Closer.run)
	store.Handle(w, s.emoji.copyEmoji)
}

// Run processes incoming activities and deliveries until ctx ends. The rest stays queued in the database.
func (s *Service) Run(ctx context.Context) {
	delivered := make(chan struct{})
	go func() {
		defer close(delivered)
		s.deliveries.Run(ctx)
	}()
	s.inbox.Run(ctx)
	<-delivered
}

// Settle processes due incoming activities and deliveries, one after another. Tests use it instead of Run.
func (s *Service) Settle(ctx context.Context) error {
	s.DocumentServer.waitForFetchers()
	if err := s.inbox.ProcessDue(ctx); err != nil {
		return err
	}
	return s.deliveries.Settle(ctx)
}

// MarkReachable records that a host is reachable because it has sent a signed request, and attempts its queued deliveries now.
func (s *Service) MarkReachable(ctx context.Context, domain string) error {
	return s.deliveries.MarkReachable(ctx, domain)
}
