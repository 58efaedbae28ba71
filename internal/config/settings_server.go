package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"svc/internal/frontend"
)

// Settings of the process: listening, data, caches, log, mail.

func (c *Config) serverSettings() section {
	return section{"server", "How the server is reached.", []Setting{
		{Key: "listen", field: text(&c.Server.Listen, "127.0.0.1:4000", listenAddress), Restart: true,
			Description: "Where the server listens: an address and port, or the path of a Unix socket, to which the user and the group of the process can connect. Without an address (\":4000\") it listens on all of them.",
			Suggestions: []any{":4000", "/run/svc/svc.sock"}},
		{Key: "url", field: text(&c.Server.URL, "http://localhost:4000", baseURL), Restart: true,
			Description: "Public base address of the server. It becomes part of the id of every account and post: choose it before the first start and do not change it.",
			Suggestions: []any{"https://social.example.org"}},
		{Key: "host", field: text(&c.Server.Host, "", optional(handleHost)), Restart: true,
			Description: "The host in handles, if it is not that of server.url: example.org for @alice@example.org, whose server is https://social.example.org. The web server of that host must redirect the paths below /.well-known/ that docs/split-domain.md lists. Other servers know accounts by their handles: choose it before the first account and do not change it. Empty: the host of server.url.",
			Suggestions: []any{"example.org"}},
		{Key: "trusted_proxies", field: list(&c.Server.TrustedProxies, nil, each(proxyRange)), Restart: true,
			Description: "Addresses or networks of reverse proxies whose X-Forwarded-For header is trusted. If your proxy is missing here, all clients share one IP address and its rate limits.",
			Suggestions: []any{"127.0.0.1", "::1", "10.0.0.0/8"}},
		{Key: "read_header_timeout", field: duration(&c.Server.ReadHeaderTimeout, 5*time.Second, time.Second, time.Minute), Restart: true,
			Description: "How long a client may take to send the headers of a request."},
		{Key: "read_timeout", field: duration(&c.Server.ReadTimeout, 3*time.Minute, 5*time.Second, time.Hour), Restart: true,
			Description: "How long a client may take to send a whole request, uploads included."},
		{Key: "write_timeout", field: duration(&c.Server.WriteTimeout, 3*time.Minute, 5*time.Second, time.Hour), Restart: true,
			Description: "How long sending a response may take. Streams are exempt."},
		{Key: "idle_timeout", field: duration(&c.Server.IdleTimeout, time.Minute, time.Second, time.Hour), Restart: true,
			Description: "How long an idle connection is kept open."},
	}}
}

func (c *Config) serverTLSSettings() section {
	return section{"server.tls", "Built-in https with certificates from Let's Encrypt, for a server without a reverse proxy.", []Setting{
		{Key: "enabled", field: boolean(&c.Server.TLS.Enabled, false), Restart: true,
			Description: "Obtain and renew a certificate for the host of server.url. Requires server.listen = \":443\" and an https address in server.url."},
		{Key: "email", field: text(&c.Server.TLS.Email, "", optional(mailAddress)), Restart: true,
			Description: "E-mail address at which the certificate authority may report problems with the certificate."},
		{Key: "http_listen", field: text(&c.Server.TLS.HTTPListen, ":80", optional(hostAndPort)), Restart: true,
			Description: "Where plain http is served: the ACME challenge of the certificate authority, and a redirect to https for everything else. Empty: not at all."},
	}}
}

