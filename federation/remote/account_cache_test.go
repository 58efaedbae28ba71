package remote

import (
	"reflect"
	"testing"

	"svc/store"
)

// TestNewAccountIsCached checks that the account of a new actor is cached as it is stored, and that a change of it is seen.
func TestNewAccountIsCached(t *testing.T) {
	a, p := newHarness(t), newFakePeer(t)
	for _, tt := range []struct {
		name, nickname string
		document       jsonObject
		cached         bool
	}{
		{"a small document", "small", jsonObject{"name": nil, "summary": nil, "icon": nil, "url": nil}, true},
		{"a large one", "large", jsonObject{
			"type": "Service", "name": "Large", "summary": "<p>a</p>", "url": p.url + "/@large", "icon": "https://m.example/a.png", "image": "https://m.example/b.png",
			"manuallyApprovesFollowers": true, "discoverable": true, "indexable": false, "published": "2020-01-02T03:04:05Z", "vcard:bday": "1990-04-01",
			"capabilities": jsonObject{"acceptsChatMessages": true}, "alsoKnownAs": []any{"https://a.example/u"},
			"attachment": jsonObject{"type": "PropertyValue", "name": "a", "value": "b"},
			"tag":        jsonObject{"type": "Emoji", "name": ":e:", "icon": jsonObject{"url": "https://m.example/e.png"}},
		}, true},
		{"of a suspended actor", "suspended", jsonObject{"suspended": true}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fetched, err := a.Actors.FetchActor(t.Context(), p.actor(tt.nickname, tt.document))
			if err != nil {
				t.Fatal(err)
			}
			if cached, ok := a.Accounts.accounts.Get(fetched.ID); ok != tt.cached || ok && cached != fetched {
				t.Errorf("cached: %v, want %v", ok, tt.cached)
			}
			stored, err := a.db.Account(t.Context(), fetched.ID)
			if err != nil || !reflect.DeepEqual(fetched, stored) {
				t.Errorf("got  %+v\nwant %+v, %v", fetched, stored, err)
			}
			err = a.db.Update(t.Context(), func(tx *store.Tx) error { return tx.SetUnavailable(t.Context(), fetched.ID, !stored.Unavailable) })
			if err != nil {
				t.Fatal(err)
			}
			if got, err := a.Accounts.Get(t.Context(), fetched.ID); err != nil || got.Unavailable == stored.Unavailable {
				t.Errorf("after a change: got %+v, %v", got, err)
			}
		})
	}
}
