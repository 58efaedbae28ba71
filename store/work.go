package store

// The jobs of this program. A kind that is in databases out there keeps its name and its members.

// ExpireStatus removes a status whose time has come.
type ExpireStatus struct {
	StatusID StatusID `json:"status_id"`
}

// Kind names the job.
func (ExpireStatus) Kind() string { return "expire_status" }

// ExpireThreadMute ends the mute of a thread whose time has come.
type ExpireThreadMute struct {
	AccountID      AccountID      `json:"account_id"`
	ConversationID ConversationID `json:"conversation_id"`
}

// Kind names the job.
func (ExpireThreadMute) Kind() string { return "expire_thread_mute" }
