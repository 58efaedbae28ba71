package pages

import (
	"net/http"
	"net/url"
	"slices"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/server/web"
)

// accountAction is an action of staff against an account.
type accountAction struct {
	name      string
	privilege config.Privilege
	local     bool     // only for local accounts
	facts     []string // what it does, as keys of the messages below "admin.effect."; of a local account
	remote    []string // likewise, of a remote account; nil: the same
}

// accountActions are the actions, the mildest first. Deleting is not in the form: it has a button of its own.
var accountActions = []accountAction{
	{name: "none", privilege: config.ReportsManage},
	{name: "sensitive", privilege: config.UsersTags, facts: []string{"sensitive", "old_posts", "not_told", "undo"}},
	{name: "silence", privilege: config.UsersTags, facts: []string{"silence", "silence_notices", "old_posts", "followers_stay", "not_told", "undo"}},
	{name: "disable", privilege: config.UsersActivation, local: true, facts: deactivationFacts},
	{
		name: "suspend", privilege: config.UsersActivation, facts: deactivationFacts,
		remote: []string{"hidden", "remote_followers", "remote_ignored", "remote_server", "undo"},
	},
	{
		name: "delete", privilege: config.UsersDelete, facts: []string{"signed_out", "deleted", "deleted_servers", "nickname", "final"},
		remote: []string{"remote_deleted", "remote_server", "final"},
	},
}

// deactivationFacts are what the deactivation of a local account does.
var deactivationFacts = []string{"signed_out", "hidden", "followers_kept", "follows_end", "copies_stay", "undo_deactivation"}

// accountActions are what the viewer can do with an account in the form.
func (p *page) accountActions(local bool) (list []web.Choice) {
	for _, a := range accountActions {
		if a.name != "delete" && p.may(a.privilege) && (local || !a.local) {
			list = append(list, p.choices("admin.action_", a.name)...)
		}
	}
	return list
}

// actOnAccount takes an action against an account, or only resolves the reports about it. It asks first, and says what the action does.
func (p *page) actOnAccount() (any, error) {
	name, _ := p.Entered("type")
	i := slices.IndexFunc(accountActions, func(a accountAction) bool { return a.name == name })
	if i >= 0 && accountActions[i].facts != nil {
		if _, confirmed := p.Entered(confirmedParam); !confirmed {
			return p.previewAction(&accountActions[i])
		}
	}
	account := accountsPath + "/" + url.PathEscape(p.Param("id"))
	next, done := "/web/admin/accounts/"+p.Param("id"), "saved"
	var err error
	if name == "delete" {
		next, done = "/web/admin/accounts", "deleted"
		_, err = p.Call(http.MethodDelete, account, nil)
	} else {
		_, err = p.Forward(http.MethodPost, account+"/action", append([]string{confirmedParam}, ownParams...)...)
	}
	if e := forUser(err); e != nil && e.Status != http.StatusNotFound && e.Status != http.StatusForbidden {
		return p.accountForStaff(e.Status, e.Message)
	}
	if err != nil {
		return nil, err
	}
	return p.leave(localPath(p.Query(backParam), next), done, ""), nil
}

var errNotAllowed = errs.Forbidden("This action is not allowed")

// previewAction asks before an action, and says what it does to this account.
func (p *page) previewAction(action *accountAction) (any, error) {
	var account web.ModeratedAccount
	if err := p.get(accountsPath+"/"+url.PathEscape(p.Param("id")), nil, &account); err != nil {
		return nil, err
	}
	var overview web.Overview
	if err := p.get(usersPath+account.ID+"/overview", nil, &overview); err != nil {
		return nil, err
	}
	if !p.may(action.privilege) {
		return nil, errNotAllowed
	}
	own := "/web/admin/accounts/" + account.ID
	content := web.ActionPreview{Title: "admin.asks." + action.name, About: "@" + account.Account.Acct, Action: own, Back: localPath(p.Query(backParam), own)}
	facts := action.facts
	if !account.Local() && action.remote != nil {
		facts = action.remote
	}
	counts := map[string]int{
		"signed_out": overview.Sessions, "hidden": overview.Posts, "followers_kept": overview.Followers, "follows_end": overview.Following,
		"remote_followers": overview.Followers, "deleted": overview.Posts, "deleted_servers": overview.Followers, "remote_deleted": overview.Posts,
		"followers_stay": overview.Followers,
	}
	for _, f := range facts {
		if n, ok := counts[f]; ok {
			content.Facts = append(content.Facts, p.frame.Messages.Count("admin.effect."+f, n))
		} else {
			content.Facts = append(content.Facts, p.text("admin.effect."+f))
		}
	}
	if overview.Reports != nil && overview.Reports.Open > 0 && action.name != "delete" {
		content.Facts = append(content.Facts, p.frame.Messages.Count("admin.effect.reports", overview.Reports.Open))
	}
	for _, name := range []string{"type", "text", "send_email_notification", "report_id", backParam} {
		if text, ok := p.Entered(name); ok {
			content.Hidden = append(content.Hidden, web.Field{Name: name, Value: text})
		}
	}
	return p.show(http.StatusOK, content)
}
