package server_test

import (
	"net/http"
	"strings"
	"testing"

	"svc/internal/config"
)

// Who opens the server in a browser is told what it is; where there is nothing, people get a page and programs get JSON.
func TestPagesForPeople(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) {
		c.Instance.Name, c.Instance.ShortDescription = "Tea & <Biscuits>", "For friends of tea"
		c.Instance.RegistrationsOpen = false
	})
	for _, tt := range []struct {
		path, accept string
		status       int
		contentType  string
		contains     []string
	}{
		{"/", "text/html", 200, "text/html", []string{"Tea &amp; &lt;Biscuits&gt;", "For friends of tea", "does not take new people"}},
		{"/", "", 200, "text/html", []string{"<h1>"}},
		{"/no/such/page", "text/html,*/*", 404, "text/html", []string{"There is no page at this address."}},
		{"/no/such/page", "application/json", 404, "application/json", []string{`{"error":"Record not found"}`}},
		{"/api/v1/nothing", "text/html", 404, "application/json", []string{`{"error":"Record not found"}`}},
	} {
		t.Run(tt.path+" "+tt.accept, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), "GET", srv.url+tt.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Accept", tt.accept)
			a := srv.as(nil).request(req).want(tt.status)
			if got := a.header.Get("Content-Type"); !strings.HasPrefix(got, tt.contentType) {
				t.Errorf("Content-Type is %q", got)
			}
			for _, part := range tt.contains {
				if !strings.Contains(string(a.body), part) {
					t.Errorf("%q is not in %s", part, a.body)
				}
			}
		})
	}
}
