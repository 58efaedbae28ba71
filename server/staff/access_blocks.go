package staff

import (
	"math"
	"strconv"
	"strings"
	"time"

	"svc/admin"
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// accessBlockRoutes are blocked e-mail domains, e-mail addresses and networks, for apps of moderators.
func (h *Handlers) accessBlockRoutes() rest.Routes {
	readDomains, writeDomains := rest.Admin("admin:read:email_domain_blocks"), rest.Admin("admin:write:email_domain_blocks")
	readEmails, writeEmails := rest.Admin("admin:read:canonical_email_blocks"), rest.Admin("admin:write:canonical_email_blocks")
	readIPs, writeIPs := rest.Admin("admin:read:ip_blocks"), rest.Admin("admin:write:ip_blocks")
	return rest.Routes{
		"GET /api/v1/admin/email_domain_blocks":           {readDomains.Answers("[]AdminEmailDomainBlock"), h.listEmailDomainBlocks},
		"POST /api/v1/admin/email_domain_blocks":          {writeDomains.Written().Answers("AdminEmailDomainBlock"), h.addEmailDomainBlock},
		"GET /api/v1/admin/email_domain_blocks/:id":       {readDomains.Answers("AdminEmailDomainBlock"), h.showEmailDomainBlock},
		"DELETE /api/v1/admin/email_domain_blocks/:id":    {writeDomains.Answers("empty"), h.removeEmailDomainBlock},
		"GET /api/v1/admin/canonical_email_blocks":        {readEmails.Answers("[]AdminCanonicalEmail"), h.listCanonicalEmailBlocks},
		"POST /api/v1/admin/canonical_email_blocks":       {writeEmails.Written().Answers("AdminCanonicalEmail"), h.addCanonicalEmailBlock},
		"POST /api/v1/admin/canonical_email_blocks/test":  {readEmails.Answers("[]AdminCanonicalEmail"), h.testCanonicalEmail},
		"GET /api/v1/admin/canonical_email_blocks/:id":    {readEmails.Answers("AdminCanonicalEmail"), h.showCanonicalEmailBlock},
		"DELETE /api/v1/admin/canonical_email_blocks/:id": {writeEmails.Answers("empty"), h.removeCanonicalEmailBlock},
		"GET /api/v1/admin/ip_blocks":                     {readIPs.Answers("[]AdminIPBlock"), h.listIPBlocks},
		"POST /api/v1/admin/ip_blocks":                    {writeIPs.Written().Answers("AdminIPBlock"), h.addIPBlock},
		"GET /api/v1/admin/ip_blocks/:id":                 {readIPs.Answers("AdminIPBlock"), h.showIPBlock},
		"PUT /api/v1/admin/ip_blocks/:id":                 {writeIPs.Answers("AdminIPBlock"), h.updateIPBlock},
		"DELETE /api/v1/admin/ip_blocks/:id":              {writeIPs.Answers("empty"), h.removeIPBlock},
	}
}

// listEmailDomainBlocks lists blocked domains, newest first.
func (h *Handlers) listEmailDomainBlocks(r *rest.Request) (any, error) {
	page := r.Page(blockPage, maxBlockPage)
	rows, err := h.Admin.EmailDomainBlocks(r.Context(), page.Page)
	if err != nil {
		return nil, err
	}
	return blockList(r, page, rows, func(b *store.EmailDomainBlock) store.BlockID { return b.ID }, entity.NewAdminEmailDomainBlock), nil
}

func emailDomainBlock(b *store.EmailDomainBlock, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return entity.NewAdminEmailDomainBlock(b), nil
}

// showEmailDomainBlock returns a block of a domain of mail addresses.
func (h *Handlers) showEmailDomainBlock(r *rest.Request) (any, error) {
	return emailDomainBlock(h.Admin.EmailDomainBlock(r.Context(), blockID(r)))
}

// addEmailDomainBlock prevents registrations with addresses of a domain, or lets them wait for approval.
func (h *Handlers) addEmailDomainBlock(r *rest.Request) (any, error) {
	var p struct {
		Domain            string `param:"domain"`
		AllowWithApproval bool   `param:"allow_with_approval"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	return emailDomainBlock(h.as(r).BlockEmailDomain(r.Context(), store.EmailDomainBlock{Domain: p.Domain, AllowWithApproval: p.AllowWithApproval}))
}

// removeEmailDomainBlock removes a block of a domain of mail addresses.
func (h *Handlers) removeEmailDomainBlock(r *rest.Request) (any, error) {
	_, err := h.as(r).UnblockEmailDomain(r.Context(), blockID(r))
	return struct{}{}, err
}

// listCanonicalEmailBlocks lists blocked addresses, newest first.
func (h *Handlers) listCanonicalEmailBlocks(r *rest.Request) (any, error) {
	page := r.Page(blockPage, maxBlockPage)
	rows, err := h.Admin.CanonicalEmailBlocks(r.Context(), page.Page)
	if err != nil {
		return nil, err
	}
	return blockList(r, page, rows, func(b *store.CanonicalEmailBlock) store.BlockID { return b.ID }, entity.NewAdminCanonicalEmailBlock), nil
}

func canonicalEmailBlock(b *store.CanonicalEmailBlock, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return entity.NewAdminCanonicalEmailBlock(b), nil
}

// showCanonicalEmailBlock returns a block of a mail address.
func (h *Handlers) showCanonicalEmailBlock(r *rest.Request) (any, error) {
	return canonicalEmailBlock(h.Admin.CanonicalEmailBlock(r.Context(), blockID(r)))
}

// addCanonicalEmailBlock prevents registrations with an address, given as email or as canonical_email_hash.
func (h *Handlers) addCanonicalEmailBlock(r *rest.Request) (any, error) {
	var p struct {
		Email string `param:"email"`
		Hash  string `param:"canonical_email_hash"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	return canonicalEmailBlock(h.as(r).BlockCanonicalEmail(r.Context(), p.Email, p.Hash))
}

// testCanonicalEmail lists the block that an address has, if any.
func (h *Handlers) testCanonicalEmail(r *rest.Request) (any, error) {
	var p struct {
		Email string `param:"email,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	b, err := h.Admin.TestCanonicalEmail(r.Context(), strings.TrimSpace(p.Email))
	if err != nil || b == nil {
		return []any{}, err
	}
	return []any{entity.NewAdminCanonicalEmailBlock(b)}, nil
}

// removeCanonicalEmailBlock removes a block of a mail address.
func (h *Handlers) removeCanonicalEmailBlock(r *rest.Request) (any, error) {
	return struct{}{}, h.as(r).UnblockCanonicalEmail(r.Context(), blockID(r))
}

// listIPBlocks lists blocked networks, newest first.
func (h *Handlers) listIPBlocks(r *rest.Request) (any, error) {
	page := r.Page(blockPage, maxBlockPage)
	rows, err := h.Admin.IPBlocks(r.Context(), page.Page)
	if err != nil {
		return nil, err
	}
	return blockList(r, page, rows, func(b *store.IPBlock) store.BlockID { return b.ID }, entity.NewAdminIPBlock), nil
}

func ipBlock(b *store.IPBlock, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return entity.NewAdminIPBlock(b), nil
}

// showIPBlock returns a block of a network.
func (h *Handlers) showIPBlock(r *rest.Request) (any, error) {
	return ipBlock(h.Admin.IPBlock(r.Context(), blockID(r)))
}

// bindIPBlock reads the parameters of a block. expires_in are seconds, expires_at is a time that counts instead; empty or 0: never.
func bindIPBlock(r *rest.Request) (c admin.IPBlockChange, err error) {
	var p struct {
		IP        *string `param:"ip"`
		Severity  *string `param:"severity"`
		Comment   *string `param:"comment"`
		ExpiresIn *string `param:"expires_in"`
		ExpiresAt *string `param:"expires_at,word"`
	}
	if err := r.Bind(&p); err != nil {
		return c, err
	}
	c = admin.IPBlockChange{IP: p.IP, Severity: p.Severity, Comment: p.Comment}
	if !r.FromProxy() {
		c.From = r.ClientIP()
	}
	if p.ExpiresIn != nil {
		seconds := 0
		if text := strings.TrimSpace(*p.ExpiresIn); text != "" {
			if seconds, err = strconv.Atoi(text); err != nil || seconds > math.MaxInt32 {
				return c, errs.Invalid("Validation failed: Expires in is not a number of seconds")
			}
		}
		c.ExpiresIn = new(time.Duration(seconds) * time.Second)
	}
	never := false
	if c.ExpiresAt, err = parseTime("expires_at", p.ExpiresAt, &never); never {
		c.ExpiresAt = new(time.Time)
	}
	return c, err
}

// addIPBlock blocks a network.
func (h *Handlers) addIPBlock(r *rest.Request) (any, error) {
	c, err := bindIPBlock(r)
	if err != nil {
		return nil, err
	}
	return ipBlock(h.as(r).BlockIP(r.Context(), c))
}

// updateIPBlock changes a block.
func (h *Handlers) updateIPBlock(r *rest.Request) (any, error) {
	c, err := bindIPBlock(r)
	if err != nil {
		return nil, err
	}
	return ipBlock(h.as(r).UpdateIPBlock(r.Context(), blockID(r), c))
}

// removeIPBlock removes a block of a network.
func (h *Handlers) removeIPBlock(r *rest.Request) (any, error) {
	return struct{}{}, h.as(r).UnblockIP(r.Context(), blockID(r))
}
