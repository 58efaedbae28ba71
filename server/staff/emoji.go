package staff

import (
	"svc/internal/config"
	"svc/server/rest"
)

// emojiRoutes are the operations on custom emoji that the admin API has; packs are in package server.
func (h *Handlers) emojiRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/svc/admin/reload_emoji": {rest.Privileged(config.EmojiManage, "admin:write").Answers("string"), h.reloadEmoji},
	}
}

// reloadEmoji reads all packs again, after the operator has changed their files.
func (h *Handlers) reloadEmoji(r *rest.Request) (any, error) {
	if err := h.Emojis.Reload(); err != nil {
		return nil, err
	}
	return "ok", h.as(r).RecordEmojiChange(r.Context(), "emoji_reload", "read all emoji packs again")
}
