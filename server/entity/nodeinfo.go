package entity

import (
	"cmp"
	"strings"

	"svc/store"
)

// nodeInfo is NodeInfo (FEP-f1d5).
type nodeInfo struct {
	Version           string           `json:"version"`
	Software          nodeSoftware     `json:"software"`
	Protocols         []string         `json:"protocols"`
	Services          nodeServices     `json:"services"`
	OpenRegistrations bool             `json:"openRegistrations"`
	Usage             nodeUsage        `json:"usage"`
	Metadata          nodeInfoMetadata `json:"metadata"`
}

type nodeSoftware struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Repository string `json:"repository,omitempty"` // this and homepage from schema 2.1 on
	Homepage   string `json:"homepage,omitempty"`
}

type nodeServices struct {
	Inbound  []string `json:"inbound"`
	Outbound []string `json:"outbound"`
}

type nodeUsage struct {
	Users      nodeUsers `json:"users"`
	LocalPosts int       `json:"localPosts"`
}

type nodeUsers struct {
	Total          int `json:"total"`
	ActiveMonth    int `json:"activeMonth"`
	ActiveHalfyear int `json:"activeHalfyear"`
}

// nodeInfoMetadata are the members that servers of this family add to the schema.
type nodeInfoMetadata struct {
	NodeName                  string         `json:"nodeName"`
	NodeDescription           string         `json:"nodeDescription"`
	Upstream                  upstream       `json:"upstream"`
	Private                   bool           `json:"private"`
	Suggestions               enabled        `json:"suggestions"`
	StaffAccounts             []string       `json:"staffAccounts"`
	Federation                map[string]any `json:"federation"`
	PollLimits                pollLimits     `json:"pollLimits"`
	PostFormats               []string       `json:"postFormats"`
	UploadLimits              uploadLimits   `json:"uploadLimits"`
	FieldsLimits              nodeFields     `json:"fieldsLimits"`
	AccountActivationRequired bool           `json:"accountActivationRequired"`
	InvitesEnabled            bool           `json:"invitesEnabled"`
	MailerEnabled             bool           `json:"mailerEnabled"`
	Features                  []string       `json:"features"`
	RestrictedNicknames       []string       `json:"restrictedNicknames"`
	SkipThreadContainment     bool           `json:"skipThreadContainment"`
	LocalBubbleInstances      []string       `json:"localBubbleInstances"` // whose posts are in the bubble timeline
}

// upstream names the reference product. Client libraries that do not know a server by its name use it.
type upstream struct {
	Name string `json:"name"`
}

type enabled struct {
	Enabled bool `json:"enabled"`
}

type uploadLimits struct {
	General    int64 `json:"general"`
	Avatar     int64 `json:"avatar"`
	Banner     int64 `json:"banner"`
	Background int64 `json:"background"`
}

type nodeFields struct {
	MaxFields       int `json:"maxFields"`
	MaxRemoteFields int `json:"maxRemoteFields"`
	NameLength      int `json:"nameLength"`
	ValueLength     int `json:"valueLength"`
}

func (i *Instance) nodeInfo(version string, f stats, staff []*store.Account) (object, error) {
	c := i.Settings.Load()
	staffAccounts := []string{}
	for _, a := range staff {
		staffAccounts = append(staffAccounts, i.Settings.BaseURL+"/users/"+a.Nickname) // front ends take the last part as the nickname
	}
	software := nodeSoftware{Name: strings.ReplaceAll(strings.ToLower(c.API.Name), "_", "-"), Version: i.Version} // the schema knows no _
	if version != "2.0" {
		software.Repository, software.Homepage = c.Instance.SourceURL, cmp.Or(c.Instance.SourceURL, i.Settings.BaseURL)
	}
	return marshal(nodeInfo{
		Version:           version,
		Software:          software,
		Protocols:         []string{"activitypub"},
		Services:          nodeServices{[]string{}, []string{}},
		OpenRegistrations: c.Instance.RegistrationsOpen && !i.db.ServerClosed(),
		Usage:             nodeUsage{nodeUsers{f.Users, f.ActiveMonth, f.ActiveHalfYear}, f.Statuses - f.Reblogs},
		Metadata: nodeInfoMetadata{
			NodeName:                  c.Instance.Name,
			NodeDescription:           i.shortDescription(),
			Upstream:                  upstream{referenceProduct},
			Private:                   !c.Instance.Public,
			StaffAccounts:             staffAccounts,
			Federation:                i.federation(),
			PollLimits:                i.pollLimits(),
			PostFormats:               c.Statuses.AllowedFormats,
			UploadLimits:              uploadLimits{c.Media.UploadLimit, c.Media.AvatarLimit, c.Media.BannerLimit, c.Media.BackgroundLimit},
			FieldsLimits:              nodeFields(i.fieldsLimits()),
			AccountActivationRequired: c.Instance.AccountActivationRequired,
			InvitesEnabled:            c.Instance.InvitesEnabled,
			MailerEnabled:             c.Mail.Enabled,
			Features:                  i.features(),
			RestrictedNicknames:       append([]string{}, c.Accounts.RestrictedNicknames...),
			SkipThreadContainment:     true,
			LocalBubbleInstances:      append([]string{}, c.Timelines.Bubble...),
		},
	})
}
