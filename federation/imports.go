package federation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

const (
	importBatch      = 40
	importHosts      = 8 // hosts from which a batch fetches at a time, one account after another from each
	importTime       = time.Minute
	maxImportTime    = 10 * time.Minute // of a run, if the last batch waits for slow servers
	maxHostFailures  = 2                // consecutive ones, after which nothing is fetched from a host in this run
	importPollPeriod = 200 * time.Millisecond
)

// Importer runs imports: it fetches the accounts and statuses that entries name, and calls one operation of social for each.
type Importer struct {
	Settings *config.Live
	local    *LocalObjects
	resolver *remote.Resolver
	social   *social.Service
	db       *store.DB
	log      *slog.Logger
	running  sync.Map // store.ImportID → struct{}{}
}

// run is the job of an import. It works for importTime and queues the next run, so that other imports get their turn.
func (m *Importer) run(ctx context.Context, job store.RunImport) error {
	if _, busy := m.running.LoadOrStore(job.ImportID, struct{}{}); busy {
		return m.social.ContinueImport(ctx, job)
	}
	defer m.running.Delete(job.ImportID)
	ctx, cancel := context.WithTimeout(ctx, maxImportTime)
	defer cancel()
	i, err := m.db.Import(ctx, job.ImportID)
	if err != nil || i.FinishedAt != nil {
		return errs.IgnoreNotFound(err)
	}
	actor, err := m.db.Account(ctx, i.AccountID)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	if actor.Unavailable {
		return m.social.StopImport(ctx, i.ID, "the importing account is not active")
	}
	state := store.ImportNew
	if job.Retries > 0 {
		state = store.ImportRetry
	}
	r := &importRun{Importer: m, actor: actor, kind: i.Kind, last: job.Retries >= social.MaxImportRetries, failures: make(map[string]int)}
	for until := time.Now().Add(importTime); time.Now().Before(until); {
		batch, err := m.db.ImportEntries(ctx, i.ID, state, job.After, importBatch)
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			break
		}
		result := r.importBatch(ctx, batch)
		if err := ctx.Err(); err != nil {
			return err // the batch runs again, which changes nothing the second time
		}
		if err := m.social.RecordImport(ctx, i.ID, result); err != nil {
			return err
		}
		if job.Retries > 0 {
			job.After = batch[len(batch)-1].Position
		}
	}
	return m.social.ContinueImport(ctx, job)
}

// Wait runs an import for up to d, or waits for the job that does, and returns its state. retrying is true if only entries are left whose
// server did not answer.
func (m *Importer) Wait(ctx context.Context, id store.ImportID, d time.Duration) (i *store.Import, retrying bool, err error) {
	for until := time.Now().Add(d); ; {
		if i, err = m.db.Import(ctx, id); err != nil || i.FinishedAt != nil {
			return i, false, err
		}
		if retrying, err = m.onlyRetries(ctx, id); err != nil {
			return nil, false, err
		}
		if retrying || time.Now().After(until) {
			i, err = m.db.Import(ctx, id) // the counters may have changed meanwhile
			return i, retrying, err
		}
		if _, busy := m.running.Load(id); !busy {
			if err := m.run(ctx, store.RunImport{ImportID: id}); err != nil {
				return nil, false, err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return nil, false, ctx.Err()
		case <-time.After(importPollPeriod):
		}
	}
}

// onlyRetries returns true if of an import only entries are left whose server did not answer.
func (m *Importer) onlyRetries(ctx context.Context, id store.ImportID) (bool, error) {
	untried, err := m.db.ImportEntries(ctx, id, store.ImportNew, 0, 1)
	if err != nil || len(untried) > 0 {
		return false, err
	}
	failed, err := m.db.ImportEntries(ctx, id, store.ImportRetry, 0, 1)
	return len(failed) > 0, err
}

// importRun is one run of the job of an import.
type importRun struct {
	*Importer
	actor *store.Account
	kind  store.ImportKind
	last  bool // entries that fail are not retried

	mu       sync.Mutex
	failures map[string]int // consecutive ones of a host
	result   social.ImportResult
}

// importBatch imports entries: those of several hosts at a time, those of one host one after another.
func (r *importRun) importBatch(ctx context.Context, batch []*store.ImportEntry) social.ImportResult {
	hosts := make(map[string][]*store.ImportEntry)
	for _, e := range batch {
		host := r.hostOf(e.Target)
		hosts[host] = append(hosts[host], e)
	}
	r.result = social.ImportResult{}
	slots := make(chan struct{}, importHosts)
	var group sync.WaitGroup
	for host, entries := range hosts {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			for _, e := range entries {
				err := errs.CatchPanic(func() error { return r.importEntry(ctx, host, e) })
				r.record(host, e, err)
			}
		})
	}
	group.Wait()
	return r.result
}

// hostOf returns the host from which a target is fetched, "" if it is local or cannot be fetched.
func (r *importRun) hostOf(target string) string {
	if r.kind == store.ImportDomainBlocks {
		return ""
	}
	host := ""
	if strings.Contains(target, "://") {
		host, _ = activity.Host(target, true)
	} else {
		_, host, _ = text.SplitHandle(target)
	}
	if r.Settings.IsOwnHost(host) {
		return ""
	}
	return host
}

