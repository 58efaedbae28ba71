// Package social is the operations of accounts: publish, follow, react, block, read notifications. Handlers call it for local users,
// and federation calls its Receive methods for remote accounts. It knows neither HTTP nor ActivityPub.
//
// Each exported method that changes something is one transaction with all its consequences: rows, counters, notifications, timeline
// rows, jobs, events and outbox entries. Unexported helpers take the transaction, so they compose. What takes long is a job.
//
// Limits per account that no setting changes: 1000 blocked domains, 100 filters, 100 lists of 1000 members, 10 000 chats, 500 followed
// hashtags, 25 accounts in a collection, 300 changes of collections a day, 300 scheduled statuses, 5 running imports, 20 imports of 10 000 entries a day.
package social

import (
	"context"
	"log/slog"

	"svc/internal/captcha"
	"svc/internal/config"
	"svc/internal/fetch"
	"svc/internal/limit"
	"svc/internal/password"
	"svc/media"
	"svc/policy"
	"svc/store"
)

// Config is the parts of the server that this package uses.
type Config struct {
	Settings  *config.Live
	Captchas  *captcha.Service // for registrations while captcha.enabled
	Passwords *password.Hasher
	SignInKey []byte          // hashes networks
	Archives  *media.Archives // the files of backups
	Fetch     *fetch.Client   // fetches pages for cards and profile fields; nil: none
	Policies  *policy.Chain   // nil: no policies
	Sizes     Sizes           // measures rows before they are stored; nil: no size is refused
}

// Service runs the operations.
type Service struct {
	Config
	db       *store.DB
	files    *media.Files
	log      *slog.Logger
	mentions *limit.Window[mentionKey]
	features *limit.Window[featureKey]

	collectionChanges *limit.Window[store.AccountID]

	linkChecks  *limit.Window[linkCheckKey]
	cardAuthors *limit.Window[string] // by registrable domain
}

// New returns a Service.
func New(db *store.DB, files *media.Files, c Config, log *slog.Logger) *Service {
	return &Service{
		Config: c, db: db, files: files, log: log,
		mentions: limit.NewWindow[mentionKey](maxMentionCounters), linkChecks: limit.NewWindow[linkCheckKey](maxLinkCheckCounters),
		features: limit.NewWindow[featureKey](maxFeatureCounters), collectionChanges: limit.NewWindow[store.AccountID](maxFeatureCounters),
		cardAuthors: limit.NewWindow[string](maxCardAuthorCounters),
	}
}

// Register registers the jobs of this package with the worker.
func (s *Service) Register(w *store.Worker) {
	store.Handle(w, s.expireStatus)
	store.Handle(w, s.requestMail)
	store.Handle(w, s.closePoll)
	store.Handle(w, s.publishScheduled)
	store.Handle(w, s.expireThreadMute)
	store.Handle(w, s.expireMute)
	store.Handle(w, s.endAllDomainFollows)
	store.Handle(w, s.moveFollowers)
	store.Handle(w, s.botFollow)
	store.Handle(w, s.welcomeUser)
	store.Handle(w, s.sweepMedia)
	store.Handle(w, s.purgeAccount)
	store.Handle(w, s.removeFiles)
	store.Handle(w, s.expireBackups)
	store.Handle(w, s.fetchCard)
	store.Handle(w, s.cutLargeRows)
	store.Handle(w, s.refold)
	store.Handle(w, s.removeUnusedCards)
	store.Handle(w, s.enqueueLinkChecks)
	store.Handle(w, s.checkLink)
}

// update runs fn in a transaction and returns its result.
func update[T any](ctx context.Context, db *store.DB, fn func(*store.Tx) (T, error)) (result T, err error) {
	err = db.Update(ctx, func(tx *store.Tx) (err error) {
		result, err = fn(tx)
		return err
	})
	return result, err
}

// inBatches calls fn, each time in a transaction of its own so that others can write in between, until it handles fewer than size rows.
func (s *Service) inBatches(ctx context.Context, size int64, fn func(*store.Tx) (int64, error)) error {
	return inBatches(func(fn func(*store.Tx) error) error { return s.db.Update(ctx, fn) }, size, fn)
}

// inBatches is Service.inBatches with a function that runs each batch in a transaction.
func inBatches(run func(func(*store.Tx) error) error, size int64, fn func(*store.Tx) (int64, error)) error {
	for {
		var n int64
		err := run(func(tx *store.Tx) (err error) {
			n, err = fn(tx)
			return err
		})
		if err != nil || n < size {
			return err
		}
	}
}
