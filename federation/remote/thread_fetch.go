package remote

import (
	"context"
	"net/url"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/limit"
	"svc/store"
)

// Limits of fetching threads.
const (
	maxThreadPosts     = 1000 // known posts of a thread, then no others are fetched
	replyFetchBudget   = 5    // posts above a reply
	minRepliesInterval = 10 * time.Minute
	maxRepliesInterval = 24 * time.Hour
	threadSlice        = 4 * time.Second         // of a job, in which tasks begin
	threadCutOff       = 4500 * time.Millisecond // of a job; less than what makes the server of its status a slow one
	threadTasks        = 20                      // at a time, of a thread
	threadPerHost      = 2                       // requests to a host at a time
	threadInterval     = time.Second / 10
	maxThreadUsers     = 10_000
)

// threadsPerUser is how many threads one user may cause to be fetched.
var threadsPerUser = limit.Rate{Count: 120, Window: time.Hour}

// paceKey is the context key of the Pace of requests.
type paceKey struct{}

// withPace returns a context in which requests to one host do not begin too soon after each other.
func withPace(ctx context.Context, p *limit.Pace[string]) context.Context {
	return context.WithValue(ctx, paceKey{}, p)
}

// pace waits until a request may begin, and returns the function that ends it.
func pace(ctx context.Context, address string) (end func(), err error) {
	p, _ := ctx.Value(paceKey{}).(*limit.Pace[string])
	u, err := url.Parse(address)
	if p == nil || err != nil { // the client refuses anything but a URL
		return func() {}, nil
	}
	return p.Begin(ctx, strings.ToLower(u.Host))
}

// ThreadViewed queues a fetch of the missing posts of the thread that a user views, and a refresh of the status's poll. The result is not running if
// nothing is fetched.
func (b *Backfill) ThreadViewed(ctx context.Context, st *store.Status, user store.AccountID) (Refresh, error) {
	if !st.Local() {
		if err := b.PollViewed(ctx, st.ID); err != nil {
			return Refresh{}, err
		}
	}
	if st.Visibility > store.Unlisted {
		return Refresh{}, nil
	}
	now := b.db.Now()
	known, left := b.threads.view(st.ConversationID, now)
	if known.Running {
		return known, nil
	}
	if b.threadUsers.Peek(user, threadsPerUser, now).Remaining == 0 { // others may still have it fetched
		return Refresh{}, nil
	}
	if !left {
		if !allowOnce(b.statusViews, statusViewKey{id: st.ID}, minRepliesInterval, now) {
			return Refresh{}, nil
		}
		if due, err := b.isThreadDue(ctx, st); !due || err != nil {
			return Refresh{}, err
		}
	}
	if _, ok := b.threadUsers.Allow(user, threadsPerUser, now); !ok {
		return Refresh{}, nil
	}
	refresh := b.threads.begin(st.ConversationID, now)
	if err := b.enqueueThread(ctx, store.FetchThread{StatusID: st.ID, Refresh: refresh.ID}); err != nil {
		b.threads.abandon(st.ConversationID)
		return Refresh{}, err
	}
	return refresh, nil
}

func (b *Backfill) enqueueThread(ctx context.Context, job store.FetchThread) error {
	return b.db.Update(ctx, func(tx *store.Tx) error { return tx.EnqueueUnique(ctx, b.db.Now(), "thread:"+job.Refresh, job) })
}

// Refresh returns the state of a fetch that ThreadViewed began, and false if it is not known.
func (b *Backfill) Refresh(id string) (Refresh, bool) { return b.threads.state(id, b.db.Now()) }

// isThreadDue returns whether there is a collection of a thread that was not read for a while.
func (b *Backfill) isThreadDue(ctx context.Context, st *store.Status) (bool, error) {
	due, err := b.dueCollections(ctx, st.ConversationID)
	if err != nil {
		return false, err
	}
	if len(due) == 0 {
		address, err := b.contextOf(ctx, st.ConversationID)
		if address == "" || err != nil || b.statusViews.Peek(contextView(st.ConversationID), contextRate, b.db.Now()).Remaining == 0 {
			return false, err
		}
	}
	known, err := b.db.ThreadSize(ctx, st.ConversationID, maxThreadPosts)
	return known < maxThreadPosts, err
}

