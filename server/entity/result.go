package entity

// Result is the answer of the account utilities of the extension API, with status 200 for success and failure alike.
type Result struct {
	Status string `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Success is the Result of an operation that succeeded.
var Success = Result{Status: "success"}

// Failure returns the Result of an operation that failed.
func Failure(message string) Result { return Result{Error: message} }
