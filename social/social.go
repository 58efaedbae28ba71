// Package social is what people do: publish, follow, react, block, read their notifications. Each exported method that changes
// something is one transaction with all its consequences (rows, counters, notifications, timeline rows, jobs, events), open to
// local people and, through federation, to those elsewhere alike. Unexported helpers take the transaction, so they compose.
//
// It knows neither HTTP nor ActivityPub. What may take long is left as a job.
package social

import (
	"log/slog"
	"slices"
	"time"

	"svc/internal/config"
	"svc/internal/text"

	"svc/federation/policy"
	"svc/internal/fetch"
	"svc/internal/password"
	"svc/media"
	"svc/store"
)

// Config are the settings that this package goes by. Lengths are in characters as people count them.
type Config struct {
	BaseURL             string // https://example.org
	Domain              string // the part of handles after the @
	MaxStatus           int
	MinExpiry           time.Duration // an expiring status lives longer than this
	MaxPins             int
	MaxChatMessage      int
	MaxMedia            int   // attachments of a status; 0: no limit
	MaxDescription      int   // of an attachment
	MaxUpload           int64 // bytes of an attachment
	ContentTypes        []string
	MaxPollOptions      int
	MaxPollOptionLength int // of an option's text
	MinPollDuration     time.Duration
	MaxPollDuration     time.Duration
	MaxName             int
	MaxBio              int
	MaxFields           int
	MaxFieldName        int
	MaxFieldValue       int
	BackfillOnFollow    int // posts of a newly followed account that are put into the follower's home

	ReservedNicknames     []string // nobody can have them
	ExtendedNicknames     bool     // nicknames may have _ and -
	MaxRegistrationReason int
	ResetLifetime         time.Duration    // of links to set a new password
	Passwords             *password.Hasher // nil: one of the standard cost

	SendListens bool // followers elsewhere hear what people listen to

	CardsEnabled     bool          // show previews of the pages that posts link to
	CardIgnoredHosts []string      // hosts that are not asked for any
	Fetch            *fetch.Client // by which others are asked; nil: nobody is

	Policies *policy.Chain // nil: no policies
}

// Service has all that people can do.
type Service struct {
	Config
	db           *store.DB
	files        *media.Files
	log          *slog.Logger
	cardSlots    chan struct{} // taken by those who look at pages for cards
	mentionLimit *mentionLimit
}

// New makes a service.
func New(db *store.DB, files *media.Files, c Config, log *slog.Logger) *Service {
	if c.Passwords == nil {
		c.Passwords = password.New(password.DefaultCost)
	}
	return &Service{Config: c, db: db, files: files, log: log, cardSlots: make(chan struct{}, maxCardFetches), mentionLimit: newMentionLimit()}
}

// Register tells the worker which jobs this package does.
func (s *Service) Register(w *store.Worker) {
	store.Handle(w, s.expireStatus)
	store.Handle(w, s.closePoll)
	store.Handle(w, s.publishScheduled)
	store.Handle(w, s.expireThreadMute)
	store.Handle(w, s.expireMute)
	store.Handle(w, s.endDomainFollows)
	store.Handle(w, s.moveFollowers)
	store.Handle(w, s.botFollow)
	store.HandleRecurring(w, sweepInterval, s.sweepMedia)
	store.Handle(w, s.purgeAccount)
	store.Handle(w, s.fetchCard)
	store.HandleRecurring(w, sweepInterval, s.removeUnusedCards)
}

// FromSettings takes what this package needs from the settings.
func FromSettings(c *config.Config) Config {
	return Config{
		BaseURL:             c.URL().String(),
		Domain:              c.Host(),
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

		ReservedNicknames:     slices.Concat(text.ReservedNicknames(), c.Accounts.RestrictedNicknames, []string{c.API.Name}),
		ExtendedNicknames:     c.Accounts.ExtendedNicknameFormat,
		MaxRegistrationReason: c.Accounts.RegistrationReasonLength,
		ResetLifetime:         c.Accounts.PasswordResetLifetime,

		SendListens: c.Federation.SendListens,

		CardsEnabled:     c.Cards.Enabled,
		CardIgnoredHosts: c.Cards.IgnoredHosts,
	}
}
