package remote

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"svc/internal/activity"
	"svc/internal/config"
	"svc/internal/httpsig"
	"svc/internal/text"
	"svc/store"
)

// Limits of actor documents (federation 1.7, 5.5).
const (
	maxUsername = 128 // bytes
	maxName     = 2048
	maxSummary  = 20_000 // bytes of HTML
	maxFields   = 50
	maxField    = 2047
	maxAliases  = 256

	maxPictureDescription = 2000 // characters
	maxActorKeys          = 16
	maxEmojis             = 200
)

// Reader parses documents. It does not fetch anything.
type Reader struct {
	Settings *config.Live
	now      func() time.Time
}

// parsedActor is a validated actor document in the form in which it is stored. Its handle is not confirmed yet.
type parsedActor struct {
	account     store.Account // without ID and Domain
	actor       store.Actor
	host        string // of its id
	keys        []*store.ActorKey
	listedKeys  []string // ids of keys that have to be fetched separately
	claimedHost string   // host of the claimed handle (FEP-2c59); "": none
	ed25519     bool     // its server says that it verifies Ed25519 signatures
}

// IsActor returns whether a document is an actor.
func IsActor(o activity.Object) bool { return o.Is(store.ActorTypes...) }

// parseActor parses an actor document in any of the usual forms. A missing mandatory member is an error, invalid optional members are
// dropped. All URLs in the result are public (activity.Host), and the actor's own ones are on its host.
func (r *Reader) parseActor(o activity.Object) (*parsedActor, error) {
	id := o.ID()
	host, err := activity.Host(id, r.Settings.AllowLoopback)
	switch {
	case err != nil:
		return nil, err
	case r.Settings.IsOwnHost(host):
		return nil, ErrLocal
	case strings.Contains(id, "#"):
		return nil, Refuse("actor id has a fragment")
	}
	p := &parsedActor{host: host}
	a := &p.account
	a.URI = id
	if a.ActorType, err = actorType(o); err != nil {
		return nil, err
	}
	if a.Nickname, err = p.parseUsername(o); err != nil {
		return nil, err
	}
	own := func(address string) string {
		if address == id || !r.isOn(host, address) {
			return ""
		}
		return address
	}
	p.actor = store.Actor{
		Inbox: own(o.Ref("inbox")), SharedInbox: own(r.sharedInbox(o)), Outbox: own(o.Ref("outbox")),
		Followers: own(o.Ref("followers")), Following: own(o.Ref("following")), Featured: own(o.Ref("featured")),
	}
	if p.actor.Inbox == "" {
		return nil, Refuse("actor has no inbox on its own host")
	}
	if p.actor.Following == p.actor.Followers {
		p.actor.Following = ""
	}
	p.actor.Suspended, _ = o.Bool("suspended")
	if moved := o.Ref("movedTo"); moved != id && r.isPublicURL(moved) {
		p.actor.MovedTo = moved
	}
	p.claimedHost = p.parseClaimedHost(o)
	r.parseProfile(o, a, host)
	p.keys, p.listedKeys = r.parseActorKeys(o, id)
	p.ed25519 = implementsEd25519(o)
	return p, nil
}

// actorType returns the type of an actor document, which must be unique.
func actorType(o activity.Object) (string, error) {
	found := ""
	for _, v := range o.Values("type") {
		t, _ := v.(string)
		if !slices.Contains(store.ActorTypes, t) || t == found {
			continue
		}
		if found != "" {
			return "", Refuse("document has several actor types")
		}
		found = t
	}
	if found == "" {
		return "", Refuse("document is not an actor but %q", o.Type())
	}
	return found, nil
}

// parseUsername returns the nickname of the handle. Instance actors may have none: theirs is the host.
func (p *parsedActor) parseUsername(o activity.Object) (string, error) {
	name, _ := o["preferredUsername"].(string)
	if name == "" && o.Is("Application", "Service") {
		name, _, _ = strings.Cut(p.host, ":")
	}
	nick, domain, ok := text.SplitHandle(name)
	if !ok || domain != "" || nick != norm.NFC.String(name) || len(nick) > maxUsername {
		return "", Refuse("actor has no valid preferredUsername")
	}
	return nick, nil
}

// sharedInbox returns the shared inbox of the actor's server; some servers have it beside the inbox.
func (r *Reader) sharedInbox(o activity.Object) string {
	if endpoints := o.Object("endpoints"); endpoints != nil {
		if shared := endpoints.Ref("sharedInbox"); shared != "" {
			return shared
		}
	}
	return o.Ref("sharedInbox")
}

