package apptest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Doc is a JSON object, such as an ActivityPub document.
type Doc = map[string]any

// As returns the client of a user; nil is anonymous.
func (a *Server) As(m *User) *Client {
	if m == nil {
		return &Client{Server: a}
	}
	return m.Client
}

// Client makes requests with a token, or anonymously if it is "".
type Client struct {
	Server *Server
	Token  string
}

func (c *Client) Get(path string, params ...string) *Response {
	c.Server.T.Helper()
	if len(params) > 0 {
		path += "?" + Pairs(params).Encode()
	}
	return c.Do("GET", path, "", nil)
}

func (c *Client) Post(path string, params ...string) *Response {
	c.Server.T.Helper()
	return c.Do("POST", path, "application/x-www-form-urlencoded", strings.NewReader(Pairs(params).Encode()))
}

// SendJSON sends a value as JSON.
func (c *Client) SendJSON(method, path string, body any) *Response {
	c.Server.T.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		c.Server.T.Fatal(err)
	}
	return c.Do(method, path, "application/json", bytes.NewReader(b))
}

func (c *Client) Do(method, path, contentType string, body io.Reader) *Response {
	c.Server.T.Helper()
	if strings.HasPrefix(path, "/") {
		path = c.Server.URL + path
	}
	req, err := http.NewRequestWithContext(c.Server.T.Context(), method, path, body)
	if err != nil {
		c.Server.T.Fatal(err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return c.DoRequest(req)
}

// DoRequest sends a request with the client's token.
func (c *Client) DoRequest(req *http.Request) *Response {
	c.Server.T.Helper()
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := http.DefaultTransport.RoundTrip(req) // no redirects
	if err != nil {
		c.Server.T.Fatal(err)
	}
	defer resp.Body.Close()
	var b []byte
	if resp.Header.Get("Content-Type") != "text/event-stream" { // a stream has no end
		if b, err = io.ReadAll(resp.Body); err != nil {
			c.Server.T.Fatal(err)
		}
	}
	return &Response{T: c.Server.T, Request: req.Method + " " + req.URL.RequestURI(), Status: resp.StatusCode, Header: resp.Header, Body: b}
}

// Pairs returns parameters from pairs; keys may repeat.
func Pairs(kv []string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(kv); i += 2 {
		v.Add(kv[i], kv[i+1])
	}
	return v
}
