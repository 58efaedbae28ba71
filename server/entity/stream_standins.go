package entity

import (
	"context"
	"strconv"

	"svc/store"
)

// Conversation returns what streams show of a conversation.
func (b *Builder) Conversation(_ context.Context, _ *store.Account, id store.DirectConversationID) (map[string]string, error) {
	return map[string]string{"id": strconv.FormatInt(int64(id), 10)}, nil
}

// Chat returns what streams show of a chat.
func (b *Builder) Chat(_ context.Context, _ *store.Account, id store.ChatID) (map[string]string, error) {
	return map[string]string{"id": id.String()}, nil
}
