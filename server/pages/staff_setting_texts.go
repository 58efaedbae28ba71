package pages

// settingTexts returns the label and the description of a setting in the language of the page. The English ones are those of the API.
func (p *page) settingTexts(name, label, about string) (ownLabel, ownAbout string) {
	if ownLabel, ownAbout, ok := p.frame.Messages.SettingText(name); ok {
		return ownLabel, ownAbout
	}
	return label, about
}
