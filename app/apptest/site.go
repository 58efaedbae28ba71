package apptest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func StartSite(t *testing.T) *Site {
	t.Helper()
	w := new(Site)
	page := func(contentType, body string) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", contentType)
			io.WriteString(rw, body)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/page", page("text/html; charset=iso-8859-1", `<!DOCTYPE html><html><head><title>Plain title</title>
		<meta property="og:title" content="Caf&eacute; &lt;b&gt;`+"\xe4"+`"><meta property="og:description" content="What it is about">
		<meta property="og:image" content="https://cdn.example/a.png"><meta property="og:image:alt" content="A cat">
		<meta property="og:image:width" content="640"><meta property="og:image:height" content="480">
		<meta property="og:site_name" content="Site"><meta property="og:url" content="https://bank.example/"></head>`))
	mux.HandleFunc("/other", page("text/html", `<title>Other</title>`))
	mux.HandleFunc("/silent", page("text/html", `<p>nothing of itself`))
	mux.HandleFunc("/data", page("application/json", `{"title": "<title>x</title>"}`))
	mux.HandleFunc("/large", page("text/html", "<title>Large</title>"+strings.Repeat("x", 3<<20)))
	mux.HandleFunc("/moved", func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/other", http.StatusFound) })
	mux.HandleFunc("/away", func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, strings.Replace(w.URL, "127.0.0.1", "localhost", 1)+"/other", http.StatusFound)
	})
	mux.HandleFunc("/inside", func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "http://10.0.0.1/", http.StatusFound)
	})
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.requests.Add(1)
		mux.ServeHTTP(rw, r)
	}))
	t.Cleanup(w.Close)
	return w
}

// CardTitle returns the title of a status's card, "" if it has none.
func CardTitle(st *Object) string {
	card, ok := st.At("card").(map[string]any)
	if !ok {
		return ""
	}
	return card["title"].(string)
}

// Site is a remote web site with pages with and without metadata for preview cards.
type Site struct {
	*httptest.Server
	requests atomic.Int32
}

// WantRequests checks the number of requests since its last call.
func (w *Site) WantRequests(t *testing.T, what string, n int32) {
	t.Helper()
	if got := w.requests.Swap(0); got != n {
		t.Errorf("%s: got %d requests, want %d", what, got, n)
	}
}
