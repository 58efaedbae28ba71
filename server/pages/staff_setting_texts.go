package pages

import (
	"strings"

	"svc/internal/dbconfig"
)

// rulesOfDescriptions are the sentences that the API adds to descriptions of settings, as keys of the messages.
var rulesOfDescriptions = []struct{ sentence, key string }{
	{dbconfig.AfterRestart, "admin.settings.after_restart"},
	{dbconfig.OnlyInFile, "admin.settings.file"},
}

// settingTexts returns the label and the description of a setting in the language of the page. The English ones are those of the API.
func (p *page) settingTexts(name, label, about string) (ownLabel, ownAbout string) {
	ownLabel, ownAbout, ok := p.frame.Messages.SettingText(name)
	if !ok {
		return label, about
	}
	for _, rule := range rulesOfDescriptions {
		if strings.HasSuffix(about, rule.sentence) {
			ownAbout += " " + p.text(rule.key)
		}
	}
	return ownLabel, ownAbout
}

// texts is settingTexts for a description of one setting.
func (p *page) texts(d settingDescription) (label, about string) {
	if len(d.Settings) != 1 {
		return d.Label, d.Description
	}
	return p.settingTexts(d.Settings[0], d.Label, d.Description)
}
