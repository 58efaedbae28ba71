package staff

import (
	"svc/admin"
	"svc/server/entity"
	"svc/server/rest"
)

func (h *Handlers) archiveRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/svc/admin/archives": {rest.Admin("admin:write:accounts").Answers("Archive"), h.importArchive},
	}
}

// importArchive imports the posts of an archive, a file or folder in the folder imports of the data directory, into the account of a user. It may be of
// any account.
func (h *Handlers) importArchive(r *rest.Request) (any, error) {
	var p struct {
		Nickname string `param:"nickname,required"`
		File     string `param:"file,required"`
		Public   bool   `param:"public"`
		Emoji    bool   `param:"emoji"`
		Origin   string `param:"origin"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	a, err := h.Archives.As(r.Viewer).StartFromFolder(r.Context(), admin.ArchiveImport{Name: p.Nickname, File: p.File, Public: p.Public, Emoji: p.Emoji, Origin: p.Origin})
	if err != nil {
		return nil, err
	}
	return entity.NewArchive(a), nil
}
