package server_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestUseAndRemoveFrontends changes which version is shown, and removes versions, by the API.
func TestUseAndRemoveFrontends(t *testing.T) {
	srv := apptest.Start(t)
	root, user := srv.SignUpAdmin(), srv.SignUp("bob")
	imported(t, srv, "fe.zip", apptest.Zip(t, map[string]string{"index.html": "built"}))
	root.Post(frontendsPath+"/install", "name", "fe", "ref", "1", "file", "fe.zip").Want(200)
	const use = frontendsPath + "/use"
	for _, tt := range []struct {
		name         string
		client       *apptest.User
		method, path string
		params       apptest.Doc
		status       int
		shown        bool // to visitors, afterwards
	}{
		{"a version that is not installed", root, "POST", use, apptest.Doc{"version": "fe/2"}, 404, false},
		{"no admin", user, "POST", use, apptest.Doc{"version": "fe/1"}, 403, false},
		{"an installed version", root, "POST", use, apptest.Doc{"version": "fe/1"}, 200, true},
		{"remove what is shown", root, "DELETE", frontendsPath, apptest.Doc{"version": "fe/1"}, 409, true},
		{"neither a version nor none", root, "POST", use, apptest.Doc{"name": "fe", "ref": "1"}, 400, true},
		{"show the pages again", root, "POST", use, apptest.Doc{"version": ""}, 200, false},
		{"remove without a version", root, "DELETE", frontendsPath, apptest.Doc{}, 400, false},
		{"remove as no admin", user, "DELETE", frontendsPath, apptest.Doc{"version": "fe/1"}, 403, false},
		{"remove", root, "DELETE", frontendsPath, apptest.Doc{"version": "fe/1"}, 200, false},
		{"remove it again", root, "DELETE", frontendsPath, apptest.Doc{"version": "fe/1"}, 404, false},
	} {
		tt.client.SendJSON(tt.method, tt.path, tt.params).Want(tt.status)
		if shown := strings.Contains(string(srv.As(nil).Get("/").Want(200).Body), "built"); shown != tt.shown {
			t.Errorf("%s: visitors see the front end: %v", tt.name, shown)
		}
	}
}
