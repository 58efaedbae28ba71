package server

import (
	"net/http"

	"svc/internal/text"
	"svc/server/rest"
	"svc/server/web"
)

// pageRoutes are pages for people that belong to nothing else.
func (s *Server) pageRoutes() rest.Routes {
	return rest.Routes{
		"GET /": {rest.Anonymous.HTML(), s.homePage},
	}
}

// homePage is the front door: what this is, and how to come in.
func (s *Server) homePage(*rest.Request) (any, error) {
	i := s.settings.Instance
	description := i.ShortDescription
	if description == "" {
		description = text.HTMLToText(i.Description)
	}
	return s.pages.Page(http.StatusOK, web.Home{
		Name: i.Name, Description: description, Host: s.settings.Host(),
		Open: i.RegistrationsOpen, Approval: i.AccountApprovalRequired, Contact: i.Email,
	})
}
