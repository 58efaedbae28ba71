package remote

import (
	"fmt"
	"testing"

	"svc/internal/activity"
)

// BenchmarkLearnActor measures the import of an unknown actor, without the requests.
func BenchmarkLearnActor(b *testing.B) {
	a := newHarness(b)
	p := &fakePeer{url: "https://peer.example", host: "peer.example"}
	bodies := make([][]byte, 0, 1000)
	for i := range cap(bodies) {
		body, err := activity.Object(p.person(fmt.Sprintf("u%d", i), jsonObject{"summary": "<p>hello <a href=\"https://x.example\">x</a></p>"})).Bytes()
		if err != nil {
			b.Fatal(err)
		}
		bodies = append(bodies, body)
	}
	i := 0
	for b.Loop() {
		doc, err := activity.Parse(bodies[i%len(bodies)])
		if err != nil {
			b.Fatal(err)
		}
		nick, _ := doc["preferredUsername"].(string)
		if _, err := a.Actors.importActor(b.Context(), doc, &webFinger{nick: nick, domain: p.host, Actor: doc.ID()}, false); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
