package social

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"svc/internal/errs"
	"svc/store"
)

// MergeFrontendSettings merges an object into what a front end stores for an account, as RFC 7396 says, and returns the result.
func (s *Service) MergeFrontendSettings(ctx context.Context, id store.AccountID, app string, patch map[string]json.RawMessage) (json.RawMessage, error) {
	return update(ctx, s.db, func(tx *store.Tx) (json.RawMessage, error) {
		stored, err := tx.FrontendSettings(ctx, id, app)
		if err != nil {
			return nil, err
		}
		merged, err := mergeObject(stored, patch)
		if err != nil {
			return nil, err
		}
		return merged, setFrontendSettings(ctx, tx, id, map[string]json.RawMessage{app: merged})
	})
}

// mergeObject merges a patch into a value. A value that is not an object counts as an empty one.
func mergeObject(value json.RawMessage, patch map[string]json.RawMessage) (json.RawMessage, error) {
	members := membersOf(value)
	if members == nil {
		members = make(map[string]json.RawMessage, len(patch))
	}
	for name, change := range patch {
		if string(change) == "null" {
			delete(members, name)
			continue
		}
		if nested := membersOf(change); nested != nil {
			var err error
			if change, err = mergeObject(members[name], nested); err != nil {
				return nil, err
			}
		}
		members[name] = change
	}
	return json.Marshal(members)
}

// membersOf returns the members of an object, nil for any other value.
func membersOf(value json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return nil
	}
	return members
}

// maxFrontendName bounds the name of a front end, in bytes.
const maxFrontendName = 100

// setFrontendSettings replaces the settings of some front ends and keeps those of the others.
func setFrontendSettings(ctx context.Context, tx *store.Tx, id store.AccountID, changes map[string]json.RawMessage) error {
	if len(changes) == 0 {
		return nil
	}
	for name, value := range changes {
		if name == "" || len(name) > maxFrontendName || strings.ContainsRune(name, 0) {
			return errs.Invalid("The name of a front end must have 1 to %d bytes", maxFrontendName)
		}
		if string(value) == "null" {
			if err := tx.RemoveFrontendSettings(ctx, id, name); err != nil {
				return err
			}
			continue
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, value); err != nil {
			return err
		}
		if err := tx.SetFrontendSettings(ctx, id, name, compact.Bytes()); err != nil {
			return err
		}
	}
	size, err := tx.FrontendSettingsSize(ctx, id)
	if err == nil && size > maxFrontendSettings {
		err = errs.TooLarge("The settings of all front ends would take %d bytes, the limit is %d", size, maxFrontendSettings)
	}
	return err
}
