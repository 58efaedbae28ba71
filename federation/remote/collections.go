package remote

import (
	"context"
	"slices"

	"svc/internal/activity"
)

// fetchItems returns ids of the items of a collection, bounded in requests for further pages and in items. All pages are on one host.
func (f *Fetcher) fetchItems(ctx context.Context, uri string, pages, maxItems int) ([]string, error) {
	var items []string
	seen := make(map[string]bool)
	for next := uri; next != "" && !seen[next] && pages >= 0 && len(items) < maxItems; pages-- {
		seen[next] = true
		page, err := f.fetchPage(ctx, next)
		for _, item := range page.items {
			if len(items) < maxItems && !slices.Contains(items, item) {
				items = append(items, item)
			}
		}
		if next = page.next; err != nil {
			return items, err
		}
	}
	return items, nil
}

// collectionPage is what one request for a collection returned.
type collectionPage struct {
	items []string // ids
	next  string   // URL of the next page; "": there is none
}

// maxEmbeddedPages bounds the pages inside a document.
const maxEmbeddedPages = 10

// fetchPage fetches a collection, or a page of one, with the pages that are embedded in it.
func (f *Fetcher) fetchPage(ctx context.Context, uri string) (p collectionPage, err error) {
	page, err := f.Document(ctx, uri)
	for range maxEmbeddedPages {
		if page == nil || err != nil {
			break
		}
		p.items = append(p.items, f.itemsOf(page, uri)...)
		embedded, ref := page.Object("first"), page.Ref("first")
		if embedded == nil && ref == "" {
			embedded, ref = page.Object("next"), page.Ref("next")
		}
		if ref != "" && !activity.SameHost(ref, uri, f.Settings.AllowLoopback) {
			break
		}
		if embedded == nil {
			p.next = ref
		}
		page = embedded
	}
	return p, err
}

// itemsOf returns ids of the items of a page on a host. Some servers list the Create of a status, whose own id cannot be fetched; then the object
// of the same host is the item.
func (f *Fetcher) itemsOf(page activity.Object, uri string) (items []string) {
	for _, key := range []string{"orderedItems", "items"} {
		for _, v := range page.Values(key) {
			item := activity.Reference(v)
			if create, _ := v.(map[string]any); activity.Object(create).Is("Create") {
				if item = activity.Object(create).Ref("object"); !activity.SameHost(item, uri, f.Settings.AllowLoopback) {
					continue
				}
			}
			if item != "" {
				items = append(items, item)
			}
		}
	}
	return items
}

// fetchCollectionSize returns the size of a collection, nil if it is unknown, and whether its items are hidden: the first page cannot
// be fetched (federation 1.9).
func (f *Fetcher) fetchCollectionSize(ctx context.Context, uri string) (n *int, hidden bool) {
	if uri == "" {
		return nil, false
	}
	doc, err := f.Document(ctx, uri)
	if err != nil {
		return nil, isAccessDenied(err)
	}
	if _, ok := doc["totalItems"].(float64); ok {
		total := doc.Count("totalItems")
		n = &total
	}
	switch first := doc["first"].(type) {
	case nil:
		hidden = doc["items"] == nil && doc["orderedItems"] == nil
	case string:
		if !activity.SameHost(first, uri, f.Settings.AllowLoopback) {
			return n, true
		}
		_, err := f.Document(ctx, first)
		hidden = isAccessDenied(err)
	}
	if hidden && n != nil && *n == 0 { // some servers hide the number like this
		n = nil
	}
	return n, hidden
}

// isAccessDenied returns whether a server refuses access.
func isAccessDenied(err error) bool {
	switch HTTPStatus(err) {
	case 401, 403, 404, 410:
		return true
	}
	return false
}
