package doctor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

const (
	maxHostRedirects = 5
	maxHostAnswer    = 1 << 16 // bytes
)

// handlePaths are the paths at the host of handles that must lead to the server. Other servers resolve handles by them.
func handlePaths(host string) []string {
	return []string{
		"/.well-known/webfinger?resource=" + url.QueryEscape("acct:doctor@"+host), // there need be no such account
		"/.well-known/host-meta",
		"/.well-known/nodeinfo",
	}
}

// checkHandles requests the paths by which other servers resolve handles from their host, if that is another than that of the server.
func checkHandles(ctx context.Context, d *doctor) Result {
	host := d.Settings.Host()
	if host == d.Settings.WebHost() {
		return ok("handles have the host of server.url")
	}
	var wrong []string
	for _, path := range handlePaths(host) {
		if problem := d.leadsHere(ctx, host, path); problem != "" {
			wrong = append(wrong, problem)
		}
	}
	if len(wrong) > 0 {
		return failure("Let the web server of "+host+" redirect these paths to "+d.url.String()+": docs/split-domain.md has examples for nginx and Caddy.",
			"other servers do not find accounts by handles with %s: %s", host, strings.Join(wrong, "; "))
	}
	return ok("%s leads WebFinger to %s", host, d.url)
}

// leadsHere requests a path from the host of handles. It returns "" if the request is redirected to the same path of this server, or if the answer is
// the one of this server, as a proxy passes it.
func (d *doctor) leadsHere(ctx context.Context, host, path string) (problem string) {
	address := d.url.Scheme + "://" + host + path
	resp, body, err := d.follow(ctx, address)
	if err != nil {
		return fmt.Sprintf("%s does not answer: %v", address, err)
	}
	if resp.Request.URL.String() == d.url.String()+path {
		return ""
	}
	if own, direct, err := d.follow(ctx, d.url.String()+path); err == nil && own.StatusCode == resp.StatusCode && bytes.Equal(body, direct) {
		return ""
	}
	if final := resp.Request.URL.String(); final != address {
		return fmt.Sprintf("%s leads to %s", address, final)
	}
	return fmt.Sprintf("%s is answered by another server: %s", address, resp.Status)
}

// follow requests a URL and follows redirects. It returns the last answer and the beginning of its body.
func (d *doctor) follow(ctx context.Context, address string) (*http.Response, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, err
	}
	client := *d.client
	client.CheckRedirect = func(_ *http.Request, before []*http.Request) error {
		if len(before) > maxHostRedirects {
			return fmt.Errorf("more than %d redirects", maxHostRedirects)
		}
		return nil
	}
	resp, err := client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxHostAnswer))
	return resp, body, err
}
