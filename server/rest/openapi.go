package rest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"
)

// Description is what a description of the API needs beside the route tables.
type Description struct {
	Title    string
	Version  string // of the program
	URL      string // of the server
	Name     string // api.name
	Entities Shapes
	Scope    func(scope string) string // what it allows, in plain words

	// By method and path.
	Summaries  map[string]string // what an endpoint does
	Parameters map[string][]Parameter
	Errors     map[string][]int // statuses that tests got
}

// OpenAPI returns the description of the endpoints as an OpenAPI 3.1 document (spec.openapis.org/oas/v3.1.1). Pages for browsers are left out.
func (d Description) OpenAPI(routes []RouteInfo) map[string]any {
	paths := make(map[string]any)
	for _, r := range routes {
		if e := r.endpoint; r.InDescription() {
			path := d.path(e)
			item, _ := paths[path].(map[string]any)
			if item == nil {
				item = make(map[string]any)
				paths[path] = item
			}
			item[strings.ToLower(e.method)] = d.operation(e)
		}
	}
	return map[string]any{
		"openapi": "3.1.1",
		"info":    map[string]any{"title": d.Title, "version": d.Version},
		"servers": []any{map[string]any{"url": d.URL}},
		"paths":   paths,
		"components": map[string]any{
			"schemas":         d.schemas(),
			"responses":       errorResponses(),
			"securitySchemes": map[string]any{oauthScheme: d.oauth(routes)},
		},
	}
}

const oauthScheme = "oauth"

// named writes a name of the tables as this server has it: svc, svc_x and svc:x.
func (d Description) named(name string) string {
	if rest, ok := strings.CutPrefix(name, standardName); ok && strings.Trim(rest[:min(1, len(rest))], "_:") == "" {
		return d.Name + rest
	}
	return name
}

// path returns the path of an endpoint as a template.
func (d Description) path(e *endpoint) string {
	var b strings.Builder
	for _, segment := range strings.Split(e.path[1:], "/") {
		if i := strings.IndexAny(segment, ":*"); i >= 0 {
			segment = segment[:i] + "{" + segment[i+1:] + "}"
		}
		b.WriteString("/" + d.named(segment))
	}
	return b.String()
}

// operation describes an endpoint.
func (d Description) operation(e *endpoint) map[string]any {
	op := map[string]any{"operationId": operationID(e), "tags": []string{tagOf(e)}, "responses": d.responses(e)}
	if text := d.Summaries[e.method+" "+e.path]; text != "" {
		op["summary"] = text
	}
	if list := d.parameters(e); len(list) > 0 {
		op["parameters"] = list
	}
	if body := d.body(e); body != nil {
		op["requestBody"] = body
	}
	op["security"] = security(&e.Access)
	if e.Access.caller >= callerStaff {
		op["description"] = "For the staff: " + e.Access.String() + "."
	}
	return op
}

