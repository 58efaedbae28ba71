package store_test

import (
	"fmt"
	"testing"

	"svc/store"
)

// TestLastTaggedStatus deletes the newest post with a hashtag. The next one is searched among 1000 older posts of the account; beyond them, the
// post after them stands for it.
func TestLastTaggedStatus(t *testing.T) {
	for _, between := range []int{10, 998, 1200} {
		db := open(t)
		seed(t, db, 100)
		const author = store.AccountID(4)
		var ids []store.StatusID
		mustUpdate(t, db, func(tx *store.Tx) error {
			for i := range between + 2 {
				st := &store.Status{ID: store.StatusID(1000 + i), AccountID: author, ConversationID: 1, URI: fmt.Sprint("https://example.com/", i)}
				if err := tx.AddStatus(t.Context(), st); err != nil {
					return err
				}
				ids = append(ids, st.ID)
				if i == 0 || i == between+1 {
					if err := tx.AddTags(t.Context(), st, []string{"rare"}); err != nil {
						return err
					}
				}
			}
			_, err := tx.AddFeaturedTag(t.Context(), author, "rare", 10)
			return err
		})
		mustUpdate(t, db, func(tx *store.Tx) error {
			newest, err := tx.Status(t.Context(), ids[between+1])
			if err != nil {
				return err
			}
			_, err = tx.DeleteStatus(t.Context(), newest)
			return err
		})
		featured, err := db.FeaturedTags(t.Context(), author, 10)
		if err != nil {
			t.Fatal(err)
		}
		want := ids[max(0, between-1000)]
		if rare := featured[len(featured)-1]; rare.Name != "rare" || rare.StatusesCount != 1 || *rare.LastStatusID != want {
			t.Errorf("with %d posts between, the hashtag is %+v, want one post, the last being %v", between, rare, want)
		}
	}
}
