package app

import (
	"fmt"
	"slices"
	"strings"

	"svc/internal/config"
	"svc/internal/replica"
)

// ownSettings are the settings, and the groups of settings, that say something about a machine: a standby may have others than the server.
var ownSettings = []string{
	"server.listen", "server.trusted_proxies", "server.tls", "data", "cache", "storage", "backup.dir", "replica.passphrase_file", "s3", "sftp", "updates", "log", "metrics",
}

func isOwnSetting(name string) bool {
	group := name[:strings.LastIndexByte(name, '.')]
	return slices.Contains(ownSettings, name) || slices.Contains(ownSettings, group)
}

// compareSettings compares the settings file of this machine with that of the server, which is at the place. The error is that of a difference with
// which the server could not start after a promotion; other differences are in the status.
func (s *Standby) compareSettings(secrets replica.Secrets) error {
	text, ok := secrets[replica.SettingsName]
	if !ok { // the server runs without one
		s.setDifferences(nil, "")
		return nil
	}
	theirs, err := config.Parse(string(text))
	if err != nil { // of a newer version, say
		s.setDifferences(nil, "the settings file of the server cannot be read with this version of svc: "+err.Error())
		return nil
	}
	if theirs.URL().String() != s.settings.URL().String() || theirs.Host() != s.settings.Host() {
		return fmt.Errorf("server.url or server.host differ from those of the server, to which the accounts belong: %s for %s here, %s for %s there: correct them and restart svc standby",
			s.settings.URL(), s.settings.Host(), theirs.URL(), theirs.Host())
	}
	names := slices.DeleteFunc(config.Differences(theirs, s.settings), isOwnSetting)
	s.setDifferences(names, "")
	return nil
}

// setDifferences remembers what differs, and logs it when it is new.
func (s *Standby) setDifferences(names []string, unread string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.status.SettingsNote()
	s.status.Differ, s.status.Unread = names, unread
	if now := s.status.SettingsNote(); now != "" && now != before {
		s.Log.Warn("the settings of this machine may not be those of the server", "what", now)
	}
}