func (c *Config) dataSettings() section {
	return section{"data", "The data directory and the database.", []Setting{
		{Key: "dir", field: text(&c.Data.Dir, "./data", notEmpty, oneLine), Restart: true,
			Description: "Directory of the database, the uploads and the keys. It must be on a local disk.",
			Suggestions: []any{"/var/lib/svc"}},
		{Key: "synchronous", field: choice(&c.Data.Synchronous, SyncFull, SyncFull, SyncNormal), Restart: true,
			Description: "Durability of database commits. \"full\": changes that were acknowledged survive a power failure. \"normal\" is faster on slow disks, but a power failure may lose the most recent changes."},
		{Key: "readers", field: number(&c.Data.Readers, 4, 1, 16), Restart: true,
			Description: "Number of database connections for reading. Each has its own cache."},
		{Key: "reader_cache", field: size(&c.Data.ReaderCache, 4_000_000, 500_000, 1_000_000_000), Restart: true,
			Description: "Page cache of each reading connection, in bytes."},
		{Key: "writer_cache", field: size(&c.Data.WriterCache, 8_000_000, 500_000, 1_000_000_000), Restart: true,
			Description: "Page cache of the writing connection, in bytes."},
		{Key: "memory_limit", field: size(&c.Data.MemoryLimit, 0, 0, 1<<50, memoryLimit), Restart: true,
			Description: "How much memory the process may take, in bytes. It collects garbage more often near this limit, and large answers wait for each other. 0: the memory limit of the container or service (cgroup) less an eighth, else 256 MiB.",
			Suggestions: []any{"200MiB", "512MiB"}},
	}}
}

func (c *Config) cacheSettings() section {
	return section{"cache", "In-memory caches.", []Setting{
		{Key: "rendered_bytes", field: size(&c.Cache.RenderedBytes, 16_000_000, 0, 4_000_000_000), Restart: true,
			Description: "Cache of rendered posts and accounts, in bytes. 0 disables it."},
		{Key: "tokens", field: number(&c.Cache.Tokens, 4096, 0, 1_000_000), Restart: true,
			Description: "Number of access tokens that are cached between requests. 0 disables the cache."},
	}}
}

func (c *Config) apiSettings() section {
	return section{"api", "Identifiers in the client API.", []Setting{
		{Key: "name", field: text(&c.API.Name, "svc", apiName), Restart: true,
			Description: "The name in paths, cookies and JSON keys. Front ends and apps made for another server of this family work if this is the name that they expect. Apps store names of notification types, so choose it before the first start."},
		{Key: "compatible", field: text(&c.API.Compatible, "", optional(productVersion)), Restart: true,
			Description: "The product and version in the version of the instance, \"2.7.2 (compatible; PRODUCT VERSION)\". Front ends decide by it which features they offer. Empty: api.name and the version of this program.",
			Suggestions: []any{"Pleroma 2.7.1"}},
		{Key: "optional", field: list(&c.API.Optional, nil, allOf(OptionalDirectory, OptionalFeaturedTags, OptionalTrends)), Restart: true,
			Description: "Parts of the client API that are off unless they are listed. directory: GET /api/v1/directory, as far as accounts.profile_directory allows. featured_tags: GET /api/v1/featured_tags. Both are 404 otherwise. trends: the lists of trending hashtags, posts and links, from public posts of local accounts in the last days. Otherwise they are empty.",
			Suggestions: suggested([]string{OptionalDirectory, OptionalFeaturedTags, OptionalTrends})},
	}}
}

