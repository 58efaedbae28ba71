package remote

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"svc/internal/activity"
	"svc/internal/fetch"
	"svc/internal/httpsig"
	"svc/store"
)

const (
	deliveryTimeout  = 15 * time.Second
	maxResponseBytes = 64 << 10 // bytes of a response that are read, so that the connection can be reused
)

// Post sends an activity, with the value of a SynchronizationHeader unless that is "". If the signature scheme of the host is not known, it tries
// one after the other (federation 2.5). Ed25519 comes first for hosts that verify it; one that refuses it gets RSA at once. The refusal is remembered
// if RSA is accepted, because a 400 or 401 for both is not about the key.
func (f *Fetcher) Post(ctx context.Context, host *store.Host, inbox string, body []byte, synchronization string, signers HostSigners) (status int, header http.Header, err error) {
	refused := false
	if signers.Ed25519 != nil && verifiesEd25519(host) {
		o := httpsig.Options{Scheme: httpsig.RFC9421, Now: f.db.Now()}
		status, header, err = f.postFollowingRedirect(ctx, inbox, body, synchronization, signers.Ed25519, o)
		if err != nil || !isSignatureRejected(status) {
			return status, header, err
		}
		refused = true
	}
	options := signatureOptions(host, false, f.db.Now())
	for i, o := range options {
		o.Now = f.db.Now()
		status, header, err = f.postFollowingRedirect(ctx, inbox, body, synchronization, signers.RSA, o)
		if err != nil || !isSignatureRejected(status) {
			if err == nil && status < 300 {
				if i > 0 {
					f.saveSignatureScheme(ctx, host.Domain, o)
				}
				if refused {
					f.saveEd25519(ctx, host.Domain, store.RefusesEd25519)
				}
			}
			return status, header, err
		}
	}
	if len(options) > 1 && status == http.StatusUnauthorized {
		f.saveNoScheme(ctx, host.Domain)
	}
	return status, header, err
}

// postFollowingRedirect posts an activity, and once more if it is redirected within the same host.
func (f *Fetcher) postFollowingRedirect(ctx context.Context, inbox string, body []byte, synchronization string, signer *httpsig.Signer, o httpsig.Options) (int, http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, deliveryTimeout)
	defer cancel()
	status, header, err := f.postOnce(ctx, inbox, body, synchronization, signer, o)
	location := header.Get("Location")
	if err != nil || location == "" || status != http.StatusTemporaryRedirect && status != http.StatusPermanentRedirect {
		return status, header, err
	}
	to, err := url.Parse(inbox)
	if err == nil {
		to, err = to.Parse(location)
	}
	if err != nil || !activity.SameHost(to.String(), inbox, f.Settings.AllowLoopback) {
		return status, header, nil
	}
	return f.postOnce(ctx, to.String(), body, synchronization, signer, o)
}

func (f *Fetcher) postOnce(ctx context.Context, inbox string, body []byte, synchronization string, signer *httpsig.Signer, o httpsig.Options) (int, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, inbox, bytes.NewReader(body))
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %v", fetch.ErrRefused, err)
	}
	req.Header.Set("Content-Type", activity.ContentType)
	req.Header["Idempotency-Key"] = []string{} // not sent, but lets net/http retry on a closed connection
	if synchronization != "" {
		req.Header.Set(SynchronizationHeader, synchronization)
		o.Also = []string{synchronizationComponent}
	}
	if err := signer.Sign(req, body, o); err != nil {
		return 0, nil, err
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	io.CopyN(io.Discard, resp.Body, maxResponseBytes)
	return resp.StatusCode, resp.Header, nil
}

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

func (f *Fetcher) saveSignatureScheme(ctx context.Context, host string, o httpsig.Options) {
	err := f.db.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		return tx.SetHostSignature(ctx, host, string(o.Scheme), o.PathOnly)
	})
	if err != nil {
		f.log.Warn("signature scheme of a host could not be stored", "host", host, "err", err)
	}
	f.hosts.Drop(host)
}

// saveNoScheme records that a host accepts none of our signatures.
func (f *Fetcher) saveNoScheme(ctx context.Context, host string) {
	f.saveSignatureScheme(ctx, host, httpsig.Options{Scheme: noScheme})
}

// isSignatureRejected returns whether a status says that the signature was rejected, so that another scheme may work.
func isSignatureRejected(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusBadRequest
}