// contextRate is how often the collection of a thread is read.
var contextRate = limit.Rate{Count: 1, Window: minRepliesInterval}

func contextView(id store.ConversationID) statusViewKey { return statusViewKey{context: id} }

// dueCollections returns the collections of replies of a thread that were not read for a while.
func (b *Backfill) dueCollections(ctx context.Context, id store.ConversationID) ([]store.ReplyCollection, error) {
	rows, err := b.db.ReplyCollections(ctx, id, maxThreadPosts)
	if err != nil {
		return nil, err
	}
	var due []store.ReplyCollection
	for _, c := range rows {
		if c.RepliesAt.Age(b.db.Now()) >= repliesInterval(c.CreatedAt, b.db.Now()) {
			due = append(due, c)
		}
	}
	return due, nil
}

// contextOf returns the address of the collection of a thread (FEP-7888, FEP-f228), "" if there is none on another server.
func (b *Backfill) contextOf(ctx context.Context, id store.ConversationID) (string, error) {
	uris, err := b.db.ThreadURIs(ctx, []store.ConversationID{id})
	if err != nil {
		return "", err
	}
	if _, err := b.fetcher.FetchableHost(uris[id]); err != nil {
		return "", nil
	}
	return uris[id], nil
}

// fetchThread is the job that fetches a slice of a thread: what the collection of the thread lists, then the replies to its posts, at all levels.
// Another slice follows until all is read, or the view has had its share.
func (b *Backfill) fetchThread(ctx context.Context, w store.FetchThread) error {
	st, err := b.db.Status(ctx, w.StatusID)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	f := b.threads.resume(w.Refresh, st.ConversationID, b.db.Now())
	more, err := b.fetchSlice(ctx, f, st.ConversationID)
	switch {
	case err != nil:
	case !more:
		f.again()
	case w.Slice+1 < maxThreadSlices:
		w.Refresh, w.Slice = f.ID, w.Slice+1
		return b.enqueueThread(ctx, w)
	}
	b.threads.stop(f)
	return err
}

// fetchSlice fetches a slice of a thread. more is true if it is not the last one.
func (b *Backfill) fetchSlice(ctx context.Context, f *threadFetch, id store.ConversationID) (more bool, err error) {
	if !f.begun {
		if err := b.beginThread(ctx, f, id); err != nil {
			return false, err
		}
	}
	known, err := b.db.ThreadSize(ctx, id, maxThreadPosts)
	if err != nil {
		return false, err
	}
	stored, err := b.runThread(ctx, f, b.statuses.InThread(ctx, f.context, id), maxThreadPosts-known)
	return f.left() && known+stored < maxThreadPosts, err
}

// beginThread puts the collections of a thread that are due into the queue.
func (b *Backfill) beginThread(ctx context.Context, f *threadFetch, id store.ConversationID) (err error) {
	if f.context, err = b.contextOf(ctx, id); err != nil {
		return err
	}
	if host, err := b.fetcher.FetchableHost(f.context); err == nil && allowOnce(b.statusViews, contextView(id), minRepliesInterval, b.db.Now()) {
		f.add(threadTask{url: f.context, host: host, collection: true})
	}
	due, err := b.dueCollections(ctx, id)
	for _, c := range due {
		f.addReplies(b.fetcher, c)
	}
	f.begun = true
	return err
}

func (f *threadFetch) addReplies(fetcher *Fetcher, c store.ReplyCollection) {
	if host, err := fetcher.FetchableHost(c.RepliesURI); err == nil {
		f.add(threadTask{url: c.RepliesURI, host: host, collection: true, of: c})
	}
}

// threadResult is what a task has brought.
type threadResult struct {
	task    threadTask
	further []threadTask
	stored  bool
	err     error // of this server
}

