package app

import (
	"context"
	"net"
	"net/url"

	"svc/emoji"
	"svc/internal/errs"
	"svc/internal/text"
)

// StealArgs names an emoji of another server and the pack that gets it.
type StealArgs struct {
	Shortcode string `json:"shortcode"`
	Host      string `json:"host"`
	Pack      string `json:"pack"`
}

// StealEmoji copies a custom emoji of another server.
var StealEmoji = newCall("steal emoji", func(s *Server, ctx context.Context, a StealArgs) (*emoji.Emoji, error) {
	host := text.NormalizeDomain(a.Host)
	if host == "" {
		return nil, errs.Invalid("%q is not a host such as example.org", a.Host)
	}
	base := url.URL{Scheme: "https", Host: host}
	if ip := net.ParseIP(base.Hostname()); s.Live.AllowLoopback && ip != nil && ip.IsLoopback() {
		base.Scheme = "http"
	}
	e, err := s.EmojiPeers.Steal(ctx, a.Shortcode, base.String(), a.Pack)
	if err != nil {
		return nil, err
	}
	return e, s.Admin.RecordEmojiChange(ctx, "emoji_steal", "copied emoji "+e.Shortcode+" of "+host+" into pack "+a.Pack)
})
