package server_test

import (
	"slices"
	"strings"
	"svc/app/apptest"
	"testing"
)

func TestSearch(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bobby")
	st := alice.Publish("hello #Trains #trainspotting")
	secret := alice.Publish("psst", "visibility", "private")
	host := strings.TrimPrefix(srv.URL, "http://")
	for _, tt := range []struct {
		name                         string
		as                           *apptest.User
		params                       []string
		accounts, statuses, hashtags []string
	}{
		{"by the beginning of a name", bob, []string{"q", "ali"}, []string{alice.ID}, nil, nil},
		{"by handle", nil, []string{"q", "@alice"}, []string{alice.ID}, nil, nil},
		{"by full handle", bob, []string{"q", "@alice@" + host}, []string{alice.ID}, nil, nil},
		{"by full handle without the leading @", nil, []string{"q", "Alice@" + strings.ToUpper(host), "type", "accounts"}, []string{alice.ID}, nil, nil},
		{"by the beginning of a full handle", bob, []string{"q", "@alice@" + host[:5]}, []string{alice.ID}, nil, nil},
		{"by the handle of an unknown remote account", bob, []string{"q", "@alice@example.com"}, nil, nil, nil},
		{"a hashtag", bob, []string{"q", "#trains"}, nil, []string{st.ID()}, []string{"trains", "trainspotting"}},
		{"a hashtag never used", bob, []string{"q", "#unused"}, nil, nil, nil},
		{"of one type", bob, []string{"q", "ali", "type", "accounts"}, []string{alice.ID}, nil, nil},
		{"of an unknown type", bob, []string{"q", "ali", "type", "everything"}, []string{alice.ID}, nil, nil},
		{"of another type", bob, []string{"q", "ali", "type", "statuses"}, nil, nil, nil},
		{"a post by its page", bob, []string{"q", st.Str("url")}, nil, []string{st.ID()}, nil},
		{"a post by its uri", nil, []string{"q", st.Str("uri")}, nil, []string{st.ID()}, nil},
		{"an invisible post", bob, []string{"q", secret.Str("url")}, nil, nil, nil},
		{"an account by its page", bob, []string{"q", srv.URL + "/@alice"}, []string{alice.ID}, nil, nil},
		{"past the end", bob, []string{"q", "ali", "type", "accounts", "offset", "1"}, nil, nil, nil},
		{"a blank query", bob, []string{"q", "  "}, nil, nil, nil},
		{"operators of the full-text index", bob, []string{"q", `"*: OR NEAR(`}, nil, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := srv.As(tt.as).Get("/api/v2/search", tt.params...).Want(200).Object()
			for key, want := range map[string][]string{"accounts": tt.accounts, "statuses": tt.statuses} {
				if got := apptest.ListField(found, key, "id"); !slices.Equal(got, want) {
					t.Errorf("%s are %v, want %v", key, got, want)
				}
			}
			if got := apptest.ListField(found, "hashtags", "name"); !slices.Equal(got, tt.hashtags) {
				t.Errorf("hashtags are %v, want %v", got, tt.hashtags)
			}
		})
	}
	bob.Get("/api/v2/search").Want(400)
}