var errHostUnreachable = errors.New("the server could not be reached")

// importEntry imports one entry. Doing it twice is not an error.
func (r *importRun) importEntry(ctx context.Context, host string, e *store.ImportEntry) error {
	o := e.Options.V
	switch r.kind {
	case store.ImportDomainBlocks:
		return r.social.BlockDomain(ctx, r.actor, e.Target)
	case store.ImportBookmarks, store.ImportLikes:
		id, err := r.status(ctx, host, e.Target)
		if err != nil {
			return err
		}
		if r.kind == store.ImportBookmarks {
			_, err = r.social.Bookmark(ctx, r.actor, id)
		} else {
			_, err = r.social.Favourite(ctx, r.actor, id)
		}
		return err
	}
	a, err := r.account(ctx, host, e.Target)
	if err != nil {
		return err
	}
	switch r.kind {
	case store.ImportFollows:
		_, err = r.social.Follow(ctx, r.actor, a.ID, social.FollowOptions{ShowReblogs: o.ShowReblogs, Notify: o.Notify, Languages: o.Languages})
	case store.ImportBlocks:
		err = r.social.Block(ctx, r.actor, a.ID)
	case store.ImportMutes:
		err = r.social.Mute(ctx, r.actor, a.ID, o.HideNotifications == nil || *o.HideNotifications, 0)
	case store.ImportLists:
		err = r.social.AddToNamedList(ctx, r.actor, o.List, a.ID)
	default:
		err = fmt.Errorf("import of kind %q", r.kind)
	}
	return err
}

// account returns the account of a handle or actor id, which is fetched if it is unknown.
func (r *importRun) account(ctx context.Context, host, target string) (*store.Account, error) {
	var a *store.Account
	var err error
	nick, isProfile := strings.CutPrefix(target, r.Settings.BaseURL+"/@")
	switch {
	case strings.Contains(target, "://") && !isProfile:
		a, err = r.db.AccountByURI(ctx, activity.WithoutFragment(target))
	case isProfile:
		a, err = r.db.AccountByName(ctx, nick, "")
	default:
		nick, domain, ok := text.SplitHandle(target)
		if !ok {
			return nil, remote.Refuse("not the address of an account")
		}
		if r.Settings.IsOwnHost(domain) {
			domain = ""
		}
		a, err = r.db.AccountByName(ctx, nick, domain)
	}
	if err == nil && (a.Local() || a.DeletedAt == nil) || err != nil && !errs.IsNotFound(err) || host == "" {
		return a, err
	}
	if err := r.mayFetch(host); err != nil {
		return nil, err
	}
	a, _, err = r.resolver.Fetch(ctx, target)
	if err == nil && a == nil {
		err = remote.Refuse("not an account")
	}
	return a, err
}

// status returns the status of a URI or URL, which is fetched if it is unknown.
func (r *importRun) status(ctx context.Context, host, target string) (store.StatusID, error) {
	if !strings.Contains(target, "://") {
		return 0, remote.Refuse("not the address of a post")
	}
	if host == "" {
		st, err := r.local.localStatus(ctx, target)
		if err == nil && st == nil {
			err = errs.ErrRecordNotFound
		}
		if err != nil {
			return 0, err
		}
		return st.ID, nil
	}
	if id, err := r.db.StatusIDByURI(ctx, target); id != 0 || err != nil {
		return id, err
	}
	if err := r.mayFetch(host); err != nil {
		return 0, err
	}
	_, st, err := r.resolver.Fetch(ctx, target)
	if err == nil && st == nil {
		err = remote.Refuse("not a post")
	}
	if err != nil {
		return 0, err
	}
	return st.ID, nil
}

// mayFetch returns an error if nothing may be fetched from a host: this server does not federate, or the host did not answer.
func (r *importRun) mayFetch(host string) error {
	if !r.Settings.Load().Federation.Enabled {
		return remote.Refuse("not known, and this server does not federate")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failures[host] >= maxHostFailures {
		return errHostUnreachable
	}
	return nil
}

// record adds an entry to the result of the batch.
func (r *importRun) record(host string, e *store.ImportEntry, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		delete(r.failures, host)
		r.result.Imported = append(r.result.Imported, int64(e.Position))
		return
	}
	e.State = store.ImportSkipped
	if !remote.IsFinal(err) {
		r.failures[host]++
		if !r.last {
			e.State = store.ImportRetry
		}
	}
	e.Reason = importReason(err)
	r.result.Failed = append(r.result.Failed, e)
	r.log.Debug("import entry failed", "account", r.actor.ID, "target", e.Target, "state", e.State, "err", err)
}

// importReason returns the reason for a skipped entry that its user reads.
func importReason(err error) string {
	var client *errs.Error
	var refused *remote.Refused
	switch {
	case remote.IsNotFoundOrGone(err), errs.IsNotFound(err):
		return "not found"
	case errors.As(err, &client):
		return client.Message
	case errors.As(err, &refused):
		return refused.Reason
	case remote.HTTPStatus(err) != 0:
		return fmt.Sprintf("the server answered with status %d", remote.HTTPStatus(err))
	case !remote.IsTemporary(err):
		return "the server gave an answer that is not accepted"
	}
	return errHostUnreachable.Error()
}
