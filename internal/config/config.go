// Package config defines the settings of the server, with their defaults, rules and descriptions, and reads them from a file.
//
// Each setting is described once, in the registry (settings.go). Defaults, validation, config.example.toml, `svc config show` and
// the settings in the admin API derive from that description. The package reads one file and nothing else: callers decide which
// file that is and when changes take effect.
//
// Limits: 10 000 entries in a list of hosts or accounts, 1000 patterns or hashtags in a list.
package config

import (
	"slices"
	"time"
)

// Config is one complete set of settings. The registry describes its fields under the same names.
//
// Set replaces lists and never changes them in place, so a copy of the struct is independent of its original.
type Config struct {
	Server     Server
	Data       Data
	Cache      Cache
	API        API
	Frontends  Frontends
	Web        Web
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
	Storage    Storage
	Backup     Backup
	Replica    Replica
	S3         S3
	SFTP       SFTP
	Doctor     Doctor
	Updates    Updates
	Emoji      Emoji
	Cards      Cards
	Federation Federation
	Policies
	Captcha     Captcha
	Translation Translation
	Welcome     Welcome
	OAuth       OAuth
	RateLimit   RateLimit
	Mail        Mail
	Log         Log
	Metrics     Metrics
}

// Server has the addresses and timeouts of the HTTP server. For the public address use Config.URL, which is normalized.
type Server struct {
	Listen            string
	URL               string
	Host              string // of handles; "": that of URL
	TrustedProxies    []string
	ReadHeaderTimeout time.Duration
	ReadTimeout       time.Duration
	WriteTimeout      time.Duration
	IdleTimeout       time.Duration
	TLS               TLS
}

// TLS configures built-in certificates (ACME).
type TLS struct {
	Enabled    bool
	Email      string
	HTTPListen string
}

// Data configures the data directory and the database. Caches are in bytes per connection.
type Data struct {
	Dir         string
	Synchronous string // SyncFull or SyncNormal
	Readers     int
	ReaderCache int64
	WriterCache int64
	MemoryLimit int64 // bytes; 0: by the machine
}

// Caches returns the bytes of all caches whose size is a setting.
func (c *Config) Caches() int64 {
	return int64(c.Data.Readers)*c.Data.ReaderCache + c.Data.WriterCache + c.Cache.RenderedBytes
}

// Values of Data.Synchronous.
const (
	SyncFull   = "full"
	SyncNormal = "normal"
)

// Cache bounds the in-memory caches.
type Cache struct {
	RenderedBytes int64
	Tokens        int
}

// API configures the client API.
type API struct {
	Name       string
	Compatible string   // "": Name and the version of this program
	Optional   []string // parts that are off unless they are listed
}

// Parts of the API that API.Optional turns on. Without it the first two answer with 404 (spec 4.6), and the trends are empty.
const (
	OptionalDirectory    = "directory"
	OptionalFeaturedTags = "featured_tags"
	OptionalTrends       = "trends"
)

// Offers returns true if an optional part of the API is on.
func (a *API) Offers(part string) bool { return slices.Contains(a.Optional, part) }

// Web configures the web interface of the program.
type Web struct {
	Enabled        bool
	RecentPosts    int // on the front page
	PublicTimeline bool
	AccentColour   string // #rrggbb; "": the built-in one
}

// Frontends configures web front ends.
type Frontends struct {
	Primary        string   // NAME/REF; "": the pages of this program
	Admin          string   // NAME/REF; "": none
	Pickable       []string // NAME/REF
	Available      []Frontend
	Configurations []FrontendConfiguration
}

// Frontend is a front end that can be installed.
type Frontend struct {
	Name     string
	Ref      string // the version that is installed if none is given
	Git      string // page of its source
	BuildURL string // of the zip archive; ${ref} stands for the version
	BuildDir string // folder of the archive; "": the one that has the index.html
}

