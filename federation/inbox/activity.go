package inbox

import (
	"slices"
	"time"

	"svc/internal/activity"
	"svc/internal/limit"
	"svc/store"
)

// Activity is an incoming activity, from the request that brought it to the record of its result. Queue, handlers and record share it.
type Activity struct {
	activity.Object                       // the document; nil while only the database has it
	Row             *store.QueuedActivity // likewise; its ID is 0 until it is stored

	Signer    *store.Account // who signed the request
	Actor     *store.Account // whose activity it is, once that is verified
	Forwarder *store.Account // the signer, if that is not the actor: a relay, or a server that forwards replies; else nil
	Recipient *store.Account // whose inbox received it; nil: the shared inbox

	Type         string
	URI          string           // its id, or one made of its content if it has none
	Key          store.SeenKey    // of URI; zero until URI is known to be one that the actor may use
	Visibility   store.Visibility // of a reblog, as the policies leave it
	WithoutActor bool             // it names no actor, so that it is its signer's
	FetchBudget  int              // how many more documents it may cause to be fetched

	// Of the queue.
	id        store.QueuedActivityID
	sender    *senderQueue
	weight    int
	refs      [2]string // its id and its object's, once the content was read
	retryAt   time.Time
	index     int                  // in the heap of retries, from 1; 0: it is not there
	turn      chan bool            // receives true when it is to be processed, false when it is to be stored; nil: it does not wait
	slow      bool                 // it is among those that may fetch
	share     *limit.Share[string] // of the worker that may fetch and has it; else nil
	seenMark  uint64               // when it was not seen; 0: not checked
	notUndone bool                 // nor undone before it came
	err       error                // of the last attempt
}

func (a *Activity) setRefs() { a.refs = [2]string{a.Object.ID(), a.Ref("object")} }

// sharesRef returns true if two activities are about the same activity or object.
func (a *Activity) sharesRef(other *Activity) bool {
	return slices.ContainsFunc(a.refs[:], func(ref string) bool { return ref != "" && slices.Contains(other.refs[:], ref) })
}
