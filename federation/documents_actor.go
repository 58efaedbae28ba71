package federation

import (
	"context"
	"path"
	"strings"
	"time"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// imageTypes are the media types of images by extension.
var imageTypes = map[string]string{
	".png": "image/png", ".apng": "image/apng", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".avif": "image/avif", ".svg": "image/svg+xml",
}

// imageType returns the media type of an image by its name, "" if unknown.
func imageType(name string) string { return imageTypes[strings.ToLower(path.Ext(name))] }

// actorDocument returns the actor of a local account or of a server actor, without @context.
func (d *Documents) actorDocument(ctx context.Context, a *store.Account) (activity.Object, error) {
	if !a.Local() {
		return nil, errs.ErrRecordNotFound
	}
	o, err := d.minimalActor(ctx, a)
	if err != nil {
		return nil, err
	}
	o["webfinger"] = d.handleOf(a) // FEP-2c59
	o["name"] = a.DisplayName
	o["url"] = a.URL
	o["endpoints"] = jsonMap{"sharedInbox": d.Settings.BaseURL + "/inbox"}
	o["manuallyApprovesFollowers"] = a.Locked
	o["published"] = a.CreatedAt.Time().Truncate(24 * time.Hour).Format(time.RFC3339)
	if d.IsServerActor(a) {
		o["invisible"] = true
		o["summary"] = "System actor of " + d.Settings.Host + ". Messages to it are not read."
		o["outbox"] = a.URI + "/outbox"
		if a.URI == d.Settings.BaseURL+relayActorPath {
			o["followers"], o["following"] = d.followersURI(a), a.URI+"/following"
		}
		return o, nil
	}
	o["endpoints"] = jsonMap{
		"sharedInbox":                d.Settings.BaseURL + "/inbox",
		"oauthAuthorizationEndpoint": d.Settings.BaseURL + "/oauth/authorize",
		"oauthRegistrationEndpoint":  d.Settings.BaseURL + "/api/v1/apps",
		"oauthTokenEndpoint":         d.Settings.BaseURL + "/oauth/token",
	}
	o["outbox"] = a.URI + "/outbox"
	o["followers"], o["following"] = d.followersURI(a), a.URI+"/following"
	o["featured"], o["featuredCollections"] = a.URI+"/collections/featured", featuredCollectionsURI(a)
	o["summary"] = a.Note
	o["discoverable"], o["indexable"] = a.Discoverable, a.ConsentsToSearch() // FEP-5feb
	o["alsoKnownAs"] = stringValues(a.AlsoKnownAs.V)
	o["showMedia"], o["showRepliesInMedia"], o["showFeatured"] = !a.HideMedia, !a.HideMediaReplies, !a.HideFeatured
	if len(a.AttributionDomains.V) > 0 {
		o["attributionDomains"] = stringValues(a.AttributionDomains.V)
	}
	if a.AcceptsChatMessages != nil {
		o["capabilities"] = jsonMap{"acceptsChatMessages": *a.AcceptsChatMessages}
	}
	o["interactionPolicy"] = jsonMap{"canFeature": d.featureRule(a)}
	if a.ShowBirthday && a.Birthday != "" {
		o["vcard:bday"] = a.Birthday
	}
	d.addImages(o, a)
	d.addFields(o, a)
	if a.MovedToID != nil {
		to, err := d.db.Account(ctx, *a.MovedToID)
		switch {
		case err == nil:
			o["movedTo"] = to.URI
		case !errs.IsNotFound(err):
			return nil, err
		}
	}
	return o, nil
}

// minimalActor returns the part of an actor that other servers need to verify its signatures and to deliver to it.
func (d *Documents) minimalActor(ctx context.Context, a *store.Account) (activity.Object, error) {
	keys, err := d.signers.PublicKeys(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	o := jsonMap{
		"id": a.URI, "type": a.ActorType, "preferredUsername": a.Nickname, "inbox": a.URI + "/inbox",
		"publicKey": jsonMap{"id": keys.ID, "owner": a.URI, "publicKeyPem": keys.PEM},
	}
	// Many servers read no list in publicKey, so that one would cut the account off from them.
	var others []any
	for _, k := range keys.Multikeys {
		others = append(others, jsonMap{"id": k.ID, "type": "Multikey", "controller": a.URI, "publicKeyMultibase": k.Multikey})
	}
	if len(others) > 0 {
		o["assertionMethod"] = others
	}
	o["generator"] = generator
	return o, nil
}

// generator says what this server verifies (FEP-844e).
var generator = jsonMap{"type": "Application", "implements": []any{
	jsonMap{"href": remote.ImplementsRFC9421, "name": "RFC-9421: HTTP Message Signatures"},
	jsonMap{"href": remote.ImplementsEd25519, "name": "RFC-9421 signatures using the Ed25519 algorithm"},
}}

// IsServerActor returns true for the accounts of the fetch actor and the relay actor.
func (d *Documents) IsServerActor(a *store.Account) bool {
	return a.URI == d.Settings.BaseURL+remote.FetchActorPath || a.URI == d.Settings.BaseURL+relayActorPath
}

func (d *Documents) addImages(o activity.Object, a *store.Account) {
	for _, p := range []struct{ key, name, description string }{
		{"icon", a.Avatar, a.AvatarDescription}, {"image", a.Header, a.HeaderDescription},
	} {
		key, name := p.key, p.name
		if name == "" {
			continue
		}
		picture := jsonMap{"type": "Image", "url": d.mediaURL(name)}
		if p.description != "" { // some servers read one, some the other
			picture["name"], picture["summary"] = p.description, p.description
		}
		if kind := imageType(name); kind != "" {
			picture["mediaType"] = kind
		}
		o[key] = picture
	}
}

func (d *Documents) addFields(o activity.Object, a *store.Account) {
	fields, texts := []any{}, []string{a.DisplayName, a.Note}
	for _, f := range a.Fields.V {
		fields = append(fields, jsonMap{"type": "PropertyValue", "name": f.Name, "value": f.Value})
		texts = append(texts, f.Name, f.Value)
	}
	o["attachment"] = fields
	o["tag"] = append([]any{}, d.emojiTags(texts...)...)
}
