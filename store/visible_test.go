package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"svc/store"
)

// TestVisible checks that the SQL condition and the function CanSee agree on random data, and that no list has invisible statuses. It fails with the
// seed of the data.
func TestVisible(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long with -short")
	}
	for range 10 {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			db := open(t)
			world := newWorld(t, db, rand.New(rand.NewPCG(seed, 0)))
			seen, hidden := 0, 0
			for _, viewer := range world.viewers {
				visible := world.wantOneRule(t, viewer)
				seen, hidden = seen+len(visible), hidden+len(world.statuses)-len(visible)
				world.wantLists(t, viewer, visible)
			}
			if seen == 0 || hidden == 0 {
				t.Errorf("%d seen, %d hidden: the data test nothing", seen, hidden)
			}
		})
	}
}

// world is random data.
type world struct {
	db       *store.DB
	rows     map[store.StatusID]*store.Status
	accounts []store.AccountID
	viewers  []store.AccountID // the accounts, and an anonymous viewer
	statuses []store.StatusID
	lists    []store.ListID
}

func newWorld(t *testing.T, db *store.DB, r *rand.Rand) *world {
	w := &world{db: db, viewers: []store.AccountID{0}, rows: make(map[store.StatusID]*store.Status)}
	ctx := t.Context()
	err := db.Update(ctx, func(tx *store.Tx) error {
		exec := func(query string, args ...any) {
			if err := tx.Exec(ctx, query, args...); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 8 {
			name := fmt.Sprint("a", i)
			a := &store.Account{Nickname: name, URI: name, ActorType: "Person", Unavailable: r.IntN(8) == 0}
			if i%4 == 3 {
				a.Domain = "example.org"
			}
			if err := tx.AddAccount(ctx, a); err != nil {
				return err
			}
			w.accounts = append(w.accounts, a.ID)
		}
		exec(`INSERT INTO users (account_id, password_hash) SELECT id, '' FROM accounts`) // all statuses are local
		some := func() store.AccountID { return w.accounts[r.IntN(len(w.accounts))] }
		for i, a := range w.accounts {
			for _, b := range w.accounts {
				if a == b {
					continue
				}
				if r.IntN(3) == 0 {
					exec(`INSERT INTO follows (id, follower_id, target_id, pending, show_reblogs) VALUES (?, ?, ?, ?, ?)`,
						int(a-w.accounts[0])*100+int(b-w.accounts[0])+1, a, b, r.IntN(3) == 0, r.IntN(4) > 0)
				}
				if i > 2 && r.IntN(8) == 0 { // some have no blocks, which their Lookups say
					exec(`INSERT INTO blocks (account_id, target_id) VALUES (?, ?)`, a, b)
				}
				if i > 2 && r.IntN(8) == 0 {
					exec(`INSERT INTO mutes (account_id, target_id) VALUES (?, ?)`, a, b)
				}
			}
			l := store.ListID(i + 1)
			exec(`INSERT INTO lists (id, account_id, title) VALUES (?, ?, 'x')`, l, a)
			w.lists = append(w.lists, l)
		}
		for range 120 {
			if err := w.addStatus(ctx, tx, r, some); err != nil {
				return err
			}
		}
		for _, a := range w.accounts { // all accounts have all statuses in home and notifications
			for i, id := range w.statuses {
				exec(`INSERT OR IGNORE INTO home (account_id, status_id) VALUES (?, ?)`, a, id)
				exec(`INSERT OR IGNORE INTO list_timeline (list_id, status_id) SELECT id, ? FROM lists`, id)
				if w.rows[id].ReblogOfID == nil {
					n := int(a-w.accounts[0])*1000 + i + 1
					exec(`INSERT INTO favourites (id, account_id, status_id) VALUES (?, ?, ?)`, n, a, id)
					exec(`INSERT INTO bookmarks (id, account_id, status_id) VALUES (?, ?, ?)`, n, a, id)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.viewers = append(w.viewers, w.accounts...)
	return w
}

func (w *world) addStatus(ctx context.Context, tx *store.Tx, r *rand.Rand, some func() store.AccountID) error {
	s := &store.Status{ID: tx.NewStatusID(), AccountID: some(), Visibility: store.Visibility(r.IntN(6))}
	s.URI, s.ConversationID = s.ID.String(), store.ConversationID(s.ID)
	if len(w.statuses) > 0 {
		other := w.rows[w.statuses[r.IntN(len(w.statuses))]]
		switch {
		case other.ReblogOfID != nil: // neither boosted nor replied to
		case r.IntN(4) == 0:
			s.ReblogOfID = &other.ID
		case r.IntN(2) == 0:
			s.InReplyToID, s.InReplyToAccountID, s.ConversationID = &other.ID, &other.AccountID, other.ConversationID
		}
	}
	if s.ReblogOfID != nil {
		if twice, err := tx.Reblog(ctx, s.AccountID, *s.ReblogOfID); twice != nil || err != nil {
			return err
		}
	}
	if err := tx.AddStatus(ctx, s); err != nil {
		return err
	}
	w.rows[s.ID], w.statuses = s, append(w.statuses, s.ID)
	for range r.IntN(3) {
		to := []store.Recipient{{StatusID: s.ID, AccountID: some(), Mentioned: r.IntN(2) == 0, Direct: s.Visibility == store.Direct}}
		if err := tx.AddRecipients(ctx, to); err != nil {
			return err
		}
	}
	return tx.SetTags(ctx, s, []string{"tag"})
}

// wantOneRule compares the ways to compute which statuses are visible to viewer, and returns them.
func (w *world) wantOneRule(t *testing.T, viewer store.AccountID) map[store.StatusID]bool {
	ctx := t.Context()
	rows, err := w.db.VisibleStatuses(ctx, viewer, w.statuses)
	if err != nil {
		t.Fatal(err)
	}
	visible := make(map[store.StatusID]bool)
	for _, s := range rows {
		visible[s.ID] = true
	}
	// Outside of a transaction the cached Lookups are used, inside all lookups are made.
	var inside []*store.Status
	err = w.db.Update(ctx, func(tx *store.Tx) error {
		if inside, err = tx.VisibleStatuses(ctx, viewer, w.statuses); err != nil {
			return err
		}
		for _, id := range w.statuses {
			can, err := tx.CanSee(ctx, viewer, w.rows[id])
			if err != nil {
				return err
			}
			if can != visible[id] {
				t.Errorf("viewer %d, status %+v: CanSee in a transaction says %v, the SQL %v", viewer, *w.rows[id], can, visible[id])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(inside) != len(rows) {
		t.Errorf("viewer %d: %d statuses are visible in a transaction, %d outside", viewer, len(inside), len(rows))
	}
	for _, id := range w.statuses {
		can, err := w.db.CanSee(ctx, viewer, w.rows[id])
		if err != nil {
			t.Fatal(err)
		}
		if can != visible[id] {
			t.Errorf("viewer %d, status %+v: CanSee says %v, the SQL %v", viewer, *w.rows[id], can, visible[id])
		}
		_, err = w.db.VisibleStatus(ctx, viewer, id)
		if (err == nil) != visible[id] {
			t.Errorf("viewer %d, status %+v: VisibleStatus says %v, the SQL %v", viewer, *w.rows[id], err, visible[id])
		}
		sees, err := w.db.CanSeeID(ctx, viewer, id)
		if err != nil {
			t.Fatal(err)
		}
		if sees != visible[id] {
			t.Errorf("viewer %d, status %+v: Sees says %v, the SQL of lists %v", viewer, *w.rows[id], sees, visible[id])
		}
	}
	return visible
}

// wantLists checks that no list has statuses that are not visible to viewer.
func (w *world) wantLists(t *testing.T, viewer store.AccountID, visible map[store.StatusID]bool) {
	ctx := t.Context()
	all := store.Page{Limit: 1000}
	f := store.Filter{WithMuted: true}
	lists := map[string][]store.StatusID{}
	add := func(name string, ids []store.StatusID, err error) {
		if err != nil {
			t.Fatal(err)
		}
		lists[name] = append(lists[name], ids...)
	}
	entries := func(part store.Part[store.StatusEntry], err error) ([]store.StatusID, error) {
		var ids []store.StatusID
		for _, row := range part.Rows {
			ids = append(ids, row.StatusID)
		}
		return ids, err
	}
	public, err := w.db.PublicTimeline(ctx, viewer, "", f, all)
	add("public", public.Rows, err)
	tagged, err := w.db.TagTimeline(ctx, viewer, store.TagQuery{Tag: "tag"}, f, all)
	add("tag", tagged.Rows, err)
	for _, id := range w.accounts {
		posts, err := w.db.AccountTimeline(ctx, viewer, id, "", f, all)
		add("account", posts.Rows, err)
	}
	for _, id := range w.statuses {
		if !visible[id] || w.rows[id].ReblogOfID != nil {
			continue
		}
		thread, err := w.db.Thread(ctx, viewer, w.rows[id], store.ThreadLimits{Ancestors: 1000, Descendants: 1000, Depth: 1000})
		if err != nil {
			t.Fatal(err)
		}
		add("thread", append(thread.Above, thread.Below...), nil)
		boosts, err := w.db.RebloggedBy(ctx, viewer, id, all)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range boosts.Rows {
			add("boosts", []store.StatusID{store.StatusID(e.Cursor)}, nil)
		}
	}
	if viewer != 0 {
		home, err := w.db.HomeTimeline(ctx, viewer, f, all)
		add("home", home.Rows, err)
		listed, err := w.db.ListTimeline(ctx, viewer, w.lists[0], f, all)
		add("list", listed.Rows, err)
		direct, err := w.db.DirectTimeline(ctx, viewer, f, all)
		add("direct", direct.Rows, err)
		favourites, err := entries(w.db.FavouriteStatuses(ctx, viewer, all))
		add("favourites", favourites, err)
		bookmarks, err := entries(w.db.Bookmarks(ctx, viewer, 0, all))
		add("bookmarks", bookmarks, err)
		want := 0
		for id := range visible {
			if w.rows[id].ReblogOfID == nil {
				want++
			}
		}
		if len(favourites) != want || len(bookmarks) != want {
			t.Errorf("viewer %d: %d favourites and %d bookmarks, want %d of each", viewer, len(favourites), len(bookmarks), want)
		}
	}
	for name, ids := range lists {
		for _, id := range ids {
			if !visible[id] {
				t.Errorf("viewer %d: %s has a status that is not visible: %+v", viewer, name, *w.rows[id])
			}
		}
	}
}

// TestThreadOrder checks that a thread has the visible replies, in whatever order they were stored.
func TestThreadOrder(t *testing.T) {
	db := open(t)
	ctx := t.Context()
	var accounts []store.AccountID
	statuses := map[string]*store.Status{}
	names := map[store.StatusID]string{}
	err := db.Update(ctx, func(tx *store.Tx) error {
		for _, name := range []string{"author", "other"} {
			a := &store.Account{Nickname: name, URI: name, ActorType: "Person"}
			if err := tx.AddAccount(ctx, a); err != nil {
				return err
			}
			accounts = append(accounts, a.ID)
		}
		for _, p := range []struct {
			name, parent string
			by           int
		}{
			{"root", "", 0}, {"o1", "root", 1}, {"o2", "o1", 1}, {"a1", "o1", 0}, {"a2", "root", 0}, {"o3", "a2", 1}, {"a3", "a2", 0}, {"a4", "root", 0},
		} {
			s := &store.Status{ID: tx.NewStatusID(), AccountID: accounts[p.by], URI: p.name, ConversationID: 1}
			if parent := statuses[p.parent]; parent != nil {
				s.InReplyToID, s.InReplyToAccountID = &parent.ID, &parent.AccountID
			}
			if err := tx.AddStatus(ctx, s); err != nil {
				return err
			}
			statuses[p.name], names[s.ID] = s, p.name
		}
		// A reply that was stored before its parent.
		return tx.Exec(ctx, `UPDATE statuses SET in_reply_to_id = ? WHERE uri = 'o2'`, statuses["a1"].ID)
	})
	if err != nil {
		t.Fatal(err)
	}
	limits := store.ThreadLimits{Ancestors: 10, Descendants: 20, Depth: 20}
	thread := func(of string) string {
		s, err := db.Status(ctx, statuses[of].ID)
		if err != nil {
			t.Fatal(err)
		}
		found, err := db.Thread(ctx, 0, s, limits)
		if err != nil {
			t.Fatal(err)
		}
		var text []string
		for _, id := range slices.Concat(found.Above, []store.StatusID{0}, found.Below) {
			text = append(text, names[id])
		}
		return fmt.Sprint(text)
	}
	for of, want := range map[string]string{
		"root": "[ a2 a3 o3 a4 o1 a1 o2]",
		"a2":   "[root  a3 o3]",
		"o2":   "[root o1 a1 ]",
	} {
		if got := thread(of); got != want {
			t.Errorf("around %s: got %s, want %s", of, got, want)
		}
	}
	err = db.Update(ctx, func(tx *store.Tx) error { // a cycle, which no code creates
		return tx.Exec(ctx, `UPDATE statuses SET in_reply_to_id = ? WHERE uri = 'a1'`, statuses["o2"].ID)
	})
	if err != nil {
		t.Fatal(err)
	}
	thread("a1") // ends
	if got, want := thread("root"), "[ a2 a3 o3 a4 o1]"; got != want {
		t.Errorf("with a cycle: got %s, want %s", got, want)
	}
}