// FrontendConfiguration is a configuration that a front end reads at its start.
type FrontendConfiguration struct {
	Name          string
	Configuration string // a JSON object
}

// Instance is public information about the server, and registration.
type Instance struct {
	Name                      string
	ShortDescription          string
	Description               string
	Email                     string
	ContactUsername           string
	Languages                 []string
	SourceURL                 string
	Thumbnail                 string
	BackgroundImage           string
	Public                    bool
	ListPeers                 bool
	ShowActivity              bool
	ListDomainBlocks          string // ToAnyone, ToMembers or ToNobody
	RegistrationsOpen         bool
	InvitesEnabled            bool
	AccountApprovalRequired   bool
	AccountActivationRequired bool
	ConfigurableFromDatabase  bool
	AdminPrivileges           []string
	ModeratorPrivileges       []string
}

// Values of Instance.ListDomainBlocks.
const (
	ToAnyone  = "public"
	ToMembers = "members"
	ToNobody  = "nobody"
)

// Accounts holds the limits of profiles. Lengths are in characters.
type Accounts struct {
	NameLength               int
	BioLength                int
	MaxFields                int
	MaxRemoteFields          int
	FieldNameLength          int
	FieldValueLength         int
	RegistrationReasonLength int
	PasswordMinLength        int
	ExtendedNicknameFormat   bool
	RestrictedNicknames      []string
	BlockersVisible          bool
	ProfileDirectory         bool
	MaxCollections           int
	PasswordResetLifetime    time.Duration
	SignInMails              bool // mail about sign-ins from new networks
	BackupInterval           time.Duration
	BackupLifetime           time.Duration
	BackupSizeLimit          int64
	BackupStorageLimit       int64
	ArchiveSizeLimit         int64         // of an archive of another server that is imported
	EmailBlacklist           []string      // domains
	UnconfirmedLifetime      time.Duration // 0: for ever
	BirthdayRequired         bool
	BirthdayMinAge           int // years; 0: any age
	Autofollow               []string
	AutofollowedBy           []string
}

// Statuses holds the limits of posts. Lengths are in characters.
type Statuses struct {
	MaxLength      int
	AllowedFormats []string
	MaxPinned      int
	MinExpiry      time.Duration
}

// Polls holds the limits of local polls.
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
	Bubble     []string // hosts whose posts are in the bubble timeline
}

// Search is the scope of search results.
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

// Media holds the limits of uploads, in bytes unless noted.
type Media struct {
	UploadLimit       int64
	AvatarLimit       int64
	BannerLimit       int64
	BackgroundLimit   int64
	DescriptionLength int // characters
	MaxPixels         int64
	MaxFrames         int
	Describe          bool

	Storage  string // MediaOnDisk or MediaInBucket: where new files go
	Bucket   string // a location of package objects; "": none
	Redirect bool   // files of the bucket are served by redirects to signed addresses
}

// Values of Media.Storage.
const (
	MediaOnDisk   = "disk"
	MediaInBucket = "s3"
)

// MediaProxy configures the proxy for remote media. Sizes are in bytes.
type MediaProxy struct {
	Enabled     bool
	CacheSize   int64
	MaxFile     int64
	DirectHosts []string
}

// Storage holds the limits of disk usage, in bytes; 0 is no limit.
type Storage struct {
	Limit             int64 // of the data directory
	MinFree           int64 // on the disk
	Ballast           int64 // a file that makes room when the disk is full; 0: none
	Uploads           int64
	Emoji             int64
	RemotePosts       int64
	RemotePostsMinAge time.Duration // younger ones are not deleted to make room
	RemotePostsMaxAge time.Duration // 0: kept
}

// Backup configures the backups that the server makes itself.
type Backup struct {
	Schedule time.Duration // between two; 0: none
	Dir      string        // "": backups/ in the data directory
	Place    string        // a location of package objects, instead of Dir; "": none
	Media    bool          // uploads are in it
	Verify   bool          // each backup is read again

	Keep                               int // the newest; and in addition
	KeepDaily, KeepWeekly, KeepMonthly int // the newest of each of so many days, weeks, months
}

