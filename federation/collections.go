package federation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/httpsig"
	"svc/store"
)

// Page sizes of collections, and the size of one without pages.
const (
	outboxPageSize   = 20
	accountsPageSize = 40
	contextPageSize  = 50
	repliesPageSize  = 20
	maxPinned        = 50
)

// PageQuery selects a page of a collection.
type PageQuery struct {
	Page         bool // false: the collection itself
	MaxID, MinID int64
	Others       bool // of replies: those of other accounts than the author
}

var errHiddenList = errs.Forbidden("This list is hidden")

// newCollection returns a collection with pages. A nil total is omitted.
func newCollection(uri string, total *int) activity.Object {
	o := activity.Object{"id": uri, "type": "OrderedCollection", "first": uri + "?page=true"}
	if total != nil {
		o["totalItems"] = float64(*total)
	}
	return o
}

// newCollectionPage returns a page of a collection. next is the query of the next page; "": this is the last one.
func newCollectionPage(uri string, q PageQuery, items []any, next string) activity.Object {
	id := uri + "?page=true"
	if q.MaxID != 0 {
		id += "&max_id=" + store.StatusID(q.MaxID).String()
	}
	if q.Others {
		id += "&others=true"
	}
	if q.MinID != 0 {
		id += "&min_id=" + store.StatusID(q.MinID).String()
	}
	o := activity.Object{"id": id, "type": "OrderedCollectionPage", "partOf": uri, "orderedItems": items}
	if next != "" {
		o["next"] = uri + "?page=true&" + next
	}
	return o
}

// nextPage returns the query of the page after a list of ids, "" if they do not fill a page.
func nextPage[ID fmt.Stringer](param string, ids []ID, size int) string {
	if len(ids) < size {
		return ""
	}
	return param + "=" + ids[len(ids)-1].String()
}

// idOf returns the id of a requester, 0 if it is not known.
func idOf(signer *store.Account) store.AccountID {
	if signer == nil {
		return 0
	}
	return signer.ID
}

// authorizeCollection returns the requester of a collection of an account. The response is not nil if the account is not there for the
// requester.
func (s *DocumentServer) authorizeCollection(ctx context.Context, r *http.Request, a *store.Account) (signer *store.Account, answer *Response, err error) {
	if signer, err = s.authorizedSigner(ctx, r, true); err != nil {
		return nil, nil, err
	}
	if answer, err = s.unavailableResponse(a); answer != nil || err != nil || signer == nil {
		return signer, answer, err
	}
	blocked, err := s.db.Blocks(ctx, a.ID, signer.ID)
	if err == nil && blocked {
		err = errs.ErrRecordNotFound
	}
	return signer, nil, err
}

