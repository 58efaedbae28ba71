package remote

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"svc/internal/limit"
	"svc/store"
)

// threadOf makes a peer with a post that has n replies, and returns the harness that knows the post. Requests are not paced.
func threadOf(t *testing.T, n int) (*harness, *fakePeer, *store.Status) {
	t.Helper()
	a, peer := newHarness(t), newFakePeer(t)
	a.Backfill.threadPace = limit.NewPace[string](threadPerHost, 0)
	bob := peer.actor("bob")
	root := peer.url + "/notes/root"
	note := jsonObject{
		"@context": "https://www.w3.org/ns/activitystreams", "id": root, "type": "Note", "attributedTo": bob, "content": "root",
		"to": "https://www.w3.org/ns/activitystreams#Public", "replies": root + "/replies",
	}
	peer.serve("/notes/root", note)
	var items []any
	for i := range n {
		path := fmt.Sprintf("/notes/%d", i)
		peer.serve(path, jsonObject{
			"@context": "https://www.w3.org/ns/activitystreams", "id": peer.url + path, "type": "Note", "attributedTo": bob, "content": "reply",
			"to": "https://www.w3.org/ns/activitystreams#Public", "inReplyTo": root,
		})
		items = append(items, peer.url+path)
	}
	peer.serve("/notes/root/replies", jsonObject{"id": root + "/replies", "type": "Collection", "items": items})
	st, err := a.Statuses.Status(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	a.wait(0)
	return a, peer, st
}

// view views a status as a user, and runs what that causes.
func (a *harness) view(st *store.Status, user store.AccountID) Refresh {
	a.t.Helper()
	refresh, err := a.Backfill.ThreadViewed(a.t.Context(), st, user)
	if err != nil {
		a.t.Fatal(err)
	}
	a.wait(0)
	return refresh
}

func (a *harness) size(st *store.Status) int {
	a.t.Helper()
	n, err := a.db.ThreadSize(a.t.Context(), st.ConversationID, 10_000)
	if err != nil {
		a.t.Fatal(err)
	}
	return n
}

// TestThreadContinues checks that a view fetches a part of a long thread, and that the next one continues where it stopped.
func TestThreadContinues(t *testing.T) {
	const replies = 40
	a, peer, st := threadOf(t, replies)
	a.Backfill.threadSlice = 0 // of a slice: the tasks that begin at once, none
	refresh := a.view(st, 1)
	if n := a.size(st); n != 1 || !refresh.Running {
		t.Fatalf("%d posts, %+v", n, refresh)
	}
	if got, found := a.Backfill.Refresh(refresh.ID); !found || got.Running {
		t.Errorf("it has had its share: %+v, %v", got, found)
	}
	a.Backfill.threadSlice = time.Millisecond
	views := 0
	for ; a.size(st) <= replies && views < replies; views++ {
		if got := a.view(st, 1); got.ID != refresh.ID {
			t.Fatalf("view %d: %+v", views, got)
		}
	}
	if n := a.size(st); n != replies+1 {
		t.Errorf("%d posts after %d views", n, views)
	}
	if got, _ := a.Backfill.Refresh(refresh.ID); got.Found != replies || got.Running {
		t.Errorf("got %+v", got)
	}
	peer.requests()
	if got := a.view(st, 1); got.Running || peer.requests() != 0 {
		t.Errorf("it is read again at once: %+v", got)
	}
	a.wait(minRepliesInterval)
	if a.view(st, 1); peer.requests() != 1 {
		t.Error("the collection is not read again later, or known posts are")
	}
}

// TestThreadWithSlowHosts checks that hosts which answer late, or never, delay neither the job nor the other posts of a thread, and that those which
// answer in the time of two slices are not lost.
func TestThreadWithSlowHosts(t *testing.T) {
	a, peer, st := threadOf(t, 3)
	a.Backfill.threadCutOff = time.Second
	late, never := newFakePeer(t), newFakePeer(t)
	note := jsonObject{
		"@context": "https://www.w3.org/ns/activitystreams", "id": late.url + "/notes/late", "type": "Note", "attributedTo": late.actor("carol"),
		"content": "late", "to": "https://www.w3.org/ns/activitystreams#Public", "inReplyTo": st.URI,
	}
	if _, err := a.Actors.Actor(t.Context(), late.url+"/users/carol"); err != nil {
		t.Fatal(err)
	}
	released, end := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(end) })
	late.serve("/notes/late", note)
	answer := late.handlers["/notes/late"]
	late.on("/notes/late", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-released:
		case <-end:
		}
		answer(w, r)
	})
	never.on("/notes/never", func(w http.ResponseWriter, r *http.Request) { <-end })
	items := []any{late.url + "/notes/late", never.url + "/notes/never"}
	for i := range 3 {
		items = append(items, fmt.Sprintf("%s/notes/%d", peer.url, i))
	}
	peer.serve("/notes/root/replies", jsonObject{"id": st.URI + "/replies", "type": "Collection", "items": items})
	refresh, err := a.Backfill.ThreadViewed(t.Context(), st, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := a.Backfill.threads.find(func(f *threadFetch) bool { return f.ID == refresh.ID })
	slice := func() (more bool) {
		t.Helper()
		began := time.Now()
		more, err := a.Backfill.fetchSlice(t.Context(), f, st.ConversationID)
		if took := time.Since(began); err != nil || took > documentTimeout {
			t.Errorf("a slice took %v: %v", took, err)
		}
		return more
	}
	if !slice() {
		t.Error("there is no second slice")
	}
	close(released)
	if more, n := slice(), a.size(st); more || n != 5 {
		t.Errorf("%d posts after two slices, want 5; more: %v", n, more)
	}
}

