package store

// The jobs of this program. A kind that is in databases out there keeps its name and its members.

// ExpireStatus removes a status whose time has come.
type ExpireStatus struct {
	StatusID StatusID `json:"status_id"`
}

// Kind names the job.
func (ExpireStatus) Kind() string { return "expire_status" }

// PurgeAccount takes away what a deleted account has left.
type PurgeAccount struct {
	AccountID AccountID `json:"account_id"`
}

// Kind names the job.
func (PurgeAccount) Kind() string { return "purge_account" }

// PurgeKey is the unique key of the job that purges an account.
func PurgeKey(id AccountID) string { return "purge:" + id.String() }
