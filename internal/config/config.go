// Package config holds the settings of the server: what they are called, what they mean, what they may be, and how they
// are read from a file.
//
// Each setting is described once, in settings.go. Defaults, validation, config.example.toml, `svc config show` and the
// overlay of an admin front end all derive from that description. The package reads one file and nothing else: which file
// that is, and what follows from a change, is decided by its callers.
package config

import "time"

// Config is one complete set of settings. Its fields are described in settings.go, under the same names.
//
// A Config is a plain value. Set replaces lists and never changes them in place, so a copy of the struct is independent of
// its original.
type Config struct {
	Server     Server
	Data       Data
	Cache      Cache
	API        API
	Instance   Instance
	Accounts   Accounts
	Statuses   Statuses
	Polls      Polls
	Chats      Chats
	Timelines  Timelines
	Search     Search
	Streaming  Streaming
	Media      Media
	MediaProxy MediaProxy
	Cards      Cards
	Federation Federation
	Policies
	Captcha   Captcha
	OAuth     OAuth
	RateLimit RateLimit
	Mail      Mail
	Log       Log
	Metrics   Metrics
}

// Server is how the server is reached. Code that needs the address of the server asks Config.URL, which is normalised.
type Server struct {
	Listen            string
	URL               string
	TrustedProxies    []string
	ReadHeaderTimeout time.Duration
	ReadTimeout       time.Duration
	WriteTimeout      time.Duration
	IdleTimeout       time.Duration
	TLS               TLS
}

// TLS is the built-in handling of certificates.
type TLS struct {
	Enabled    bool
	Email      string
	HTTPListen string
}

// Data is where things are kept and how safely. The caches are in bytes, per connection.
type Data struct {
	Dir         string
	Synchronous string // SyncFull or SyncNormal
	Readers     int
	ReaderCache int64
	WriterCache int64
}

// Values of Data.Synchronous.
const (
	SyncFull   = "full"
	SyncNormal = "normal"
)

// Cache bounds what is kept in memory.
type Cache struct {
	RenderedBytes int64
	Tokens        int
}

// API is the shape of the programming interface.
type API struct {
	Name string
}

// Instance is what the server tells about itself, and who may join.
type Instance struct {
	Name                      string
	ShortDescription          string
	Description               string
	Email                     string
	ContactUsername           string
	Languages                 []string
	Thumbnail                 string
	BackgroundImage           string
	Public                    bool
	ListPeers                 bool
	ShowActivity              bool
	RegistrationsOpen         bool
	InvitesEnabled            bool
	AccountApprovalRequired   bool
	AccountActivationRequired bool
	ConfigurableFromDatabase  bool
}

// Accounts holds the limits of profiles. Lengths are in characters.
type Accounts struct {
	NameLength               int
	BioLength                int
	MaxFields                int
	MaxRemoteFields          int
	FieldNameLength          int
	FieldValueLength         int
	RegistrationReasonLength int
	ExtendedNicknameFormat   bool
	RestrictedNicknames      []string
	BlockersVisible          bool
	PasswordResetLifetime    time.Duration
}

// Statuses holds the limits of posts. Lengths are in characters.
type Statuses struct {
	MaxLength      int
	AllowedFormats []string
	MaxPinned      int
	MinExpiry      time.Duration
}

// Polls holds the limits of polls made here.
type Polls struct {
	MaxOptions      int
	MaxOptionLength int
	MinExpiration   time.Duration
	MaxExpiration   time.Duration
}

// Chats holds the limits of chat messages.
type Chats struct {
	MaxLength int
}

// Timelines holds the limits of stored timelines.
type Timelines struct {
	HomeLength int
}

// Search is who finds what.
type Search struct {
	AnonymousRemote  bool
	DiscoverableOnly bool
}

// Streaming holds the limits of open streams.
type Streaming struct {
	MaxStreams           int
	MaxStreamsPerAccount int
	MaxStreamsPerAddress int
}

// Media holds the limits of uploads, in bytes where nothing else is said.
type Media struct {
	UploadLimit       int64
	AvatarLimit       int64
	BannerLimit       int64
	BackgroundLimit   int64
	DescriptionLength int // characters
	MaxPixels         int64
	MaxFrames         int
}

// MediaProxy is how files of other servers are shown. Sizes are in bytes.
type MediaProxy struct {
	Enabled     bool
	CacheSize   int64
	MaxFile     int64
	DirectHosts []string
}

// Cards are the previews of the pages that posts link to.
type Cards struct {
	Enabled      bool
	IgnoredHosts []string
}

// Federation is the exchange with other servers.
type Federation struct {
	Enabled              bool
	AllowLoopback        bool
	AuthorizedFetch      bool
	SendListens          bool
	AllowRelay           bool
	QuarantinedInstances []HostReason
	RejectedInstances    []HostReason
	StoreAll             bool
	SendBlocks           bool
	SignatureAge         time.Duration
}

// Captcha is the test against automatic registrations.
type Captcha struct {
	Enabled bool
}

// OAuth is about the tokens of apps.
type OAuth struct {
	TokenLifetime time.Duration // 0: for ever
}

// RateLimit holds the buckets. Those without a viewer count by address, the others by account.
type RateLimit struct {
	Enabled            bool
	All                Rate
	AllAnonymous       Rate
	Authentication     Rate
	FailedLogins       Rate
	PasswordReset      Rate
	Registration       Rate
	AppRegistration    Rate
	Timeline           Rate
	Search             Rate
	SearchAnonymous    Rate
	Follows            Rate
	FollowsSameAccount Rate
	StatusActions      Rate
	Reports            Rate
	SameStatusAction   Rate
	MediaUpload        Rate
	Federation         Rate
	Inbox              Rate
}

// Mail is how mail leaves. Code that needs the sender asks Config.MailFrom, which knows what an empty From means.
type Mail struct {
	Enabled  bool
	Adapter  string // MailSMTP or MailFile
	From     string
	Host     string
	Port     int
	User     string
	Password string
	TLS      string // MailStartTLS, MailTLS or MailPlain
}

// Values of Mail.Adapter and Mail.TLS.
const (
	MailSMTP = "smtp"
	MailFile = "file"

	MailStartTLS = "starttls"
	MailTLS      = "tls"
	MailPlain    = "none"
)

// Log is what the server writes about its work.
type Log struct {
	Level  string // debug, info, warn or error
	Format string // LogText or LogJSON
}

// Values of Log.Format.
const (
	LogText = "text"
	LogJSON = "json"
)

// Metrics are figures for a monitoring system.
type Metrics struct {
	Enabled bool
	Listen  string
}

// Default returns the settings of a server that was told nothing. They are valid.
func Default() *Config {
	c := new(Config)
	for _, s := range c.settings() {
		s.field.reset()
	}
	return c
}