// TestThreadEnds checks that no thread causes more than 1000 fetches or has more than 1000 posts, and that neither pages that lead to each other
// nor a lost job keep it from ending.
func TestThreadEnds(t *testing.T) {
	t.Run("posts that are not there", func(t *testing.T) {
		a, peer, st := threadOf(t, 0)
		victim := newFakePeer(t)
		var items []any
		for i := range 2500 {
			items = append(items, fmt.Sprintf("%s/%d", victim.url, i))
		}
		peer.serve("/notes/root/replies", jsonObject{"id": st.URI + "/replies", "type": "Collection", "items": items})
		a.view(st, 1)
		a.view(st, 1)
		if n := victim.requests(); n > maxThreadFetches || n < maxThreadFetches/2 {
			t.Errorf("%d requests, want %d at most", n, maxThreadFetches)
		}
	})
	t.Run("pages in a circle", func(t *testing.T) {
		a, peer, st := threadOf(t, 0)
		for i := range 2 {
			path := fmt.Sprintf("/notes/root/replies?page=%d", i)
			peer.serve(path, jsonObject{"id": peer.url + path, "type": "CollectionPage", "next": fmt.Sprintf("%s/replies?page=%d", st.URI, 1-i)})
		}
		peer.serve("/notes/root/replies", jsonObject{"id": st.URI + "/replies", "type": "Collection", "first": st.URI + "/replies?page=0"})
		peer.requests()
		refresh := a.view(st, 1)
		if n := peer.requests(); n != 3 {
			t.Errorf("%d requests, want 3", n)
		}
		if got, _ := a.Backfill.Refresh(refresh.ID); got.Running {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("a long thread", func(t *testing.T) {
		a, peer, st := threadOf(t, 5)
		fillThread(a, st, maxThreadPosts-3)
		a.view(st, 1)
		if n := a.size(st); n != maxThreadPosts {
			t.Errorf("%d posts, want %d", n, maxThreadPosts)
		}
		a.wait(maxRepliesInterval)
		peer.requests()
		if refresh := a.view(st, 1); refresh.Running || peer.requests() != 0 {
			t.Errorf("it is read again: %+v", refresh)
		}
	})
	t.Run("a lost job", func(t *testing.T) {
		a, _, st := threadOf(t, 5)
		a.Backfill.threads.begin(st.ConversationID, a.db.Now())
		if a.view(st, 1); a.size(st) != 1 {
			t.Error("it is fetched twice at the same time")
		}
		a.wait(maxThreadTime + minRepliesInterval)
		a.view(st, 1)
		if n := a.size(st); n != 6 {
			t.Errorf("%d posts, want 6", n)
		}
	})
}

// fillThread adds copies of a status to its thread, until it has n.
func fillThread(a *harness, st *store.Status, n int) {
	a.t.Helper()
	err := a.db.Update(a.t.Context(), func(tx *store.Tx) error {
		for i := a.size(st); i < n; i++ {
			s := *st
			s.ID, s.URI = tx.NewStatusID(), fmt.Sprintf("%s/copies/%d", st.URI, i)
			if err := tx.AddStatus(a.t.Context(), &s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

// TestThreadsPerUser checks how many threads one user may cause to be fetched, and how many are kept in memory.
func TestThreadsPerUser(t *testing.T) {
	a, _, st := threadOf(t, 0)
	running := func(user store.AccountID) (n int) {
		for i := range threadsPerUser.Count + 5 {
			s := *st
			s.ID += store.StatusID(user)*1000 + store.StatusID(i) // another post of the thread
			a.Backfill.threads = new(threadFetches)
			refresh, err := a.Backfill.ThreadViewed(t.Context(), &s, user)
			if err != nil {
				t.Fatal(err)
			}
			if refresh.Running {
				n++
			}
		}
		return n
	}
	if n := running(1); n != threadsPerUser.Count {
		t.Errorf("one user has %d, want %d", n, threadsPerUser.Count)
	}
	if n := running(2); n != threadsPerUser.Count {
		t.Errorf("another user has %d, want %d", n, threadsPerUser.Count)
	}
	refused := *st
	refused.ID += store.StatusID(1000 + threadsPerUser.Count + 1) // to the first user
	if refresh, err := a.Backfill.ThreadViewed(t.Context(), &refused, 3); !refresh.Running || err != nil {
		t.Errorf("a thread that one user may not have fetched is not for another either: %+v, %v", refresh, err)
	}
	for i := range 2 * maxThreads {
		a.Backfill.threads.begin(store.ConversationID(i), a.db.Now())
	}
	if n := len(a.Backfill.threads.threads); n != maxThreads {
		t.Errorf("%d threads are kept, want %d", n, maxThreads)
	}
}