// operationID returns a name such as postApiV1StatusesIdFavourite.
func operationID(e *endpoint) string {
	var b strings.Builder
	b.WriteString(strings.ToLower(e.method))
	upper := true
	for _, r := range e.path {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			upper = true
			continue
		case upper:
			r, upper = unicode.ToUpper(r), false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// tagOf returns the resource that an endpoint belongs to: the first word of its path that is no version.
func tagOf(e *endpoint) string {
	parts := strings.Split(e.path[1:], "/")
	if parts[0] != "api" || len(parts) == 1 {
		return parts[0]
	}
	tag := ""
	for _, part := range parts[1:] {
		switch {
		case strings.HasPrefix(part, "v1") || strings.HasPrefix(part, "v2"):
		case part == standardName || part == "admin":
			tag = strings.TrimSpace(tag + " " + part)
		case strings.ContainsAny(part, ":*"):
			return tag
		default:
			return strings.TrimSpace(tag + " " + part)
		}
	}
	return tag
}

// Parameter is one that an endpoint takes in the query or the body.
type Parameter struct {
	Name     string         `json:"name"`
	Required bool           `json:"required,omitempty"`
	Schema   map[string]any `json:"schema"`
}

// takes returns the parameters of an endpoint in the query and the body.
func (d Description) takes(e *endpoint) []Parameter { return d.Parameters[e.method+" "+e.path] }

// parameters describes the parameters of the path and the query.
func (d Description) parameters(e *endpoint) (list []any) {
	for _, name := range e.params {
		list = append(list, map[string]any{"name": name, "in": "path", "required": true, "schema": schema{"type": "string"}})
	}
	if !inQuery(e.method) {
		return list
	}
	for _, p := range d.takes(e) {
		described := map[string]any{"name": d.named(p.Name), "in": "query", "required": p.Required, "schema": p.Schema}
		switch p.Schema["type"] {
		case "array":
			described["name"] = d.named(p.Name) + "[]"
		case "object":
			described["style"], described["explode"] = "deepObject", true
		}
		list = append(list, described)
	}
	return list
}

// inQuery returns true if the parameters of a method are in the query.
func inQuery(method string) bool { return method == http.MethodGet || method == http.MethodDelete }

// body describes the parameters in the body, nil if there are none. Files are sent in multipart forms only.
func (d Description) body(e *endpoint) map[string]any {
	list := d.takes(e)
	if len(list) == 0 || inQuery(e.method) {
		return nil
	}
	plain, _ := d.bodySchema(list, false)
	all, encoding := d.bodySchema(list, true)
	content := map[string]any{"multipart/form-data": map[string]any{"schema": all, "encoding": encoding}}
	if plain != nil {
		content["application/json"] = map[string]any{"schema": plain}
		content["application/x-www-form-urlencoded"] = map[string]any{"schema": plain, "encoding": encoding}
	}
	return map[string]any{"content": content, "required": all["required"] != nil}
}

// bodySchema returns the schema of a body with the parameters, nil if a required one cannot be in it, and how forms write those that are objects or lists:
// a[b] and a[].
func (d Description) bodySchema(list []Parameter, files bool) (s schema, encoding map[string]any) {
	properties, required := schema{}, []string{}
	encoding = make(map[string]any)
	for _, p := range list {
		name := d.named(p.Name)
		isFile := p.Schema["contentMediaType"] != nil
		switch {
		case isFile && !files && p.Required:
			return nil, nil
		case isFile == files || properties[name] == nil && (!isFile || files): // a picture may also be sent as a text
			properties[name] = p.Schema
		}
		if p.Schema["type"] == "object" {
			encoding[name] = map[string]any{"style": "deepObject", "explode": true}
		}
		if p.Required {
			required = append(required, name)
		}
	}
	s = schema{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s, encoding
}

// answerTypes are the answers that are no JSON, with their types. A redirect has no body.
var answerTypes = map[string]string{"page": "text/html", "csv": "text/csv", "file": "application/octet-stream", "events": "text/event-stream"}

// responses describes the answer and the errors of an endpoint.
func (d Description) responses(e *endpoint) map[string]any {
	success := map[string]any{"description": "Success"}
	status, shape := e.answers()
	switch kind, other := answerTypes[shape]; {
	case other:
		success["content"] = map[string]any{kind: map[string]any{}}
	case shape != "nothing":
		success["content"] = map[string]any{"application/json": map[string]any{"schema": shapeSchema(shape)}}
	}
	list := map[string]any{strconv.Itoa(status): success}
	for _, code := range d.errorCodes(e) {
		list[strconv.Itoa(code)] = map[string]any{"$ref": fmt.Sprintf("#/components/responses/%d", code)}
	}
	return list
}

// errorCodes returns the errors that an endpoint may answer with: those that its access and parameters lead to, and those that tests got.
func (d Description) errorCodes(e *endpoint) []int {
	codes := []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}
	if e.Access.caller > callerAnyone || e.Access.content {
		codes = append(codes, http.StatusUnauthorized)
	}
	if e.Access.caller > callerAnyone {
		codes = append(codes, http.StatusForbidden)
	}
	if len(e.params) > 0 {
		codes = append(codes, http.StatusNotFound)
	}
	takes := len(d.takes(e)) > 0
	if takes || e.method != http.MethodGet {
		codes = append(codes, http.StatusBadRequest, http.StatusUnprocessableEntity)
	}
	if takes && !inQuery(e.method) {
		codes = append(codes, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	return append(codes, d.Errors[e.method+" "+e.path]...)
}

// ErrorCodes returns the errors that an endpoint is described to answer with.
func (d Description) ErrorCodes(r RouteInfo) []int { return d.errorCodes(r.endpoint) }

// errorTexts say what the errors of all endpoints mean.
var errorTexts = map[int]string{
	http.StatusBadRequest:                   "A parameter has a wrong type, is missing or cannot be read.",
	http.StatusUnauthorized:                 "There is no valid access token.",
	http.StatusForbidden:                    "The account or its token may not do this.",
	http.StatusNotFound:                     "There is no such record, or the account may not see it.",
	http.StatusConflict:                     "It is there already, or is in use.",
	http.StatusRequestEntityTooLarge:        "The body is larger than the server accepts.",
	http.StatusUnsupportedMediaType:         "The body is of a type that cannot be read.",
	http.StatusRequestedRangeNotSatisfiable: "The file does not have the range.",
	http.StatusUpgradeRequired:              "The stream is a WebSocket.",
	http.StatusUnprocessableEntity:          "A value is not permitted, or the action is impossible in this state.",
	http.StatusTooManyRequests:              "There were too many requests; see Retry-After.",
	http.StatusInternalServerError:          "The server failed; X-Request-Id names the line in its log.",
	http.StatusNotImplemented:               "This server does not do that.",
	http.StatusServiceUnavailable:           "The server is busy; see Retry-After.",
	http.StatusInsufficientStorage:          "The disk of the server is full.",
}

// errorEntity is the name of the entity of errors.
const errorEntity = "Error"

func errorResponses() map[string]any {
	list := make(map[string]any)
	for code, text := range errorTexts {
		shape := errorEntity
		if code == http.StatusBadRequest {
			shape += "|text" // of some endpoints of the staff
		}
		list[strconv.Itoa(code)] = map[string]any{
			"description": text,
			"content":     map[string]any{"application/json": map[string]any{"schema": shapeSchema(shape)}},
		}
	}
	return list
}

// security lists the ways to be admitted, one of which is enough.
func security(a *Access) []any {
	list := []any{}
	if a.caller <= callerAnyone {
		list = append(list, map[string]any{})
	}
	if a.caller == callerAnonymous {
		return list
	}
	if len(a.scopes) == 0 {
		return append(list, map[string]any{oauthScheme: []string{}})
	}
	for _, scope := range a.scopes {
		list = append(list, map[string]any{oauthScheme: []string{scope}})
	}
	return list
}

// oauth describes how apps get tokens, and the scopes that the endpoints ask for.
func (d Description) oauth(routes []RouteInfo) map[string]any {
	scopes := make(map[string]string)
	for _, r := range routes {
		for _, scope := range r.endpoint.Access.scopes {
			scopes[scope] = d.Scope(scope)
		}
	}
	authorize, token := d.URL+"/oauth/authorize", d.URL+"/oauth/token"
	return map[string]any{"type": "oauth2", "flows": map[string]any{
		"authorizationCode": map[string]any{"authorizationUrl": authorize, "tokenUrl": token, "scopes": scopes},
		"clientCredentials": map[string]any{"tokenUrl": token, "scopes": scopes},
		"password":          map[string]any{"tokenUrl": token, "scopes": scopes},
	}}
}

func (d Description) schemas() map[string]any {
	list := make(map[string]any)
	for name, members := range d.Entities {
		list[name] = entitySchema(members, d.named)
	}
	return list
}
