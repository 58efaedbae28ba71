package server_test

import (
	"slices"
	"strings"
	"testing"
)

func TestSearch(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bobby")
	st := alice.publish("hello #Trains #trainspotting")
	secret := alice.publish("psst", "visibility", "private")
	host := strings.TrimPrefix(srv.url, "http://")
	for _, tt := range []struct {
		name                         string
		as                           *member
		params                       []string
		accounts, statuses, hashtags []string
	}{
		{"by the beginning of a name", bob, []string{"q", "ali"}, []string{alice.id}, nil, []string{"ali"}},
		{"by handle", nil, []string{"q", "@alice"}, []string{alice.id}, nil, nil},
		{"by whole handle", bob, []string{"q", "@alice@" + host}, []string{alice.id}, nil, nil},
		{"by whole handle without the sign", nil, []string{"q", "Alice@" + strings.ToUpper(host), "type", "accounts"}, []string{alice.id}, nil, nil},
		{"by the beginning of a whole handle", bob, []string{"q", "@alice@" + host[:5]}, []string{alice.id}, nil, nil},
		{"by the handle of somebody elsewhere", bob, []string{"q", "@alice@example.com"}, nil, nil, nil},
		{"a hashtag", bob, []string{"q", "#trains"}, nil, []string{st.id()}, []string{"trains", "trainspotting"}},
		{"a hashtag never used", bob, []string{"q", "#unused"}, nil, nil, []string{"unused"}},
		{"of one type", bob, []string{"q", "ali", "type", "accounts"}, []string{alice.id}, nil, nil},
		{"of an unknown type", bob, []string{"q", "ali", "type", "everything"}, []string{alice.id}, nil, []string{"ali"}},
		{"of another type", bob, []string{"q", "ali", "type", "statuses"}, nil, nil, nil},
		{"a post by its page", bob, []string{"q", st.str("url")}, nil, []string{st.id()}, nil},
		{"a post by its uri", nil, []string{"q", st.str("uri")}, nil, []string{st.id()}, nil},
		{"a post one may not see", bob, []string{"q", secret.str("url")}, nil, nil, nil},
		{"an account by its page", bob, []string{"q", srv.url + "/@alice"}, []string{alice.id}, nil, nil},
		{"past the end", bob, []string{"q", "ali", "type", "accounts", "offset", "1"}, nil, nil, nil},
		{"nothing at all", bob, []string{"q", "  "}, nil, nil, nil},
		{"what means something to the index", bob, []string{"q", `"*: OR NEAR(`}, nil, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := srv.as(tt.as).get("/api/v2/search", tt.params...).want(200).object()
			for key, want := range map[string][]string{"accounts": tt.accounts, "statuses": tt.statuses} {
				if got := members(found, key, "id"); !slices.Equal(got, want) {
					t.Errorf("%s are %v, want %v", key, got, want)
				}
			}
			if got := members(found, "hashtags", "name"); !slices.Equal(got, tt.hashtags) {
				t.Errorf("hashtags are %v, want %v", got, tt.hashtags)
			}
		})
	}
	bob.get("/api/v2/search").want(400)
}

// members returns one member of each object in a list.
func members(o *object, list, key string) []string {
	o.t.Helper()
	var values []string
	for _, v := range o.at(list).([]any) {
		values = append(values, v.(map[string]any)[key].(string))
	}
	return values
}
