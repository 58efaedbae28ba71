package store

import (
	"cmp"
	"time"
)

// JobKind says what the worker has to know of a job. All of it but Server is the same for all payloads of a type.
type JobKind struct {
	Name     string        // in the table of jobs; it never changes
	Server   findServer    // that the job waits for: such jobs take turns by its registered domain (job_worker_queue.go); nil: none
	Every    time.Duration // between the first start and the first run, and between a run that succeeded and the next one; 0: not recurring
	Timeout  time.Duration // of an attempt; 0: a minute; NoTimeout: the handler bounds its time itself
	Parallel int           // how many run at a time, of a kind without Server; 0: as many as the worker has slots
	Deletes  bool          // it makes room, so that it runs while the disk is full, too
}

// NoTimeout is the timeout of jobs that bound their time themselves, such as imports, backups and purges.
const NoTimeout time.Duration = -1

// recurringKey is the unique key of a recurring job.
func (k JobKind) recurringKey() string { return "every:" + k.Name }

// Jobs that have no better place.

// ExpireStatus deletes a status at its expiry.
type ExpireStatus struct {
	StatusID StatusID `json:"status_id"`
}

func (ExpireStatus) Kind() JobKind { return JobKind{Name: "expire_status", Deletes: true} }

// SweepMedia is the recurring job that removes uploads that are attached to nothing, and unused files.
type SweepMedia struct{}

func (SweepMedia) Kind() JobKind {
	return JobKind{Name: "sweep_media", Every: 24 * time.Hour, Timeout: 10 * time.Minute, Deletes: true}
}

// MoveMedia moves uploads and archives of accounts to the place where new ones are stored: the disk or the bucket.
type MoveMedia struct{}

func (MoveMedia) Kind() JobKind {
	return JobKind{Name: "move_media", Timeout: NoTimeout, Parallel: 1, Deletes: true}
}

// MoveMediaKey is the unique key of the job that moves media.
const MoveMediaKey = "move_media"

// RemoveFiles removes those of the files that no upload and no profile uses.
type RemoveFiles struct {
	Files []string `json:"files"`
}

func (RemoveFiles) Kind() JobKind { return JobKind{Name: "remove_files", Deletes: true} }

// SweepProxy is the recurring job that removes old files from the cache of the media proxy.
type SweepProxy struct{}

func (SweepProxy) Kind() JobKind {
	return JobKind{Name: "sweep_proxy", Every: 24 * time.Hour, Timeout: 10 * time.Minute, Deletes: true}
}

// ExpireThreadMute ends a mute of a thread.
type ExpireThreadMute struct {
	AccountID      AccountID      `json:"account_id"`
	ConversationID ConversationID `json:"conversation_id"`
}

func (ExpireThreadMute) Kind() JobKind { return JobKind{Name: "expire_thread_mute"} }

// ExpireMute ends a mute of an account.
type ExpireMute struct {
	AccountID AccountID `json:"account_id"`
	TargetID  AccountID `json:"target_id"`
}

func (ExpireMute) Kind() JobKind { return JobKind{Name: "expire_mute"} }

// MoveFollowers moves the local followers after an id from an account to the one that it has moved to.
type MoveFollowers struct {
	OriginID AccountID `json:"origin_id"`
	TargetID AccountID `json:"target_id"`
	After    AccountID `json:"after"`
}

func (MoveFollowers) Kind() JobKind { return JobKind{Name: "move_followers"} }

// CopyEmoji copies a custom emoji of another server into a local pack (StealEmojiPolicy).
type CopyEmoji struct {
	Pack      string `json:"pack"`
	Shortcode string `json:"shortcode"`
	URL       string `json:"url"`
	MaxBytes  int64  `json:"max_bytes"`
}

func (j CopyEmoji) Kind() JobKind { return JobKind{Name: "copy_emoji", Server: serverAt(j.URL)} }

// FetchProxied fetches files into the cache of the media proxy (MediaProxyWarmingPolicy).
type FetchProxied struct {
	URLs []string `json:"urls"`
}

func (j FetchProxied) Kind() JobKind {
	return JobKind{Name: "fetch_proxied", Server: serverAt(cmp.Or(j.URLs...))}
}

// SumBannedMedia fetches a banned file to know its SHA-256.
type SumBannedMedia struct {
	Address string `json:"address"`
}

func (j SumBannedMedia) Kind() JobKind {
	return JobKind{Name: "sum_banned_media", Server: serverAt(j.Address)}
}

// BotFollow makes a local bot follow an account (FollowBotPolicy).
type BotFollow struct {
	BotID    AccountID `json:"bot_id"`
	TargetID AccountID `json:"target_id"`
}

