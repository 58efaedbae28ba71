package entity

import "svc/admin"

// LogEntry is an entry of the moderation log.
type LogEntry struct {
	ID      int64          `json:"id"`
	Data    map[string]any `json:"data"`
	Time    int64          `json:"time"` // Unix seconds
	Message string         `json:"message"`
}

// LogActor is who made a change. The command line has no id.
type LogActor struct {
	ID       *int64 `json:"id"`
	Nickname string `json:"nickname"`
	Type     string `json:"type"`
}

// NewLogEntry renders an entry of the moderation log.
func NewLogEntry(row *admin.LogEntry) *LogEntry {
	actor := LogActor{Nickname: row.Actor, Type: "system"}
	if row.ActorID != 0 {
		actor.ID, actor.Type = &row.ActorID, "user"
	}
	data := map[string]any{"actor": actor, "action": row.Action, "message": row.Message}
	for key, value := range row.Data {
		data[key] = value
	}
	return &LogEntry{ID: row.ID, Data: data, Time: row.Time.Unix(), Message: row.Message}
}
