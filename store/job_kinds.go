package store

// Jobs that have no better place.

// ExpireStatus deletes a status at its expiry.
type ExpireStatus struct {
	StatusID StatusID `json:"status_id"`
}

// SweepMedia is the recurring job that removes uploads that are attached to nothing, and unused files.
type SweepMedia struct{}

// RemoveFiles removes those of the files that no upload and no profile uses.
type RemoveFiles struct {
	Files []string `json:"files"`
}

// SweepProxy is the recurring job that removes old files from the cache of the media proxy.
type SweepProxy struct{}

// ExpireThreadMute ends a mute of a thread.
type ExpireThreadMute struct {
	AccountID      AccountID      `json:"account_id"`
	ConversationID ConversationID `json:"conversation_id"`
}

// ExpireMute ends a mute of an account.
type ExpireMute struct {
	AccountID AccountID `json:"account_id"`
	TargetID  AccountID `json:"target_id"`
}

// MoveFollowers moves the local followers after an id from an account to the one that it has moved to.
type MoveFollowers struct {
	OriginID AccountID `json:"origin_id"`
	TargetID AccountID `json:"target_id"`
	After    AccountID `json:"after"`
}

// CopyEmoji copies a custom emoji of another server into a local pack (StealEmojiPolicy).
type CopyEmoji struct {
	Pack      string `json:"pack"`
	Shortcode string `json:"shortcode"`
	URL       string `json:"url"`
	MaxBytes  int64  `json:"max_bytes"`
}

// FetchProxied fetches files into the cache of the media proxy (MediaProxyWarmingPolicy).
type FetchProxied struct {
	URLs []string `json:"urls"`
}

// SumBannedMedia fetches a banned file to know its SHA-256.
type SumBannedMedia struct {
	Address string `json:"address"`
}

// BotFollow makes a local bot follow an account (FollowBotPolicy).
type BotFollow struct {
	BotID    AccountID `json:"bot_id"`
	TargetID AccountID `json:"target_id"`
}

// WelcomeUser makes the automatic follows of a new account and sends it the welcome messages.
type WelcomeUser struct {
	AccountID AccountID `json:"account_id"`
}

// UnfollowDomain ends the follows between an account and the accounts of a domain that it blocks, in both directions.
type UnfollowDomain struct {
	AccountID AccountID `json:"account_id"`
	Domain    string    `json:"domain"`
}

// ClosePoll sends the notifications about the end of a poll.
type ClosePoll struct {
	StatusID StatusID `json:"status_id"`
}

// PublishScheduled publishes a scheduled status.
type PublishScheduled struct {
	ScheduledID ScheduledID `json:"scheduled_id"`
}

// FetchReferences fetches unknown objects that a remote status refers to: the status that it replies to, the one that it quotes, and
// mentioned accounts.
type FetchReferences struct {
	StatusID    StatusID `json:"status_id"`
	FetchBudget int      `json:"fetch_budget"` // how many documents may still be fetched
	Mentions    []string `json:"mentions,omitempty"`
	Attempts    int      `json:"attempts,omitempty"`
}

// FetchReplies fetches the replies of a remote status.
type FetchReplies struct {
	StatusID StatusID `json:"status_id"`
}

// RefreshPoll fetches the counts of a remote poll.
type RefreshPoll struct {
	StatusID StatusID `json:"status_id"`
}

// RefreshActor fetches a remote account again.
type RefreshActor struct {
	AccountID AccountID `json:"account_id"`
}

// RefreshCollections fetches the collections of a remote account: the number of followers, pinned statuses, the account that it has moved
// to.
type RefreshCollections struct {
	AccountID AccountID `json:"account_id"`
	OnlyPins  bool      `json:"only_pins,omitempty"`
}

// SynchronizeFollowers compares the local followers of a remote account with the list that its server has of them.
type SynchronizeFollowers struct {
	AccountID AccountID `json:"account_id"`
	URL       string    `json:"url"`
}

// RetireKeys retires the former keys of a local account once the newest is known everywhere.
type RetireKeys struct {
	AccountID AccountID `json:"account_id"`
}

// FetchNodeInfo fetches which software a host runs.
type FetchNodeInfo struct {
	Domain string `json:"domain"`
}

// deletingJobs are the kinds that run while the disk is full, because they make room.
var deletingJobs = map[string]bool{
	Prune{}.Kind(): true, PruneRemotePosts{}.Kind(): true, PurgeAccount{}.Kind(): true, PurgeInstance{}.Kind(): true, RemoveFiles{}.Kind(): true,
	SweepMedia{}.Kind(): true, SweepProxy{}.Kind(): true, SweepCards{}.Kind(): true, ExpireStatus{}.Kind(): true, ExpireBackups{}.Kind(): true,
}

// Kind returns the kind of the job.
func (FetchReferences) Kind() string      { return "fetch_references" }
func (FetchReplies) Kind() string         { return "fetch_replies" }
func (RefreshPoll) Kind() string          { return "refresh_poll" }
func (SweepMedia) Kind() string           { return "sweep_media" }
func (RemoveFiles) Kind() string          { return "remove_files" }
func (SweepProxy) Kind() string           { return "sweep_proxy" }
func (ExpireStatus) Kind() string         { return "expire_status" }
func (ExpireThreadMute) Kind() string     { return "expire_thread_mute" }
func (ExpireMute) Kind() string           { return "expire_mute" }
func (MoveFollowers) Kind() string        { return "move_followers" }
func (CopyEmoji) Kind() string            { return "copy_emoji" }
func (FetchProxied) Kind() string         { return "fetch_proxied" }
func (SumBannedMedia) Kind() string       { return "sum_banned_media" }
func (BotFollow) Kind() string            { return "bot_follow" }
func (WelcomeUser) Kind() string          { return "welcome_user" }
func (UnfollowDomain) Kind() string       { return "unfollow_domain" }
func (ClosePoll) Kind() string            { return "close_poll" }
func (PublishScheduled) Kind() string     { return "publish_scheduled" }
func (RefreshActor) Kind() string         { return "refresh_actor" }
func (RefreshCollections) Kind() string   { return "refresh_collections" }
func (FetchNodeInfo) Kind() string        { return "fetch_nodeinfo" }
func (RetireKeys) Kind() string           { return "retire_keys" }
func (SynchronizeFollowers) Kind() string { return "synchronize_followers" }
