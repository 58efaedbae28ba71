package federation

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"svc/federation/delivery"
	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/httpsig"
	"svc/social"
	"svc/store"
)

var (
	errNotActivity = errs.BadRequest("This is not an activity")
	errStorageFull = &errs.Error{Status: http.StatusServiceUnavailable, Message: "The storage of this server is used up", RetryAfter: 10 * time.Minute}
	errInboxFull   = &errs.Error{Status: http.StatusServiceUnavailable, Message: "The inbox is full", RetryAfter: time.Minute}
)

// Receiver receives and handles incoming activities.
type Receiver struct {
	Config
	reader     *remote.Reader
	fetcher    *remote.Fetcher
	accounts   *remote.AccountCache
	actors     *remote.Actors
	verifier   *remote.Verifier
	statuses   *remote.Statuses
	sync       *remote.FollowerSync
	own        *remote.OwnReferences
	local      *LocalObjects
	documents  *Documents
	outbox     *Outbox
	relays     *Relays
	inbox      *inbox.Inbox
	deliveries *delivery.Queue
	db         *store.DB
	social     *social.Service
	log        *slog.Logger
}

// Receive verifies an incoming activity and processes or queues it (federation 3.6). recipient is the owner of the inbox, nil for the
// shared inbox. Errors are responses to the sender: 400 and 403 are final, 401 is a wrong signature, 503 permits a retry.
func (r *Receiver) Receive(ctx context.Context, req *http.Request, body []byte, recipient *store.Account) error {
	err := r.receive(ctx, req, body, recipient)
	var answer *errs.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, inbox.ErrFull):
		return errInboxFull
	case !errors.As(err, &answer):
		answer = &errs.Error{Status: http.StatusServiceUnavailable, Message: "The activity cannot be received at the moment", Err: err}
	}
	if answer.Status != http.StatusServiceUnavailable || answer.RetryAfter > 0 {
		return err
	}
	if ctx.Err() == nil {
		r.log.Error("could not receive an activity", "err", err) // for example, the disk is full
	}
	retryable := *answer
	retryable.RetryAfter = time.Minute
	return &retryable
}