// ServeOutbox returns the statuses and reblogs of an account, the newest first: public and unlisted ones, and private ones for followers.
func (s *DocumentServer) ServeOutbox(ctx context.Context, r *http.Request, a *store.Account, q PageQuery) (*Response, error) {
	signer, answer, err := s.authorizeCollection(ctx, r, a)
	if answer != nil || err != nil {
		return answer, err
	}
	uri := a.URI + "/outbox"
	if !q.Page {
		unfederated, err := s.db.CountUnfederated(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		total := max(0, a.StatusesCount-unfederated)
		return s.respond(newCollection(uri, &total), signer)
	}
	hidden := store.Filter{ExcludeVisibility: []store.Visibility{store.Local, store.Direct, store.ListOnly}, OnlyFederated: true}
	page := store.Page{MaxID: q.MaxID, MinID: q.MinID, Limit: outboxPageSize}
	part, err := s.db.AccountTimeline(ctx, idOf(signer), a.ID, "", hidden, page)
	if err != nil {
		return nil, err
	}
	ids, backwards := part.Rows, q.MinID != 0
	if backwards { // a page that is cut ends next to the cursor
		slices.Reverse(ids)
	}
	items, n, err := s.statusDocuments(ctx, ids, s.documents.outboxItem)
	if err != nil {
		return nil, err
	}
	cut := n < len(ids)
	ids = ids[:n]
	if backwards {
		slices.Reverse(ids)
		slices.Reverse(items)
	}
	next, prev := nextPage("max_id", ids, outboxPageSize), ""
	if cut {
		next = nextPage("max_id", ids, n)
	}
	if len(ids) > 0 {
		prev = ids[0].String()
	}
	switch {
	case part.Next == 0 || cut:
	case q.MinID != 0:
		prev = store.StatusID(part.Next).String()
	default:
		next = "max_id=" + store.StatusID(part.Next).String()
	}
	o := newCollectionPage(uri, q, items, next)
	if prev != "" {
		o["prev"] = uri + "?page=true&min_id=" + prev
	}
	return s.respond(o, signer)
}

// statusDocuments builds a document of each of the first n statuses, in the order of ids: as many as a page may have. Statuses without a document
// are omitted.
func (s *DocumentServer) statusDocuments(ctx context.Context, ids []store.StatusID, build func(*store.Status, *documentRows) (activity.Object, error)) (items []any, n int, err error) {
	items = []any{}
	for size := 0; n < len(ids); {
		var rows []*store.Status
		var p *documentRows
		some, err := someItems(ctx, ids[n:], func(ctx context.Context, ids []store.StatusID) (err error) {
			if rows, err = s.db.Statuses(ctx, ids); err == nil {
				p, err = s.documents.loadDocumentRows(ctx, rows)
			}
			return err
		})
		if err != nil {
			return nil, 0, err
		}
		slices.SortFunc(rows, func(a, b *store.Status) int { return cmp.Compare(slices.Index(ids, a.ID), slices.Index(ids, b.ID)) })
		for _, st := range rows {
			o, err := build(st, p)
			if errs.IsNotFound(err) {
				continue
			}
			if err != nil {
				return nil, 0, err
			}
			if size += jsonSize(o); size > maxCollectionBytes && len(items) > 0 {
				return items, slices.Index(ids, st.ID), nil
			}
			items = append(items, jsonMap(o))
		}
		n += some
	}
	return items, n, nil
}

// ServeFollowers returns the followers of an account, unless they are hidden (federation 1.9).
func (s *DocumentServer) ServeFollowers(ctx context.Context, r *http.Request, a *store.Account, q PageQuery) (*Response, error) {
	return s.serveAccounts(ctx, r, a, q, accountCollection{
		uri: s.documents.followersURI(a), count: a.FollowersCount, hidden: a.HideFollowers, countHidden: a.HideFollowersCount, read: s.db.Followers,
	})
}

// ServeFollowersSynchronization returns the followers of an account on the requester's host, also hidden ones (FEP-8fcf). The key of an unknown
// requester is fetched only if its host has some.
func (s *DocumentServer) ServeFollowersSynchronization(ctx context.Context, r *http.Request, a *store.Account) (*Response, error) {
	if answer, err := s.unavailableResponse(a); answer != nil || err != nil {
		return answer, err
	}
	host, _ := activity.Host(activity.WithoutFragment(httpsig.ClaimedKeyID(r)), s.Settings.AllowLoopback)
	follows, err := s.sync.HasFollowers(ctx, a.ID, host)
	if err != nil {
		return nil, err
	}
	signed := ctx
	if !follows {
		signed = remote.WithoutFetching(ctx)
	}
	signer, err := s.verifier.VerifyRequest(signed, r)
	if errors.Is(err, remote.ErrFetchNeeded) || err == nil && signer == nil {
		err = errSignatureRequired
	}
	if err != nil {
		return nil, err
	}
	uris, err := s.sync.Followers(ctx, a.ID, signer)
	if err != nil {
		return nil, err
	}
	return s.respond(activity.Object{"id": remote.SynchronizationURL(a), "type": "OrderedCollection", "orderedItems": stringValues(uris)}, signer)
}

// ServeFollowing returns the accounts that an account follows, unless they are hidden (federation 1.9).
func (s *DocumentServer) ServeFollowing(ctx context.Context, r *http.Request, a *store.Account, q PageQuery) (*Response, error) {
	return s.serveAccounts(ctx, r, a, q, accountCollection{
		uri: a.URI + "/following", count: a.FollowingCount, hidden: a.HideFollows, countHidden: a.HideFollowsCount, read: s.db.Following,
	})
}

type accountCollection struct {
	uri                 string
	count               int
	hidden, countHidden bool
	read                func(context.Context, store.AccountID, store.Page) (store.Part[store.AccountID], error)
}

func (s *DocumentServer) serveAccounts(ctx context.Context, r *http.Request, a *store.Account, q PageQuery, l accountCollection) (*Response, error) {
	signer, answer, err := s.authorizeCollection(ctx, r, a)
	if answer != nil || err != nil {
		return answer, err
	}
	if !q.Page {
		o := newCollection(l.uri, &l.count)
		if l.countHidden {
			delete(o, "totalItems")
		}
		if l.hidden {
			delete(o, "first")
		}
		return s.respond(o, signer)
	}
	if l.hidden {
		return nil, errHiddenList
	}
	part, err := l.read(ctx, a.ID, store.Page{MaxID: q.MaxID, Limit: accountsPageSize})
	if err != nil {
		return nil, err
	}
	ids := part.Rows
	uris, err := s.db.AccountURIs(ctx, ids)
	if err != nil {
		return nil, err
	}
	items := []any{}
	for _, uri := range uris {
		items = append(items, uri)
	}
	next := nextPage("max_id", ids, accountsPageSize)
	if part.Next != 0 {
		next = "max_id=" + store.AccountID(part.Next).String()
	}
	return s.respond(newCollectionPage(l.uri, PageQuery{Page: true, MaxID: q.MaxID}, items, next), signer)
}

// ServeFeatured returns the public pinned statuses of an account, the latest pin first.
func (s *DocumentServer) ServeFeatured(ctx context.Context, r *http.Request, a *store.Account) (*Response, error) {
	signer, answer, err := s.authorizeCollection(ctx, r, a)
	if answer != nil || err != nil {
		return answer, err
	}
	part, err := s.db.PinnedStatuses(ctx, 0, a.ID, store.Page{Limit: maxPinned})
	if err != nil {
		return nil, err
	}
	ids := part.Rows
	pinned, err := s.db.PinnedAt(ctx, ids)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(ids, func(a, b store.StatusID) int { return cmp.Compare(pinned[b], pinned[a]) })
	items, _, err := s.statusDocuments(ctx, ids, s.documents.buildObject)
	if err != nil {
		return nil, err
	}
	o := activity.Object{
		"id": a.URI + "/collections/featured", "type": "OrderedCollection", "totalItems": float64(len(items)), "orderedItems": items,
	}
	return s.respond(o, signer)
}

// ServeReplies returns the known public and unlisted replies to a public or unlisted status: first those of its author, then those of
// others, each the oldest first.
func (s *DocumentServer) ServeReplies(ctx context.Context, r *http.Request, id store.StatusID, q PageQuery) (*Response, error) {
	st, signer, err := s.visibleStatus(ctx, r, id)
	if err == nil && (st.ReblogOfID != nil || !isPublicOrUnlisted(st.Visibility)) {
		err = errs.ErrRecordNotFound
	}
	if err != nil {
		return nil, err
	}
	if !q.Page {
		ids, err := s.db.SelfRepliesAfter(ctx, id, 0, maxInlineReplies)
		if err != nil {
			return nil, err
		}
		old, err := s.db.OldStatusURIs(ctx, ids)
		if err != nil {
			return nil, err
		}
		return s.respond(s.documents.repliesOf(st, ids, old), signer)
	}
	q = PageQuery{Page: true, MinID: q.MinID, Others: q.Others}
	items, next, err := s.replyItems(ctx, st, q)
	if err != nil {
		return nil, err
	}
	o := newCollectionPage(st.URI+"/replies", q, nil, next)
	delete(o, "orderedItems")
	o["type"], o["items"] = "CollectionPage", items
	return s.respond(o, signer)
}

// replyItems returns a page of the ids of replies, and the query of the next page, "" if there is none.
func (s *DocumentServer) replyItems(ctx context.Context, st *store.Status, q PageQuery) (items []any, next string, err error) {
	after := store.StatusID(q.MinID)
	if !q.Others {
		ids, err := s.db.SelfRepliesAfter(ctx, st.ID, after, repliesPageSize)
		if err != nil {
			return nil, "", err
		}
		old, err := s.db.OldStatusURIs(ctx, ids)
		if items = s.documents.objectURIs(ids, old); err != nil || len(ids) == repliesPageSize {
			return items, nextPage("min_id", ids, repliesPageSize), err
		}
		after = 0
	}
	limit := repliesPageSize - len(items)
	others, err := s.db.OtherRepliesAfter(ctx, st.ID, after, limit)
	if err != nil {
		return nil, "", err
	}
	items = slices.Grow(items, len(others))
	for _, reply := range others {
		if !reply.Hidden {
			items = append(items, reply.URI)
		}
	}
	if len(others) == limit {
		next = "others=true&min_id=" + others[limit-1].ID.String()
	}
	return items, next, nil
}

// ServeContext returns the ids of the statuses of a local thread that the requester may see, the oldest first (federation 4.16).
func (s *DocumentServer) ServeContext(ctx context.Context, r *http.Request, id store.ConversationID, q PageQuery) (*Response, error) {
	signer, err := s.authorizedSigner(ctx, r, true)
	if err != nil {
		return nil, err
	}
	threadURIs, err := s.db.ThreadURIs(ctx, []store.ConversationID{id})
	if err != nil {
		return nil, err
	}
	notLocal := store.Filter{ExcludeVisibility: []store.Visibility{store.Local}, OnlyFederated: true}
	part, err := s.db.ConversationTimeline(ctx, idOf(signer), id, notLocal, store.Page{MinID: max(q.MinID, 1), Limit: contextPageSize})
	if err != nil {
		return nil, err
	}
	ids := part.Rows
	slices.Reverse(ids)
	if threadURIs[id] != "" || len(ids) == 0 && q.MinID == 0 {
		return nil, errs.ErrRecordNotFound
	}
	if !q.Page {
		return s.respond(newCollection(s.documents.contextURI(id), nil), signer)
	}
	uris, err := s.db.StatusURIs(ctx, ids)
	if err != nil {
		return nil, err
	}
	items := []any{}
	for _, uri := range uris {
		items = append(items, uri)
	}
	next := nextPage("min_id", ids, contextPageSize)
	if part.Next != 0 {
		next = "min_id=" + store.StatusID(part.Next).String()
	}
	return s.respond(newCollectionPage(s.documents.contextURI(id), PageQuery{Page: true, MinID: q.MinID}, items, next), signer)
}
