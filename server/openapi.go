package server

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"svc/internal/packed"
	"svc/server/entity"
	"svc/server/rest"
	"svc/server/web"
	"svc/store"
)

// apiDescription serves the description of the API.
type apiDescription struct {
	*parts
	document func() (json.RawMessage, error) // made at the first request, because most servers are never asked
}

func newAPIDescription(p *parts) *apiDescription {
	h := &apiDescription{parts: p}
	h.document = sync.OnceValues(h.describe)
	return h
}

func (h *apiDescription) routes() rest.Routes {
	return rest.Routes{
		"GET /api/openapi": {rest.Anonymous.Answers("object"), h.showOpenAPI}, // with the suffix .json, as all paths of the API
	}
}

// showOpenAPI returns the OpenAPI document of this server.
func (h *apiDescription) showOpenAPI(*rest.Request) (any, error) { return h.document() }

// What comments and tests say about endpoints, by method and path. The tests write these files and keep them current.
var (
	//go:embed summaries.json.gz
	summariesJSON []byte

	//go:embed parameters.json.gz
	parametersJSON []byte

	//go:embed errors.json.gz
	errorsJSON []byte
)

// Parameters returns the parameters of the endpoints by method and path.
var Parameters = sync.OnceValues(func() (list map[string][]rest.Parameter, err error) {
	return list, json.Unmarshal(packed.Text(parametersJSON), &list)
})

// ErrorCodes returns the errors that tests got from endpoints, by method and path.
var ErrorCodes = sync.OnceValues(func() (list map[string][]int, err error) {
	return list, json.Unmarshal(packed.Text(errorsJSON), &list)
})

func (h *apiDescription) describe() (json.RawMessage, error) {
	d := rest.Description{
		Title: h.Settings.Host, Version: h.instance.Version, URL: h.Settings.BaseURL, Name: h.Settings.Load().API.Name,
		Entities: entity.Shapes, Scope: func(scope string) string {
			return strings.Join(web.MessagesFor("en", "").Scopes(store.Scopes{scope}), "")
		},
	}
	var err error
	if err = json.Unmarshal(packed.Text(summariesJSON), &d.Summaries); err == nil {
		d.Parameters, err = Parameters()
	}
	if err == nil {
		d.Errors, err = ErrorCodes()
	}
	if err != nil {
		return nil, fmt.Errorf("describe the API: %w", err)
	}
	return json.Marshal(d.OpenAPI(rest.Describe(h.tables()...)))
}
