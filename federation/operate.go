package federation

import (
	"cmp"
	"context"
	"slices"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// What is shown to the operator at most.
const (
	maxShownHosts = 10_000
	maxShown      = 200
	maxUnwell     = 2000 // peers that cannot be reached
	countedAtMost = 1_000_000
)

// Peer is another server, as the operator sees it.
type Peer struct {
	Host             string     `json:"host"`
	Software         string     `json:"software"` // with its version; "": not known
	Failures         int        `json:"failures"` // in a row
	RestUntil        *time.Time `json:"rest_until"`
	UnreachableSince *time.Time `json:"unreachable_since"`
	LastSuccessAt    *time.Time `json:"last_success_at"`
	LastError        string     `json:"last_error"`
	Signature        string     `json:"signature"` // which it takes; "": not known
	Refused          string     `json:"refused"`   // why there are no dealings with it; "": there are
}

func (s *Service) newPeer(h *store.Host) *Peer {
	p := &Peer{
		Host: h.Domain, Software: h.Software, Failures: h.Failures, UnreachableSince: moment(h.UnreachableSince),
		LastSuccessAt: moment(h.LastSuccessAt), LastError: h.LastError, Signature: h.Signature,
	}
	if h.Version != "" {
		p.Software += " " + h.Version
	}
	if until := h.RestUntil.Time(); until.After(s.now()) {
		p.RestUntil = &until
	}
	if err := s.allowed(h.Domain); err != nil {
		p.Refused = err.Error()
	}
	return p
}

func moment(t *store.Time) *time.Time {
	if t == nil {
		return nil
	}
	at := t.Time()
	return &at
}

// PeerQuery asks for a part of the list of peers.
type PeerQuery struct {
	Unreachable bool   `json:"unreachable"` // only those that cannot be reached, the longest so first
	After       string `json:"after"`       // the last one of the part before
}

// Peers lists the servers that something has been exchanged with, in order of name.
func (s *Service) Peers(ctx context.Context, q PeerQuery) ([]*Peer, error) {
	rows, err := s.db.Hosts(ctx, q.After, maxShown)
	if q.Unreachable {
		rows, err = s.db.UnreachableHosts(ctx, maxUnwell)
	}
	list := make([]*Peer, 0, len(rows))
	for _, h := range rows {
		list = append(list, s.newPeer(h))
	}
	return list, err
}

// Unreachable returns since when which servers cannot be reached.
func (s *Service) Unreachable(ctx context.Context) (map[string]store.Time, error) {
	rows, err := s.db.UnreachableHosts(ctx, maxShownHosts)
	since := make(map[string]store.Time, len(rows))
	for _, h := range rows {
		since[h.Domain] = *h.UnreachableSince
	}
	return since, err
}

// Queue is what waits to be delivered, and what has come in and is not done with.
type Queue struct {
	Hosts    []*HostQueue `json:"hosts"`
	Waiting  []*Delivery  `json:"deliveries"` // some, if they were asked for
	Received struct {
		Waiting int `json:"waiting"`
		Failed  int `json:"failed"` // of these: at least once
		GivenUp int `json:"given_up"`
	} `json:"received"`
	Troubled []*Received `json:"troubled"` // some of what came in and failed, if that was asked for
}

// HostQueue is what waits for a host.
type HostQueue struct {
	Host      string     `json:"host"`
	Waiting   int        `json:"waiting"`
	GivenUp   int        `json:"given_up"`
	Oldest    time.Time  `json:"oldest"`
	NextTry   *time.Time `json:"next_try"` // nil: there is none
	Attempts  int        `json:"attempts"` // of the one that was tried most
	LastError string     `json:"last_error"`
	Peer      *Peer      `json:"peer"`
}

// Delivery is something that waits to be delivered, or was given up.
type Delivery struct {
	ID        int64      `json:"id"`
	Host      string     `json:"host"`
	Inbox     string     `json:"inbox"`
	Type      string     `json:"type"` // of the activity
	Activity  string     `json:"activity"`
	Attempts  int        `json:"attempts"`
	Queued    time.Time  `json:"queued"`
	NextTry   *time.Time `json:"next_try"`
	GivenUp   bool       `json:"given_up"`
	LastError string     `json:"last_error"`
}

// Received is something that came in and is not done with.
type Received struct {
	ID        int64      `json:"id"`
	Type      string     `json:"type"`
	Activity  string     `json:"activity"`
	Signer    string     `json:"signer"`
	Received  time.Time  `json:"received"`
	Attempts  int        `json:"attempts"`
	NextTry   *time.Time `json:"next_try"`
	GivenUp   bool       `json:"given_up"`
	LastError string     `json:"last_error"`
}

// QueueQuery says what is to be listed one by one.
type QueueQuery struct {
	Host   string `json:"host"`   // only what is for this host, one by one
	Failed bool   `json:"failed"` // only what was given up, one by one
}

// Queue tells what waits to be delivered, by host, and what has come in and is not done with.
func (s *Service) Queue(ctx context.Context, q QueueQuery) (*Queue, error) {
	if err := oneForm(&q.Host); err != nil {
		return nil, err
	}
	out := &Queue{Hosts: []*HostQueue{}, Waiting: []*Delivery{}, Troubled: []*Received{}}
	state, err := s.db.ReceivedState(ctx, countedAtMost)
	if err != nil {
		return nil, err
	}
	out.Received.Waiting, out.Received.Failed, out.Received.GivenUp = state.Waiting, state.Failed, state.Parked
	if out.Hosts, err = s.queues(ctx, q); err != nil {
		return nil, err
	}
	if q.Failed {
		if out.Troubled, err = s.troubled(ctx, ""); err != nil {
			return nil, err
		}
	}
	var rows []*store.Delivery
	switch {
	case q.Host != "":
		rows, err = s.db.DeliveriesTo(ctx, q.Host, maxShown)
	case q.Failed:
		rows, err = s.db.FailedDeliveries(ctx, maxShown)
	}
	if err != nil {
		return nil, err
	}
	if q.Failed {
		rows = slices.DeleteFunc(rows, func(d *store.Delivery) bool { return !d.Parked })
	}
	out.Waiting, err = s.describe(ctx, rows)
	return out, err
}

// oneForm brings a host that the operator has typed, if any, into the form in which hosts are known.
func oneForm(host *string) error {
	if *host == "" {
		return nil
	}
	form := text.NormalizeDomain(*host)
	if form == "" {
		return errs.BadRequest("%q is no host, as example.org is", *host)
	}
	*host = form
	return nil
}

// queues are what waits by host, most first.
func (s *Service) queues(ctx context.Context, q QueueQuery) ([]*HostQueue, error) {
	of := make(map[string]*HostQueue)
	list := []*HostQueue{}
	for _, parked := range []bool{false, true} {
		rows, err := s.db.Queued(ctx, parked, "", maxShownHosts)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if q.Host != "" && q.Host != r.Domain || q.Failed && !parked {
				continue
			}
			h := of[r.Domain]
			if h == nil {
				h = &HostQueue{Host: r.Domain, Oldest: r.FirstID.Time()}
				of[r.Domain], list = h, append(list, h)
			}
			if parked {
				h.GivenUp = r.Count
			} else {
				h.Waiting, h.NextTry = r.Count, moment(&r.RunAt)
			}
			if at := r.FirstID.Time(); at.Before(h.Oldest) {
				h.Oldest = at
			}
			h.Attempts, h.LastError = max(h.Attempts, r.Attempts), cmp.Or(h.LastError, r.LastError)
		}
	}
	slices.SortStableFunc(list, func(a, b *HostQueue) int { return cmp.Compare(b.Waiting+b.GivenUp, a.Waiting+a.GivenUp) })
	list = list[:min(len(list), maxShown)]
	for _, h := range list {
		row, err := s.db.Host(ctx, h.Host)
		if err != nil {
			return nil, err
		}
		h.Peer = s.newPeer(row)
		if h.NextTry != nil && h.Peer.RestUntil != nil && h.Peer.RestUntil.After(*h.NextTry) {
			h.NextTry = h.Peer.RestUntil
		}
	}
	return list, nil
}

