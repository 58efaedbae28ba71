package command

import (
	"fmt"
	"strings"

	"svc/internal/config"
)

// handleRedirects are what the web servers of the host of handles need, with the hosts of the documentation. TestHandleRedirects compares them with
// docs/examples.
var handleRedirects = []struct{ server, file, text string }{
	{"nginx", "split-domain.nginx.conf", `# In the server block of example.org, the host in the handles of the accounts of social.example.org.
location ~ ^/\.well-known/(webfinger|host-meta|host-meta\.json|nodeinfo)$ {
	add_header Access-Control-Allow-Origin * always;
	return 301 https://social.example.org$request_uri;
}
`},
	{"Caddy", "split-domain.Caddyfile", `# In the block of example.org, the host in the handles of the accounts of social.example.org.
@svc path /.well-known/webfinger /.well-known/host-meta /.well-known/host-meta.json /.well-known/nodeinfo
header @svc Access-Control-Allow-Origin *
redir @svc https://social.example.org{uri} permanent
`},
}

// printRedirects prints what the web server of the host of handles needs, if that is another than that of the server.
func (a *cli) printRedirects(c *config.Config) {
	if c.Host() == c.WebHost() {
		return
	}
	fmt.Fprintf(a.out, "Handles have the host %s. Its web server must redirect WebFinger to this server:\n", c.Host())
	for _, r := range handleRedirects {
		// the host of the server first: the other one is a part of it
		text := strings.ReplaceAll(r.text, "https://social.example.org", c.URL().String())
		text = strings.ReplaceAll(text, "social.example.org", c.WebHost())
		text = strings.ReplaceAll(text, "block of example.org", "block of "+c.Host())
		fmt.Fprintf(a.out, "\n%s:\n\n%s", r.server, text)
	}
	fmt.Fprintln(a.out, "\nWhen both servers run, svc doctor checks it.")
}
