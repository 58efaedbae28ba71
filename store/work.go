package store

// The jobs of this program. A kind that is in databases out there keeps its name and its members.

// ExpireStatus removes a status whose time has come.
type ExpireStatus struct {
	StatusID StatusID `json:"status_id"`
}

// Kind names the job.
func (ExpireStatus) Kind() string { return "expire_status" }

// ExpireMute ends a mute whose time has come.
type ExpireMute struct {
	AccountID AccountID `json:"account_id"`
	TargetID  AccountID `json:"target_id"`
}

// LeaveDomain ends the follows, in either direction, between an account and those of a domain that it blocks.
type LeaveDomain struct {
	AccountID AccountID `json:"account_id"`
	Domain    string    `json:"domain"`
}

// RemoveFile removes a file that was a picture of a profile, unless something else shows it.
type RemoveFile struct {
	Name string `json:"name"`
}

// Kind names the job.
func (ExpireMute) Kind() string  { return "expire_mute" }
func (LeaveDomain) Kind() string { return "leave_domain" }
func (RemoveFile) Kind() string  { return "remove_file" }
