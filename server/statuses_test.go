package server_test

import "testing"

func TestFavourite(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	hello := alice.publish("hello")
	secret := alice.publish("psst", "visibility", "direct")
	for _, tt := range []struct {
		name  string
		as    *member
		id    string
		want  int
		count int
	}{
		{"a public status", bob, hello.id(), 200, 1},
		{"again", bob, hello.id(), 200, 1},
		{"one's own", alice, hello.id(), 200, 2},
		{"one bob cannot see", bob, secret.id(), 404, 0},
		{"one that is not there", bob, "0000000000000000AA", 404, 0},
		{"without a token", nil, hello.id(), 401, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.as(tt.as).post("/api/v1/statuses/" + tt.id + "/favourite").want(tt.want)
			if tt.want == 200 {
				if n := a.object().num("favourites_count"); n != tt.count {
					t.Errorf("favourites_count is %d, want %d", n, tt.count)
				}
				if !a.object().truth("favourited") {
					t.Error("not favourited")
				}
			}
		})
	}
}