// describe says what deliveries bring.
func (s *Service) describe(ctx context.Context, rows []*store.Delivery) ([]*Delivery, error) {
	var ids []store.ActivityID
	for _, d := range rows {
		ids = append(ids, d.ActivityID)
	}
	activities, err := s.db.Activities(ctx, ids)
	if err != nil {
		return nil, err
	}
	bodies := make(map[store.ActivityID]activity.Object)
	for _, a := range activities {
		if bodies[a.ID], err = activity.Parse([]byte(a.Body)); err != nil {
			return nil, err
		}
	}
	list := make([]*Delivery, 0, len(rows))
	for _, d := range rows {
		about := bodies[d.ActivityID]
		shown := &Delivery{
			ID: int64(d.ID), Host: d.Domain, Inbox: d.Inbox, Type: about.Type(), Activity: about.ID(), Attempts: d.Attempts,
			Queued: d.ID.Time(), GivenUp: d.Parked, LastError: d.LastError,
		}
		if !d.Parked {
			shown.NextTry = moment(&d.RunAt)
		}
		list = append(list, shown)
	}
	return list, nil
}

// troubled lists what came in and failed; about: what waits, too, in which a text stands.
func (s *Service) troubled(ctx context.Context, about string) ([]*Received, error) {
	rows, err := s.db.TroubledReceived(ctx, about, maxShown)
	if err != nil {
		return nil, err
	}
	var ids []store.AccountID
	for _, r := range rows {
		ids = append(ids, r.SignerID)
	}
	signers, err := s.db.Accounts(ctx, ids)
	if err != nil {
		return nil, err
	}
	of := make(map[store.AccountID]string)
	for _, a := range signers {
		of[a.ID] = a.URI
	}
	list := make([]*Received, 0, len(rows))
	for _, r := range rows {
		doc, err := activity.Parse([]byte(r.Body))
		if err != nil {
			doc = activity.Object{}
		}
		shown := &Received{
			ID: int64(r.ID), Type: doc.Type(), Activity: doc.ID(), Signer: of[r.SignerID], Received: r.ReceivedAt.Time(), Attempts: r.Attempts,
			GivenUp: r.Parked, LastError: r.LastError,
		}
		if !r.Parked {
			shown.NextTry = moment(&r.RunAt)
		}
		list = append(list, shown)
	}
	return list, nil
}