// parseClaimedHost returns the host of the handle that an actor claims.
func (p *parsedActor) parseClaimedHost(o activity.Object) string {
	nick, domain, ok := text.SplitHandle(strings.TrimPrefix(o.Text("webfinger"), "acct:"))
	if !ok || !text.SameNick(nick, p.account.Nickname) {
		return ""
	}
	return domain
}

func (r *Reader) parseProfile(o activity.Object, a *store.Account, host string) {
	name, _ := o.TextAndLanguage("name")
	if a.DisplayName = singleLine(name, maxName); a.DisplayName == "" {
		a.DisplayName = a.Nickname
	}
	summary, _ := o.TextAndLanguage("summary")
	a.Note = text.Sanitize(truncateBytes(summary, maxSummary))
	if mediaTypeOf(o) == "text/plain" {
		a.Note = text.Parse(truncateBytes(summary, maxSummary), text.PlainText).Render(r.Settings.BaseURL, nil).HTML
	}
	a.URL = r.pageURL(o, a.URI, host)
	a.Avatar, a.AvatarDescription = r.picture(o, "icon")
	a.Header, a.HeaderDescription = r.picture(o, "image")
	a.Locked, _ = o.Bool("manuallyApprovesFollowers")
	a.Discoverable, _ = o.Bool("discoverable")
	if indexable, known := o.Bool("indexable"); known {
		a.Indexable = &indexable
	}
	a.HideFavorites = true
	a.HideMedia, a.HideMediaReplies, a.HideFeatured = denies(o, "showMedia"), denies(o, "showRepliesInMedia"), denies(o, "showFeatured")
	if capabilities := o.Object("capabilities"); capabilities != nil {
		if accepts, known := capabilities.Bool("acceptsChatMessages"); known {
			a.AcceptsChatMessages = &accepts
		}
	}
	if day := o.Time("vcard:bday"); len(o.Text("vcard:bday")) == len(time.DateOnly) && day.Year() > 1800 && day.Before(r.now()) {
		a.Birthday, a.ShowBirthday = day.Format(time.DateOnly), true
	}
	if at := o.Time("published"); at.Year() > 1990 && at.Before(r.now()) {
		a.CreatedAt = store.At(at)
	}
	a.Fields.V = parseFields(o)
	a.AlsoKnownAs.V = []string{}
	for _, alias := range o.Refs("alsoKnownAs", maxAliases) {
		if r.isPublicURL(alias) {
			a.AlsoKnownAs.V = append(a.AlsoKnownAs.V, alias)
		}
	}
	a.AttributionDomains.V = parseAttributionDomains(o)
	a.FeatureApproval = r.parseFeatureApproval(o)
	a.Emojis.V = r.ParseEmojis(o)
}

// denies returns true for a member that is false.
func denies(o activity.Object, member string) bool {
	value, known := o.Bool(member)
	return known && !value
}

