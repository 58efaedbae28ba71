package social

import (
	"slices"

	"svc/internal/config"
	"svc/internal/text"
)

// FromSettings takes what this package needs from the settings.
func FromSettings(c *config.Config) Config {
	return Config{
		BaseURL:             c.URL().String(),
		Domain:              c.Host(),
		MaxStatus:           c.Statuses.MaxLength,
		MinExpiry:           c.Statuses.MinExpiry,
		MaxPins:             c.Statuses.MaxPinned,
		MaxChatMessage:      c.Chats.MaxLength,
		MaxDescription:      c.Media.DescriptionLength,
		MaxUpload:           c.Media.UploadLimit,
		ContentTypes:        c.Statuses.AllowedFormats,
		MaxPollOptions:      c.Polls.MaxOptions,
		MaxPollOptionLength: c.Polls.MaxOptionLength,
		MinPollDuration:     c.Polls.MinExpiration,
		MaxPollDuration:     c.Polls.MaxExpiration,
		MaxName:             c.Accounts.NameLength,
		MaxBio:              c.Accounts.BioLength,
		MaxFields:           c.Accounts.MaxFields,
		MaxFieldName:        c.Accounts.FieldNameLength,
		MaxFieldValue:       c.Accounts.FieldValueLength,
		BackfillOnFollow:    100,

		ReservedNicknames:     slices.Concat(text.ReservedNicknames(), c.Accounts.RestrictedNicknames, []string{c.API.Name}),
		ExtendedNicknames:     c.Accounts.ExtendedNicknameFormat,
		MaxRegistrationReason: c.Accounts.RegistrationReasonLength,
		ResetLifetime:         c.Accounts.PasswordResetLifetime,

		SendListens: c.Federation.SendListens,

		CardsEnabled:     c.Cards.Enabled,
		CardIgnoredHosts: c.Cards.IgnoredHosts,
	}
}
