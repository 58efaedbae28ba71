package server

import (
	"io"
	"net/netip"
	"slices"

	"svc/internal/doctor"
	"svc/internal/keys"
	"svc/server/rest"
)

// probe answers the requests with which svc doctor looks at the server from outside.
type probe struct{ *parts }

func (h *probe) routes() rest.Routes {
	return rest.Routes{"POST " + doctor.ProbePath: {rest.Anonymous, h.answer}}
}

const maxProbe = 4096

// answer says what the server sees of the request. Only a request of this server itself gets the answer.
func (h *probe) answer(r *rest.Request) (any, error) {
	proof, ok := doctor.Proof(DoctorSecret(h.Keys), h.Now(), r.Header.Get(doctor.TokenHeader))
	if !ok {
		return nil, errNoPage
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxProbe))
	if err != nil {
		return nil, err
	}
	seen := doctor.Seen{
		Proof: proof, Peer: r.RemoteAddr, PeerTrusted: true, ClientIP: r.ClientIP().String(), Host: r.Host,
		ForwardedFor: r.Header.Values("X-Forwarded-For"), ForwardedHost: r.Header.Get("X-Forwarded-Host"), Proto: r.Header.Get("X-Forwarded-Proto"),
	}
	if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil { // else a Unix socket, which only a proxy can open
		seen.Peer = peer.Addr().Unmap().String()
		trusted := h.Settings.Load().TrustedProxies()
		seen.PeerTrusted = slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(peer.Addr().Unmap()) })
	}
	if h.Federation != nil {
		if err := h.Federation.Operator.VerifyOwn(r.Request, body); err != nil {
			seen.Signature = err.Error()
		}
	}
	return seen, nil
}

// DoctorSecret returns the secret of the tokens for the probe.
func DoctorSecret(k *keys.Keys) []byte { return k.Secret("doctor") }
