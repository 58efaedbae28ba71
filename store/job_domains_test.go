package store_test

import (
	"testing"

	"svc/store"
)

// TestJobDomains checks by which domain jobs take turns: that of the server that they wait for.
func TestJobDomains(t *testing.T) {
	db, _ := openLogged(t, makeOld(t, store.SchemaVersion())) // account 2 is of remote.example
	mustUpdate(t, db, func(tx *store.Tx) error {
		return tx.Exec(t.Context(), `
			DELETE FROM jobs;
			UPDATE statuses SET account_id = 2 WHERE id = 1;
			UPDATE cards SET url = 'https://news.card.example/1' WHERE id = 1;
			UPDATE push_subscriptions SET endpoint = 'https://a.push.example/b' WHERE id = 1`)
	})
	for _, tt := range []struct {
		job  store.JobPayload
		want string
	}{
		{store.RefreshActor{AccountID: 2}, "remote.example"},
		{store.RefreshActor{AccountID: 1}, ""}, // local
		{store.RefreshCollections{AccountID: 2}, "remote.example"},
		{store.SynchronizeFollowers{AccountID: 2, URL: "https://other.example/followers"}, "remote.example"},
		{store.FetchReferences{StatusID: 1}, "remote.example"},
		{store.FetchThread{StatusID: 1}, "remote.example"},
		{store.RefreshPoll{StatusID: 1}, "remote.example"},
		{store.RefreshPoll{StatusID: 999}, ""}, // deleted meanwhile
		{store.FetchCard{CardID: 1}, "card.example"},
		{store.PushNotification{SubscriptionID: 1}, "push.example"},
		{store.FetchNodeInfo{Domain: "Social.Host.example:8443"}, "host.example"},
		{store.CopyEmoji{URL: "https://cdn.emoji.example/blob.png"}, "emoji.example"},
		{store.SumBannedMedia{Address: "https://media.example/1.png"}, "media.example"},
		{store.FetchProxied{URLs: []string{"https://x.proxied.example/1", "https://other.example/2"}}, "proxied.example"},
		{store.FetchProxied{}, ""},
		{store.PurgeInstance{Domain: "host.example"}, ""}, // about a server, but it does not wait for it
	} {
		kind := tt.job.Kind().Name
		mustUpdate(t, db, func(tx *store.Tx) error { return tx.Enqueue(t.Context(), tt.job) })
		if got, err := db.Has(t.Context(), `SELECT 1 FROM jobs WHERE kind = ? AND domain = ?`, kind, tt.want); err != nil || !got {
			t.Errorf("%s %+v: the domain is not %q, %v", kind, tt.job, tt.want, err)
		}
		mustUpdate(t, db, func(tx *store.Tx) error { return tx.Exec(t.Context(), `DELETE FROM jobs`) })
	}
}