func (c *Config) frontendSettings() section {
	return section{"frontends", "Web front ends.", []Setting{
		{Key: "primary", field: text(&c.Frontends.Primary, "", optional(frontendVersion)),
			Description: "The installed front end that is shown at the server's own address, as NAME/REF. Empty: the pages of this program.",
			Suggestions: []any{"pleroma-fe/develop"}},
		{Key: "admin", field: text(&c.Frontends.Admin, "", optional(frontendVersion)),
			Description: "The installed front end that is shown at /svc/admin/, as NAME/REF. Empty: none.",
			Suggestions: []any{"admin-fe/develop"}},
		{Key: "pickable", field: list(&c.Frontends.Pickable, nil, each(frontendVersion), maxItems[string](maxPickable)),
			Description: "Installed front ends among which each visitor may choose at /frontends, as NAME/REF, besides the primary one.",
			Suggestions: []any{"pleroma-fe/develop", "soapbox/main"}},
		{Key: "available", field: availableFrontends(&c.Frontends.Available),
			Description: "Front ends that can be installed by their names, besides those that the program knows: ref is the version that is installed if none is given, build_url the address of a zip archive, in which ${ref} stands for the version, build_dir the folder of the archive with the index.html.",
			Suggestions: []any{[]map[string]any{{"name": "my-fe", "ref": "main", "git": "https://git.example.org/my-fe", "build_url": "https://git.example.org/my-fe/${ref}.zip", "build_dir": "dist"}}}},
		{Key: "configurations", field: frontendConfigurations(&c.Frontends.Configurations),
			Description: "What front ends read at their start from /api/v1/svc/frontend_configurations: the name under which a front end looks, and its configuration as JSON.",
			Suggestions: []any{[]map[string]any{{"name": "svc_fe", "configuration": `{"theme": "dark"}`}}}},
	}}
}

func (c *Config) webSettings() section {
	return section{"web", "The web interface of this program.", []Setting{
		{Key: "enabled", field: boolean(&c.Web.Enabled, true),
			Description: "Users can read, post and moderate in the browser, at /web. If not, visitors still see the front page, profiles and posts, unless a front end answers there (frontends.primary)."},
		{Key: "recent_posts", field: number(&c.Web.RecentPosts, 5, 0, 20),
			Description: "How many of the latest public posts of this server the front page shows. 0: none."},
		{Key: "public_timeline", field: boolean(&c.Web.PublicTimeline, true),
			Description: "Visitors can read the public posts of this server at /public."},
		{Key: "accent_colour", field: text(&c.Web.AccentColour, "", optional(hexColour)),
			Description: "Colour of links and buttons, as #rrggbb. It is made darker or lighter where it could not be read. Empty: blue.",
			Suggestions: []any{"#0f766e"}},
	}}
}

// maxPickable bounds the front ends among which visitors may choose.
const maxPickable = 20

// hexColour is a colour with six hexadecimal digits.
func hexColour(s string) error {
	if !colourPattern.MatchString(s) {
		return fmt.Errorf("must be a colour such as #0f766e, not %q", s)
	}
	return nil
}

// frontendVersion is the name of an installed front end.
func frontendVersion(s string) error {
	if _, ok := frontend.ParseVersion(s); !ok {
		return errors.New("must be NAME/REF, such as pleroma-fe/develop")
	}
	return nil
}

func availableFrontends(at *[]Frontend) field {
	return rows(at, []column[Frontend]{
		{name: "name", at: func(f *Frontend) any { return &f.Name }},
		{name: "ref", at: func(f *Frontend) any { return &f.Ref }},
		{name: "build_url", at: func(f *Frontend) any { return &f.BuildURL }},
		{name: "git", optional: true, at: func(f *Frontend) any { return &f.Git }},
		{name: "build_dir", optional: true, at: func(f *Frontend) any { return &f.BuildDir }},
	}, each(func(f Frontend) error {
		if !(frontend.Version{Name: f.Name, Ref: f.Ref}).Valid() {
			return fmt.Errorf("%q and %q are not a valid name and ref: use letters, digits, and _ - . +", f.Name, f.Ref)
		}
		return cmp.Or(webAddress(f.BuildURL), optional(webAddress)(f.Git), atMost(200)(f.BuildDir))
	}))
}

// maxFrontendConfiguration bounds the JSON of one front end, in characters.
const maxFrontendConfiguration = 100_000

