package store

import "context"

// BackUpServer is the job that makes a scheduled backup of the server.
type BackUpServer struct {
	Settings string `json:"settings"` // the settings file; "": none
}

func (BackUpServer) Kind() JobKind {
	return JobKind{Name: "back_up_server", Timeout: NoTimeout, Parallel: 1}
}

// ServerBackups is the state of the scheduled backups.
type ServerBackups struct {
	ID          int64
	AttemptedAt Time   // the end of the last attempt
	SucceededAt *Time  // of the last complete one; nil: none
	File        string // of that one
	Bytes       int64
	Duration    int64  // milliseconds
	Damaged     int    // uploads in it that are damaged or missing
	LastError   string // of the last attempt; "": it succeeded
	Notified    bool   // staff know of the failure or the damage
}

// ServerBackups returns the state of the scheduled backups, nil before the first one.
func (r reader) ServerBackups(ctx context.Context) (*ServerBackups, error) {
	return one[ServerBackups](ctx, r, "server backups", `SELECT * FROM server_backups WHERE id = 1`)
}

// SetServerBackups stores the state of the scheduled backups.
func (tx *Tx) SetServerBackups(ctx context.Context, s *ServerBackups) error {
	s.ID = 1
	return tx.exec(ctx, "set server backups", saveServerBackups.text, saveServerBackups.args(s)...)
}
