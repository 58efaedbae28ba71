package server

import "svc/server/rest"

// federationStatusRoutes are the state of the exchange with other servers.
func (s *Server) federationStatusRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/federation_status": {rest.Anonymous, s.federationStatus},
	}
}

// federationStatus returns the hosts that cannot be reached, and since when.
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
