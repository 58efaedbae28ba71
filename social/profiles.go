package social

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/media"
	"svc/store"
)

// ProfileChange is a change to the own account. Nil fields stay as they are.
type ProfileChange struct {
	DisplayName *string // blank: the nickname
	Note        *string // plain text
	Fields      []store.Field
	Avatar      *Picture
	Header      *Picture
	Background  *Picture
	Bot         *bool
	ActorType   *string // overrides Bot
	AlsoKnownAs []string

	AttributionDomains []string // hosts whose pages may name the account as their author

	AvatarDescription *string // plain text
	HeaderDescription *string
	ShowMedia         *bool
	ShowMediaReplies  *bool
	ShowFeatured      *bool

	Locked              *bool
	Discoverable        *bool
	Indexable           *bool
	HideFavorites       *bool
	HideFollowers       *bool
	HideFollows         *bool
	HideFollowersCount  *bool
	HideFollowsCount    *bool
	AcceptsChatMessages *bool
	Birthday            *string // 2000-12-31; "": none
	ShowBirthday        *bool
	FeaturePolicy       *store.FeaturePolicy

	Visibility               *store.Visibility // of new posts
	Sensitive                *bool
	Language                 *string
	QuotePolicy              *store.QuotePolicy
	NoRichText               *bool
	ShowRole                 *bool
	SkipThreadContainment    *bool
	AllowFollowingMove       *bool
	BlockFromStrangers       *bool
	HideNotificationContents *bool
	Settings                 map[string]json.RawMessage // of front ends, by their names; null removes one
}

// Picture is a stored file for a profile. Without a file it removes the picture.
type Picture struct{ File *media.File }

// names returns the names of the file, and of its form without animation if that differs.
func (p *Picture) names() (file, static string) {
	if p.File == nil {
		return "", ""
	}
	return p.File.Name, p.File.Thumbnail
}

// Name returns the name of the file, "" without one.
func (p *Picture) Name() string {
	name, _ := p.names()
	return name
}

// Release ends the claim on the file; see media.File.
func (p *Picture) Release() {
	if p != nil {
		p.File.Release()
	}
}

const (
	maxFrontendSettings = 500_000 // bytes of the settings of all front ends
	maxAliases          = 50
	maxAlias            = 2048 // bytes

	maxAttributionDomains = store.MaxAttributionDomains
)

// ErrInvalidProfile is returned for invalid values (extension API 8).
var ErrInvalidProfile = errs.Forbidden("Invalid request")

// UpdateProfile changes a local account and returns it as it is then.
func (s *Service) UpdateProfile(ctx context.Context, id store.AccountID, p ProfileChange) (*store.Account, *store.User, error) {
	if err := s.CheckProfile(&p); err != nil {
		return nil, nil, err
	}
	var account *store.Account
	var user *store.User
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		account, user, err = s.UpdateProfileIn(ctx, tx, id, &p)
		return err
	})
	return account, user, err
}

