package entity

// AsyncRefresh is work that goes on in the background after an answer, such as fetching the rest of a thread.
type AsyncRefresh struct {
	AsyncRefresh AsyncRefreshState `json:"async_refresh"`
}

// AsyncRefreshState is the state of an AsyncRefresh.
type AsyncRefreshState struct {
	ID          string `json:"id"`
	Status      string `json:"status"`       // running, finished
	ResultCount int    `json:"result_count"` // results so far
}

// NewAsyncRefresh returns the entity of a refresh.
func NewAsyncRefresh(id string, running bool, results int) AsyncRefresh {
	status := "finished"
	if running {
		status = "running"
	}
	return AsyncRefresh{AsyncRefreshState{ID: id, Status: status, ResultCount: results}}
}
