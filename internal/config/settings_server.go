package config

import "time"

// Settings of how the server runs.

func (c *Config) serverSettings() section {
	return section{"server", "How the server is reached.", []Setting{
		{Key: "listen", field: text(&c.Server.Listen, "127.0.0.1:4000", listenAddress), Restart: true,
			Description: "Where the server listens: an address and port, or the path of a Unix socket. Without an address (\":4000\") it listens on all of them.",
			Suggestions: []any{":4000", "/run/svc/svc.sock"}},
		{Key: "url", field: text(&c.Server.URL, "http://localhost:4000", baseURL), Restart: true,
			Description: "The address under which people and other servers reach this one. It becomes part of every account and post: choose it before the first start and keep it.",
			Suggestions: []any{"https://social.example.org"}},
		{Key: "trusted_proxies", field: list(&c.Server.TrustedProxies, nil, each(proxyRange)), Restart: true,
			Description: "Addresses or networks of reverse proxies whose X-Forwarded-For header is believed. Without your proxy in this list, all visitors look like one and share its rate limits.",
			Suggestions: []any{"127.0.0.1", "::1", "10.0.0.0/8"}},
		{Key: "read_header_timeout", field: duration(&c.Server.ReadHeaderTimeout, 5*time.Second, time.Second, time.Minute), Restart: true,
			Description: "How long a client may take to send the headers of a request."},
		{Key: "read_timeout", field: duration(&c.Server.ReadTimeout, 3*time.Minute, 5*time.Second, time.Hour), Restart: true,
			Description: "How long a client may take to send a whole request, uploads included."},
		{Key: "write_timeout", field: duration(&c.Server.WriteTimeout, 3*time.Minute, 5*time.Second, time.Hour), Restart: true,
			Description: "How long an answer may take until the client has it. Streams are exempt."},
		{Key: "idle_timeout", field: duration(&c.Server.IdleTimeout, time.Minute, time.Second, time.Hour), Restart: true,
			Description: "How long an unused connection is kept open."},
	}}
}

func (c *Config) serverTlsSettings() section {
	return section{"server.tls", "Built-in https with certificates from Let's Encrypt, for a server without a reverse proxy.", []Setting{
		{Key: "enabled", field: boolean(&c.Server.TLS.Enabled, false), Restart: true,
			Description: "Fetch and renew a certificate for the host of server.url. It needs server.listen = \":443\" and an https address in server.url."},
		{Key: "email", field: text(&c.Server.TLS.Email, "", optional(mailAddress)), Restart: true,
			Description: "Where the certificate authority may write to if something is wrong with the certificate."},
		{Key: "http_listen", field: text(&c.Server.TLS.HTTPListen, ":80", optional(hostAndPort)), Restart: true,
			Description: "Where plain http is answered: with the proof that the authority asks for, and a redirect to https for everything else. Empty: nowhere."},
	}}
}

func (c *Config) dataSettings() section {
	return section{"data", "Where everything is kept.", []Setting{
		{Key: "dir", field: text(&c.Data.Dir, "./data", notEmpty, oneLine), Restart: true,
			Description: "Folder of the database, the uploads and the keys. It must be on a local disk.",
			Suggestions: []any{"/var/lib/svc"}},
		{Key: "synchronous", field: choice(&c.Data.Synchronous, SyncFull, SyncFull, SyncNormal), Restart: true,
			Description: "With \"full\" what was answered with success survives a power failure. \"normal\" is faster on slow disks, but the last moments before a power failure may be lost."},
		{Key: "readers", field: number(&c.Data.Readers, 4, 1, 16), Restart: true,
			Description: "How many connections read from the database at the same time. Each has a cache of its own."},
		{Key: "reader_cache", field: number(&c.Data.ReaderCache, 4_000_000, 500_000, 1_000_000_000), Restart: true,
			Description: "Database cache of each reading connection, in bytes."},
		{Key: "writer_cache", field: number(&c.Data.WriterCache, 8_000_000, 500_000, 1_000_000_000), Restart: true,
			Description: "Database cache of the writing connection, in bytes."},
	}}
}

func (c *Config) cacheSettings() section {
	return section{"cache", "What is kept in memory to answer faster.", []Setting{
		{Key: "rendered_bytes", field: number(&c.Cache.RenderedBytes, 16_000_000, 0, 4_000_000_000), Restart: true,
			Description: "Memory for posts and accounts in the form in which they are sent, in bytes. 0 keeps none."},
		{Key: "tokens", field: number(&c.Cache.Tokens, 4096, 0, 1_000_000), Restart: true,
			Description: "How many signed-in apps are remembered between requests. 0 remembers none."},
	}}
}

func (c *Config) apiSettings() section {
	return section{"api", "How this service is named in the programming interface.", []Setting{
		{Key: "name", field: text(&c.API.Name, "svc", apiName), Restart: true,
			Description: "The name inside paths, cookies and object keys. Front ends and apps made for another server of this family work when it is the name they know."},
	}}
}

func (c *Config) logSettings() section {
	return section{"log", "What the server writes about its work, to the standard error output.", []Setting{
		{Key: "level", field: choice(&c.Log.Level, "info", "debug", "info", "warn", "error"), Restart: true,
			Description: "The least important messages that are written."},
		{Key: "format", field: choice(&c.Log.Format, LogText, LogText, LogJSON), Restart: true,
			Description: "\"text\" is for people, \"json\" for programs that collect logs."},
	}}
}

func (c *Config) metricsSettings() section {
	return section{"metrics", "Figures for a Prometheus monitoring system.", []Setting{
		{Key: "enabled", field: boolean(&c.Metrics.Enabled, false, unsupported), Restart: true,
			Description: "Offer them under /metrics."},
		{Key: "listen", field: text(&c.Metrics.Listen, "127.0.0.1:4001", listenAddress), Restart: true,
			Description: "Where they are offered. Everybody who reaches this address can read them."},
	}}
}

func (c *Config) mailSettings() section {
	return section{"mail", "How the server sends mail.", []Setting{
		{Key: "enabled", field: boolean(&c.Mail.Enabled, false, unsupported), Restart: true,
			Description: "Send mail at all: confirmations, password links, notices."},
		{Key: "adapter", field: choice(&c.Mail.Adapter, MailSMTP, MailSMTP, MailFile), Restart: true,
			Description: "\"smtp\" hands mail to a mail server; \"file\" writes it to the folder mail/ of the data folder, for trials."},
		{Key: "from", field: text(&c.Mail.From, "", optional(mailSender)), Restart: true,
			Description: "Sender of all mail, with or without a name. Empty: \"noreply@\" and the host of server.url.",
			Suggestions: []any{"Example <noreply@example.org>"}},
		{Key: "host", field: text(&c.Mail.Host, "", optional(hostName)), Restart: true,
			Description: "Name or address of the mail server."},
		{Key: "port", field: number(&c.Mail.Port, 587, 1, 65535), Restart: true,
			Description: "Port of the mail server: usually 587 with \"starttls\", 465 with \"tls\", 25 with \"none\"."},
		{Key: "user", field: text(&c.Mail.User, "", oneLine), Restart: true,
			Description: "Name to sign in with at the mail server. Empty: without signing in."},
		{Key: "password", field: text(&c.Mail.Password, "", oneLine), Restart: true, Secret: true,
			Description: "Password to sign in with at the mail server."},
		{Key: "tls", field: choice(&c.Mail.TLS, MailStartTLS, MailStartTLS, MailTLS, MailPlain), Restart: true,
			Description: "How the way to the mail server is protected. \"none\" is only for a mail server on this machine."},
	}}
}
