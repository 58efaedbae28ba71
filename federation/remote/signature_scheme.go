package remote

import (
	"context"
	"net/http"
	"time"

	"svc/internal/httpsig"
	"svc/store"
)

// How long it is remembered which signatures a host takes (federation 2.5).
const (
	signatureSchemeTTL = 30 * 24 * time.Hour
	noSchemeTTL        = 24 * time.Hour
)

const noScheme = "neither"

// signatureOptions returns how requests to a host are to be signed: the way that it is known to take, or else one after the other.
func signatureOptions(h *store.Host, hasQuery bool, now time.Time) []httpsig.Options {
	cavage, rfc := httpsig.Options{Scheme: httpsig.Cavage, PathOnly: h.PathOnly && hasQuery}, httpsig.Options{Scheme: httpsig.RFC9421}
	switch age := now.Sub(h.SignatureAt.Time()); {
	case h.Signature == string(httpsig.RFC9421) && age < signatureSchemeTTL:
		return []httpsig.Options{rfc, cavage}
	case h.Signature == noScheme && age < noSchemeTTL:
		return []httpsig.Options{cavage}
	case h.Signature == string(httpsig.Cavage) && age < signatureSchemeTTL && !hasQuery:
		return []httpsig.Options{cavage}
	case hasQuery:
		other := cavage
		other.PathOnly = !other.PathOnly
		return []httpsig.Options{cavage, other, rfc}
	}
	return []httpsig.Options{cavage, rfc}
}

// saveSignatureScheme remembers how a host wants requests signed.
func (f *Fetcher) saveSignatureScheme(ctx context.Context, host string, o httpsig.Options) {
	err := f.db.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		return tx.SetHostSignature(ctx, host, string(o.Scheme), o.PathOnly)
	})
	if err != nil {
		f.log.Warn("remembering how a host wants requests signed", "host", host, "err", err)
	}
}

// saveNoScheme remembers that a host takes no signature that we can make.
func (f *Fetcher) saveNoScheme(ctx context.Context, host string) {
	f.saveSignatureScheme(ctx, host, httpsig.Options{Scheme: noScheme})
}

// isSignatureRejected tells whether an answer says that a signature was not accepted, so that another may be.
func isSignatureRejected(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusBadRequest
}

// CheckHostPolicy tells whether there are to be dealings with a host at all; why not, if not.
func (f *Fetcher) CheckHostPolicy(host string) error { return f.Policies.Host(host) }
