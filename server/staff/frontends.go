package staff

import (
	"svc/admin"
	"svc/internal/errs"
	"svc/server/rest"
)

// frontendRoutes are the web front ends that are installed on the server.
func (h *Handlers) frontendRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/admin/frontends":          {rest.Admin("admin:read").Answers("[]Frontend"), h.listFrontends},
		"DELETE /api/v1/svc/admin/frontends":       {rest.Admin("admin:write").Answers("[]Frontend"), h.removeFrontend},
		"POST /api/v1/svc/admin/frontends/install": {rest.Admin("admin:write").Answers("[]Frontend"), h.installFrontend},
		"POST /api/v1/svc/admin/frontends/use":     {rest.Admin("admin:write").Answers("FrontendChoice"), h.useFrontend},
	}
}

// listFrontends returns the front ends that are installed or known.
func (h *Handlers) listFrontends(r *rest.Request) (any, error) {
	return h.Frontends.List(r.Context())
}

// installFrontend installs a front end from an archive: an upload, a file in imports/, or a URL. It answers with the list.
func (h *Handlers) installFrontend(r *rest.Request) (any, error) {
	var p struct {
		Name     string       `param:"name"`
		Ref      string       `param:"ref"`
		File     *rest.Upload `param:"file"`
		FileName string       `param:"file"`
		BuildURL string       `param:"build_url"`
		BuildDir string       `param:"build_dir"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, admin.NotInstalled(err)
	}
	i := admin.FrontendInstall{Name: p.Name, Ref: p.Ref, BuildURL: p.BuildURL, BuildDir: p.BuildDir, File: p.FileName}
	if p.File != nil && !p.File.Empty {
		i.Archive = p.File.Open()
	}
	frontends := h.Frontends.As(r.Viewer)
	if _, err := frontends.Install(r.Context(), i); err != nil {
		return nil, err
	}
	return frontends.List(r.Context())
}

// useFrontend shows an installed version to visitors, or to administrators. With an empty version it shows the pages of this program.
func (h *Handlers) useFrontend(r *rest.Request) (any, error) {
	var p struct {
		Version *string `param:"version"`
		Admin   bool    `param:"admin"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.Version == nil {
		return nil, errs.BadRequest("Missing field: version.")
	}
	return h.Frontends.As(r.Viewer).Use(r.Context(), admin.FrontendUse{Version: *p.Version, Admin: p.Admin})
}

// removeFrontend removes an installed version. It answers with the list.
func (h *Handlers) removeFrontend(r *rest.Request) (any, error) {
	var p struct {
		Version string `param:"version,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	frontends := h.Frontends.As(r.Viewer)
	if _, err := frontends.Remove(r.Context(), p.Version); err != nil {
		return nil, err
	}
	return frontends.List(r.Context())
}
