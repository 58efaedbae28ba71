package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// API is the description of the API (rest.Description) as a page shows it.
type API struct {
	Paths      map[string]map[string]*APIOperation `json:"paths"`
	Components struct {
		Schemas map[string]*APISchema `json:"schemas"`
	} `json:"components"`
}

// APIOperation is what a method of a path does.
type APIOperation struct {
	ID          string         `json:"operationId"`
	Summary     string         `json:"summary"`
	Description string         `json:"description"`
	Tags        []string       `json:"tags"`
	Parameters  []APIParameter `json:"parameters"`
	Body        struct {
		Content map[string]struct {
			Schema APISchema `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]struct {
			Schema APISchema `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
	Security []map[string][]string `json:"security"`

	Method, Path string `json:"-"`
}

// APIParameter is a parameter of an operation.
type APIParameter struct {
	Name     string    `json:"name"`
	In       string    `json:"in"`
	Required bool      `json:"required"`
	Schema   APISchema `json:"schema"`
}

// APISchema is a JSON schema, with the keywords that the description uses.
type APISchema struct {
	Type       string                `json:"type"`
	Format     string                `json:"format"`
	Enum       []string              `json:"enum"`
	Items      *APISchema            `json:"items"`
	AnyOf      []*APISchema          `json:"anyOf"`
	Ref        string                `json:"$ref"`
	Properties map[string]*APISchema `json:"properties"`
	Required   []string              `json:"required"`
	Minimum    *int                  `json:"minimum"`
	Maximum    *int                  `json:"maximum"`
	Default    any                   `json:"default"`
}

// APIGroup are the operations of a resource.
type APIGroup struct {
	Name       string
	Operations []*APIOperation
}

func (*API) Name() string { return "api" }

// Groups returns the operations by resource, sorted by name, path and method.
func (a *API) Groups() []APIGroup {
	groups := make(map[string][]*APIOperation)
	for _, path := range slices.Sorted(maps.Keys(a.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(a.Paths[path])) {
			o := a.Paths[path][method]
			o.Method, o.Path = strings.ToUpper(method), path
			groups[o.Tags[0]] = append(groups[o.Tags[0]], o)
		}
	}
	var list []APIGroup
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		list = append(list, APIGroup{name, groups[name]})
	}
	return list
}

// Scopes returns the scopes of which one is needed, "" among them if a token without scopes or none at all is enough.
func (o *APIOperation) Scopes() []string {
	var list []string
	for _, way := range o.Security {
		for _, scopes := range way {
			list = append(list, strings.Join(scopes, " "))
		}
		if len(way) == 0 {
			list = append(list, "")
		}
	}
	return list
}

// All returns the parameters of the path, the query and the body, each once.
func (o *APIOperation) All() []APIParameter {
	list := slices.Clone(o.Parameters)
	for _, body := range o.Body.Content { // the same for all types
		for _, name := range slices.Sorted(maps.Keys(body.Schema.Properties)) {
			list = append(list, APIParameter{name, "body", slices.Contains(body.Schema.Required, name), *body.Schema.Properties[name]})
		}
		break
	}
	return list
}

// Answer returns what the operation answers with, nil if that has no schema.
func (o *APIOperation) Answer() *APISchema {
	for status, response := range o.Responses {
		if json, ok := response.Content["application/json"]; ok && status < "3" {
			return &json.Schema
		}
	}
	return nil
}

// Entity returns the name of the entity that a schema refers to, in a list or as an alternative too, "" if it refers to none.
func (s *APISchema) Entity() string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	case s.Items != nil:
		return s.Items.Entity()
	}
	for _, one := range s.AnyOf {
		if name := one.Entity(); name != "" {
			return name
		}
	}
	return ""
}

// String returns a schema as one line.
func (s *APISchema) String() string {
	switch {
	case s.Ref != "":
		return s.Entity()
	case len(s.AnyOf) > 0:
		var list []string
		for _, one := range s.AnyOf {
			list = append(list, one.String())
		}
		return strings.Join(list, " | ")
	case s.Items != nil:
		return s.Items.String() + "[]"
	case len(s.Enum) > 0:
		return strings.Join(s.Enum, " | ")
	case len(s.Properties) > 0:
		return "{ " + strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ") + " }"
	case s.Format != "":
		return s.Type + " (" + s.Format + ")"
	}
	return s.Type + s.limits()
}

// limits returns the range and the default of a number.
func (s *APISchema) limits() string {
	var text string
	if s.Minimum != nil && s.Maximum != nil {
		text = fmt.Sprintf(" %d–%d", *s.Minimum, *s.Maximum)
	}
	if s.Default != nil {
		text += fmt.Sprintf(" (%v)", s.Default)
	}
	return text
}