// UpdateProfileIn is UpdateProfile in a transaction, for a change that passed CheckProfile.
func (s *Service) UpdateProfileIn(ctx context.Context, tx *store.Tx, id store.AccountID, p *ProfileChange) (*store.Account, *store.User, error) {
	account, err := tx.Account(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	user, err := tx.User(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	pictures := account.PictureFiles()
	p.apply(account, user)
	if err := setFrontendSettings(ctx, tx, id, p.Settings); err != nil {
		return nil, nil, err
	}
	replaced := slices.DeleteFunc(pictures, func(name string) bool { return slices.Contains(account.PictureFiles(), name) })
	if err := s.enqueueRemoveFiles(ctx, tx, replaced); err != nil {
		return nil, nil, err
	}
	if err := s.renderProfile(ctx, tx, account, user, p); err != nil {
		return nil, nil, err
	}
	if p.DisplayName != nil || p.Note != nil || p.Fields != nil || p.AlsoKnownAs != nil || p.AttributionDomains != nil ||
		p.AvatarDescription != nil || p.HeaderDescription != nil {
		if err := s.checkProfileSize(account, user); err != nil {
			return nil, nil, err
		}
	}
	if err := tx.SaveAccount(ctx, account); err != nil {
		return nil, nil, err
	}
	if p.Fields != nil {
		if err := tx.EnqueueLinkChecks(ctx, account); err != nil {
			return nil, nil, err
		}
	}
	if err := tx.AddStoredFiles(ctx, p.storedFiles()); err != nil {
		return nil, nil, err
	}
	if err := addProfileToOutbox(ctx, tx, account.ID); err != nil {
		return nil, nil, err
	}
	return account, user, tx.SaveUser(ctx, user)
}

// profileUpdateDelay is how long changes of a profile are collected before they are federated.
const profileUpdateDelay = 5 * time.Second

// addProfileToOutbox federates a profile after profileUpdateDelay.
func addProfileToOutbox(ctx context.Context, tx *store.Tx, id store.AccountID) error {
	return tx.AddToOutboxCoalesced(ctx, "profile:"+id.String(), profileUpdateDelay, store.OutboxEntry{Type: store.ProfileUpdated, ActorID: id})
}

// CheckProfile validates and normalizes what does not depend on the account.
func (s *Service) CheckProfile(p *ProfileChange) error {
	limits := &s.Settings.Load().Accounts
	if p.DisplayName != nil {
		name := text.OneLine(*p.DisplayName)
		if text.Length(name, "") > limits.NameLength {
			return errs.TooLarge("Name is too long")
		}
		p.DisplayName = &name
	}
	if p.Note != nil && text.Length(*p.Note, "") > limits.BioLength {
		return errs.TooLarge("Bio is too long")
	}
	if p.Fields != nil {
		if err := checkFields(p, limits); err != nil {
			return err
		}
	}
	if p.ActorType != nil && !slices.Contains([]string{"Person", "Service", "Group"}, *p.ActorType) {
		return ErrInvalidProfile
	}
	if p.Visibility != nil && *p.Visibility == store.ListOnly {
		return ErrInvalidProfile
	}
	if p.Language != nil && *p.Language != "" {
		code := text.Language(*p.Language)
		if code == "" {
			return ErrInvalidProfile
		}
		p.Language = &code
	}
	if p.Birthday != nil && (!s.isBirthday(*p.Birthday) || *p.Birthday == "" && limits.BirthdayRequired || *p.Birthday != "" && !s.oldEnough(*p.Birthday)) {
		return ErrInvalidProfile
	}
	if err := checkAttributionDomains(p); err != nil {
		return err
	}
	if err := checkPictureDescriptions(p); err != nil {
		return err
	}
	return checkAliases(p)
}

// isBirthday returns true for a date since 1900 in the past, or "".
func (s *Service) isBirthday(text string) bool {
	if text == "" {
		return true
	}
	day, err := time.Parse(time.DateOnly, text)
	return err == nil && day.Before(s.db.Now()) && day.Year() >= 1900
}

// checkFields drops fields without a name and validates the rest.
func checkFields(p *ProfileChange, limits *config.Accounts) error {
	fields := []store.Field{}
	for _, f := range p.Fields {
		f = store.Field{Name: text.OneLine(f.Name), Value: text.OneLine(f.Value)}
		if f.Name == "" {
			continue
		}
		if text.Length(f.Name, "") > limits.FieldNameLength || text.Length(f.Value, "") > limits.FieldValueLength {
			return errs.TooLarge("One or more field entries are too long")
		}
		fields = append(fields, f)
	}
	if len(fields) > limits.MaxFields {
		return errs.TooLarge("Too many field entries")
	}
	p.Fields = fields
	return nil
}

// checkAttributionDomains normalizes host names, and drops empty ones and duplicates.
func checkAttributionDomains(p *ProfileChange) error {
	if p.AttributionDomains == nil {
		return nil
	}
	hosts := []string{}
	for _, given := range strings.Fields(strings.Join(p.AttributionDomains, " ")) { // a form has all of them in one text
		host := text.HostName(given)
		if host == "" {
			return errs.Invalid("Validation failed: %q in attribution_domains is not a host name such as example.org", text.Truncate(given, 100))
		}
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
		if len(hosts) > maxAttributionDomains {
			return errs.Invalid("Validation failed: attribution_domains may have at most %d hosts", maxAttributionDomains)
		}
	}
	p.AttributionDomains = hosts
	return nil
}

// checkPictureDescriptions normalizes the descriptions of the pictures.
func checkPictureDescriptions(p *ProfileChange) error {
	for _, d := range []struct {
		name string
		text *string
	}{{"avatar_description", p.AvatarDescription}, {"header_description", p.HeaderDescription}} {
		if d.text == nil {
			continue
		}
		*d.text = text.OneLine(*d.text)
		if n := text.Length(*d.text, ""); n > store.MaxPictureDescription {
			return errs.Invalid("Validation failed: %s has %d characters, the limit is %d", d.name, n, store.MaxPictureDescription)
		}
	}
	return nil
}

// checkAliases checks that aliases are URLs, and drops duplicates.
func checkAliases(p *ProfileChange) error {
	if p.AlsoKnownAs == nil {
		return nil
	}
	aliases := []string{}
	for _, a := range p.AlsoKnownAs {
		u, err := url.Parse(a)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || len(a) > maxAlias {
			return ErrInvalidProfile
		}
		if !slices.Contains(aliases, a) {
			aliases = append(aliases, a)
		}
	}
	if len(aliases) > maxAliases {
		return ErrInvalidProfile
	}
	p.AlsoKnownAs = aliases
	return nil
}

// apply makes the changes that need no query.
func (p *ProfileChange) apply(a *store.Account, u *store.User) {
	if p.DisplayName != nil {
		a.DisplayName = cmp.Or(*p.DisplayName, a.Nickname)
	}
	switch {
	case p.ActorType != nil:
		a.ActorType = *p.ActorType
	case p.Bot != nil && *p.Bot:
		a.ActorType = "Service"
	case p.Bot != nil && a.ActorType == "Service":
		a.ActorType = "Person"
	}
	// Another picture, or none, ends the description of the one before.
	if p.Avatar != nil {
		a.Avatar, a.AvatarStatic = p.Avatar.names()
		a.AvatarDescription = ""
	}
	if p.Header != nil {
		a.Header, a.HeaderStatic = p.Header.names()
		a.HeaderDescription = ""
	}
	setIfPresent(&a.AvatarDescription, p.AvatarDescription)
	setIfPresent(&a.HeaderDescription, p.HeaderDescription)
	setIfNot(&a.HideMedia, p.ShowMedia)
	setIfNot(&a.HideMediaReplies, p.ShowMediaReplies)
	setIfNot(&a.HideFeatured, p.ShowFeatured)
	if p.Background != nil {
		a.Background, _ = p.Background.names()
	}
	if p.AlsoKnownAs != nil {
		a.AlsoKnownAs.V = p.AlsoKnownAs
	}
	if p.AttributionDomains != nil {
		a.AttributionDomains.V = p.AttributionDomains
	}
	if p.AcceptsChatMessages != nil {
		a.AcceptsChatMessages = p.AcceptsChatMessages
	}
	if p.Indexable != nil {
		a.Indexable = p.Indexable
	}
	setIfPresent(&a.Birthday, p.Birthday)
	setIfPresent(&a.ShowBirthday, p.ShowBirthday)
	setIfPresent(&a.FeaturePolicy, p.FeaturePolicy)
	setIfPresent(&a.Locked, p.Locked)
	setIfPresent(&a.Discoverable, p.Discoverable)
	setIfPresent(&a.HideFavorites, p.HideFavorites)
	setIfPresent(&a.HideFollowers, p.HideFollowers)
	setIfPresent(&a.HideFollows, p.HideFollows)
	setIfPresent(&a.HideFollowersCount, p.HideFollowersCount)
	setIfPresent(&a.HideFollowsCount, p.HideFollowsCount)

	setIfPresent(&u.DefaultVisibility, p.Visibility)
	setIfPresent(&u.DefaultSensitive, p.Sensitive)
	setIfPresent(&u.DefaultLanguage, p.Language)
	setIfPresent(&u.DefaultQuotePolicy, p.QuotePolicy)
	setIfPresent(&u.NoRichText, p.NoRichText)
	setIfPresent(&u.ShowRole, p.ShowRole)
	setIfPresent(&u.SkipThreadContainment, p.SkipThreadContainment)
	setIfPresent(&u.AllowFollowingMove, p.AllowFollowingMove)
	setIfPresent(&u.BlockFromStrangers, p.BlockFromStrangers)
	setIfPresent(&u.HideNotificationContents, p.HideNotificationContents)
}

// setIfPresent assigns a value that is not nil.
func setIfPresent[T any](dst, value *T) {
	if value != nil {
		*dst = *value
	}
}

// setIfNot assigns the opposite of a value that is not nil.
func setIfNot(dst, value *bool) {
	if value != nil {
		*dst = !*value
	}
}

// renderProfile renders the texts of a profile.
func (s *Service) renderProfile(ctx context.Context, tx *store.Tx, a *store.Account, u *store.User, p *ProfileChange) error {
	if p.Note != nil {
		u.Note = strings.TrimSpace(*p.Note)
		html, err := s.renderProfileText(ctx, tx, text.ParseBio(u.Note))
		if err != nil {
			return err
		}
		a.Note = html
	}
	if p.Fields == nil {
		return nil
	}
	fields := []store.Field{}
	for _, f := range p.Fields {
		html, err := s.renderProfileText(ctx, tx, text.ParseField(f.Value))
		if err != nil {
			return err
		}
		fields = append(fields, store.Field{Name: f.Name, Value: html})
	}
	store.KeepVerified(fields, a.Fields.V)
	a.Fields.V, u.Fields.V = fields, p.Fields
	return nil
}

// renderProfileText renders a text with links for mentions.
func (s *Service) renderProfileText(ctx context.Context, r statusReader, doc *text.Document) (string, error) {
	known, _, err := s.resolveHandles(ctx, r, doc)
	if err != nil {
		return "", err
	}
	return doc.Render(s.Settings.BaseURL, known).HTML, nil
}

// storedFiles returns the records of the pictures that the change sets.
func (p *ProfileChange) storedFiles() []store.StoredFile {
	var files []store.StoredFile
	for _, picture := range []*Picture{p.Avatar, p.Header, p.Background} {
		if picture != nil {
			files = append(files, picture.File.Stored(store.ProfileFile)...)
		}
	}
	return files
}
