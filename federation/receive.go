package federation

import (
	"context"
	"errors"
	"net/http"
	"time"

	"svc/federation/inbox"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/httpsig"
	"svc/store"
)

var (
	errNotActivity = errs.BadRequest("This is no activity")
	errInboxFull   = unavailable(time.Minute, "The inbox is full")
)

// Receive verifies an incoming activity and processes or queues it (federation 3.6). recipient is whose inbox received it, nil for the shared inbox.
// The errors are answers to the sender: 400 and 403 for what will never be accepted, 401 for a wrong signature, 503 for what may be sent again.
func (s *Service) Receive(ctx context.Context, r *http.Request, body []byte, recipient *store.Account) error {
	err := s.receive(ctx, r, body, recipient)
	var answer *errs.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, inbox.ErrFull):
		return errInboxFull
	case !errors.As(err, &answer):
		answer = unavailable(0, "The activity cannot be received at the moment")
		answer.Err = err
	}
	if answer.Status != http.StatusServiceUnavailable || answer.RetryAfter > 0 {
		return err
	}
	if ctx.Err() == nil {
		s.log.Error("could not receive an activity", "err", err) // such as that the disk is full
	}
	again := *answer
	again.RetryAfter = time.Minute
	return &again
}

func (s *Service) receive(ctx context.Context, r *http.Request, body []byte, recipient *store.Account) error {
	in, err := s.parse(body)
	if err != nil {
		return err
	}
	actor := in.Ref("actor")
	h := handlers[in.Type]
	if h == nil {
		return nil // the type is not supported (federation 4.19)
	}
	if in.ID() != "" && !h.repeatable {
		if seen, err := s.precheck(ctx, in); seen || err != nil {
			return err
		}
	}
	claims, err := s.Claims(r, body, actor)
	if !h.unknownActors {
		ignored, err := s.isFromUnknown(ctx, in.Type, actor, claims)
		if ignored || err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	in.Signer, err = s.VerifyClaims(ctx, claims, actor)
	switch {
	case errors.Is(err, ErrActorGone) && in.Type == "Delete":
		return s.handleGoneActor(ctx, in.Object)
	case errors.Is(err, ErrActorGone):
		return s.signatureError(actor, err)
	case err != nil:
		return err
	}
	if allowed, err := s.checkSigner(ctx, in, h); !allowed || err != nil {
		return err
	}
	in.Row.SignerID = in.Signer.ID
	if recipient != nil {
		in.Row.RecipientID = &recipient.ID
	}
	return s.inbox.Add(ctx, in, h.fast)
}

// parse reads an activity, and refuses those that are malformed or whose host is blocked.
func (s *Service) parse(body []byte) (*inbox.Activity, error) {
	doc, err := activity.Parse(body)
	if err != nil {
		return nil, errNotActivity
	}
	if _, isText := doc["id"].(string); !isText && doc["id"] != nil || len(doc.Values("actor")) != 1 {
		return nil, errNotActivity
	}
	host, err := activity.Host(doc.Ref("actor"), s.AllowLoopback)
	if err != nil || host == s.Host {
		return nil, errNotActivity
	}
	in := &inbox.Activity{Object: doc, Type: supportedType(doc), Row: &store.QueuedActivity{Body: string(body)}}
	// A Delete by a blocked host is processed, unless a policy rejects it.
	if in.Type != "Delete" && s.checkHostPolicy(host) != nil {
		return nil, errHostBlocked
	}
	return in, nil
}

// precheck returns true if an activity was processed before. Its id is not verified yet.
func (s *Service) precheck(ctx context.Context, in *inbox.Activity) (bool, error) {
	var undo store.SeenKey
	if undoableTypes[in.Type] {
		undo = undoneKey(in.Ref("actor"), in.ID())
	}
	return s.inbox.Seen.Precheck(ctx, in, seenKey(in), undo)
}

// isFromUnknown returns true if an activity is by an unknown actor and of a type that changes nothing then, so that its key is not fetched. That is so
// of most deletions of accounts (federation 3.8). A known relay may have sent it, or it may be the answer of a relay to our Follow.
func (s *Service) isFromUnknown(ctx context.Context, kind, actor string, claims []*httpsig.Claim) (bool, error) {
	if _, err := s.accounts.GetByURI(ctx, actor); err == nil || !errs.IsNotFound(err) {
		return false, err
	}
	if !s.hasRelays(ctx) {
		return true, nil
	}
	if kind == "Accept" || kind == "Reject" {
		return false, nil
	}
	for _, c := range claims {
		if key, err := s.StoredKey(ctx, c.KeyID); key != nil || err != nil {
			return false, err
		}
	}
	return true, nil
}

// checkSigner returns false if an activity is ignored because of who has signed it. The signer's host is reachable: deliveries to it are tried now.
func (s *Service) checkSigner(ctx context.Context, in *inbox.Activity, h *handler) (bool, error) {
	host := s.hostOf(in.Signer)
	if err := s.MarkReachable(ctx, host); err != nil {
		return false, err
	}
	if in.Type != "Delete" && (s.checkHostPolicy(host) != nil || s.checkHostPolicy(in.Signer.Domain) != nil) {
		return false, errHostBlocked
	}
	if actor := in.Ref("actor"); in.Signer.URI != actor {
		forwards, err := s.mayForward(ctx, in.Signer, in.Type)
		if err != nil {
			return false, err
		}
		if !forwards && in.Object.Object("proof") == nil {
			host, _ := activity.Host(actor, s.AllowLoopback)
			return false, s.addRefusal(ctx, in.Object, host, "signed by "+in.Signer.URI+", who is not its actor")
		}
	}
	return in.Signer.DeletedAt == nil && (!in.Signer.Unavailable || h.suspendedActors), nil
}

// addRefusal records for the operator why an activity was refused.
func (s *Service) addRefusal(ctx context.Context, doc activity.Object, host, reason string) error {
	s.log.Debug("activity refused", "id", doc.ID(), "host", host, "reason", reason)
	refusal := &store.Refusal{URI: doc.ID(), Object: doc.Ref("object"), Domain: host, Reason: reason}
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.AddRefusal(ctx, refusal) })
}
