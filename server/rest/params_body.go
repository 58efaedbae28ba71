package rest

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"

	"svc/internal/errs"
	"svc/internal/text"
)

// parameters reads the query and the body once.
func (r *Request) parameters() (*params, error) {
	if r.params != nil || r.invalid != nil {
		return r.params, r.invalid
	}
	if r.URL.RawQuery == "" && r.body == nil {
		r.params = &params{}
		return r.params, nil
	}
	p := &params{alias: r.server.paramAlias}
	if r.invalid = p.addQuery(r.URL.RawQuery, r.reads()); r.invalid == nil {
		r.invalid = r.readBody(p)
	}
	if r.invalid == nil {
		r.invalid = r.takeNodes(p.nodes)
	}
	if r.invalid != nil {
		p.close()
		return nil, r.invalid
	}
	r.params = p
	return p, nil
}

// readBody adds the parameters of the body to those of the query. The body wins where both have one.
func (r *Request) readBody(query *params) error {
	if r.body == nil {
		return nil
	}
	mediaType, typeParams, _ := text.ParseMediaType(r.Header.Get("Content-Type"))
	p := &params{alias: query.alias, keys: query.keys, nodes: query.nodes}
	var err error
	switch mediaType {
	case "application/json":
		var doc []byte
		if doc, err = r.ReadJSON(maxText); err == nil {
			err = p.addJSON(doc)
		}
	case "application/x-www-form-urlencoded":
		var form []byte
		if form, err = r.body.readAll(maxText); err == nil {
			err = p.addQuery(string(form), r.reads())
		}
	case "multipart/form-data":
		err = p.addForm(r.body, typeParams["boundary"], r.server.tempDir, r.server.settings.Load().Media.UploadLimit)
	default:
		err = r.refuseBody(query)
	}
	query.keys, query.nodes, query.files, query.doc = p.keys, p.nodes, p.files, p.doc
	if query.fields == nil {
		query.fields = p.fields
	}
	maps.Copy(query.fields, p.fields)
	return err
}

var errBodyType = errs.New(http.StatusUnsupportedMediaType,
	"The content type of the body must be application/json, application/x-www-form-urlencoded or multipart/form-data")

// refuseBody returns an error if there is a body whose type is none of those of parameters: what it asks for would be lost, such as a narrow
// visibility. Some clients send "[object Object]" as text, and their parameters in the query.
func (r *Request) refuseBody(query *params) error {
	if r.reads() || len(query.fields) > 0 {
		return nil
	}
	var first [1]byte
	n, err := r.body.Read(first[:])
	switch {
	case n > 0:
		return errBodyType
	case err == io.EOF:
		return nil
	}
	return err
}

// Object returns the parameters of the body as raw JSON: the members of a JSON object as they were sent, or the fields of a form as
// strings. The access token is left out.
func (r *Request) Object() (map[string]json.RawMessage, error) {
	p, err := r.parameters()
	if err != nil {
		return nil, err
	}
	object := make(map[string]json.RawMessage)
	if p.doc != nil { // p.fields has canonical names, and the parameters of the query
		err = json.Unmarshal(p.doc, &object)
	} else {
		for name, v := range p.fields {
			object[name] = v.appendJSON(nil)
		}
	}
	delete(object, tokenParam)
	return object, err
}

// IsNull returns true if a parameter was sent as null. Bind reads null as an empty list.
func (r *Request) IsNull(name string) bool {
	p, err := r.parameters()
	return err == nil && p.fields[name] != nil && p.fields[name].kind == nullValue
}
