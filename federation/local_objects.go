package federation

import (
	"context"
	"strings"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/store"
)

// LocalObjects resolves the URIs of this server.
type LocalObjects struct {
	Settings *config.Live
	db       *store.DB
}

// localAccount returns the local account of an actor id, nil if there is none.
func (l *LocalObjects) localAccount(ctx context.Context, uri string) (*store.Account, error) {
	if !l.isLocalURI(uri) {
		return nil, nil
	}
	a, err := l.db.AccountByURI(ctx, uri)
	if errs.IsNotFound(err) || err == nil && !a.Local() {
		return nil, nil
	}
	return a, err
}

// localActivityID returns the row id in the URI of a local activity, 0 if it is none.
func (l *LocalObjects) localActivityID(uri string) store.ActivityID {
	return store.ActivityIDInURI(l.Settings.BaseURL, uri)
}

func (l *LocalObjects) isLocalURI(uri string) bool {
	return strings.HasPrefix(uri, l.Settings.BaseURL+"/")
}

// statusIDByURI returns the id of the status or boost with a URI, 0 if it is unknown. The id of a local status is in its URI; that
// status may be deleted.
func (l *LocalObjects) statusIDByURI(ctx context.Context, uri string) (id store.StatusID, err error) {
	if id, err := l.oldStatusID(ctx, uri); id != 0 || err != nil { // first, because other software may have written ids that look like ours
		return id, err
	}
	if id, ok := store.StatusIDInURI(l.Settings.BaseURL, uri); ok {
		return id, nil
	}
	return l.db.StatusIDByURI(ctx, uri)
}

// oldStatusID returns the id of the status or boost at an address of other software, 0 if there is none.
func (l *LocalObjects) oldStatusID(ctx context.Context, address string) (store.StatusID, error) {
	path, ok := strings.CutPrefix(address, l.Settings.BaseURL)
	if !ok {
		return 0, nil
	}
	return l.db.OldStatusID(ctx, l.Settings.BaseURL, path)
}

// localStatus returns the local status of a URI or page URL, nil if there is none.
func (l *LocalObjects) localStatus(ctx context.Context, address string) (*store.Status, error) {
	if !l.isLocalURI(address) {
		return nil, nil
	}
	st, err := l.db.StatusByURI(ctx, address)
	if st != nil || err != nil {
		return st, err
	}
	address, _, _ = strings.Cut(address, "?")
	id, err := l.oldStatusID(ctx, address)
	if err != nil {
		return nil, err
	}
	if id == 0 {
		id = store.ParseID[store.StatusID](address[strings.LastIndexByte(address, '/')+1:])
	}
	if id == 0 {
		return nil, nil
	}
	if st, err = l.db.Status(ctx, id); err != nil || !st.Local() {
		return nil, errs.IgnoreNotFound(err)
	}
	return st, nil
}

func (l *LocalObjects) serverActor(ctx context.Context, path string) (*store.Account, error) {
	return l.db.AccountByURI(ctx, l.Settings.BaseURL+path)
}
