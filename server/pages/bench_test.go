package pages_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

// discarded is a ResponseWriter that counts the bytes of the response.
type discarded struct {
	header http.Header
	status int
	bytes  int
}

func (w *discarded) Header() http.Header    { return w.header }
func (w *discarded) WriteHeader(status int) { w.status = status }
func (w *discarded) Write(p []byte) (int, error) {
	w.bytes += len(p)
	return len(p), nil
}

// processorTime returns the processor time that this process has used.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchPage measures a page without the network, compressed or not: its processor time, its queries and its size.
func benchPage(b *testing.B, browser *apptest.Browser, srv *apptest.Server, path, encoding string) {
	page := browser.Get(path).Want(200)
	req, err := http.NewRequestWithContext(b.Context(), "GET", srv.URL+path, http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Accept-Encoding", encoding)
	req.RemoteAddr = "192.0.2.1:1234"
	for _, c := range browser.Cookies {
		req.AddCookie(c)
	}
	b.ReportAllocs()
	queries, began, bytes := srv.DB.QueryCount(), processorTime(b), 0
	for b.Loop() {
		w := &discarded{header: make(http.Header)}
		if srv.HTTP.ServeHTTP(w, req); w.status != 0 && w.status != 200 || w.header.Get("Content-Encoding") != encoding || encoding == "" && w.bytes != len(page.Body) {
			b.Fatalf("%s: %d, %d bytes, encoding %q", path, w.status, w.bytes, w.header.Get("Content-Encoding"))
		}
		bytes = w.bytes
	}
	b.ReportMetric(float64((processorTime(b)-began).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(srv.DB.QueryCount()-queries)/float64(b.N), "queries/op")
	b.ReportMetric(float64(len(page.Body)), "bytes")
	b.ReportMetric(float64(bytes), "sent-bytes")
}

// compressed returns the size of a text after gzip -6.
func compressed(t testing.TB, text []byte) int {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}

// sentences are combined to posts.
var sentences = []string{
	"The river was high this morning, and the path along the orchard is under water again. ",
	"We walked home over the hill, counted eleven herons, and met the neighbour's dog twice. ",
	"Somebody has repaired the old radio in the café; it plays nothing but brass bands now. ",
	"Reading about tides: the moon pulls, the basin rings like a bell, and harbours differ by hours. ",
	"If you bake rye bread, scald a fifth of the flour the evening before and be patient with it. ",
	"The library keeps its maps in the cellar, where nobody looks for them until it rains. ",
	"Twelve kilometres against the wind, then soup, then a nap, then the second half of the book. ",
	"Does anyone here know how to mend a zip without taking the whole jacket apart? ",
}

// publishFeed publishes posts as people write them: replies, mentions, links and hashtags; of 20, three have pictures, two a content warning,
// one a poll, and two are boosts. alice follows their authors. It returns the id of a post with replies.
func publishFeed(srv *apptest.Server, alice *apptest.User) string {
	people := apptest.SignUpMany(srv, 5)
	for i, p := range people {
		alice.Post("/api/v1/accounts/" + p.ID + "/follow").Want(200)
		p.UpdateProfile(map[string]any{"display_name": fmt.Sprintf("Person Number %d", i), "note": "Gardens, bicycles and old radios. She/her."})
	}
	root := people[0].Publish(sentences[0] + "#herons").ID()
	for i := range 20 {
		p, other := people[i%5], people[(i+1)%5]
		text, params := fmt.Sprintf("%s%d. %s", sentences[i%7], i, sentences[(3*i+1)%8]), []string(nil)
		switch i {
		case 2, 9, 16:
			picture := p.Upload(apptest.PNG(32, 24), apptest.ValuePart("description", "Herons in the flooded orchard, seen from the hill.")).ID()
			params = []string{"media_ids[]", picture}
		case 4, 12:
			params = []string{"spoiler_text", "Weather, again"}
		case 6:
			p.PublishPoll([]string{"Herons", "Storks", "Neither of them"})
			continue
		case 7, 14:
			p.Post("/api/v1/statuses/" + other.Publish(text+" #boosted").ID() + "/reblog").Want(200)
			continue
		case 3, 8, 13, 18:
			text, params = "@"+other.Nickname+" "+text, []string{"in_reply_to_id", root}
		default:
			text += "https://example.org/a/longer/address?of=" + fmt.Sprint(i) + " #walks #rivers"
		}
		id := p.Publish(text, params...).ID()
		if i%3 == 0 {
			alice.Post("/api/v1/statuses/" + id + "/favourite").Want(200)
			other.Post("/api/v1/statuses/" + id + "/favourite").Want(200)
		}
	}
	return root
}

// BenchmarkPages measures the pages that users load most. The API call is what the page of the home timeline is compared with.
func BenchmarkPages(b *testing.B) {
	srv := apptest.Start(b, func(c *config.Config) { c.RateLimit.Enabled = false })
	alice := srv.SignUp("alice")
	root := publishFeed(srv, alice)
	alice.Publish("what @p0 wrote about #herons")
	browser := alice.SignedIn()
	for _, bb := range []struct{ name, path, encoding string }{
		{"home", "/web", ""},
		{"home, compressed", "/web", "gzip"},
		{"local", "/web/local", ""},
		{"thread", "/web/@p0/" + root, ""},
		{"profile", "/web/@p0", ""},
		{"notifications", "/web/notifications", ""},
	} {
		b.Run(bb.name, func(b *testing.B) { benchPage(b, browser, srv, bb.path, bb.encoding) })
	}
	b.Run("API", func(b *testing.B) {
		queries, began := srv.DB.QueryCount(), processorTime(b)
		b.ReportAllocs()
		for b.Loop() {
			srv.BenchRequest(b, "GET", "/api/v1/timelines/home", alice.Token, "")
		}
		b.ReportMetric(float64((processorTime(b)-began).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		b.ReportMetric(float64(srv.DB.QueryCount()-queries)/float64(b.N), "queries/op")
	})
}
