package web

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/BurntSushi/toml"

	"svc/internal/packed"
)

//go:embed messages/settings/*.toml.gz
var settingFiles embed.FS

// settingText is the label and the description of a setting of the server.
type settingText [2]string

// readSettingTexts reads the texts of the settings in a language, by the names of the settings. The English ones are those of internal/config.
func readSettingTexts(language string) (map[string]settingText, error) {
	source, err := settingFiles.ReadFile("messages/settings/" + language + ".toml.gz")
	if errors.Is(err, fs.ErrNotExist) && language == StandardLanguage {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var groups map[string]map[string]settingText
	if err := toml.Unmarshal(packed.Text(source), &groups); err != nil {
		return nil, fmt.Errorf("messages/settings/%s.toml: %w", language, err)
	}
	texts := make(map[string]settingText)
	for group, settings := range groups {
		for key, text := range settings {
			texts[group+"."+key] = text
		}
	}
	return texts, nil
}

// SettingText returns the label and the description of a setting of the server in the language of the page. ok is false for the standard
// language, whose texts the API has.
func (m *Messages) SettingText(name string) (label, about string, ok bool) {
	text, ok := m.settings[name]
	return text[0], text[1], ok
}