// parseAttributionDomains returns the distinct hosts whose pages may name an actor as their author.
func parseAttributionDomains(o activity.Object) []string {
	hosts := []string{}
	for i, v := range o.Values("attributionDomains") {
		if i == 2*store.MaxAttributionDomains || len(hosts) == store.MaxAttributionDomains {
			break
		}
		named, _ := v.(string)
		if host := text.HostName(named); host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

func parseFields(o activity.Object) []store.Field {
	list := []store.Field{}
	for _, f := range o.Objects("attachment", 2*maxFields) {
		if !f.Is("PropertyValue") || len(list) == maxFields {
			continue
		}
		name, value := singleLine(f.Text("name"), maxField), text.Visible(text.SanitizeLinksOnly(truncateBytes(f.Text("value"), maxField)))
		if name != "" || value != "" {
			list = append(list, store.Field{Name: name, Value: value})
		}
	}
	return list
}

// pageURL returns the URL of an object's page if it is on the host of the object's id, else the id.
func (r *Reader) pageURL(o activity.Object, id, host string) string {
	var pages, others []string
	for _, v := range o.Values("url") {
		link, _ := v.(map[string]any)
		kind := activity.Object(link).Text("mediaType")
		switch ref := activity.Reference(v); {
		case !r.isOn(host, ref):
		case kind == "text/html":
			pages = append(pages, ref)
		case kind == "":
			others = append(others, ref)
		}
	}
	return cmp.Or(append(append(pages, others...), id)...)
}

// pictureURL returns the URL of a picture, "" if there is none.
func (r *Reader) pictureURL(o activity.Object, key string) string {
	address, _ := r.picture(o, key)
	return address
}

// picture returns the URL and the description of a picture, "" if there is none.
func (r *Reader) picture(o activity.Object, key string) (address, description string) {
	for _, v := range o.Values(key) {
		address, description = "", ""
		switch v := v.(type) {
		case string:
			address = v
		case map[string]any:
			image := activity.Object(v)
			description = singleLine(cmp.Or(image.Text("name"), image.Text("summary")), maxPictureDescription)
			if address = linkURL(image); address == "" {
				address = image.Text("href")
			}
			if _, kind := typeOfFile(mediaTypeOf(image), "Image", address); kind != "image" {
				continue
			}
		}
		if r.isPublicURL(address) {
			return address, description
		}
	}
	return "", ""
}

// linkURL returns the URL of an object's url, which may be a string or a link.
func linkURL(o activity.Object) string {
	for _, v := range o.Values("url") {
		switch v := v.(type) {
		case string:
			return v
		case map[string]any:
			if href := activity.Object(v).Text("href"); href != "" {
				return href
			}
		}
	}
	return ""
}

// isPublicURL returns whether a URL may be shown and fetched.
func (r *Reader) isPublicURL(address string) bool {
	_, err := activity.Host(address, r.Settings.AllowLoopback)
	return err == nil
}

// isOn returns whether a URL may be fetched and is on a host.
func (r *Reader) isOn(host, address string) bool {
	of, err := activity.Host(address, r.Settings.AllowLoopback)
	return err == nil && of == host
}

// ParseEmojis returns the distinct custom emoji of a document.
func (r *Reader) ParseEmojis(o activity.Object) []store.RemoteEmoji {
	list := []store.RemoteEmoji{}
	seen := make(map[string]bool)
	for _, tag := range o.Objects("tag", 5*maxEmojis) {
		if !tag.Is("Emoji") || len(list) == maxEmojis {
			continue
		}
		code, _, _ := strings.Cut(strings.Trim(tag.Text("name"), ":"), "@")
		address := r.pictureURL(tag, "icon")
		if !text.ValidRemoteShortcode(code) || address == "" || seen[code] {
			continue
		}
		seen[code] = true
		list = append(list, store.RemoteEmoji{Shortcode: code, URL: address})
	}
	return list
}

// parseActorKeys returns the keys in an actor document, and the ids of keys that it only lists. Keys of another owner or host are
// dropped (federation 2.3, R9).
func (r *Reader) parseActorKeys(o activity.Object, id string) (keys []*store.ActorKey, listed []string) {
	add := func(key *store.ActorKey) {
		known := func(k *store.ActorKey) bool { return k.URI == key.URI }
		if len(keys) < maxActorKeys && !slices.ContainsFunc(keys, known) {
			keys = append(keys, key)
		}
	}
	for _, member := range []string{"publicKey", "assertionMethod"} {
		for _, v := range o.Values(member) {
			switch v := v.(type) {
			case string:
				if len(listed) < maxActorKeys {
					listed = append(listed, v)
				}
			case map[string]any:
				if key := r.parseActorKey(v, id); key != nil {
					add(key)
				}
			}
		}
	}
	return keys, listed
}

// parseActorKey parses one key of an actor, nil if it is not valid.
func (r *Reader) parseActorKey(o activity.Object, owner string) *store.ActorKey {
	id := cmp.Or(o.ID(), owner+"#main-key")
	named := cmp.Or(o.Ref("owner"), o.Ref("controller"))
	if named != "" && named != owner || !activity.SameHost(activity.WithoutFragment(id), owner, r.Settings.AllowLoopback) {
		return nil
	}
	if multikey := o.Text("publicKeyMultibase"); multikey != "" {
		key, err := httpsig.ParseMultikey(multikey)
		if err != nil || named == "" {
			return nil
		}
		return &store.ActorKey{URI: id, Public: httpsig.FormatMultikey(key)}
	}
	key, err := httpsig.ParsePublicKey(o.Text("publicKeyPem"))
	if err != nil {
		return nil
	}
	pem, err := httpsig.FormatPublicKey(key)
	if err != nil {
		return nil
	}
	return &store.ActorKey{URI: id, Public: pem}
}

// singleLine returns a text on one line, without control characters, cut to a number of characters.
func singleLine(s string, limit int) string {
	return text.Truncate(text.Visible(printable(truncateBytes(s, 8*limit))), limit)
}

// printable returns a text with all white space as spaces, and without control characters.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, s)
}

// truncateBytes returns the beginning of a text, at max a number of bytes, without a partial character.
func truncateBytes(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}

// HostOf returns the host of an account's id, which may differ from the domain of its handle.
func (r *Reader) HostOf(a *store.Account) string {
	host, err := activity.Host(a.URI, r.Settings.AllowLoopback)
	if err != nil {
		return a.Domain
	}
	return host
}

// parseFetchedActor parses the document at an actor's id, which may be a Tombstone.
func (r *Reader) parseFetchedActor(doc activity.Object) (*parsedActor, error) {
	if doc.Is("Tombstone") {
		return nil, actorDeletedError(doc.ID())
	}
	return r.parseActor(doc)
}