func (r *Receiver) receive(ctx context.Context, req *http.Request, body []byte, recipient *store.Account) error {
	in, err := r.parse(body, req)
	if err != nil {
		return err
	}
	actor := in.Ref("actor")
	h := handlers[in.Type]
	if h == nil {
		return nil // the type is not supported (federation 4.19)
	}
	if in.ID() != "" && !h.repeatable {
		if seen, err := r.precheck(ctx, in); seen || err != nil {
			return err
		}
	}
	if h.adds {
		if critical, err := r.Budget.Critical(ctx); err != nil {
			return err
		} else if critical {
			return errStorageFull
		}
	}
	claims, err := r.verifier.Claims(req, body, actor)
	if !h.unknownActors {
		ignored, err := r.isFromUnknown(ctx, in.Type, actor, claims)
		if ignored || err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	in.Signer, err = r.verifier.VerifyClaims(ctx, claims, actor)
	switch {
	case errors.Is(err, remote.ErrActorGone) && in.Type == "Delete":
		return r.handleGoneActor(ctx, in.Object)
	case errors.Is(err, remote.ErrActorGone):
		return r.verifier.SignatureError(actor, err)
	case err != nil:
		return err
	}
	if in.WithoutActor {
		if err := nameActor(in, in.Signer.URI); err != nil {
			return err
		}
		actor = in.Signer.URI
	}
	if allowed, err := r.checkSigner(ctx, in, h); !allowed || err != nil {
		return err
	}
	in.Row.SignerID = in.Signer.ID
	if recipient != nil {
		in.Row.RecipientID = &recipient.ID
	}
	signer := in.Signer // after Add, in belongs to a worker
	if err := r.inbox.Add(ctx, in, h.fast); err != nil {
		return err
	}
	if signer.URI == actor {
		r.sync.Check(ctx, req, claims, signer)
	}
	return nil
}

// nameActor writes the actor into an activity that names none, also as it is stored.
func nameActor(in *inbox.Activity, uri string) error {
	in.Object["actor"] = uri
	body, err := in.Object.Bytes()
	in.Row.Body = string(body)
	return err
}

// parse reads an activity, and refuses those that are malformed or whose host is blocked. A FeatureRequest needs no actor (FEP-7aa9): it is its signer's,
// which the id of the key tells until the signature is verified.
func (r *Receiver) parse(body []byte, req *http.Request) (*inbox.Activity, error) {
	doc, err := activity.Parse(body)
	if err != nil {
		return nil, errNotActivity
	}
	unnamed := doc["actor"] == nil && supportedType(doc) == "FeatureRequest"
	if unnamed {
		doc["actor"] = activity.WithoutFragment(httpsig.ClaimedKeyID(req))
	}
	if doc["id"] != nil && doc["id"] != doc.ID() || len(doc.Values("actor")) != 1 {
		return nil, errNotActivity
	}
	host, err := activity.Host(doc.Ref("actor"), r.Settings.AllowLoopback)
	if err != nil || host == r.Settings.WebHost {
		return nil, errNotActivity
	}
	in := &inbox.Activity{Object: doc, Type: supportedType(doc), WithoutActor: unnamed, Row: &store.QueuedActivity{Body: string(body)}}
	// A Delete by a blocked host is processed, unless a policy rejects it.
	if in.Type != "Delete" && r.fetcher.CheckHostPolicy(host) != nil {
		return nil, remote.ErrHostBlocked
	}
	return in, nil
}

// precheck returns true if an activity was processed before. Its id is not verified yet.
func (r *Receiver) precheck(ctx context.Context, in *inbox.Activity) (bool, error) {
	var undo store.SeenKey
	if undoableTypes[in.Type] {
		undo = undoneKey(in.Ref("actor"), in.ID())
	}
	return r.inbox.Seen.Precheck(ctx, in, seenKey(in), undo)
}

// isFromUnknown returns true if an activity of a type that changes nothing for unknown actors is by one, so that its key is not fetched.
// Most Deletes of accounts are such (federation 3.8). It returns false if a known relay forwards or may answer our Follow.
func (r *Receiver) isFromUnknown(ctx context.Context, kind, actor string, claims []*httpsig.Claim) (bool, error) {
	if _, err := r.accounts.GetByURI(ctx, actor); err == nil || !errs.IsNotFound(err) {
		return false, err
	}
	if !r.relays.subscribed.Load() {
		return true, nil
	}
	if kind == "Accept" || kind == "Reject" {
		return false, nil
	}
	for _, c := range claims {
		if key, err := r.verifier.StoredKey(ctx, c.KeyID); key != nil || err != nil {
			return false, err
		}
	}
	return true, nil
}

// checkSigner returns false if an activity is ignored because of its signer. It marks the signer's host as reachable, so that
// deliveries to it are attempted now.
func (r *Receiver) checkSigner(ctx context.Context, in *inbox.Activity, h *handler) (bool, error) {
	host := r.reader.HostOf(in.Signer)
	if err := r.deliveries.MarkReachable(ctx, host); err != nil {
		return false, err
	}
	if in.Type != "Delete" && (r.fetcher.CheckHostPolicy(host) != nil || r.fetcher.CheckHostPolicy(in.Signer.Domain) != nil) {
		return false, remote.ErrHostBlocked
	}
	if actor := in.Ref("actor"); in.Signer.URI != actor {
		forwards, err := r.mayForward(ctx, in.Signer, in.Type)
		if err != nil {
			return false, err
		}
		if !forwards && in.Object.Object("proof") == nil {
			host, _ := activity.Host(actor, r.Settings.AllowLoopback)
			return false, r.addRefusal(ctx, in.Object, host, "signed by "+in.Signer.URI+", which is not its actor")
		}
	}
	return in.Signer.DeletedAt == nil && (!in.Signer.Unavailable || h.suspendedActors), nil
}

// addRefusal records for the operator why an activity was refused.
func (r *Receiver) addRefusal(ctx context.Context, doc activity.Object, host, reason string) error {
	r.log.Debug("activity refused", "id", doc.ID(), "host", host, "reason", reason)
	refusal := &store.Refusal{URI: doc.ID(), Object: doc.Ref("object"), Domain: host, Reason: reason}
	return r.db.Update(ctx, func(tx *store.Tx) error { return tx.AddRefusal(ctx, refusal) })
}
