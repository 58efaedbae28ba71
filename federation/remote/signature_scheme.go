package remote

import (
	"context"
	"net/http"
	"time"

	"svc/internal/httpsig"
	"svc/store"
)

// TTL of the signature scheme of a host (federation 2.5).
const (
	signatureSchemeTTL = 30 * 24 * time.Hour
	noSchemeTTL        = 24 * time.Hour
)

const noScheme = "neither"

// signatureOptions returns the ways to sign requests to a host: the known one, or all in order of preference.
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

// saveSignatureScheme stores the signature scheme of a host.
func (f *Fetcher) saveSignatureScheme(ctx context.Context, host string, o httpsig.Options) {
	err := f.db.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		return tx.SetHostSignature(ctx, host, string(o.Scheme), o.PathOnly)
	})
	if err != nil {
		f.log.Warn("signature scheme of a host could not be stored", "host", host, "err", err)
	}
}

// saveNoScheme records that a host accepts none of our signatures.
func (f *Fetcher) saveNoScheme(ctx context.Context, host string) {
	f.saveSignatureScheme(ctx, host, httpsig.Options{Scheme: noScheme})
}

// isSignatureRejected returns whether a status says that the signature was rejected, so that another scheme may work.
func isSignatureRejected(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusBadRequest
}

// CheckHostPolicy returns an error if a host is blocked.
func (f *Fetcher) CheckHostPolicy(host string) error { return f.Policies.Host(host) }