func (BotFollow) Kind() JobKind { return JobKind{Name: "bot_follow"} }

// WelcomeUser makes the automatic follows of a new account and sends it the welcome messages.
type WelcomeUser struct {
	AccountID AccountID `json:"account_id"`
}

func (WelcomeUser) Kind() JobKind { return JobKind{Name: "welcome_user"} }

// UnfollowDomain ends the follows between an account and the accounts of a domain that it blocks, in both directions.
type UnfollowDomain struct {
	AccountID AccountID `json:"account_id"`
	Domain    string    `json:"domain"`
}

func (UnfollowDomain) Kind() JobKind { return JobKind{Name: "unfollow_domain"} }

// ClosePoll sends the notifications about the end of a poll.
type ClosePoll struct {
	StatusID StatusID `json:"status_id"`
}

func (ClosePoll) Kind() JobKind { return JobKind{Name: "close_poll"} }

// PublishScheduled publishes a scheduled status.
type PublishScheduled struct {
	ScheduledID ScheduledID `json:"scheduled_id"`
}

func (PublishScheduled) Kind() JobKind { return JobKind{Name: "publish_scheduled"} }

// FetchReferences fetches unknown objects that a remote status refers to: the status that it replies to, the one that it quotes, and
// mentioned accounts.
type FetchReferences struct {
	StatusID    StatusID `json:"status_id"`
	FetchBudget int      `json:"fetch_budget"` // how many documents may still be fetched
	Mentions    []string `json:"mentions,omitempty"`
	Attempts    int      `json:"attempts,omitempty"`
}

func (j FetchReferences) Kind() JobKind {
	return JobKind{Name: "fetch_references", Server: serverOfStatus(j.StatusID)}
}

// FetchThread fetches the rest of the thread of a status that a user views. It runs in slices: each is a job of its own.
type FetchThread struct {
	StatusID StatusID `json:"status_id"`
	Refresh  string   `json:"refresh,omitempty"` // id of its state in memory
	Slice    int      `json:"slice,omitempty"`
}

func (j FetchThread) Kind() JobKind {
	return JobKind{Name: "fetch_replies", Server: serverOfStatus(j.StatusID)}
}

// RefreshPoll fetches the counts of a remote poll.
type RefreshPoll struct {
	StatusID StatusID `json:"status_id"`
}

func (j RefreshPoll) Kind() JobKind {
	return JobKind{Name: "refresh_poll", Server: serverOfStatus(j.StatusID)}
}

// RefreshActor fetches a remote account again.
type RefreshActor struct {
	AccountID AccountID `json:"account_id"`
}

func (j RefreshActor) Kind() JobKind {
	return JobKind{Name: "refresh_actor", Server: serverOfAccount(j.AccountID)}
}

// RefreshCollections fetches the collections of a remote account: the number of followers, pinned statuses, the account that it has moved
// to.
type RefreshCollections struct {
	AccountID AccountID `json:"account_id"`
	OnlyPins  bool      `json:"only_pins,omitempty"`
}

func (j RefreshCollections) Kind() JobKind {
	return JobKind{Name: "refresh_collections", Server: serverOfAccount(j.AccountID)}
}

// FetchProfilePosts fetches the newest public posts of a remote account whose profile a user has opened.
type FetchProfilePosts struct {
	AccountID AccountID `json:"account_id"`
}

func (j FetchProfilePosts) Kind() JobKind {
	return JobKind{Name: "fetch_profile_posts", Server: serverOfAccount(j.AccountID)}
}

// SynchronizeFollowers compares the local followers of a remote account with the list that its server has of them.
type SynchronizeFollowers struct {
	AccountID AccountID `json:"account_id"`
	URL       string    `json:"url"`
}

func (j SynchronizeFollowers) Kind() JobKind {
	return JobKind{Name: "synchronize_followers", Server: serverOfAccount(j.AccountID)}
}

// MakeEd25519Keys gives Ed25519 keys to the local accounts after an id that have none but other keys, as those of earlier versions.
type MakeEd25519Keys struct {
	After AccountID `json:"after"`
}

func (MakeEd25519Keys) Kind() JobKind { return JobKind{Name: "make_ed25519_keys"} }

// RetireKeys retires the former keys of a local account once the newest is known everywhere.
type RetireKeys struct {
	AccountID AccountID `json:"account_id"`
}

func (RetireKeys) Kind() JobKind { return JobKind{Name: "retire_keys"} }

// FetchNodeInfo fetches which software a host runs.
type FetchNodeInfo struct {
	Domain string `json:"domain"`
}

func (j FetchNodeInfo) Kind() JobKind {
	return JobKind{Name: "fetch_nodeinfo", Server: serverAt("https://" + j.Domain)}
}
