package federation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/federation"
)

// TestFacts checks what people are shown of explanations.
func TestFacts(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	waiting := []*federation.Delivery{{ID: 1}}
	account := &federation.ExplainedAccount{ID: "5", Acct: "bob@b.example", Deleted: true, Unavailable: true}
	for _, tt := range []struct {
		e    federation.Explanation
		want string
	}{
		{federation.Explanation{Host: "a.example", Local: true, Deliveries: waiting}, "server: a.example this_server; stored: no"},
		{federation.Explanation{Host: "b.example", Deliveries: waiting}, "server: b.example no_contact_yet"},
		{federation.Explanation{Host: "b.example", RejectReason: "spam"}, "server: b.example; rejected: spam; queued: nothing"},
		{
			federation.Explanation{Host: "b.example", Peer: &federation.Peer{Software: "x 1", Failures: 3, LastError: "timeout", UnreachableSince: &at}, Deliveries: waiting},
			"server: b.example x 1; unreachable_since: 03:04; failures: 3; last_error: timeout",
		},
		{federation.Explanation{Host: "b.example", Account: account, Incoming: "accepted", Seen: true}, "server: b.example no_contact_yet; account: @bob@b.example, 5 deleted; incoming: accepted; seen: yes"},
		{
			federation.Explanation{
				Host: "b.example", Incoming: "accepted", Status: &federation.ExplainedStatus{ID: "7", Author: "bob@b.example", Visibility: "public", CreatedAt: at, ArrivedAt: at, ParentURI: "https://c.example/1"},
				Fetched: &federation.FetchedDocument{Type: "Note", ID: "https://b.example/2", Owner: "https://b.example/bob", Verdict: "It would be accepted."},
			},
			"server: b.example no_contact_yet; post: public, @bob@b.example, 7 03:04; arrived: delivered 03:04; reply_to: https://c.example/1 not_stored; incoming: accepted; " +
				"fetch_now: Note https://b.example/2 https://b.example/bob; verdict: It would be accepted.",
		},
		{federation.Explanation{Host: "b.example", Incoming: "not seen", Fetched: &federation.FetchedDocument{Error: "status 404"}}, "server: b.example no_contact_yet; stored: no; incoming: not seen; fetch_now: status 404"},
	} {
		var got []string
		for _, f := range tt.e.Facts() {
			parts := []string{f.Text, f.State}
			if f.At != nil {
				parts = append(parts, f.At.Format("15:04"))
			}
			parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
			got = append(got, fmt.Sprintf("%s: %s", f.Name, strings.Join(parts, " ")))
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
