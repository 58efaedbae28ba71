package staff

import (
	"net/http"
	"strconv"
	"strings"

	"svc/admin"
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// Pages of blocks, as in the reference API.
const (
	blockPage    = 100
	maxBlockPage = 200
)

// domainBlockRoutes are the hosts that the settings restrict or accept alone, for apps of moderators. The settings are those of the config
// endpoints.
func (h *Handlers) domainBlockRoutes() rest.Routes {
	read, write := rest.Admin("admin:read:domain_blocks"), rest.Admin("admin:write:domain_blocks")
	readAllows, writeAllows := rest.Admin("admin:read:domain_allows"), rest.Admin("admin:write:domain_allows")
	return rest.Routes{
		"GET /api/v1/admin/domain_blocks":             {read.Answers("[]AdminDomainBlock"), h.listDomainBlocks},
		"POST /api/v1/admin/domain_blocks":            {write.Written().Answers("AdminDomainBlock"), h.addDomainBlock},
		"GET /api/v1/admin/domain_blocks/:id":         {read.Answers("AdminDomainBlock"), h.showDomainBlock},
		"PUT /api/v1/admin/domain_blocks/:id":         {write.Answers("AdminDomainBlock"), h.updateDomainBlock},
		"DELETE /api/v1/admin/domain_blocks/:id":      {write.Answers("empty"), h.removeDomainBlock},
		"GET /api/v1/svc/admin/domain_blocks/preview": {read.Answers("[]HostPreview"), h.previewDomainBlock},
		"GET /api/v1/admin/domain_allows":             {readAllows.Answers("[]AdminDomainAllow"), h.listDomainAllows},
		"POST /api/v1/admin/domain_allows":            {writeAllows.Written().Answers("AdminDomainAllow"), h.addDomainAllow},
		"GET /api/v1/admin/domain_allows/:id":         {readAllows.Answers("AdminDomainAllow"), h.showDomainAllow},
		"DELETE /api/v1/admin/domain_allows/:id":      {writeAllows.Answers("AdminDomainAllow"), h.removeDomainAllow},
	}
}

// blockList renders a page of a list that is ordered by id.
func blockList[T, E any](r *rest.Request, page rest.Page, rows []T, id func(T) store.BlockID, render func(T) E) []E {
	list := make([]E, len(rows))
	for i, row := range rows {
		list[i] = render(row)
	}
	r.LinkPage(page, len(rows), func(i int) string { return strconv.FormatInt(int64(id(rows[i])), 10) })
	return list
}

func blockID(r *rest.Request) (id store.BlockID) {
	id.UnmarshalText([]byte(r.Param("id")))
	return id
}

// listDomainBlocks lists restricted hosts, newest first.
func (h *Handlers) listDomainBlocks(r *rest.Request) (any, error) {
	page := r.Page(blockPage, maxBlockPage)
	rows, err := h.Admin.HostBlockPage(r.Context(), page.Page)
	if err != nil {
		return nil, err
	}
	return blockList(r, page, rows, func(b *admin.HostBlock) store.BlockID { return b.ID }, entity.NewAdminDomainBlock), nil
}

// domainBlock renders one block.
func domainBlock(b *admin.HostBlock, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return entity.NewAdminDomainBlock(b), nil
}

// showDomainBlock returns a block of a host.
func (h *Handlers) showDomainBlock(r *rest.Request) (any, error) {
	return domainBlock(h.Admin.HostBlock(r.Context(), blockID(r)))
}

// domainBlockForm are the parameters of a block; nil: not sent.
type domainBlockForm struct {
	Domain         string  `param:"domain"`
	Severity       *string `param:"severity"`
	RejectMedia    *bool   `param:"reject_media"`
	RejectReports  *bool   `param:"reject_reports"`
	PrivateComment *string `param:"private_comment"`
	PublicComment  *string `param:"public_comment"`
	Obfuscate      *bool   `param:"obfuscate"`
}

func (f *domainBlockForm) change() admin.DomainBlock {
	return admin.DomainBlock{
		Severity: f.Severity, RejectMedia: f.RejectMedia, RejectReports: f.RejectReports, Comment: f.PublicComment, PrivateComment: f.PrivateComment,
		Obfuscate: f.Obfuscate,
	}
}

var errBlankDomain = errs.Invalid("Validation failed: Domain can't be blank")

// addDomainBlock restricts a host; its posts are unlisted by default. For one that is restricted, the answer has its block.
func (h *Handlers) addDomainBlock(r *rest.Request) (any, error) {
	var f domainBlockForm
	if err := r.Bind(&f); err != nil {
		return nil, err
	}
	if strings.TrimSpace(f.Domain) == "" {
		return nil, errBlankDomain
	}
	if f.Severity == nil {
		f.Severity = new(admin.Silence)
	}
	b, existing, err := h.as(r).AddDomainBlock(r.Context(), f.Domain, f.change())
	if existing != nil {
		r.SetStatus(http.StatusUnprocessableEntity)
		return map[string]any{"error": err.Error(), "existing_domain_block": entity.NewAdminDomainBlock(existing)}, nil
	}
	return domainBlock(b, invalid(err))
}

// previewDomainBlock counts what a block of a host with its subdomains would concern, by known host.
func (h *Handlers) previewDomainBlock(r *rest.Request) (any, error) {
	var p struct {
		Domain string `param:"domain"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if strings.TrimSpace(p.Domain) == "" {
		return nil, errBlankDomain
	}
	list, err := h.Admin.PreviewBlock(r.Context(), p.Domain)
	return list, invalid(err)
}

// invalid makes a bad request the validation error that apps of the reference API expect.
func invalid(err error) error {
	if e, ok := err.(*errs.Error); ok && e.Status == http.StatusBadRequest {
		return errs.Invalid("%s", e.Message)
	}
	return err
}

// updateDomainBlock changes the restrictions of a host.
func (h *Handlers) updateDomainBlock(r *rest.Request) (any, error) {
	var f domainBlockForm
	if err := r.Bind(&f); err != nil {
		return nil, err
	}
	return domainBlock(h.as(r).UpdateDomainBlock(r.Context(), blockID(r), f.change()))
}

// removeDomainBlock removes all restrictions of a host.
func (h *Handlers) removeDomainBlock(r *rest.Request) (any, error) {
	_, err := h.as(r).RemoveDomainBlock(r.Context(), blockID(r))
	return struct{}{}, err
}

// listDomainAllows lists the hosts that are accepted alone, newest first.
func (h *Handlers) listDomainAllows(r *rest.Request) (any, error) {
	page := r.Page(blockPage, maxBlockPage)
	rows, err := h.Admin.HostAllowPage(r.Context(), page.Page)
	if err != nil {
		return nil, err
	}
	return blockList(r, page, rows, func(a *admin.HostAllow) store.BlockID { return a.ID }, entity.NewAdminDomainAllow), nil
}

func domainAllow(a *admin.HostAllow, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return entity.NewAdminDomainAllow(a), nil
}

// showDomainAllow returns a host that is allowed.
func (h *Handlers) showDomainAllow(r *rest.Request) (any, error) {
	return domainAllow(h.Admin.HostAllow(r.Context(), blockID(r)))
}

// addDomainAllow accepts a host. As long as there is one, all others are rejected.
func (h *Handlers) addDomainAllow(r *rest.Request) (any, error) {
	var p struct {
		Domain string `param:"domain"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if strings.TrimSpace(p.Domain) == "" {
		return nil, errBlankDomain
	}
	a, err := h.as(r).AllowHost(r.Context(), p.Domain)
	return domainAllow(a, invalid(err))
}

// removeDomainAllow no longer accepts a host. It returns the removed entry.
func (h *Handlers) removeDomainAllow(r *rest.Request) (any, error) {
	return domainAllow(h.as(r).DisallowHost(r.Context(), blockID(r)))
}
