package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"svc/internal/config"
	"svc/server/web"
)

// Bounds of the lists on the page of an account. Each has a link to all.
const (
	accountReports  = "10" // open ones, and as many decided ones
	accountLog      = "20"
	accountPosts    = "10"
	accountPostPage = "20"
)

const (
	usersPath = "/api/v1/svc/admin/users/"
	logPath   = "/api/v1/svc/admin/moderation_log"
)

// may returns true if the viewer has a privilege.
func (p *page) may(privilege config.Privilege) bool {
	return p.Entities.HasPrivilege(p.User, privilege)
}

// mayDo says what the viewer may do with accounts, by words of the template.
func (p *page) mayDo() map[string]bool {
	return map[string]bool{
		"approve": p.may(config.UsersInvites), "activate": p.may(config.UsersActivation), "tag": p.may(config.UsersTags), "delete": p.may(config.UsersDelete),
		"credentials": p.may(config.UsersCredentials), "reports": p.may(config.ReportsManage), "log": p.may(config.ModerationLogRead),
	}
}

// moderatedAccount shows an account to staff.
func (p *page) moderatedAccount() (any, error) { return p.accountForStaff(http.StatusOK, "") }

func (p *page) accountForStaff(status int, message string) (any, error) {
	content := web.ModeratedPage{Error: message, Admin: p.User.IsAdmin, May: p.mayDo()}
	if err := p.get(accountsPath+"/"+url.PathEscape(p.Param("id")), nil, &content.Account); err != nil {
		return nil, err
	}
	id := content.Account.ID
	if err := p.get(usersPath+id+"/overview", nil, &content.Overview); err != nil {
		return nil, err
	}
	content.Actions = p.accountActions(content.Account.Local())
	for _, resolved := range []string{"false", "true"} {
		if !p.may(config.ReportsManage) {
			break
		}
		var reports []web.Report
		if err := p.get(reportsPath, url.Values{"target_account_id": {id}, "resolved": {resolved}, "limit": {accountReports}}, &reports); err != nil {
			return nil, err
		}
		content.Reports = append(content.Reports, reports...)
	}
	var err error
	if content.Log, err = p.logAbout(id, time.Time{}); err != nil {
		return nil, err
	}
	content.Posts, err = p.postsForStaff(content.Account, url.Values{"page_size": {accountPosts}}, false)
	content.Posts.All = "/web/admin/accounts/" + id + "/posts"
	if err != nil {
		return nil, err
	}
	return p.show(status, content)
}

// logEntry is an entry of the moderation log as the API has it.
type logEntry struct {
	Time    int64  `json:"time"`
	Message string `json:"message"`
	Data    struct {
		Text string `json:"text"`
	} `json:"data"`
}

// logAbout returns the newest entries of the moderation log about an account, or those since a time; none if the viewer may not read the log.
func (p *page) logAbout(account string, since time.Time) ([]web.LogLine, error) {
	if !p.may(config.ModerationLogRead) {
		return nil, nil
	}
	arguments := url.Values{"account_id": {account}, "page_size": {accountLog}}
	if !since.IsZero() {
		arguments.Set("start_date", since.UTC().Format(time.RFC3339))
	}
	var answer any
	if err := p.get(logPath, arguments, &answer); err != nil {
		return nil, err
	}
	if object, ok := answer.(map[string]any); ok { // with api.compatible
		answer = object["items"]
	}
	var entries []logEntry
	if err := p.decode(answer, &entries); err != nil {
		return nil, err
	}
	lines := make([]web.LogLine, len(entries))
	for i, e := range entries {
		lines[i] = web.LogLine{At: time.Unix(e.Time, 0), Text: p.frame.Messages.LogMessage(e.Message), Reason: e.Data.Text}
	}
	return lines, nil
}

// accountPosts shows the posts of an account with what staff can do with each.
func (p *page) accountPosts() (any, error) {
	var account web.ModeratedAccount
	if err := p.get(accountsPath+"/"+url.PathEscape(p.Param("id")), nil, &account); err != nil {
		return nil, err
	}
	query := p.URL.Query()
	number, _ := strconv.Atoi(query.Get("page"))
	number = max(number, 1)
	restricted := query.Get("restricted") == "true"
	content, err := p.postsForStaff(&account, url.Values{"page_size": {accountPostPage}, "page": {strconv.Itoa(number)}}, restricted)
	if err != nil {
		return nil, err
	}
	link := func(n int) string {
		values := url.Values{"page": {strconv.Itoa(n)}}
		if restricted {
			values.Set("restricted", "true")
		}
		return p.URL.EscapedPath() + "?" + values.Encode()
	}
	if number > 1 {
		content.Newer = link(number - 1)
	}
	if strconv.Itoa(len(content.Posts)) == accountPostPage && content.MayRead {
		content.Older = link(number + 1)
	}
	return p.show(http.StatusOK, content)
}

// postsForStaff returns posts of an account that the viewer may see: those that everyone may see, or with restricted all, which the moderation log
// records.
func (p *page) postsForStaff(a *web.ModeratedAccount, arguments url.Values, restricted bool) (web.StaffPosts, error) {
	content := web.StaffPosts{
		AccountID: a.ID, Acct: a.Account.Acct, Restricted: restricted, MayRead: p.may(config.MessagesRead), MayChange: p.may(config.MessagesDelete),
	}
	var statuses []web.Status
	var err error
	if content.MayRead {
		var list struct {
			Activities []web.Status `json:"activities"`
		}
		arguments.Set("godmode", strconv.FormatBool(restricted))
		err = p.get(usersPath+a.ID+"/statuses", arguments, &list)
		statuses = list.Activities
	} else {
		err = p.get("/api/v1/accounts/"+a.ID+"/statuses", url.Values{"limit": {arguments.Get("page_size")}, "exclude_reblogs": {"true"}}, &statuses)
		if e := forUser(err); e != nil && e.Status == http.StatusNotFound { // a suspended account, whose posts are hidden
			err = nil
		}
	}
	if err != nil {
		return content, err
	}
	for i := range statuses {
		html, err := p.frame.Messages.Article(web.Article{Status: &statuses[i], Base: p.frame.Base})
		if err != nil {
			return content, err
		}
		content.Posts = append(content.Posts, web.StaffPost{ID: statuses[i].ID, Post: html, Sensitive: statuses[i].Sensitive})
	}
	return content, nil
}
