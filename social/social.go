// Package social is the operations of accounts: publish, follow, react, block, read notifications. Handlers call it for local users,
// and federation calls its Receive methods for remote accounts. It knows neither HTTP nor ActivityPub.
//
// Each exported method that changes something is one transaction with all its consequences: rows, counters, notifications, timeline
// rows, jobs, events and outbox entries. Unexported helpers take the transaction, so they compose. What takes long is a job.
//
// Limits per account that no setting changes: 1000 blocked domains, 100 filters, 100 lists of 1000 members, 10 000 chats, 500 followed
// hashtags, 300 scheduled statuses, 5 running imports, 20 imports of 10 000 entries a day.
package social

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"svc/federation/policy"
	"svc/internal/captcha"
	"svc/internal/config"
	"svc/internal/fetch"
	"svc/internal/limit"
	"svc/internal/password"
	"svc/internal/text"
	"svc/media"
	"svc/store"
)

// Config is the parts of the server that this package uses, and what does not change while the server runs.
type Config struct {
	BaseURL string       // https://example.org
	Domain  string       // the part of handles after the @
	Live    *config.Live // the settings; nil: the defaults

	Captchas  func() *captcha.Service // nil, or it returns nil: registrations need no captcha
	Passwords *password.Hasher        // nil: one of the default cost
	SignInKey []byte                  // hashes networks
	Archives  *media.Archives         // the files of backups
	Fetch     *fetch.Client           // fetches pages for cards; nil: no cards
	Policies  *policy.Chain           // nil: no policies
	Sizes     Sizes                   // measures what is about to be stored; nil: nothing is refused for its size
}

// FromSettings returns the configuration of a server with these settings, without the parts that it uses.
func FromSettings(live *config.Live) Config {
	c := live.Load()
	return Config{BaseURL: c.URL().String(), Domain: c.Host(), Live: live}
}

// Settings is the settings of this package. Lengths of texts are in characters as users count them.
type Settings struct {
	MaxStatus           int
	MinExpiry           time.Duration // an expiring status must live longer
	MaxPins             int
	MaxChatMessage      int
	MaxDescription      int   // of an attachment
	MaxUpload           int64 // bytes of an attachment
	ContentTypes        []string
	MaxPollOptions      int
	MaxPollOptionLength int
	MinPollDuration     time.Duration
	MaxPollDuration     time.Duration
	MaxName             int
	MaxBio              int
	MaxFields           int
	MaxFieldName        int
	MaxFieldValue       int
	BackfillOnFollow    int // statuses of a newly followed account that are added to the follower's home timeline

	RegistrationsOpen     bool
	InvitesEnabled        bool          // an invite permits registration while it is closed
	ApprovalRequired      bool          // of new accounts
	UnconfirmedLifetime   time.Duration // of accounts whose address is not confirmed; 0: for ever
	EmailBlacklist        []string      // normalized domains
	BirthdayRequired      bool
	BirthdayMinAge        int      // years
	Autofollow            []string // nicknames that new accounts follow
	AutofollowedBy        []string // nicknames that follow new accounts
	Welcome               config.Welcome
	ReservedNicknames     []string
	ExtendedNicknames     bool // nicknames may contain _ and -
	MaxRegistrationReason int
	MinPassword           int           // length in characters
	ResetLifetime         time.Duration // of password reset links

	MailEnabled      bool // the server sends mail
	ConfirmAddresses bool // mail addresses need confirmation
	SignInMails      bool // mail about sign-ins from new networks

	BackupInterval time.Duration // between two backups of an account
	BackupLifetime time.Duration
	BackupSize     int64 // bytes of the files in a backup
	BackupStorage  int64 // bytes of all backups

	SendListens bool // scrobbles are federated to followers

	CardsEnabled     bool
	CardIgnoredHosts []string // hosts whose pages get no card
}

