package federation

import (
	"svc/emoji"
	"svc/internal/cache"
	"svc/store"
)

// documentCacheBytes bounds the cached documents. Hundreds of servers fetch a status at once when a well-known account boosts it.
const documentCacheBytes = 4 << 20

// cachedDocument is the document of a status that everybody may read, as it is sent.
type cachedDocument struct {
	body   []byte
	emojis []emoji.Emoji // all custom emoji when it was built
}

func (d *cachedDocument) size() int { return cache.EntryBytes + len(d.body) }

func newDocumentCache(db *store.DB) *cache.Cache[store.StatusID, *cachedDocument] {
	documents := cache.NewWeighted[store.StatusID](documentCacheBytes, (*cachedDocument).size)
	db.Subscribe(func(events []store.Event) {
		for _, e := range events {
			c, ok := e.(store.RowsChanged)
			switch {
			case ok && c.All:
				documents.Clear()
			case ok:
				documents.Drop(c.Statuses...)
			}
		}
	})
	return documents
}

// cachedObject returns the cached document of a status, if it is current, and the generation for cacheObject.
func (d *Documents) cachedObject(id store.StatusID) (body []byte, generation uint64) {
	generation = d.cache.Generation()
	if doc, ok := d.cache.Get(id); ok && sameEmojis(doc.emojis, d.emojis.All()) {
		body = doc.body
	}
	return body, generation
}

// cacheObject caches the document of a public or unlisted status without a poll, because it is the same for every viewer and does not change.
func (d *Documents) cacheObject(st *store.Status, body []byte, generation uint64) {
	if isPublicOrUnlisted(st.Visibility) && !st.HasPoll {
		d.cache.Put(st.ID, &cachedDocument{body, d.emojis.All()}, generation)
	}
}

// sameEmojis returns true if two slices are the same, not only equal.
func sameEmojis(a, b []emoji.Emoji) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }
