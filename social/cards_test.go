package social_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc/internal/fetch"
	"svc/social"
	"svc/store"
)

// cardHarness is a harness whose posts link to a page with a configurable response.
type cardHarness struct {
	*harness
	alice    *store.Account
	link     string
	status   atomic.Int32
	title    atomic.Value
	requests atomic.Int32
	events   atomic.Int32 // StatusEdited events
}

func newCardHarness(t *testing.T) *cardHarness {
	t.Helper()
	b := &cardHarness{harness: newHarness(t)}
	b.status.Store(200)
	b.title.Store("first")
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		b.requests.Add(1)
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(int(b.status.Load()))
		io.WriteString(w, "<title>"+b.title.Load().(string)+"</title>")
	}))
	t.Cleanup(ts.Close)
	b.link = ts.URL
	b.Fetch = fetch.New(fetch.Options{AllowLoopback: true})
	b.db.Subscribe(func(events []store.Event) {
		for _, e := range events {
			if _, ok := e.(store.StatusEdited); ok {
				b.events.Add(1)
			}
		}
	})
	var err error
	b.alice, _, err = b.SignUp(t.Context(), social.Registration{
		Nickname: "alice", Email: "alice@example.org", Password: "correct horse", Confirmed: true, Approved: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *cardHarness) post() *store.Status {
	b.t.Helper()
	public := store.Public
	c, err := b.Publish(b.t.Context(), b.alice, social.Draft{Content: social.Content{Text: "look at " + b.link}, Visibility: &public})
	if err != nil {
		b.t.Fatal(err)
	}
	return c.Status
}

// advanceAndRun moves the clock and runs the due jobs.
func (b *cardHarness) advanceAndRun(d time.Duration) {
	b.t.Helper()
	b.clockOffset.Add(int64(d))
	if err := b.worker.Settle(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// want checks the title of the card, and the number of requests since the last call.
func (b *cardHarness) want(what, title string, asked int32) {
	b.t.Helper()
	c, err := b.db.CardByURL(b.t.Context(), b.link)
	if err != nil || c == nil || c.Card.Title != title {
		b.t.Errorf("%s: got card %+v, %v, want title %q", what, c, err, title)
	}
	if got := b.requests.Swap(0); got != asked {
		b.t.Errorf("%s: got %d requests, want %d", what, got, asked)
	}
}

// After a day, the next post that links to a page fetches it again. Until then its card stays.
func TestCardIsRenewed(t *testing.T) {
	b := newCardHarness(t)
	b.post()
	b.advanceAndRun(0)
	b.want("at first", "first", 1)
	b.title.Store("second")
	b.advanceAndRun(23 * time.Hour)
	b.post()
	b.advanceAndRun(0)
	b.want("within a day", "first", 0)
	b.advanceAndRun(time.Hour)
	b.want("without a post", "first", 0)
	b.post()
	b.post()
	b.want("before the job", "first", 0)
	b.advanceAndRun(0)
	b.want("after a day", "second", 1)
	if n := b.events.Load(); n != 1 {
		t.Errorf("got %d events, want 1 for the post without a card", n)
	}
	for _, tt := range []struct {
		what   string
		status int32
		title  string
		asked  int32
	}{
		{"out of order", 503, "second", 3},
		{"gone", 410, "", 1},
		{"still gone", 404, "", 1},
		{"back", 200, "second", 1},
	} {
		b.status.Store(tt.status)
		b.advanceAndRun(24 * time.Hour)
		b.post()
		b.advanceAndRun(0)
		b.advanceAndRun(time.Hour)
		b.advanceAndRun(time.Hour)
		b.want(tt.what, tt.title, tt.asked)
	}
}

// A page that is unavailable is retried a few times, and then not for a day.
func TestCardOfPageThatIsDown(t *testing.T) {
	b := newCardHarness(t)
	b.status.Store(503)
	b.post()
	for _, asked := range []int32{1, 1, 1, 0, 0} {
		b.post()
		b.advanceAndRun(0)
		b.advanceAndRun(time.Second)
		b.want("down", "", asked)
		b.advanceAndRun(0)
		b.clockOffset.Add(int64(20 * time.Minute))
	}
	b.status.Store(200)
	b.advanceAndRun(24 * time.Hour)
	b.post()
	b.advanceAndRun(0)
	b.want("up again", "first", 1)
	if n := b.events.Load(); n != 0 {
		t.Errorf("got %d events for old posts", n)
	}
	if parked, err := b.db.ParkedJobs(t.Context(), 0, 10); err != nil || len(parked) > 0 {
		t.Errorf("got parked jobs %v, %v", parked, err)
	}
}

// Unused cards are removed after a day.
func TestUnusedCardsAreRemoved(t *testing.T) {
	b := newCardHarness(t)
	kept, err := b.Publish(t.Context(), b.alice, social.Draft{Content: social.Content{Text: b.link + "/kept"}})
	if err != nil {
		t.Fatal(err)
	}
	st := b.post()
	b.advanceAndRun(0)
	if _, err := b.DeleteStatus(t.Context(), b.alice, st.ID, false); err != nil {
		t.Fatal(err)
	}
	sweep := func() {
		t.Helper()
		if err := b.db.Update(t.Context(), func(tx *store.Tx) error {
			return tx.EnqueueUnique(t.Context(), b.db.Now(), "sweep", store.SweepCards{})
		}); err != nil {
			t.Fatal(err)
		}
		b.advanceAndRun(0)
	}
	sweep()
	b.want("a card of today", "first", 2)
	b.advanceAndRun(25 * time.Hour)
	sweep()
	if c, err := b.db.CardByURL(t.Context(), b.link); c != nil || err != nil {
		t.Errorf("got %v, %v, want no card", c, err)
	}
	if c, err := b.db.Cards(t.Context(), []store.CardID{*kept.CardID}); len(c) != 1 || err != nil {
		t.Errorf("got %v, %v, want the card of a post", c, err)
	}
	b.requests.Store(0)
	b.post()
	b.advanceAndRun(0)
	b.want("used again", "first", 1)
}

// Pages that do not answer do not block the worker.
func TestSlowPagesDoNotBlockWorker(t *testing.T) {
	b := newHarness(t)
	asked, answer := make(chan struct{}, 10), make(chan struct{})
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-answer
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<title>at last</title>")
	})
	sites := []*httptest.Server{httptest.NewServer(page), httptest.NewServer(page)}
	defer sites[0].Close()
	defer sites[1].Close()
	b.Fetch = fetch.New(fetch.Options{AllowLoopback: true})
	alice, _, err := b.SignUp(t.Context(), social.Registration{
		Nickname: "alice", Email: "alice@example.org", Password: "correct horse", Confirmed: true, Approved: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	var cards []store.CardID
	for i := range 6 {
		c, err := b.Publish(t.Context(), alice, social.Draft{Content: social.Content{Text: fmt.Sprint(sites[i%2].URL, "/", i)}})
		if err != nil {
			t.Fatal(err)
		}
		cards = append(cards, *c.CardID)
	}
	var settled sync.WaitGroup
	for range 4 { // two pages of each site
		settled.Go(func() { b.worker.Settle(t.Context()) })
		<-asked
	}
	if err := b.worker.Settle(t.Context()); err != nil { // returns although four pages do not answer
		t.Fatal(err)
	}
	if len(asked) > 0 {
		t.Error("a fifth page is requested")
	}
	close(answer)
	settled.Wait()
	b.clockOffset.Add(int64(time.Minute))
	if err := b.worker.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := b.db.Cards(t.Context(), cards)
	if err != nil || len(found) != 6 {
		t.Fatal(found, err)
	}
	for _, c := range found {
		if c.Card.Title != "at last" {
			t.Errorf("got %+v, want a card", c)
		}
	}
}
