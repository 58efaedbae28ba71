package store

// The jobs of this program. A kind that is in databases out there keeps its name and its members.

// ExpireStatus removes a status whose time has come.
type ExpireStatus struct {
	StatusID StatusID `json:"status_id"`
}

// SweepMedia removes uploads that nobody attached to anything, and files that nothing uses. It comes again and again.
type SweepMedia struct{}

// SweepProxy removes what the media proxy keeps of other servers' files and nobody has looked at for long. It comes again and again.
type SweepProxy struct{}

// ExpireThreadMute ends the mute of a thread whose time has come.
type ExpireThreadMute struct {
	AccountID      AccountID      `json:"account_id"`
	ConversationID ConversationID `json:"conversation_id"`
}

// ExpireMute ends the mute of an account whose time has come.
type ExpireMute struct {
	AccountID AccountID `json:"account_id"`
	TargetID  AccountID `json:"target_id"`
}

// MoveFollowers tells the local followers of an account that it has moved, from one on.
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

// BotFollow makes a local bot follow an account (FollowBotPolicy).
type BotFollow struct {
	BotID    AccountID `json:"bot_id"`
	TargetID AccountID `json:"target_id"`
}

// UnfollowDomain ends the follows, in either direction, between an account and those of a domain that it blocks.
type UnfollowDomain struct {
	AccountID AccountID `json:"account_id"`
	Domain    string    `json:"domain"`
}

// ClosePoll tells of the end of a poll whose time is over.
type ClosePoll struct {
	StatusID StatusID `json:"status_id"`
}

// PublishScheduled publishes a scheduled status whose time has come.
type PublishScheduled struct {
	ScheduledID ScheduledID `json:"scheduled_id"`
}

// FetchReferences fetches what a post from elsewhere speaks of and that is not here: what it replies to, what it quotes, whom it
// mentions.
type FetchReferences struct {
	StatusID    StatusID `json:"status_id"`
	FetchBudget int      `json:"fetch_budget"` // how many posts may still be fetched because of it
	Mentions    []string `json:"mentions,omitempty"`
	Attempts    int      `json:"attempts,omitempty"`
}

// FetchReplies reads which replies a post from elsewhere has.
type FetchReplies struct {
	StatusID StatusID `json:"status_id"`
}

// RefreshPoll asks how a poll from elsewhere stands.
type RefreshPoll struct {
	StatusID StatusID `json:"status_id"`
}

// RefreshActor looks at an account elsewhere anew.
type RefreshActor struct {
	AccountID AccountID `json:"account_id"`
}

// RefreshCollections looks at what an account elsewhere shows beside its profile: how many follow it, what it has pinned, where it has moved.
type RefreshCollections struct {
	AccountID AccountID `json:"account_id"`
}

// FetchNodeInfo asks a server which software it runs.
type FetchNodeInfo struct {
	Domain string `json:"domain"`
}

// Kind names the job.
func (FetchReferences) Kind() string { return "fetch_references" }

func (FetchReplies) Kind() string { return "fetch_replies" }

func (RefreshPoll) Kind() string { return "refresh_poll" }

func (SweepMedia) Kind() string { return "sweep_media" }

func (SweepProxy) Kind() string { return "sweep_proxy" }

func (ExpireStatus) Kind() string { return "expire_status" }

func (ExpireThreadMute) Kind() string { return "expire_thread_mute" }

func (ExpireMute) Kind() string { return "expire_mute" }

func (MoveFollowers) Kind() string { return "move_followers" }

func (CopyEmoji) Kind() string { return "copy_emoji" }

func (FetchProxied) Kind() string { return "fetch_proxied" }

func (BotFollow) Kind() string { return "bot_follow" }

func (UnfollowDomain) Kind() string { return "unfollow_domain" }

func (ClosePoll) Kind() string { return "close_poll" }

func (PublishScheduled) Kind() string { return "publish_scheduled" }

func (RefreshActor) Kind() string { return "refresh_actor" }

func (RefreshCollections) Kind() string { return "refresh_collections" }

func (FetchNodeInfo) Kind() string { return "fetch_nodeinfo" }