// Replica configures the continuous copy of the server at another place. Litestream, which runs beside the server, copies the database there.
type Replica struct {
	Enabled        bool
	Place          string        // a location of package objects
	PassphraseFile string        // its passphrase seals keys and settings
	Keep           time.Duration // of files that are deleted
	Rehearsal      time.Duration // between two; 0: none
}

// S3 has the credentials for all buckets.
type S3 struct {
	AccessKey, SecretKey, SecretKeyFile string
}

// SFTP has the credentials for all SFTP servers.
type SFTP struct {
	KeyFile, PasswordFile, KnownHosts string
}

// Doctor configures the checks of svc doctor that the server makes by itself.
type Doctor struct {
	Schedule time.Duration // between two; 0: none
	Mail     bool
	Webhook  string
}

// Updates configures where new versions of the program are.
type Updates struct {
	URL       string // of the folder of a release; "": nowhere
	PublicKey string // that verifies it, in minisign's form
	Check     bool   // the running server looks for new versions
}

// Emoji configures the custom emoji of folders without a pack.json.
type Emoji struct {
	Groups         []EmojiGroup
	PackExtensions []string
	ShortcodeGlobs []string
}

// EmojiGroup is a tag for the emoji whose path matches a pattern.
type EmojiGroup struct {
	Name     string
	Patterns []string
}

// Cards configures preview cards of linked pages.
type Cards struct {
	Enabled      bool
	IgnoredHosts []string
}

// Federation configures the federation with other servers.
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
	SharedDomains        []string // whose hosts belong to different owners
	FetchProfiles        bool
}

// Captcha configures the captcha at registration.
type Captcha struct {
	Enabled      bool
	Provider     string // CaptchaNative or CaptchaKocaptcha
	Endpoint     string // of a kocaptcha service
	SecondsValid int
}

// Values of Captcha.Provider.
const (
	CaptchaNative    = "native"
	CaptchaKocaptcha = "kocaptcha"
)

// Translation configures translations of posts.
type Translation struct {
	URL    string // of a LibreTranslate server; "": off
	APIKey string
}

// Welcome is what new users receive from a local account.
type Welcome struct {
	Sender        string // nickname; "": nothing is sent
	DirectMessage string
	ChatMessage   string
}

// OAuth configures access tokens.
type OAuth struct {
	TokenLifetime time.Duration // 0: no expiry
}

// RateLimit holds the rate limits. Anonymous requests are counted by IP address, others by account.
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
	Translations       Rate
	SameStatusAction   Rate
	MediaUpload        Rate
	Files              Rate
	Federation         Rate
	Inbox              Rate
}

// Mail configures outgoing mail. For the sender use Config.MailFrom, which has the default of an empty From.
type Mail struct {
	Enabled  bool
	Adapter  string // MailSMTP or MailFile
	From     string
	Host     string
	Port     int
	User     string
	Password string
	TLS      string // MailStartTLS, MailTLS or MailPlain

	VerifyCertificate bool
}

// Values of Mail.Adapter and Mail.TLS.
const (
	MailSMTP = "smtp"
	MailFile = "file"

	MailStartTLS = "starttls"
	MailTLS      = "tls"
	MailPlain    = "none"
)

// Log configures the log.
type Log struct {
	Level  string // debug, info, warn or error
	Format string // LogText or LogJSON
	Access bool
}

// Values of Log.Format.
const (
	LogText = "text"
	LogJSON = "json"
)

// Metrics configures the metrics for a monitoring system.
type Metrics struct {
	Enabled bool
	Listen  string
}

// Default returns the default settings, which are valid.
func Default() *Config {
	c := new(Config)
	for _, s := range c.settings() {
		s.field.reset()
	}
	return c
}
