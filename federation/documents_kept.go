package federation

import (
	"svc/emoji"
	"svc/internal/cache"
	"svc/store"
)

// keptBytes bounds the documents that are kept: a post that somebody well-known boosts is fetched by hundreds of servers at once.
const keptBytes = 4 << 20

// keptDocument is the document of a post that everybody may read, as it is sent.
type keptDocument struct {
	body   []byte
	emojis []emoji.Emoji // that there were then
}

func (d *keptDocument) size() int { return len(d.body) }

func newKept(db *store.DB) *cache.Cache[store.StatusID, *keptDocument] {
	kept := cache.New[store.StatusID](keptBytes, (*keptDocument).size)
	db.Subscribe(func(events []store.Event) {
		for _, e := range events {
			c, ok := e.(store.Changed)
			switch {
			case ok && c.All:
				kept.Clear()
			case ok:
				kept.Drop(c.Statuses...)
			}
		}
	})
	return kept
}

// keptObject returns the document of a post if it is kept, and when it was looked for.
func (s *Service) keptObject(id store.StatusID) (body []byte, generation uint64) {
	found := make(map[store.StatusID]*keptDocument, 1)
	_, generation = s.kept.Get([]store.StatusID{id}, found)
	if d := found[id]; d != nil && sameList(d.emojis, s.emojis.All()) {
		body = d.body
	}
	return body, generation
}

// keep keeps the document of a post, if that looks the same to everybody and at all times.
func (s *Service) keep(st *store.Status, body []byte, generation uint64) {
	if isOpen(st.Visibility) && !st.HasPoll {
		s.kept.Put(st.ID, &keptDocument{body, s.emojis.All()}, generation)
	}
}

// sameList tells whether two lists are one and the same.
func sameList(a, b []emoji.Emoji) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }
