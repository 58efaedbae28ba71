package federation

import (
	"context"
	"strings"
	"time"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/store"
)

// Limits of lists for the operator.
const (
	maxListedHosts       = 10_000
	maxListed            = 200
	maxUnreachableListed = 2000
	maxCounted           = 1_000_000
)

// Operator inspects federation for commands and staff: peers, queues, and rejected activities. It retries deliveries and rotates keys.
type Operator struct {
	Settings *config.Live
	fetcher  *remote.Fetcher
	signers  *remote.Signers
	local    *LocalObjects
	inbox    *inbox.Inbox
	db       *store.DB
	actor    *store.Account // the actor in the moderation log; nil: the command line
}

// As returns the operator for an account of the staff, which the moderation log names as the actor.
func (o *Operator) As(actor *store.Account) *Operator {
	as := *o
	as.actor = actor
	return &as
}

// Peer is the state of another server.
type Peer struct {
	Host             string     `json:"host"`
	Software         string     `json:"software"` // with its version; "": unknown
	Failures         int        `json:"failures"` // in a row
	BackoffUntil     *time.Time `json:"backoff_until"`
	UnreachableSince *time.Time `json:"unreachable_since"`
	LastSuccessAt    *time.Time `json:"last_success_at"`
	LastError        string     `json:"last_error"`
	Signature        string     `json:"signature"`     // the scheme that it accepts; "": unknown
	RejectReason     string     `json:"reject_reason"` // why it is blocked; "": not blocked
}

func (o *Operator) newPeer(h *store.Host) *Peer {
	p := &Peer{
		Host: h.Domain, Software: h.Software, Failures: h.Failures, UnreachableSince: timePointer(h.UnreachableSince),
		LastSuccessAt: timePointer(h.LastSuccessAt), LastError: h.LastError, Signature: h.Signature,
	}
	if h.Version != "" {
		p.Software += " " + h.Version
	}
	if until := h.BackoffUntil.Time(); until.After(o.db.Now()) {
		p.BackoffUntil = &until
	}
	if err := o.fetcher.CheckHostPolicy(h.Domain); err != nil {
		p.RejectReason = err.Error()
	}
	return p
}

func timePointer(t *store.Time) *time.Time {
	if t == nil {
		return nil
	}
	at := t.Time()
	return &at
}

// PeerQuery selects peers.
type PeerQuery struct {
	Unreachable bool   `json:"unreachable"` // only unreachable peers, the longest unreachable first
	After       string `json:"after"`       // the last host of the page before
}

// Peers lists the servers that this one has exchanged requests with, by name.
func (o *Operator) Peers(ctx context.Context, q PeerQuery) ([]*Peer, error) {
	rows, err := o.db.Hosts(ctx, q.After, maxListed)
	if q.Unreachable {
		rows, err = o.db.UnreachableHosts(ctx, maxUnreachableListed)
	}
	list := make([]*Peer, 0, len(rows))
	for _, h := range rows {
		list = append(list, o.newPeer(h))
	}
	return list, err
}

// UnreachableHosts returns the unreachable hosts and since when.
func (o *Operator) UnreachableHosts(ctx context.Context) (map[string]store.Time, error) {
	rows, err := o.db.UnreachableHosts(ctx, maxListedHosts)
	since := make(map[string]store.Time, len(rows))
	for _, h := range rows {
		since[h.Domain] = *h.UnreachableSince
	}
	return since, err
}

// Rotation selects the accounts whose keys are replaced.
type Rotation struct {
	Name   string `json:"name"`   // nickname of a local account
	Server bool   `json:"server"` // the server actors
}

// RotateKeys replaces the keys of a local account or of the server actors. It returns the ids of the new keys.
func (o *Operator) RotateKeys(ctx context.Context, r Rotation) (keyIDs []string, err error) {
	var accounts []*store.Account
	if r.Server {
		for _, path := range []string{remote.FetchActorPath, relayActorPath} {
			a, err := o.local.serverActor(ctx, path)
			if err != nil {
				return nil, err
			}
			accounts = append(accounts, a)
		}
	} else {
		a, err := o.db.AccountByName(ctx, strings.TrimPrefix(r.Name, "@"), "")
		if errs.IsNotFound(err) || err == nil && a.DeletedAt != nil {
			return nil, errs.NotFound("There is no account %q on this server", r.Name)
		}
		if err != nil {
			return nil, err
		}
		accounts = append(accounts, a)
	}
	for _, a := range accounts {
		key, err := o.signers.RotateKeys(ctx, a)
		if err != nil {
			return keyIDs, err
		}
		keyIDs = append(keyIDs, key.URI)
		if err := o.db.Update(ctx, func(tx *store.Tx) error {
			return tx.AddLogEntry(ctx, store.NewLogEntry(o.actor, "key_rotation", "replaced the keys of @"+a.Acct(), nil))
		}); err != nil {
			return keyIDs, err
		}
	}
	return keyIDs, nil
}
