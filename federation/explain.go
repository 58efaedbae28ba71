package federation

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// Explanation is what this server knows of a remote object or account.
type Explanation struct {
	URL          string            `json:"url"`
	Host         string            `json:"host"`
	Local        bool              `json:"local"`         // on this server
	RejectReason string            `json:"reject_reason"` // why the host is blocked; "": it is not
	Peer         *Peer             `json:"peer"`          // nil: no requests were exchanged with the host
	Account      *ExplainedAccount `json:"account"`       // nil: no known account
	Status       *ExplainedStatus  `json:"status"`        // nil: no known status
	DeletedAt    *time.Time        `json:"deleted_at"`
	Seen         bool              `json:"seen"`       // an activity with this id was processed or undone
	Refusals     []*Refusal        `json:"refusals"`   // the latest first
	Queued       []*QueuedActivity `json:"queued"`     // incoming activities about it
	Fetched      *FetchedDocument  `json:"fetched"`    // its current document; nil: not fetched
	Incoming     string            `json:"incoming"`   // what became of an activity with this id or about it; "": of this server
	Recipients   []*PostRecipient  `json:"recipients"` // of a local post, those first that it did not reach
	Deliveries   []*Delivery       `json:"deliveries"` // queued and parked ones, if a host was given
}

// ExplainedAccount is a known account.
type ExplainedAccount struct {
	ID          string     `json:"id"`
	Acct        string     `json:"acct"`
	Unavailable bool       `json:"unavailable"`
	Deleted     bool       `json:"deleted"`
	FetchedAt   *time.Time `json:"fetched_at"`
	Failures    int        `json:"failures"` // of refreshes, in a row
	Inbox       string     `json:"inbox"`
}

// ExplainedStatus is a known status or reblog.
type ExplainedStatus struct {
	ID         string     `json:"id"`
	Author     string     `json:"author"`
	Visibility string     `json:"visibility"`
	CreatedAt  time.Time  `json:"created_at"`
	ArrivedAt  time.Time  `json:"arrived_at"`
	FetchedAt  *time.Time `json:"fetched_at"` // nil: it was delivered
	ParentURI  string     `json:"parent_uri"` // of an unknown parent
}

// Refusal is an activity that was refused.
type Refusal struct {
	At       time.Time `json:"at"`
	Activity string    `json:"activity"`
	Object   string    `json:"object"`
	Host     string    `json:"host"`
	Reason   string    `json:"reason"`
}

// FetchedDocument is the current document of an object, and what this server would do with it.
type FetchedDocument struct {
	Error   string `json:"error"`
	ID      string `json:"id"`
	Type    string `json:"type"`
	Owner   string `json:"owner"`
	Verdict string `json:"verdict"`
}

// Explain describes a URL or handle: whether it is stored and how it arrived, why it was refused, and its current document.
// It changes nothing.
func (o *Operator) Explain(ctx context.Context, address string) (*Explanation, error) {
	if nick, domain, ok := text.SplitHandle(address); ok && !strings.Contains(address, "/") {
		var err error
		if address, err = o.uriOfHandle(ctx, nick, domain); err != nil {
			return nil, err
		}
	}
	address, isHost := hostAddress(address)
	host, err := o.hostOf(address)
	if err != nil {
		return nil, errs.BadRequest("%q is not a URL; give one like https://example.org/users/alice", address)
	}
	e := &Explanation{URL: address, Host: host, Local: o.Settings.IsOwnHost(host), Refusals: []*Refusal{}, Queued: []*QueuedActivity{}, Recipients: []*PostRecipient{}, Deliveries: []*Delivery{}}
	if err := o.explainHost(ctx, e); err != nil {
		return nil, err
	}
	if isHost {
		return e, o.explainDeliveries(ctx, e)
	}
	names := []string{activity.WithoutFragment(address)}
	if address != names[0] { // some servers use fragments in ids of activities
		names = append(names, address)
	}
	if !e.Local && e.RejectReason == "" && o.Settings.Load().Federation.Enabled {
		e.Fetched = o.explainFetch(ctx, names[0])
		if id := e.Fetched.ID; id != "" && !slices.Contains(names, id) {
			names = append(names, id)
		}
	}
	for _, name := range names {
		for _, find := range []func(context.Context, *Explanation, string) error{o.explainAccount, o.explainStatus, o.explainHistory} {
			if err := find(ctx, e, name); err != nil {
				return nil, err
			}
		}
	}
	if !e.Local {
		e.Incoming = e.incomingState(names)
	}
	return e, nil
}

// hostOf returns the canonical host of a URL. This server's own host may be one that no other server may have, such as localhost.
func (o *Operator) hostOf(address string) (string, error) {
	if u, err := url.Parse(address); err == nil && o.Settings.IsOwnHost(u.Host) {
		return strings.ToLower(u.Host), nil
	}
	return activity.Host(address, o.Settings.AllowLoopback)
}

// uriOfHandle returns the actor id of a handle, from the database or by WebFinger.
func (o *Operator) uriOfHandle(ctx context.Context, nick, domain string) (string, error) {
	if o.Settings.IsOwnHost(domain) {
		domain = ""
	}
	a, err := o.db.AccountByName(ctx, nick, domain)
	switch {
	case err == nil:
		return a.URI, nil
	case !errs.IsNotFound(err):
		return "", err
	case domain == "":
		return "", errs.NotFound("This server has no account %q", nick)
	case !o.Settings.Load().Federation.Enabled:
		return "", errs.NotFound("%s@%s is unknown, and federation.enabled is off", nick, domain)
	}
	f, err := o.fetcher.WebFinger(ctx, nick, domain)
	if err != nil {
		return "", errs.NotFound("%s does not resolve %s@%s: %v", domain, nick, domain, err)
	}
	return f.Actor, nil
}

