package config

import (
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

var (
	apiNamePattern  = regexp.MustCompile(`^[a-z][a-z0-9_]{0,29}$`)
	productPattern  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.+-]* [0-9][A-Za-z0-9_.+-]*$`)
	nicknamePattern = regexp.MustCompile(`^[A-Za-z0-9_.~-]{1,100}$`)
	languagePattern = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$`)
	colourPattern   = regexp.MustCompile(`^#[0-9a-f]{6}$`)
	hostPattern     = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$`)
)

// routeWords are path segments that routes use where api.name is inserted: /WORD, /api/WORD or /api/v1/WORD.
var routeWords = []string{
	"about", "account", "accounts", "activities", "announcements", "ap", "apps", "auth", "blocks", "bookmarks",
	"collections", "conversations", "custom_emojis", "directory", "domain_blocks", "emails", "emoji", "endorsements", "favourites",
	"featured_tags", "filters", "follow_requests", "followed_tags", "follows", "identity_proofs", "inbox", "instance",
	"internal", "lists", "main", "markers", "media", "metrics", "mutes", "nodeinfo", "notice", "notifications", "oauth",
	"objects", "oembed", "openapi", "polls", "preferences", "profile", "proxy", "push", "registration", "relay", "reports",
	"scheduled_statuses", "search", "settings", "static", "statuses", "streaming", "suggestions", "tags", "timelines",
	"trends", "users", "v0", "v1", "v2", "v3", "v4", "web",
}

// conflicts checks the rules that concern several settings at once.
func (c *Config) conflicts() Problems {
	var p Problems
	if c.Server.TLS.Enabled {
		if c.URL().Scheme != "https" {
			p = append(p, errors.New("server.url: must begin with https:// while server.tls.enabled is true"))
		}
		if network, _ := c.ListenAddress(); network != "tcp" {
			p = append(p, errors.New("server.listen: must be an address and port while server.tls.enabled is true"))
		}
	}
	if host := c.Server.Host; host != "" && !c.Federation.AllowLoopback {
		_, _, err := net.SplitHostPort(host)
		if _, addressErr := netip.ParseAddr(host); err == nil || addressErr == nil {
			p = append(p, errors.New(`server.host: must be a host name such as "example.org", without a port`))
		}
	}
	if caches := c.Caches(); c.Data.MemoryLimit != 0 && c.Data.MemoryLimit < caches+lowestMemoryLimit {
		p = append(p, fmt.Errorf("data.memory_limit: must be at least %s bytes: 64 MiB and the caches (data.readers times data.reader_cache, data.writer_cache, cache.rendered_bytes)",
			formatNumber(caches+lowestMemoryLimit)))
	}
	if c.Metrics.Enabled && c.Metrics.Listen == c.Server.Listen {
		p = append(p, errors.New("metrics.listen: must not be the address of server.listen"))
	}
	if c.Polls.MinExpiration > c.Polls.MaxExpiration {
		p = append(p, errors.New("polls.min_expiration: must not be longer than polls.max_expiration"))
	}
	if c.Media.Bucket == "" && c.Media.Storage == MediaInBucket {
		p = append(p, errors.New(`media.bucket: must not be empty while media.storage is "s3"`))
	}
	if c.Media.Bucket == "" && c.Media.Redirect {
		p = append(p, errors.New("media.bucket: must not be empty while media.redirect is true"))
	}
	if origin, err := url.Parse(c.MediaRedirectOrigin()); err == nil && origin.Host != "" && origin.Host == c.URL().Host {
		p = append(p, errors.New("media.redirect: the host of media.bucket must not be that of server.url, because S3 does not send the headers that protect it"))
	}
	if c.MediaProxy.Enabled && c.MediaProxy.MaxFile > c.MediaProxy.CacheSize/2 {
		p = append(p, errors.New("media_proxy.max_file: must not be larger than half of media_proxy.cache_size"))
	}
	if c.Mail.Enabled && c.Mail.Adapter == MailSMTP && c.Mail.Host == "" {
		p = append(p, errors.New(`mail.host: must not be empty while mail.enabled is true and mail.adapter is "smtp"`))
	}
	if c.Captcha.Enabled && c.Captcha.Provider == CaptchaKocaptcha && c.Captcha.Endpoint == "" {
		p = append(p, errors.New(`captcha.endpoint: must not be empty while captcha.provider is "kocaptcha"`))
	}
	if c.Replica.Enabled && c.Replica.Place == "" {
		p = append(p, errors.New("replica.place: must not be empty while replica.enabled is true"))
	}
	if c.Replica.Enabled && c.Replica.PassphraseFile == "" {
		p = append(p, errors.New("replica.passphrase_file: must not be empty while replica.enabled is true"))
	}
	return p
}

// optional accepts the empty text too.
func optional(r rule[string]) rule[string] {
	return func(s string) error {
		if s == "" {
			return nil
		}
		return r(s)
	}
}

// each applies a rule to every element of a list.
func each[T any](r rule[T]) rule[[]T] {
	return func(l []T) error {
		for _, v := range l {
			if err := r(v); err != nil {
				return err
			}
		}
		return nil
	}
}

// allOf accepts a list of the given texts only.
func allOf(known ...string) rule[[]string] { return each(oneOf(known...)) }

func contains(needed string) rule[[]string] {
	return func(l []string) error {
		if !slices.Contains(l, needed) {
			return fmt.Errorf("must contain %q", needed)
		}
		return nil
	}
}

func atLeastOne(l []string) error {
	if len(l) == 0 {
		return errors.New("must have at least one entry")
	}
	return nil
}

// longEnough rejects token lifetimes under five minutes, because apps could not refresh their tokens in time. 0 is no expiry.
func longEnough(d time.Duration) error {
	if d > 0 && d < 5*time.Minute {
		return fmt.Errorf("must be 5m or more, or 0s for no expiry, not %s", formatDuration(d))
	}
	return nil
}

func oneOf(known ...string) rule[string] {
	return func(s string) error {
		if !slices.Contains(known, s) {
			return fmt.Errorf(`must be one of "%s", not %q`, strings.Join(known, `", "`), s)
		}
		return nil
	}
}

func atMost(characters int) rule[string] {
	return func(s string) error {
		if utf8.RuneCountInString(s) > characters {
			return fmt.Errorf("must have at most %d characters", characters)
		}
		return nil
	}
}

func notEmpty(s string) error {
	if strings.TrimSpace(s) == "" {
		return errors.New("must not be empty")
	}
	return nil
}

// oneLine rejects control characters in texts that are used in headers, protocols and file names. Its error omits the text, which
// may be a password.
func oneLine(s string) error {
	if strings.ContainsFunc(s, unicode.IsControl) {
		return errors.New("must be a single line without control characters")
	}
	return nil
}

func listenAddress(s string) error {
	if isSocketPath(s) {
		return oneLine(s)
	}
	if err := hostAndPort(s); err != nil {
		return fmt.Errorf(`must be an address and port such as "127.0.0.1:4000", or the path of a Unix socket, not %q`, s)
	}
	return nil
}

func hostAndPort(s string) error {
	host, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err == nil && host != "" {
		err = hostName(host)
	}
	if err != nil {
		return fmt.Errorf(`must be an address and port such as "127.0.0.1:4000" or ":80", not %q`, s)
	}
	return nil
}

func hostName(s string) error {
	if _, err := netip.ParseAddr(s); err == nil {
		return nil
	}
	if len(s) > 253 || !hostPattern.MatchString(s) {
		return fmt.Errorf("%q is not a host name or address", s)
	}
	return nil
}

func baseURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Opaque != "" || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "":
		return errors.New(`must be a URL such as "https://social.example.org"`)
	case u.User != nil:
		return errors.New("must not contain a user name or password")
	case u.Path != "" && u.Path != "/", u.RawQuery != "", u.ForceQuery, u.Fragment != "", strings.Contains(s, "#"):
		return errors.New("must end after the host and port, without a path")
	case hostName(u.Hostname()) != nil:
		return fmt.Errorf("%q is not a host name; write internationalized names in their xn-- form", u.Hostname())
	case strings.HasSuffix(u.Host, ":"):
		return errors.New("must have a port after the colon")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("%q is not a port", port)
		}
	}
	return nil
}

// handleHost accepts a host name, and a port for trials on one machine (conflicts).
func handleHost(s string) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		host = s
	} else if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("%q is not a port", port)
	}
	if host == "" || hostName(host) != nil {
		return fmt.Errorf(`%q is not a host such as "example.org"; write internationalized names in their xn-- form`, s)
	}
	return nil
}

func proxyRange(s string) error {
	_, err := parseProxy(s)
	return err
}

// parseProxy reads an address or a network in CIDR form.
func parseProxy(s string) (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.Masked(), nil
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, fmt.Errorf(`%q is not an address such as "127.0.0.1" or a network such as "10.0.0.0/8"`, s)
	}
	return netip.PrefixFrom(a, a.BitLen()), nil
}

func apiName(s string) error {
	switch {
	case !apiNamePattern.MatchString(s):
		return errors.New("must begin with a lower-case letter and have at most 30 lower-case letters, digits and _")
	case slices.Contains(routeWords, s):
		return fmt.Errorf("%q is already used in the paths of the API", s)
	}
	return nil
}

// productVersion accepts a product and its version, without what would end the comment of the version of the instance.
func productVersion(s string) error {
	if len(s) > 100 || !productPattern.MatchString(s) {
		return fmt.Errorf(`%q is not a product and its version such as "Pleroma 2.7.1"`, s)
	}
	return nil
}

func mailAddress(s string) error {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s {
		return fmt.Errorf(`%q is not an e-mail address such as "you@example.org"`, s)
	}
	return nil
}

func mailSender(s string) error {
	if _, err := mail.ParseAddress(s); err != nil {
		return fmt.Errorf(`%q is not a sender such as "Example <noreply@example.org>"`, s)
	}
	return oneLine(s)
}

func nickname(s string) error {
	if !nicknamePattern.MatchString(s) {
		return fmt.Errorf("%q is not a nickname", s)
	}
	return nil
}

// localNickname also accepts the form "@nick".
func localNickname(s string) error { return nickname(strings.TrimPrefix(s, "@")) }

func languageTag(s string) error {
	if !languagePattern.MatchString(s) {
		return fmt.Errorf(`%q is not a language code such as "en" or "pt-BR"`, s)
	}
	return nil
}

func pictureAddress(s string) error {
	u, err := url.Parse(s)
	onServer := err == nil && u.Scheme == "" && u.Host == "" && strings.HasPrefix(u.Path, "/")
	absolute := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	if !onServer && !absolute {
		return fmt.Errorf(`%q is neither a path such as "/static/picture.png" nor a URL such as "https://example.org/picture.png"`, s)
	}
	return nil
}
