package federation

import (
	"context"
	"time"

	"svc/internal/activity"
	"svc/store"
)

// note is what a document says of a post, in one form whatever shape it came in. What is shown is safe to be.
type note struct {
	id        string
	kind      string // its type
	author    string // id of the actor whose it is
	url       string // for people
	content   string // HTML
	spoiler   string
	language  string
	sensitive bool
	published time.Time // never far in the future
	updated   time.Time // the zero time if it does not tell

	visibility store.Visibility
	audience   []string // ids of actors (and of what else stood there), without collections
	tagged     []string // ids of actors that it mentions
	tags       []string
	emojis     []store.RemoteEmoji
	media      []*store.Media
	poll       *store.Poll

	parent  string // id of what it replies to
	quote   string // id of what it quotes
	context string // what its thread is called
	replies string // the collection of its replies
}

// noteTypes are the types of objects that are posts (federation 4.2).
var noteTypes = []string{"Note", "Question", "Article", "Page", "Event", "Video", "Audio", "Image"}

// Status returns the post of an id: as it is known here, or else as its origin has it.
func (s *Service) Status(ctx context.Context, uri string) (*store.Status, error) {
	return s.db.StatusByURI(ctx, uri)
}

// readNote reads a document about a post. audience is where its addresses stand if it has none itself: the activity that brought it.
func (s *Service) readNote(o activity.Object, author *store.Account, actor *store.Actor, audience activity.Object) (*note, error) {
	return nil, refuse("no post")
}
