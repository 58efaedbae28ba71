package remote

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"errors"
	"time"

	"svc/internal/activity"
	"svc/internal/httpsig"
	"svc/internal/proof"
	"svc/store"
)

// maxProofAge is the maximum age of a proof: less than the retention of seen activities (store.SeenKey), so that documents cannot be
// replayed.
const maxProofAge = 7 * 24 * time.Hour

// VerifyProof returns the actor of a document with a proof by it (FEP-8b32).
func (v *Verifier) VerifyProof(ctx context.Context, doc activity.Object) (*store.Account, error) {
	claim, err := proof.Read(doc, v.db.Now())
	if err != nil {
		return nil, Refuse("signed by another actor, and %v", err)
	}
	if age := v.db.Now().Sub(claim.Created); age > maxProofAge || age < -maxClockSkew {
		return nil, Refuse("its proof was made at another time")
	}
	actor := doc.Ref("actor")
	if !activity.SameHost(claim.VerificationMethod, actor, v.AllowLoopback) {
		return nil, Refuse("its proof is of another host than its actor")
	}
	owner, err := v.keyOwner(ctx, claim.VerificationMethod, func(key crypto.PublicKey) error {
		public, ok := key.(ed25519.PublicKey)
		if !ok || claim.Verify(public) != nil {
			return httpsig.ErrSignature
		}
		return nil
	})
	if errors.Is(err, errWrongSignature) || errors.Is(err, ErrActorGone) {
		return nil, Refuse("its proof is wrong: %v", err)
	}
	if err == nil && owner.URI != actor {
		err = Refuse("its proof is by another actor")
	}
	return owner, err
}
