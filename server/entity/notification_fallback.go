package entity

import (
	"context"
	"fmt"
	"html"
	"slices"
	"strings"

	"svc/store"
)

// notificationFallback is what an app shows that does not know the type of a notification, in HTML.
type notificationFallback struct {
	Title   string  `json:"title"`
	Summary string  `json:"summary"`
	Details *string `json:"details"` // there are none
}

// AddFallbacks gives the notifications whose type is not among the names of supported a text for apps that do not know it. Types that all
// apps know have none.
func (b *Builder) AddFallbacks(ctx context.Context, list List[*Notification], supported []string) error {
	var unknown []*Notification
	var from []store.AccountID
	for _, n := range list {
		if n.row.Type.Kind().Fallback != "" && !slices.Contains(supported, b.NotificationType(n.row.Type)) {
			unknown = append(unknown, n)
			from = append(from, n.row.FromID)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	rows, err := b.db.Accounts(ctx, unique(from))
	if err != nil {
		return err
	}
	accountOf := byID(rows, func(a *store.Account) store.AccountID { return a.ID })
	summary := fmt.Sprintf(`This app does not know this kind of notification. <a href="%s/web/notifications">The web interface</a> shows it.`, html.EscapeString(b.Settings.BaseURL))
	for _, n := range unknown {
		account := accountOf[n.row.FromID]
		if account == nil { // it was removed meanwhile
			continue
		}
		title := strings.NewReplacer("{account}", "@"+account.Acct(), "{emoji}", store.ReactionText(n.row.Detail)).Replace(n.row.Type.Kind().Fallback)
		n.fallback = &notificationFallback{Title: html.EscapeString(title), Summary: summary}
	}
	return nil
}
