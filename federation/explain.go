package federation

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/text"
)

// Explanation is all that this server knows of something that other servers have, or had.
type Explanation struct {
	URL          string            `json:"url"`
	Host         string            `json:"host"`
	Local        bool              `json:"own"`     // it is of this server
	RejectReason string            `json:"refused"` // why there are no dealings with the host; "": there are
	Peer         *Peer             `json:"peer"`    // nil: nothing has been exchanged with the host
	Account      *ExplainedAccount `json:"account"` // nil: it is none that is known here
	Status       *ExplainedStatus  `json:"status"`  // likewise
	DeletedAt    *time.Time        `json:"deleted_at"`
	Seen         bool              `json:"heard"`    // an activity of this id was done, or what has it was taken back
	Refusals     []*Refusal        `json:"refusals"` // the latest first
	Queued       []*QueuedActivity `json:"waiting"`  // what has come in about it and is not done with
	Fetched      *FetchedDocument  `json:"fetched"`  // what its server says just now; nil: it was not asked
}

// ExplainedAccount is an account that is known here.
type ExplainedAccount struct {
	ID          string     `json:"id"`
	Acct        string     `json:"acct"`
	Unavailable bool       `json:"withheld"`
	Deleted     bool       `json:"deleted"`
	FetchedAt   *time.Time `json:"fetched_at"`
	Failures    int        `json:"failures"` // tries in a row to read it anew
	Inbox       string     `json:"inbox"`
}

// ExplainedStatus is a post, or boost, that is known here.
type ExplainedStatus struct {
	ID         string     `json:"id"`
	Author     string     `json:"author"`
	Visibility string     `json:"visibility"`
	CreatedAt  time.Time  `json:"created_at"`
	ArrivedAt  time.Time  `json:"arrived_at"`
	FetchedAt  *time.Time `json:"fetched_at"` // nil: it was delivered, and not read from its origin
	ParentURI  string     `json:"parent_uri"` // what it answers and is not known here
}

// Refusal is something that was not accepted.
type Refusal struct {
	At       time.Time `json:"at"`
	Activity string    `json:"activity"`
	Object   string    `json:"object"`
	Host     string    `json:"host"`
	Reason   string    `json:"reason"`
}

// FetchedDocument is what the server that something is of says of it.
type FetchedDocument struct {
	Error   string `json:"error"`
	ID      string `json:"id"`
	Type    string `json:"type"`
	Owner   string `json:"owner"`
	Verdict string `json:"verdict"` // what would be done with it
}

// Explain tells what is known of an address, or of the account of a handle: whether it is here and how it came, why it was refused, what
// its server says now. It changes nothing.
func (o *Operator) Explain(ctx context.Context, address string) (*Explanation, error) {
	if nick, domain, ok := text.SplitHandle(address); ok && !strings.Contains(address, "/") {
		var err error
		if address, err = o.uriOfHandle(ctx, nick, domain); err != nil {
			return nil, err
		}
	}
	host, err := activity.Host(address, o.AllowLoopback)
	if err != nil {
		return nil, errs.BadRequest("%q is no address of something on a server, as https://example.org/users/alice is", address)
	}
	e := &Explanation{URL: address, Host: host, Local: host == o.Host, Refusals: []*Refusal{}, Queued: []*QueuedActivity{}}
	if err := o.explainHost(ctx, e); err != nil {
		return nil, err
	}
	names := []string{activity.WithoutFragment(address)}
	if address != names[0] { // so some call what they do
		names = append(names, address)
	}
	if !e.Local && e.RejectReason == "" && !o.disabled {
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
	return e, nil
}

// uriOfHandle returns the id of the account of a handle: of one that is known, or as its server says now.
func (o *Operator) uriOfHandle(ctx context.Context, nick, domain string) (string, error) {
	if domain == o.Host {
		domain = ""
	}
	a, err := o.db.AccountByName(ctx, nick, domain)
	switch {
	case err == nil:
		return a.URI, nil
	case !errs.IsNotFound(err):
		return "", err
	case domain == "":
		return "", errs.NotFound("There is no account %q on this server", nick)
	case o.disabled:
		return "", errs.NotFound("%s@%s is not known here, and federation.enabled is off", nick, domain)
	}
	f, err := o.fetcher.WebFinger(ctx, nick, domain)
	if err != nil {
		return "", errs.NotFound("%s does not tell who %s@%s is: %v", domain, nick, domain, err)
	}
	return f.Actor, nil
}

func (o *Operator) explainHost(ctx context.Context, e *Explanation) error {
	if err := o.fetcher.CheckHostPolicy(e.Host); err != nil {
		e.RejectReason = err.Error()
	} else if o.disabled && !e.Local {
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
	heard, err := o.db.SeenActivity(ctx, name)
	if err != nil {
		return err
	}
	e.Seen = e.Seen || heard
	refusals, err := o.db.Refusals(ctx, name)
	if err != nil {
		return err
	}
	for _, r := range refusals {
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

// explainFetch asks for a document, as if it were new, and says what would be done with it.
func (o *Operator) explainFetch(ctx context.Context, address string) *FetchedDocument {
	o.fetcher.ForgetFailure(address)
	doc, err := o.fetcher.DocumentForPage(ctx, address)
	if err != nil {
		f := &FetchedDocument{Error: err.Error(), Verdict: "It could not be had just now, and would be asked for again later."}
		switch {
		case remote.IsNotFoundOrGone(err):
			f.Verdict = "Its server does not have it (any more), or does not show it to this one."
		case errors.Is(err, remote.ErrIDMismatch):
			f.Verdict = "It would not be believed: it is not of the address at which it is."
		case !remote.IsTemporary(err):
			f.Verdict = "It would not be accepted."
		}
		return f
	}
	f := &FetchedDocument{ID: doc.ID(), Type: doc.Type()}
	switch {
	case doc.Is(remote.ActorTypes...):
		f.Owner = f.ID
		f.Verdict = "It would be taken for an account."
		if doc.Text("inbox") == "" {
			f.Verdict = "It would not be taken for an account: it has no inbox."
		}
	case doc.Is(remote.NoteTypes...):
		f.Owner = doc.Ref("attributedTo")
		f.Verdict = o.objectVerdict(doc, f)
	case handlers[f.Type] != nil:
		f.Owner = doc.Ref("actor")
		f.Verdict = "It is an activity: these count when they are delivered, or what they are about is asked for."
	default:
		f.Verdict = "It is of a kind that this server makes nothing of."
	}
	return f
}

func (o *Operator) objectVerdict(doc activity.Object, f *FetchedDocument) string {
	if !activity.SameHost(f.Owner, f.ID, o.AllowLoopback) {
		return "It would not be accepted: it says that it is by somebody of another server."
	}
	for _, key := range []string{"to", "cc"} {
		for _, to := range doc.Refs(key, remote.MaxAddressees) {
			if to == activity.Public || to == "as:Public" || to == "Public" {
				return "It would be accepted: it is for everybody. It is kept if it is delivered by somebody who is followed or by a relay, if it mentions or answers somebody here, or if somebody looks for it."
			}
		}
	}
	return "It would be accepted only if it is delivered for somebody here: it is not for everybody."
}
