package server

import (
	"strings"

	"svc/internal/errs"
	"svc/server/rest"
)

// relayRoutes are the relays by which the server exchanges public posts, and the state of that exchange.
func (s *Server) relayRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/admin/relay":       {rest.Admin("admin:read"), s.listRelays},
		"POST /api/v1/svc/admin/relay":      {rest.Admin("admin:write:follows"), s.followRelay},
		"DELETE /api/v1/svc/admin/relay":    {rest.Admin("admin:write:follows"), s.unfollowRelay},
		"GET /api/v1/svc/federation_status": {rest.Anonymous, s.federationStatus},
	}
}

var errFederationDisabled = errs.BadRequest("This server does not talk with others")

// listRelays returns the relays that the server has subscribed to, or asked to.
func (s *Server) listRelays(r *rest.Request) (any, error) {
	if s.federation == nil {
		return []any{}, nil
	}
	return s.federation.Relays(r.Context())
}

// relayParam returns the address of a relay.
func (s *Server) relayParam(r *rest.Request) (address string, force bool, err error) {
	var p struct {
		URL   string `param:"relay_url,required"`
		Force bool   `param:"force"`
	}
	if err := r.Bind(&p); err != nil {
		return "", false, err
	}
	address = strings.TrimSpace(p.URL)
	switch {
	case address == "":
		return "", false, errs.BadRequest("Missing field: relay_url.")
	case s.federation == nil:
		return "", false, errFederationDisabled
	}
	return address, p.Force, nil
}

// followRelay subscribes to a relay. It says at once that the relay was asked; whether it accepts is seen later.
func (s *Server) followRelay(r *rest.Request) (any, error) {
	address, _, err := s.relayParam(r)
	if err != nil {
		return nil, err
	}
	return s.federation.FollowRelay(r.Context(), address)
}

// unfollowRelay leaves a relay, with force also one that cannot be reached. It returns the address.
func (s *Server) unfollowRelay(r *rest.Request) (any, error) {
	address, force, err := s.relayParam(r)
	if err != nil {
		return nil, err
	}
	return address, s.federation.UnfollowRelay(r.Context(), address, force)
}

// federationStatus tells which servers cannot be reached, and since when.
func (s *Server) federationStatus(r *rest.Request) (any, error) {
	unreachable := any(struct{}{})
	if s.federation != nil {
		since, err := s.federation.UnreachableHosts(r.Context())
		if err != nil {
			return nil, err
		}
		unreachable = since
	}
	return map[string]any{"unreachable": unreachable}, nil
}
