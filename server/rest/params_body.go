package rest

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"strings"

	"svc/internal/errs"
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
	if r.invalid = p.addQuery(r.URL.RawQuery); r.invalid == nil {
		r.invalid = r.readBody(p)
	}
	if r.invalid != nil {
		p.close()
		return nil, r.invalid
	}
	r.params = p
	return p, nil
}

// readBody adds the parameters of the body to those of the query. The body wins where both have one. A body of an unknown type has
// none.
func (r *Request) readBody(query *params) error {
	if r.body == nil {
		return nil
	}
	mediaType, typeParams, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	p := &params{alias: query.alias, keys: query.keys}
	var err error
	switch mediaType {
	case "application/json":
		var text []byte
		if text, err = readText(r.body); err == nil {
			err = p.addJSON(text)
		}
	case "application/x-www-form-urlencoded":
		var text []byte
		if text, err = readText(r.body); err == nil {
			err = p.addQuery(string(text))
		}
	case "multipart/form-data":
		err = p.addMultipart(multipart.NewReader(r.body, typeParams["boundary"]), r.server.tempDir, r.server.settings.Load().Media.UploadLimit)
		if err == nil {
			_, err = io.Copy(io.Discard, r.body) // after the last part
		}
	}
	query.keys, query.files, query.doc = p.keys, p.files, p.doc
	if query.fields == nil {
		query.fields = p.fields
	}
	maps.Copy(query.fields, p.fields)
	return err
}

// mayHoldToken returns true if the body may be read for a token before the client is authenticated. A large upload is read only
// after a token in the header or the query.
func (r *Request) mayHoldToken() bool {
	return r.body != nil && (!r.endpoint.Access.files || r.ContentLength >= 0 && r.ContentLength <= maxText)
}

// readText reads a whole body without files.
func readText(body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, maxText+1))
	if err == nil && len(text) > maxText {
		err = ErrBodyTooLarge
	}
	return text, err
}

// addMultipart adds the parts of a form: values, and files as temporary files in dir. mime/multipart's own form cannot distinguish
// an empty file input (nothing chosen) from an empty text field (to be cleared).
func (p *params) addMultipart(form *multipart.Reader, dir string, fileLimit int64) error {
	text := int64(maxText)
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return formError(err)
		}
		_, disposition, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if err != nil || disposition["name"] == "" {
			continue
		}
		_, isFile := disposition["filename"]
		contentType := part.Header.Get("Content-Type")
		if isFile || contentType != "" && !isTextType(contentType) {
			if len(p.files) == maxFiles {
				return errs.BadRequest("Too many files")
			}
			file, err := spool(part, dir, fileLimit)
			if err != nil {
				return formError(err)
			}
			p.files = append(p.files, file)
			file.Filename, file.ContentType = part.FileName(), contentType
			if err := p.add(disposition["name"], &value{kind: fileValue, file: file}); err != nil {
				return err
			}
			continue
		}
		content, err := io.ReadAll(io.LimitReader(part, text+1))
		if err != nil {
			return formError(err)
		}
		if text -= int64(len(content)); text < 0 {
			return ErrBodyTooLarge
		}
		if len(content) == 0 && contentType != "" { // an empty file input
			continue
		}
		if err := p.addText(disposition["name"], string(content)); err != nil {
			return err
		}
	}
}

// isTextType returns true if a part of that type without a file name is a value: some libraries name the type of every part.
func isTextType(contentType string) bool {
	return strings.HasPrefix(contentType, "text/") || strings.HasPrefix(contentType, "application/json")
}

// formError turns an error of the multipart reader into a 400. It keeps errors for clients and errors of our own files.
func formError(err error) error {
	var e *errs.Error
	var path *os.PathError
	if errors.As(err, &e) || errors.As(err, &path) {
		return err
	}
	return &errs.Error{Status: http.StatusBadRequest, Message: "The request body is not a valid form", Err: err}
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
