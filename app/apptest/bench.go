package apptest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchRequest sends a request to the handler without a network, and fails unless the status is 200.
func (a *Server) BenchRequest(b *testing.B, method, path, token, body string) {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	if body == "" {
		req.Body = http.NoBody
	} else {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	req.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	a.HTTP.ServeHTTP(w, req)
	if w.Code != 200 {
		b.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
}