// runThread runs tasks for the time of a slice, until room posts are stored. No host gets more than two at a time. What a slow host keeps waiting is cut
// off, because the server of the status would count as slow otherwise, and gets its second chance in the next slice.
func (b *Backfill) runThread(ctx context.Context, f *threadFetch, inThread func(*Note) bool, room int) (stored int, err error) {
	end := time.Now().Add(b.threadSlice)
	tasks, cancel := context.WithTimeout(withPace(ctx, b.threadPace), b.threadCutOff)
	defer cancel()
	results := make(chan threadResult)
	busy := make(map[string]int)
	for running := 0; ; running-- {
		for running < threadTasks && stored+running < room && f.fetches < maxThreadFetches && err == nil && tasks.Err() == nil && time.Now().Before(end) {
			task, ok := f.next(busy)
			if !ok {
				break
			}
			running++
			busy[task.host]++
			if !task.collection {
				f.fetches++
			}
			go func() { results <- b.runThreadTask(tasks, inThread, task) }()
		}
		if running == 0 {
			return stored, err
		}
		r := <-results
		busy[r.task.host]--
		switch {
		case r.err != nil && tasks.Err() != nil && ctx.Err() == nil:
			f.retry(r.task)
		case r.err != nil:
			err = r.err
		}
		if r.stored {
			stored++
			b.threads.found(f)
		}
		for _, task := range r.further {
			f.add(task)
		}
	}
}

func (b *Backfill) runThreadTask(ctx context.Context, inThread func(*Note) bool, task threadTask) threadResult {
	r := threadResult{task: task}
	r.err = errs.CatchPanic(func() error {
		if task.collection {
			return b.readThreadPage(ctx, &r)
		}
		return b.fetchThreadPost(ctx, inThread, &r)
	})
	if r.err == nil {
		r.err = ctx.Err()
	}
	return r
}

// readThreadPage reads a page of a collection.
func (b *Backfill) readThreadPage(ctx context.Context, r *threadResult) error {
	task := r.task
	page, err := b.fetcher.fetchPage(ctx, task.url)
	if err != nil {
		b.log.Debug("part of a thread could not be fetched", "uri", task.url, "err", err)
	}
	items := page.items[:min(len(page.items), maxThreadFetches)]
	known, err := b.db.KnownStatusURIs(ctx, items)
	if err != nil {
		return err
	}
	for _, uri := range items {
		if host, err := b.fetcher.FetchableHost(uri); err == nil && !known[uri] {
			r.further = append(r.further, threadTask{url: uri, host: host, of: task.of})
		}
	}
	if page.next != "" && task.pages+1 < maxThreadPages {
		task.url, task.pages = page.next, task.pages+1
		r.further = append(r.further, task)
		return nil
	}
	if task.of.StatusID == 0 {
		return nil
	}
	return b.db.Update(ctx, func(tx *store.Tx) error { return tx.RepliesRead(ctx, task.of.StatusID) })
}

// fetchThreadPost fetches a post that a collection lists, if it belongs there: it is a reply to the post, or of the same thread.
func (b *Backfill) fetchThreadPost(ctx context.Context, inThread func(*Note) bool, r *threadResult) error {
	belongs := inThread
	if r.task.of.StatusID != 0 {
		belongs = func(n *Note) bool { return n.ParentURI == r.task.of.URI }
	}
	st, err := b.statuses.FetchStatus(ctx, r.task.url, FetchOptions{Accept: belongs, Budget: replyFetchBudget})
	if err != nil {
		b.log.Debug("post of a thread could not be fetched", "uri", r.task.url, "err", err)
		return nil
	}
	r.stored = true
	origin, err := b.db.RemoteStatus(ctx, st.ID)
	if err != nil || origin == nil || origin.RepliesURI == "" || st.Visibility > store.Unlisted {
		return err
	}
	host, err := b.fetcher.FetchableHost(origin.RepliesURI)
	if err == nil {
		of := store.ReplyCollection{StatusID: st.ID, URI: st.URI, CreatedAt: st.CreatedAt, RepliesURI: origin.RepliesURI}
		r.further = append(r.further, threadTask{url: origin.RepliesURI, host: host, collection: true, of: of})
	}
	return nil
}