// RetryQuery says what is to be tried again at once: one of these.
type RetryQuery struct {
	Host string `json:"host"` // all that waits for a host or came from it
	ID   int64  `json:"id"`   // of a delivery, or of what came in
	All  bool   `json:"all"`
}

// Retried says how much is tried again.
type Retried struct {
	Deliveries int `json:"deliveries"`
	Received   int `json:"received"`
}

// Retry has what waits or was given up tried at once.
func (s *Service) Retry(ctx context.Context, q RetryQuery) (*Retried, error) {
	if err := oneForm(&q.Host); err != nil {
		return nil, err
	}
	done := new(Retried)
	hosts := []string{q.Host}
	switch {
	case q.ID != 0:
		if err := s.retryOne(ctx, q.ID, done); err != nil {
			return nil, err
		}
		hosts = nil
	case q.All:
		var err error
		if hosts, err = s.queuedHosts(ctx); err != nil {
			return nil, err
		}
		q.Host = ""
	case q.Host == "":
		return nil, errs.BadRequest("Say what is to be tried again")
	}
	for _, host := range hosts {
		for more := true; more; {
			err := s.db.Update(ctx, func(tx *store.Tx) error {
				n, again, err := tx.RetryHost(ctx, host)
				done.Deliveries += n
				more = again
				return err
			})
			if err != nil {
				return nil, err
			}
		}
	}
	if q.ID == 0 {
		err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
			done.Received, err = tx.RetryReceived(ctx, 0, q.Host)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	s.inbox.look()
	s.db.WakePost()
	return done, nil
}

func (s *Service) retryOne(ctx context.Context, id int64, done *Retried) error {
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		domain, err := tx.RetryDelivery(ctx, store.DeliveryID(id))
		if err != nil {
			return err
		}
		if domain != "" {
			done.Deliveries = 1
			return nil
		}
		done.Received, err = tx.RetryReceived(ctx, store.ReceivedID(id), "")
		return err
	})
	if err == nil && done.Deliveries+done.Received == 0 {
		err = errs.NotFound("Nothing with the id %d waits", id)
	}
	return err
}

// queuedHosts are all hosts for which something waits or was given up.
func (s *Service) queuedHosts(ctx context.Context) ([]string, error) {
	var hosts []string
	for _, parked := range []bool{false, true} {
		for after := ""; ; {
			rows, err := s.db.Queued(ctx, parked, after, maxShown)
			if err != nil {
				return nil, err
			}
			if len(rows) == 0 {
				break
			}
			for _, r := range rows {
				hosts = append(hosts, r.Domain)
				after = r.Domain
			}
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), nil
}