// newSettings returns the part of the settings that this package uses.
func newSettings(c *config.Config) Settings {
	return Settings{
		MaxStatus:           c.Statuses.MaxLength,
		MinExpiry:           c.Statuses.MinExpiry,
		MaxPins:             c.Statuses.MaxPinned,
		MaxChatMessage:      c.Chats.MaxLength,
		MaxDescription:      c.Media.DescriptionLength,
		MaxUpload:           c.Media.UploadLimit,
		ContentTypes:        c.Statuses.AllowedFormats,
		MaxPollOptions:      c.Polls.MaxOptions,
		MaxPollOptionLength: c.Polls.MaxOptionLength,
		MinPollDuration:     c.Polls.MinExpiration,
		MaxPollDuration:     c.Polls.MaxExpiration,
		MaxName:             c.Accounts.NameLength,
		MaxBio:              c.Accounts.BioLength,
		MaxFields:           c.Accounts.MaxFields,
		MaxFieldName:        c.Accounts.FieldNameLength,
		MaxFieldValue:       c.Accounts.FieldValueLength,
		BackfillOnFollow:    100,

		RegistrationsOpen:     c.Instance.RegistrationsOpen,
		InvitesEnabled:        c.Instance.InvitesEnabled,
		ApprovalRequired:      c.Instance.AccountApprovalRequired,
		UnconfirmedLifetime:   c.Accounts.UnconfirmedLifetime,
		EmailBlacklist:        normalizedDomains(c.Accounts.EmailBlacklist),
		BirthdayRequired:      c.Accounts.BirthdayRequired,
		BirthdayMinAge:        c.Accounts.BirthdayMinAge,
		Autofollow:            c.Accounts.Autofollow,
		AutofollowedBy:        c.Accounts.AutofollowedBy,
		Welcome:               c.Welcome,
		ReservedNicknames:     slices.Concat(text.ReservedNicknames(), c.Accounts.RestrictedNicknames, []string{c.API.Name}),
		ExtendedNicknames:     c.Accounts.ExtendedNicknameFormat,
		MaxRegistrationReason: c.Accounts.RegistrationReasonLength,
		MinPassword:           c.Accounts.PasswordMinLength,
		ResetLifetime:         c.Accounts.PasswordResetLifetime,

		MailEnabled:      c.Mail.Enabled,
		ConfirmAddresses: c.Instance.AccountActivationRequired,
		SignInMails:      c.Accounts.SignInMails,

		BackupInterval: c.Accounts.BackupInterval,
		BackupLifetime: c.Accounts.BackupLifetime,
		BackupSize:     c.Accounts.BackupSizeLimit,
		BackupStorage:  c.Accounts.BackupStorageLimit,

		SendListens: c.Federation.SendListens,

		CardsEnabled:     c.Cards.Enabled,
		CardIgnoredHosts: c.Cards.IgnoredHosts,
	}
}

func normalizedDomains(domains []string) []string {
	var list []string
	for _, d := range domains {
		list = append(list, text.NormalizeDomain(d))
	}
	return list
}

// Service runs the operations.
type Service struct {
	Config
	settings *config.View[Settings]
	db       *store.DB
	files    *media.Files
	log      *slog.Logger
	mentions *limit.Window[mentionKey]
}

// New returns a Service.
func New(db *store.DB, files *media.Files, c Config, log *slog.Logger) *Service {
	if c.Passwords == nil {
		c.Passwords = password.New(password.DefaultCost)
	}
	if c.Live == nil {
		c.Live = config.NewLive(config.Default())
	}
	return &Service{
		Config: c, settings: config.NewView(c.Live, newSettings), db: db, files: files, log: log,
		mentions: limit.NewWindow[mentionKey](maxMentionCounters),
	}
}

// Settings returns the settings of this package as they are now.
func (s *Service) Settings() *Settings { return s.settings.Load() }

// Register registers the jobs of this package with the worker.
func (s *Service) Register(w *store.Worker) {
	store.Handle(w, s.expireStatus)
	store.Handle(w, s.requestMail)
	store.Handle(w, s.closePoll)
	store.Handle(w, s.publishScheduled)
	store.Handle(w, s.expireThreadMute)
	store.Handle(w, s.expireMute)
	store.Handle(w, s.endDomainFollows)
	store.Handle(w, s.moveFollowers)
	store.Handle(w, s.botFollow)
	store.Handle(w, s.welcomeUser)
	store.Handle(w, s.sweepMedia)
	store.Handle(w, s.purgeAccount)
	store.Handle(w, s.removeFiles)
	store.Handle(w, s.expireBackups)
	store.Handle(w, s.fetchCard)
	store.Handle(w, s.cutLargeRows)
	store.Handle(w, s.removeUnusedCards)
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
	for {
		n, err := update(ctx, s.db, fn)
		if err != nil || n < size {
			return err
		}
	}
}
