package store

// The jobs of this program. A kind that is in databases out there keeps its name and its members.

// ExpireStatus removes a status whose time has come.
type ExpireStatus struct {
	StatusID StatusID `json:"status_id"`
}

// Kind names the job.
func (ExpireStatus) Kind() string { return "expire_status" }

// SweepMedia removes uploads that nobody attached to anything, and files that nothing uses. It comes again and again.
type SweepMedia struct{}

// Kind names the job.
func (SweepMedia) Kind() string { return "sweep_media" }

// ExpireThreadMute ends the mute of a thread whose time has come.
type ExpireThreadMute struct {
	AccountID      AccountID      `json:"account_id"`
	ConversationID ConversationID `json:"conversation_id"`
}

// Kind names the job.
func (ExpireThreadMute) Kind() string { return "expire_thread_mute" }
