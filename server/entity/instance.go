package entity

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"svc/internal/cache"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// referenceVersion is the API that this one is compatible with, and the product whose API it is.
const (
	referenceVersion = "2.7.2"
	referenceProduct = "Mastodon"
)

const instanceTTL = time.Minute

// stats are the numbers of the instance.
type stats struct {
	store.LocalCounts
	Domains        int
	ActiveMonth    int
	ActiveHalfYear int
}

// documents are the instance entities.
type documents struct {
	v1, v2     object
	nodeInfo   map[string]object // by version of the schema
	rules      []Rule
	accountIDs []store.AccountID // the accounts in the documents
	settings   *config.Config    // from which the documents were made
}

// Instance builds what the server publishes about itself. Its numbers are cached for a minute, all else is current.
type Instance struct {
	*renderer
	db        *store.DB
	builder   *Builder
	stats     cache.Value[stats]
	documents cache.Value[documents]
	peers     cache.Value[object]
	activity  cache.Value[object]
}

// NewInstance returns an Instance that follows the changes of the builder's database. Call it before the database is used.
func NewInstance(b *Builder) *Instance {
	i := &Instance{renderer: &b.renderer, db: b.db, builder: b}
	b.db.Subscribe(i.invalidate)
	return i
}

// V1 returns the instance, in version 1 of the API.
func (i *Instance) V1(ctx context.Context) (Appender, error) {
	d, err := i.load(ctx)
	return d.v1, err
}

// V2 returns the instance, in version 2 of the API.
func (i *Instance) V2(ctx context.Context) (Appender, error) {
	d, err := i.load(ctx)
	return d.v2, err
}

// NodeInfo returns NodeInfo in a version of its schema, nil if the version is unknown.
func (i *Instance) NodeInfo(ctx context.Context, version string) ([]byte, error) {
	d, err := i.load(ctx)
	return d.nodeInfo[version], err
}

// Peers returns the hosts of known servers.
func (i *Instance) Peers(ctx context.Context) (Appender, error) {
	return i.peers.Load(i.db.Now(), instanceTTL, func() (object, error) {
		domains, err := i.db.KnownDomains(ctx)
		if err != nil {
			return nil, err
		}
		return marshal(append([]string{}, domains...))
	})
}

// invalidate drops the instance entities if rules or documents changed or they contain an account that changed.
func (i *Instance) invalidate(events []store.Event) {
	cached, ok := i.documents.Peek()
	shows := func(id store.AccountID) bool { return !ok || slices.Contains(cached.accountIDs, id) }
	for _, e := range events {
		c, isChange := e.(store.RowsChanged)
		_, isInstance := e.(store.InstanceChanged)
		if isInstance || isChange && (c.All || slices.ContainsFunc(slices.AppendSeq(slices.Clip(c.Accounts), maps.Keys(c.Counters)), shows)) {
			i.documents.Drop()
		}
	}
}

// load returns the documents, from the cache or rendered.
func (i *Instance) load(ctx context.Context) (documents, error) {
	if cached, ok := i.documents.Peek(); ok && cached.settings != i.Settings.Load() {
		i.documents.Drop()
	}
	return i.documents.Load(i.db.Now(), instanceTTL, func() (documents, error) {
		f, err := i.stats.Load(i.db.Now(), instanceTTL, func() (stats, error) { return i.countStats(ctx) })
		if err != nil {
			return documents{}, err
		}
		settings := i.Settings.Load()
		account, err := i.contactAccount(ctx)
		if err != nil {
			return documents{}, err
		}
		staff, err := i.db.VisibleStaff(ctx)
		if err != nil {
			return documents{}, err
		}
		rules, err := i.db.Rules(ctx)
		if err != nil {
			return documents{}, err
		}
		d := documents{nodeInfo: make(map[string]object), settings: settings, rules: Map(rules, newRule)}
		if d.v1, err = i.renderV1(f, account, d.rules); err != nil {
			return documents{}, err
		}
		if d.v2, err = i.renderV2(f, account, d.rules); err != nil {
			return documents{}, err
		}
		for _, version := range []string{"2.0", "2.1"} {
			if d.nodeInfo[version], err = i.nodeInfo(version, f, staff); err != nil {
				return documents{}, err
			}
		}
		for _, a := range staff {
			d.accountIDs = append(d.accountIDs, a.ID)
		}
		if account != nil {
			d.accountIDs = append(d.accountIDs, account.id)
		}
		return d, nil
	})
}

func (i *Instance) countStats(ctx context.Context) (f stats, err error) {
	if f.LocalCounts, err = i.db.LocalCounts(ctx); err != nil {
		return f, err
	}
	if f.Domains, err = i.db.CountDomains(ctx); err != nil {
		return f, err
	}
	if f.ActiveMonth, err = i.db.ActiveUsers(ctx, 30*24*time.Hour); err != nil {
		return f, err
	}
	f.ActiveHalfYear, err = i.db.ActiveUsers(ctx, 180*24*time.Hour)
	return f, err
}

