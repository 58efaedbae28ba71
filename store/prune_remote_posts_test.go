package store_test

import (
	"slices"
	"testing"

	"svc/store"
)

// TestStatusReferences checks that the deletion of old remote posts knows all columns that refer to a post: those that keep it, and those
// that are a part of it or can be made again.
func TestStatusReferences(t *testing.T) {
	db := open(t)
	parts := []string{
		"status_edits.status_id", "polls.status_id", "status_tags.status_id", "media.status_id", "reaction_counts.status_id", "home.status_id",
		"list_timeline.status_id", "remote_statuses.status_id", "status_fetchers.status_id", "limited_statuses.status_id",
		"old_addresses.status_id", "imported_statuses.status_id", // of local posts
	}
	refers, err := db.ForeignKeys(t.Context(), "statuses")
	if err != nil {
		t.Fatal(err)
	}
	known := slices.Concat(parts, store.StatusReferences())
	for _, column := range refers {
		if !slices.Contains(known, column) {
			t.Errorf("%s refers to posts: does it keep a remote one from being deleted?", column)
		}
	}
	for _, column := range known {
		if !slices.Contains(refers, column) {
			t.Errorf("%s does not refer to posts", column)
		}
	}
}
