package federation

import (
	"context"

	"svc/federation/inbox"
	"svc/internal/activity"
)

// handler is the handling of activities of one type.
type handler struct {
	handle func(*Receiver, context.Context, *inbox.Activity) error

	unknownActors   bool // actors without a row may send it, so that fetching them is worth it (federation 3.6)
	suspendedActors bool // suspended actors may send it (federation 5.7)
	repeatable      bool // the same id may be received again; other ids prevent duplicates
	fast            bool // its sender can wait for the result
	adds            bool // it adds rows, so it is refused while the storage is used up
}

// handlers has the types of activities that are supported (federation 4). Others are ignored (federation 4.19).
var handlers = map[string]*handler{
	"Create":          {handle: (*Receiver).handleCreate, unknownActors: true, fast: true, adds: true},
	"Update":          {handle: (*Receiver).handleUpdate, suspendedActors: true, adds: true},
	"Delete":          {handle: (*Receiver).handleDelete, suspendedActors: true},
	"Announce":        {handle: (*Receiver).handleAnnounce, unknownActors: true, fast: true, adds: true},
	"Like":            {handle: (*Receiver).handleLike, unknownActors: true, fast: true, adds: true},
	"EmojiReact":      {handle: (*Receiver).handleLike, unknownActors: true, fast: true, adds: true},
	"EmojiReaction":   {handle: (*Receiver).handleLike, unknownActors: true, fast: true, adds: true},
	"Follow":          {handle: (*Receiver).handleFollow, unknownActors: true, repeatable: true, adds: true}, // some servers reuse the id of the Follow (federation 4.10)
	"Accept":          {handle: (*Receiver).handleAnswer},
	"Reject":          {handle: (*Receiver).handleAnswer, suspendedActors: true},
	"Undo":            {handle: (*Receiver).handleUndo, suspendedActors: true, repeatable: true}, // the same servers reuse the id of the Undo, too
	"Block":           {handle: (*Receiver).handleBlock, unknownActors: true},
	"Flag":            {handle: (*Receiver).handleFlag, unknownActors: true, adds: true},
	"Move":            {handle: (*Receiver).handleMove, adds: true},
	"Add":             {handle: (*Receiver).handlePin, repeatable: true, adds: true}, // mostly without an id, so that repetitions look alike (federation 4.14)
	"Remove":          {handle: (*Receiver).handlePin, repeatable: true},
	"QuoteRequest":    {handle: (*Receiver).handleQuoteRequest, unknownActors: true, adds: true},
	"LikeRequest":     {handle: (*Receiver).handleInteractionRequest, unknownActors: true, adds: true},
	"ReplyRequest":    {handle: (*Receiver).handleInteractionRequest, unknownActors: true, adds: true},
	"AnnounceRequest": {handle: (*Receiver).handleInteractionRequest, unknownActors: true, adds: true},
	"FeatureRequest":  {handle: (*Receiver).handleFeatureRequest, unknownActors: true, adds: true},
	"Listen":          {handle: (*Receiver).handleListen, adds: true},
}

// supportedType returns the first type of an activity that has a handler, "" if none has.
func supportedType(o activity.Object) string {
	for _, v := range o.Values("type") {
		if kind, _ := v.(string); handlers[kind] != nil {
			return kind
		}
	}
	return ""
}
