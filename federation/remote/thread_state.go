package remote

import (
	"slices"
	"sync"
	"time"

	"svc/internal/activity"
	"svc/internal/keys"
	"svc/store"
)

// Limits of the state of fetching threads.
const (
	maxThreads       = 64 // threads
	maxThreadURLs    = 3000
	maxThreadURL     = 2048            // bytes
	maxThreadSlices  = 15              // of a view
	maxThreadPages   = 100             // of a collection
	maxThreadTime    = 5 * time.Minute // between slices
	maxThreadFetches = 1000            // posts of a thread that are fetched, whether or not they can be read
)

// Refresh is a fetch of the rest of a thread that goes on in the background.
type Refresh struct {
	ID      string
	Running bool
	Found   int // posts that it has stored so far
}

// threadFetches are the threads that are being fetched, or were.
type threadFetches struct {
	mu      sync.Mutex
	threads []*threadFetch // the last one that was used comes last
}

// threadFetch is the state of fetching a thread, between the slices of its job and between views. The queue keeps its tasks, so that the next view
// continues. Only its job uses the fields without a comment on locks.
type threadFetch struct {
	Refresh                      // by the lock of threadFetches
	thread  store.ConversationID // by the lock of threadFetches
	until   time.Time            // when it has ended even if its job is lost; by the lock of threadFetches

	context     string // URI of the thread, "" if it has none that can be fetched
	begun       bool   // the collections that are due are in the queue
	fetches     int
	items       []threadTask
	collections []threadTask
	seen        map[string]bool
}

// threadTask is a post or a page of a collection that is to be fetched.
type threadTask struct {
	url        string
	host       string
	collection bool
	of         store.ReplyCollection // the post whose replies they are; the zero value for the thread's own collection
	pages      int                   // that were read before
	retried    bool
}

// ofThread returns the fetch of a thread, nil if there is none.
func (t *threadFetches) ofThread(id store.ConversationID) *threadFetch {
	return t.find(func(f *threadFetch) bool { return f.thread == id })
}

// find returns the fetch for which is returns true, and marks it as used.
func (t *threadFetches) find(is func(*threadFetch) bool) *threadFetch {
	i := slices.IndexFunc(t.threads, is)
	if i < 0 {
		return nil
	}
	f := t.threads[i]
	t.threads = append(slices.Delete(t.threads, i, i+1), f)
	return f
}

// view returns the state of fetching a thread, and whether its queue has tasks.
func (t *threadFetches) view(id store.ConversationID, now time.Time) (_ Refresh, left bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.ofThread(id)
	if f == nil {
		return Refresh{}, false
	}
	state := f.at(now)
	return state, !f.Running && f.left()
}

// begin starts a fetch of a thread for a view: a new one, or one that was left.
func (t *threadFetches) begin(id store.ConversationID, now time.Time) Refresh {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.ofThread(id)
	if f == nil {
		f = t.add(keys.NewToken(), id)
	}
	f.Running, f.until = true, now.Add(maxThreadTime)
	return f.Refresh
}

func (t *threadFetches) add(refresh string, id store.ConversationID) *threadFetch {
	f := &threadFetch{Refresh: Refresh{ID: refresh}, thread: id, seen: make(map[string]bool)}
	if len(t.threads) >= maxThreads {
		t.threads = slices.Delete(t.threads, 0, 1)
	}
	t.threads = append(t.threads, f)
	return f
}

// resume returns the fetch with an id for its next slice. It is empty if it was forgotten, as after a restart. The thread of a status is another
// one if its root became known meanwhile.
func (t *threadFetches) resume(refresh string, id store.ConversationID, now time.Time) *threadFetch {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.find(func(f *threadFetch) bool { return f.ID == refresh })
	if f == nil {
		f = t.add(refresh, id)
	}
	f.thread, f.Running, f.until = id, true, now.Add(maxThreadTime)
	return f
}

// stop ends the fetch of a view.
func (t *threadFetches) stop(f *threadFetch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f.Running = false
}

// abandon ends a fetch whose job could not be queued.
func (t *threadFetches) abandon(id store.ConversationID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.ofThread(id); f != nil {
		f.Running = false
	}
}

// found records that a post was stored.
func (t *threadFetches) found(f *threadFetch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f.Found++
}

// state returns a fetch by its id, and false if it is not known.
func (t *threadFetches) state(refresh string, now time.Time) (Refresh, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.threads {
		if f.ID == refresh {
			return f.at(now), true
		}
	}
	return Refresh{}, false
}

// at returns the state at a time. The caller has the lock.
func (f *threadFetch) at(now time.Time) Refresh {
	state := f.Refresh
	state.Running = state.Running && now.Before(f.until)
	return state
}

// add puts a task into the queue, unless it was there before.
func (f *threadFetch) add(task threadTask) {
	task.url = activity.WithoutFragment(task.url)
	if task.url == "" || len(task.url) > maxThreadURL || f.seen[task.url] || len(f.seen) >= maxThreadURLs {
		return
	}
	f.seen[task.url] = true
	if task.collection {
		f.collections = append(f.collections, task)
	} else {
		f.items = append(f.items, task)
	}
}

// retry puts a task that was cut off into the queue again, once.
func (f *threadFetch) retry(task threadTask) {
	if task.retried {
		return
	}
	task.retried = true
	if task.collection {
		f.collections = append(f.collections, task)
	} else {
		f.items = append(f.items, task)
	}
}

// next takes the next task whose host is not busy: posts come first, because people wait for them.
func (f *threadFetch) next(busy map[string]int) (threadTask, bool) {
	for _, queue := range []*[]threadTask{&f.items, &f.collections} {
		i := slices.IndexFunc(*queue, func(task threadTask) bool { return busy[task.host] < threadPerHost })
		if i >= 0 {
			task := (*queue)[i]
			*queue = slices.Delete(*queue, i, i+1)
			return task, true
		}
	}
	return threadTask{}, false
}

// left returns whether something is still to be fetched.
func (f *threadFetch) left() bool {
	return f.fetches < maxThreadFetches && len(f.items)+len(f.collections) > 0
}

// again lets a fetch that has read everything, or as much as it may, begin anew with a later view.
func (f *threadFetch) again() {
	f.begun, f.fetches, f.items, f.collections, f.seen = false, 0, nil, nil, make(map[string]bool)
}

// repliesInterval returns how long the replies to a post are not read again: a tenth of its age, at least ten minutes and at most a day.
func repliesInterval(created store.Time, now time.Time) time.Duration {
	return min(max(created.Age(now)/10, minRepliesInterval), maxRepliesInterval)
}
