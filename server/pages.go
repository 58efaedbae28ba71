package server

import (
	"net/http"

	"svc/internal/config"
	"svc/internal/text"
	"svc/server/rest"
	"svc/server/web"
)

// homePage serves the page at /.
type homePage struct {
	settings *config.Config
	pages    *web.Pages
}

func (h *homePage) routes() rest.Routes {
	return rest.Routes{
		"GET /": {rest.Anonymous.HTML(), h.homePage},
	}
}

// homePage shows the name of the server and how to join.
func (h *homePage) homePage(*rest.Request) (any, error) {
	i := h.settings.Instance
	description := i.ShortDescription
	if description == "" {
		description = text.HTMLToText(i.Description)
	}
	return h.pages.Page(http.StatusOK, web.Home{
		Name: i.Name, Description: description, Host: h.settings.Host(),
		RegistrationsOpen: i.RegistrationsOpen, ApprovalRequired: i.AccountApprovalRequired, Contact: i.Email,
	})
}
