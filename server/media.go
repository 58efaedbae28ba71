package server

import (
	"io"
	"net/netip"
	"strconv"
	"strings"

	"svc/internal/errs"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// uploads serves uploads and media files.
type uploads struct{ *parts }

func (h *uploads) routes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/media":       {rest.User("write:media").Uploads().Limit("media_upload").Written().Answers("Attachment"), h.uploadMedia},
		"POST /api/v2/media":       {rest.User("write:media").Uploads().Limit("media_upload").Written().Answers("Attachment"), h.uploadMedia},
		"GET /api/v1/media/:id":    {rest.User("write:media", "read:media").Answers("Attachment"), h.showMedia},
		"PUT /api/v1/media/:id":    {rest.User("write:media").Uploads().Written().Answers("Attachment"), h.updateMedia},
		"DELETE /api/v1/media/:id": {rest.User("write:media").Answers("empty"), operation(h.Social.DeleteUpload)},
		"GET /media/*path":         {rest.File, h.serveMedia},
		"GET /proxy/*path":         {rest.File, h.serveProxy},
		"GET /emoji/*path":         {rest.File, h.serveEmoji},
	}
}

// uploadMedia stores a file. It answers when the file is ready in both versions of the API, so clients need not poll.
func (h *uploads) uploadMedia(r *rest.Request) (any, error) {
	var p struct {
		File        *rest.Upload `param:"file"`
		Description string       `param:"description"`
		Focus       *string      `param:"focus"`
		Thumbnail   *rest.Upload `param:"thumbnail"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.File == nil || p.File.Empty {
		return nil, errs.Invalid("Validation failed: File can't be blank")
	}
	focus, err := parseFocus(p.Focus)
	if err != nil {
		return nil, err
	}
	u := social.NewUpload{Content: p.File.Open(), Description: p.Description, Thumbnail: content(p.Thumbnail)}
	if focus != nil {
		u.Focus = *focus
	}
	m, err := h.Social.Upload(r.Context(), r.Viewer, u)
	if err != nil {
		return nil, err
	}
	return h.Entities.Attachment(m)
}

// content returns the content of a file, nil if none was chosen.
func content(u *rest.Upload) io.Reader {
	if u == nil || u.Empty {
		return nil
	}
	return u.Open()
}

// parseFocus reads a focal point, "x,y" with both from -1 to 1. It returns nil for none.
func parseFocus(value *string) (*social.Focus, error) {
	if value == nil || *value == "" {
		return nil, nil
	}
	x, y, found := strings.Cut(*value, ",")
	fx, okX := parseCoordinate(x)
	fy, okY := parseCoordinate(y)
	if !found || !okX || !okY {
		return nil, errs.Invalid("Validation failed: focus must be two numbers from -1 to 1: x,y")
	}
	return &social.Focus{X: fx, Y: fy}, nil
}

func parseCoordinate(s string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return v, err == nil && v >= -1 && v <= 1
}

// showMedia returns an attachment of the viewer's; 206 while it is processed.
func (h *uploads) showMedia(r *rest.Request) (any, error) {
	m, err := h.DB.OwnMedia(r.Context(), r.Viewer.ID, mediaParam(r))
	if err != nil {
		return nil, err
	}
	return h.Entities.Attachment(m)
}

// updateMedia changes the description, focus or thumbnail of an upload of the viewer.
func (h *uploads) updateMedia(r *rest.Request) (any, error) {
	var p struct {
		Description *string      `param:"description"`
		Focus       *string      `param:"focus"`
		Thumbnail   *rest.Upload `param:"thumbnail"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	focus, err := parseFocus(p.Focus)
	if err != nil {
		return nil, err
	}
	change := social.UploadChange{Description: p.Description, Focus: focus, Thumbnail: content(p.Thumbnail)}
	if change == (social.UploadChange{}) {
		return h.showMedia(r)
	}
	m, err := h.Social.ChangeUpload(r.Context(), r.Viewer, mediaParam(r), change)
	if err != nil {
		return nil, err
	}
	return h.Entities.Attachment(m)
}

func mediaParam(r *rest.Request) store.MediaID { return store.ParseID[store.MediaID](r.Param("id")) }

func (h *uploads) serveMedia(r *rest.Request) (any, error) { return h.Media.Handler(clientOf(r)), nil }

// clientOf returns the network of a client, the zero Addr if many clients share it.
func clientOf(r *rest.Request) netip.Addr {
	if r.FromProxy() {
		return netip.Addr{}
	}
	return r.Network()
}

// serveProxy serves remote media.
func (h *uploads) serveProxy(r *rest.Request) (any, error) {
	return h.Proxy.Handler(clientOf(r)), nil
}

// serveEmoji serves the images of custom emoji.
func (h *uploads) serveEmoji(*rest.Request) (any, error) { return h.Emojis.Handler(), nil }
