package remote

import (
	"context"

	"svc/internal/activity"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

// Limits of the description of a collection of accounts, in bytes.
const (
	maxCollectionName    = 500
	maxCollectionSummary = 5000 // of HTML
)

// IsFeaturedCollection returns whether a document is a collection of accounts (FEP-7aa9).
func IsFeaturedCollection(o activity.Object) bool { return o.Is("FeaturedCollection") }

// ReadCollection reads the description of owner's collection of accounts. Its items are not read.
func (r *Reader) ReadCollection(o activity.Object, owner string) (social.RemoteCollection, error) {
	var c social.RemoteCollection
	host, err := activity.Host(o.ID(), r.Settings.AllowLoopback)
	switch {
	case err != nil:
		return c, err
	case !IsFeaturedCollection(o):
		return c, Refuse("object is not a collection of accounts but %q", o.Type())
	case o.Ref("attributedTo") != owner || !r.isOn(host, owner):
		return c, Refuse("collection belongs to another actor")
	}
	name, _ := o.TextAndLanguage("name")
	summary, language := o.TextAndLanguage("summary")
	c = social.RemoteCollection{
		URI: o.ID(), Name: singleLine(name, maxCollectionName), Description: text.SanitizeLinksOnly(truncateBytes(summary, maxCollectionSummary)),
		URL: r.pageURL(o, o.ID(), host), Discoverable: true, ItemCount: o.Count("totalItems"),
	}
	if c.Name == "" {
		return c, Refuse("collection has no name")
	}
	c.Language = text.Language(language)
	if topic := o.Object("topic"); topic != nil {
		c.Tag = text.TagName(topic.Text("name"))
	}
	c.Sensitive, _ = o.Bool("sensitive")
	if discoverable, known := o.Bool("discoverable"); known {
		c.Discoverable = discoverable
	}
	return c, nil
}

// Collection fetches and reads owner's collection of accounts.
func (f *Fetcher) Collection(ctx context.Context, r *Reader, uri, owner string) (social.RemoteCollection, error) {
	o, err := f.Document(ctx, uri)
	if err != nil {
		return social.RemoteCollection{}, err
	}
	c, err := r.ReadCollection(o, owner)
	if err == nil && c.URI != uri {
		err = Refuse("collection has another id")
	}
	return c, err
}

// parseFeatureApproval reads who may put an actor into a collection (interactionPolicy.canFeature). An actor that says nothing allows it to nobody.
func (r *Reader) parseFeatureApproval(o activity.Object) store.FeatureApproval {
	rule := o.Object("interactionPolicy").Object("canFeature")
	if len(rule) == 0 {
		return 0
	}
	approval := store.FeatureApprovalKnown
	for key, of := range map[string]func(store.FeatureGroup) store.FeatureApproval{
		"automaticApproval": func(g store.FeatureGroup) store.FeatureApproval { return g.Automatic },
		"manualApproval":    func(g store.FeatureGroup) store.FeatureApproval { return g.Manual },
	} {
		for _, id := range rule.Refs(key, maxFeaturers) {
			switch {
			case activity.IsPublic(id):
				approval |= of(store.AllFeaturers)
			case id == o.ID(): // stands for nobody
			case id == o.Ref("followers"):
				approval |= of(store.FollowerFeaturers)
			case id == o.Ref("following"):
				approval |= of(store.FollowedFeaturers)
			default:
				approval |= of(store.OtherFeaturers)
			}
		}
	}
	return approval
}

// maxFeaturers is how many groups of a policy are read.
const maxFeaturers = 20