// contactAccount returns the contact account, nil if none is configured or it does not exist.
func (i *Instance) contactAccount(ctx context.Context) (*Account, error) {
	name := strings.TrimPrefix(i.Settings.Load().Instance.ContactUsername, "@")
	if name == "" {
		return nil, nil
	}
	row, err := i.db.AccountByName(ctx, name, "")
	if err != nil {
		return nil, ignoreMissing(err)
	}
	if row.Unavailable {
		return nil, nil
	}
	a, err := i.builder.Account(ctx, row.ID)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	return &a, nil
}

// instanceExtension is the svc object of an instance. Its metadata depends on the version.
type instanceExtension struct {
	Metadata       any            `json:"metadata"`
	Stats          extensionStats `json:"stats"`
	VAPIDPublicKey string         `json:"vapid_public_key,omitempty"`
}

type extensionStats struct {
	MonthlyActive int `json:"mau"`
}

type instanceMetadata struct {
	AccountActivationRequired bool           `json:"account_activation_required"`
	Features                  []string       `json:"features"`
	Federation                map[string]any `json:"federation"`
	FieldsLimits              fieldsLimits   `json:"fields_limits"`
	PostFormats               []string       `json:"post_formats"`
	BirthdayRequired          bool           `json:"birthday_required"`
	BirthdayMinAge            int            `json:"birthday_min_age"`
}

type fieldsLimits struct {
	MaxFields       int `json:"max_fields"`
	MaxRemoteFields int `json:"max_remote_fields"`
	NameLength      int `json:"name_length"`
	ValueLength     int `json:"value_length"`
}

func (i *Instance) metadata() instanceMetadata {
	c := i.Settings.Load()
	return instanceMetadata{
		AccountActivationRequired: c.Instance.AccountActivationRequired,
		Features:                  i.features(),
		Federation:                i.federation(),
		FieldsLimits:              i.fieldsLimits(),
		PostFormats:               c.Statuses.AllowedFormats,
		BirthdayRequired:          c.Accounts.BirthdayRequired,
		BirthdayMinAge:            c.Accounts.BirthdayMinAge,
	}
}

// federation returns the public facts about federation.
func (i *Instance) federation() map[string]any {
	if i.Federation == nil {
		return map[string]any{"enabled": i.Settings.Load().Federation.Enabled}
	}
	return i.Federation()
}

func (i *Instance) fieldsLimits() fieldsLimits {
	a := i.Settings.Load().Accounts
	return fieldsLimits{a.MaxFields, a.MaxRemoteFields, a.FieldNameLength, a.FieldValueLength}
}

func (i *Instance) pollLimits() pollLimits {
	p := i.Settings.Load().Polls
	return pollLimits{p.MaxOptions, p.MaxOptionLength, seconds(p.MinExpiration), seconds(p.MaxExpiration)}
}

// features lists what front ends may use. They show what the list contains, so it has nothing that does not exist.
func (i *Instance) features() []string {
	c := i.Settings.Load()
	name := c.API.Name
	list := []string{
		name + "_api",
		strings.ToLower(referenceProduct) + "_api",
		strings.ToLower(referenceProduct) + "_api_streaming",
		name + "_explicit_addressing",
		"multifetch",
		"editing",
		"quote_posting",
		"polls",
		"shareable_emoji_packs",
		name + ":api/v1/notifications:include_types_filter",
		name + "_chat_messages",
		name + ":bookmark_folders",
		name + "_emoji_reactions",
		name + "_custom_emoji_reactions",
		"exposable_reactions",
		name + ":get:main/ostatus",
	}
	if len(c.Timelines.Bubble) > 0 {
		list = append(list, "bubble_timeline")
	}
	if c.MediaProxy.Enabled {
		list = append(list, "media_proxy")
	}
	if c.Accounts.ProfileDirectory && c.API.Offers(config.OptionalDirectory) {
		list = append(list, "profile_directory")
	}
	if c.Accounts.BlockersVisible {
		list = append(list, "blockers_visible")
	}
	if c.Federation.Enabled && c.Federation.AllowRelay {
		list = append(list, "relay")
	}
	return list
}

// compatibleVersion returns the version of the reference API, by which clients select features, and the version of this server.
func (i *Instance) compatibleVersion() string {
	api := i.Settings.Load().API
	return referenceVersion + " (compatible; " + cmp.Or(api.Compatible, api.Name+" "+i.Version) + ")"
}

func (i *Instance) shortDescription() string {
	if s := i.Settings.Load().Instance.ShortDescription; s != "" {
		return s
	}
	return text.HTMLToText(i.Settings.Load().Instance.Description)
}

// pictureOf returns the URL of a picture that a setting names by path or URL, or of the standard one.
func (i *Instance) pictureOf(setting, standard string) string {
	switch {
	case setting == "":
		return i.Settings.BaseURL + standard
	case strings.HasPrefix(setting, "/"):
		return i.Settings.BaseURL + setting
	}
	return setting
}

func ignoreMissing(err error) error {
	if errs.IsNotFound(err) {
		return nil
	}
	return err
}