func (o *Operator) explainHost(ctx context.Context, e *Explanation) error {
	if err := o.fetcher.CheckHostPolicy(e.Host); err != nil {
		e.RejectReason = err.Error()
	} else if !o.Settings.Load().Federation.Enabled && !e.Local {
		e.RejectReason = "federation.enabled is off"
	}
	h, err := o.db.Host(ctx, e.Host)
	if err == nil && (h.LastSuccessAt != nil || h.Failures > 0 || h.SignatureAt != 0 || h.CheckedAt != 0 || h.DueAt != nil) {
		e.Peer = o.newPeer(h)
	}
	return err
}

func (o *Operator) explainAccount(ctx context.Context, e *Explanation, name string) error {
	a, err := o.db.AccountByAddress(ctx, name)
	if errs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	e.Account = &ExplainedAccount{ID: a.ID.String(), Acct: a.Acct(), Unavailable: a.Unavailable, Deleted: a.DeletedAt != nil}
	actor, err := o.db.Actor(ctx, a.ID)
	if errs.IsNotFound(err) {
		return nil
	}
	if err == nil {
		e.Account.FetchedAt, e.Account.Failures, e.Account.Inbox = timePointer(&actor.FetchedAt), actor.Failures, actor.Inbox
	}
	return err
}

func (o *Operator) explainStatus(ctx context.Context, e *Explanation, name string) error {
	st, err := o.db.StatusByAddress(ctx, name)
	if st == nil && err == nil {
		st, err = o.local.localStatus(ctx, name)
	}
	if st == nil || err != nil {
		return err
	}
	author, err := o.db.Account(ctx, st.AccountID)
	if err != nil {
		return err
	}
	e.Status = &ExplainedStatus{
		ID: st.ID.String(), Author: author.Acct(), Visibility: st.Visibility.String(), CreatedAt: st.CreatedAt.Time(), ArrivedAt: st.ID.Time(),
	}
	if st.Local() {
		return o.explainRecipients(ctx, e, st)
	}
	origin, err := o.db.RemoteStatus(ctx, st.ID)
	if origin == nil || err != nil {
		return err
	}
	e.Status.ParentURI = origin.ParentURI
	if origin.FetchedAt != 0 {
		e.Status.FetchedAt = timePointer(&origin.FetchedAt)
	}
	return nil
}

func (o *Operator) explainHistory(ctx context.Context, e *Explanation, name string) error {
	gone, err := o.db.Tombstone(ctx, name)
	if err != nil {
		return err
	}
	if gone != nil {
		e.DeletedAt = timePointer(&gone.DeletedAt)
	}
	seen, err := o.db.SeenActivity(ctx, name)
	if err != nil {
		return err
	}
	e.Seen = e.Seen || seen
	refusals, err := o.db.Refusals(ctx, name)
	if err != nil {
		return err
	}
	for _, r := range refusals {
		if e.Local && r.URI == name {
			continue // by a recipient
		}
		e.Refusals = append(e.Refusals, &Refusal{At: r.ID.Time(), Activity: r.URI, Object: r.Object, Host: r.Domain, Reason: r.Reason})
	}
	waiting, err := o.failedActivities(ctx, name)
	for _, r := range waiting {
		if !slices.ContainsFunc(e.Queued, func(other *QueuedActivity) bool { return other.ID == r.ID }) {
			e.Queued = append(e.Queued, r)
		}
	}
	return err
}

// explainFetch fetches a document without the failure cache, and returns how it would be handled.
func (o *Operator) explainFetch(ctx context.Context, address string) *FetchedDocument {
	o.fetcher.ForgetFailure(address)
	doc, err := o.fetcher.DocumentForPage(ctx, address)
	if err != nil {
		f := &FetchedDocument{Error: err.Error(), Verdict: "It could not be fetched now, and would be fetched again later."}
		switch {
		case remote.IsNotFoundOrGone(err):
			f.Verdict = "Its server does not have it, or does not serve it to this server."
		case errors.Is(err, remote.ErrIDMismatch):
			f.Verdict = "It would be refused: its id is not the URL that it was fetched from."
		case !remote.IsTemporary(err):
			f.Verdict = "It would be refused."
		}
		return f
	}
	f := &FetchedDocument{ID: doc.ID(), Type: doc.Type()}
	switch {
	case doc.Is(store.ActorTypes...):
		f.Owner = f.ID
		f.Verdict = "It would be accepted as an account."
		if doc.Text("inbox") == "" {
			f.Verdict = "It would be refused as an account: it has no inbox."
		}
	case doc.Is(remote.NoteTypes...):
		f.Owner = doc.Ref("attributedTo")
		f.Verdict = o.objectVerdict(doc, f)
	case handlers[f.Type] != nil:
		f.Owner = doc.Ref("actor")
		f.Verdict = "It is an activity: activities are processed when they are delivered."
	default:
		f.Verdict = "Its type is not supported."
	}
	return f
}

func (o *Operator) objectVerdict(doc activity.Object, f *FetchedDocument) string {
	if !activity.SameHost(f.Owner, f.ID, o.Settings.AllowLoopback) {
		return "It would be refused: its author is on another host."
	}
	for _, key := range []string{"to", "cc"} {
		for _, to := range doc.Refs(key, remote.MaxAddressees) {
			if to == activity.Public || to == "as:Public" || to == "Public" {
				return "It would be accepted: it is public or unlisted. It is stored if a followed account or a relay delivers it, if it mentions or replies to a local account, or if a user searches for it."
			}
		}
	}
	return "It would only be accepted if it is delivered to a local account: it is not public or unlisted."
}
