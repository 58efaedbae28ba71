package server

import (
	"net/http"
	"net/url"
	"strings"

	"svc/internal/errs"
	"svc/server/rest"
	"svc/store"
)

var errDeadAddress = errs.New(http.StatusGone, "The account or post at this address was deleted")

// statusOfPath returns the id of the status of the path, 0 if there is none, and the path without end. Paths of this server have the id itself; those of
// other software are those of a row.
func (h *activityPub) statusOfPath(r *rest.Request, end string) (store.StatusID, string, error) {
	path := strings.TrimSuffix(strings.TrimSuffix(r.URL.Path, "/"), end)
	id, err := h.DB.OldStatusID(r.Context(), h.Settings.BaseURL, path)
	if id == 0 {
		id = statusParam(r)
	}
	return id, path, err
}

// oldAddress answers requests for what other software had at an address before its data were taken over: files, pages, and what it had deleted. It
// returns nil if there is nothing of that kind. On a server that has taken nothing over, it makes no query.
func (h *activityPub) oldAddress(r *rest.Request) (any, error) {
	if !h.DB.HasOldAddresses() {
		return nil, nil
	}
	path := strings.TrimSuffix(r.URL.Path, "/")
	file, err := h.DB.OldMedia(r.Context(), path)
	if err != nil {
		return nil, err
	}
	if file != "" {
		rest.AllowCrossOrigin(r.ResponseHeader())
		return movedFile(h.Settings.BaseURL + (&url.URL{Path: file}).EscapedPath()), nil
	}
	dead, err := h.DB.IsDeadAddress(r.Context(), path)
	if err != nil {
		return nil, err
	}
	if dead {
		return h.answerDead(r)
	}
	id, err := h.DB.StatusIDByOldPath(r.Context(), path)
	if id == 0 || err != nil {
		return nil, err
	}
	serve := h.objectDocument
	if strings.HasPrefix(path, "/activities/") {
		serve = h.activityDocument
	}
	return h.documentOrPage(serve, func(r *rest.Request) (any, error) { return h.redirectToPost(r.Context(), id) })(r)
}

// answerDead answers that the account or post at an address was deleted.
func (h *activityPub) answerDead(r *rest.Request) (any, error) {
	rest.AllowCrossOrigin(r.ResponseHeader())
	if rest.WantsHTML(r.Request) && !wantsActivity(r.Request, true) {
		return h.oauth.ErrorPage(r, errDeadAddress), nil
	}
	return jsonError{errDeadAddress}, nil
}

// movedFile redirects to a file that has another address now.
type movedFile string

func (to movedFile) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Location", string(to))
	w.Header().Set("Cache-Control", "public, max-age=86400")
	w.WriteHeader(http.StatusMovedPermanently)
}