func frontendConfigurations(at *[]FrontendConfiguration) field {
	return rows(at, []column[FrontendConfiguration]{
		{name: "name", at: func(f *FrontendConfiguration) any { return &f.Name }},
		{name: "configuration", at: func(f *FrontendConfiguration) any { return &f.Configuration }},
	}, func(list []FrontendConfiguration) error {
		seen := make(map[string]bool, len(list))
		for _, f := range list {
			var object map[string]json.RawMessage
			switch {
			case f.Name == "" || len(f.Name) > 100:
				return errors.New("the name of a front end must have 1 to 100 characters")
			case seen[f.Name]:
				return fmt.Errorf("%s is listed twice", f.Name)
			case len(f.Configuration) > maxFrontendConfiguration:
				return fmt.Errorf("the configuration of %s is longer than %d characters", f.Name, maxFrontendConfiguration)
			case json.Unmarshal([]byte(f.Configuration), &object) != nil || object == nil:
				return fmt.Errorf(`the configuration of %s is not a JSON object such as {"theme": "dark"}`, f.Name)
			}
			seen[f.Name] = true
		}
		return nil
	})
}

func (c *Config) logSettings() section {
	return section{"log", "The log, which is written to standard error.", []Setting{
		{Key: "level", field: choice(&c.Log.Level, "info", "debug", "info", "warn", "error"),
			Description: "The lowest level that is logged. \"svc log level\" changes it until the next start, or until this setting changes."},
		{Key: "format", field: choice(&c.Log.Format, LogText, LogText, LogJSON), Restart: true,
			Description: "\"text\" is easy to read, \"json\" is for log collectors."},
		{Key: "access", field: boolean(&c.Log.Access, false),
			Description: "Log each request with its method, route, status, duration and client address, at the level \"info\". Parameters are never logged."},
	}}
}

func (c *Config) metricsSettings() section {
	return section{"metrics", "Metrics for Prometheus.", []Setting{
		{Key: "enabled", field: boolean(&c.Metrics.Enabled, false), Restart: true,
			Description: "Serve metrics under /metrics on a listener of their own."},
		{Key: "listen", field: text(&c.Metrics.Listen, "127.0.0.1:4001", listenAddress), Restart: true,
			Description: "Where metrics are served: an address and port, or the path of a Unix socket. Anyone who can reach it can read them; they name no account and no other server."},
	}}
}

func (c *Config) mailSettings() section {
	return section{"mail", "Outgoing mail.", []Setting{
		{Key: "enabled", field: boolean(&c.Mail.Enabled, false),
			Description: "Send mail: confirmations, password reset links, notices. \"svc mail test ADDRESS\" shows whether it works."},
		{Key: "adapter", field: choice(&c.Mail.Adapter, MailSMTP, MailSMTP, MailFile),
			Description: "\"smtp\" sends mail through a mail server; \"file\" writes it to mail/ in the data directory, for testing."},
		{Key: "from", field: text(&c.Mail.From, "", optional(mailSender)),
			Description: "Sender of all mail, with or without a display name. Empty: \"noreply@\" and the host in handles.",
			Suggestions: []any{"Example <noreply@example.org>"}},
		{Key: "host", field: text(&c.Mail.Host, "", optional(hostName)),
			Description: "Host name or IP address of the mail server."},
		{Key: "port", field: number(&c.Mail.Port, 587, 1, 65535),
			Description: "Port of the mail server: usually 587 with \"starttls\", 465 with \"tls\", 25 with \"none\"."},
		{Key: "user", field: text(&c.Mail.User, "", oneLine),
			Description: "User name for the mail server. Empty: no authentication."},
		{Key: "password", field: text(&c.Mail.Password, "", oneLine), Secret: true,
			Description: "Password for the mail server."},
		{Key: "tls", field: choice(&c.Mail.TLS, MailStartTLS, MailStartTLS, MailTLS, MailPlain),
			Description: "Encryption of the connection to the mail server. Use \"none\" only for a mail server on this machine."},
		{Key: "verify_certificate", field: boolean(&c.Mail.VerifyCertificate, true),
			Description: "Refuse a mail server whose certificate is not valid for its host name. Turn this off only for a server with a self-signed certificate in a network that you trust."},
	}}
}
