package federation

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"svc/internal/httpsig"
)

// Bounds of the age of a request of this server to itself.
const maxOwnSignatureAge = 5 * time.Minute

// SignOwn signs a request of this server to itself, by the instance actor, as a request to another server.
func (o *Operator) SignOwn(ctx context.Context, r *http.Request, body []byte) error {
	signer, err := o.signers.ServerSigner(ctx)
	if err != nil {
		return err
	}
	return signer.Sign(r, body, httpsig.Options{Scheme: httpsig.Cavage, Now: o.db.Now()})
}

// VerifyOwn verifies the signature of SignOwn on the request that arrived.
func (o *Operator) VerifyOwn(r *http.Request, body []byte) error {
	signer, err := o.signers.ServerSigner(r.Context())
	if err != nil {
		return err
	}
	base, err := url.Parse(o.Settings.BaseURL)
	if err != nil {
		return err
	}
	claims, err := httpsig.Read(r, httpsig.Policy{Base: base, Now: o.db.Now(), MaxAge: maxOwnSignatureAge, MaxAhead: maxOwnSignatureAge, Body: body})
	if err != nil {
		return err
	}
	for _, c := range claims {
		if c.KeyID == signer.KeyID {
			return c.Verify(signer.Key.Public())
		}
	}
	return errors.New("the signature is of another key")
}

// CheckKey returns an error if the private key of the instance actor cannot be decrypted.
func (o *Operator) CheckKey(ctx context.Context) error { return o.signers.CheckServerKey(ctx) }
