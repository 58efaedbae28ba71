package staff

import (
	"svc/admin"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// mediaProxyRoutes are the files that are banned, and the cache of the media proxy (admin API 9.4).
func (h *Handlers) mediaProxyRoutes() rest.Routes {
	write := rest.Admin("admin:write:media_proxy_caches")
	return rest.Routes{
		"GET /api/v1/svc/admin/media_proxy_caches":         {rest.Admin("admin:read:media_proxy_caches").Answers("MediaProxyCaches"), h.listMediaBans},
		"POST /api/v1/svc/admin/media_proxy_caches/delete": {write.Deletes().Answers("empty"), h.unbanMedia},
		"POST /api/v1/svc/admin/media_proxy_caches/purge":  {write.Deletes().Answers("empty"), h.purgeMedia},
	}
}

// listMediaBans lists the addresses of banned files, newest first.
func (h *Handlers) listMediaBans(r *rest.Request) (any, error) {
	p := pageOf(r, 50)
	bans, err := h.Admin.MediaBans(r.Context(), store.MediaBanQuery{Text: r.Query("query"), Limit: p.size, Offset: p.offset()})
	if err != nil {
		return nil, err
	}
	return entity.NewMediaProxyCaches(bans, p.size), nil
}

// unbanMedia lets files be fetched again that were banned.
func (h *Handlers) unbanMedia(r *rest.Request) (any, error) {
	var p struct {
		URLs []string `param:"urls,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	_, err := h.as(r).UnbanMedia(r.Context(), admin.MediaURLs{URLs: p.URLs})
	return struct{}{}, err
}

// purgeMedia removes copies from the cache, and bans the files unless ban is false.
func (h *Handlers) purgeMedia(r *rest.Request) (any, error) {
	var p struct {
		URLs []string `param:"urls,required"`
		Ban  *bool    `param:"ban"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	remove := h.as(r).BanMedia
	if p.Ban != nil && !*p.Ban {
		remove = h.as(r).PurgeMedia
	}
	_, err := remove(r.Context(), admin.MediaURLs{URLs: p.URLs})
	return struct{}{}, err
}
