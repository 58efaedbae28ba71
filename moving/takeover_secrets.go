package moving

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// maxSecretsSize bounds the file with the secrets of the old server.
const maxSecretsSize = 1 << 20

// secrets are the settings of the old server that its rows are encrypted with. They are in memory only.
type secrets struct {
	values  map[string]string
	derived map[int][]byte // keys, by the size of the hash that they were derived with
}

// readSecrets reads a file of lines NAME=VALUE, as Mastodon's .env.production is. Without a file there are none.
func readSecrets(path string) (*secrets, error) {
	s := &secrets{values: make(map[string]string), derived: make(map[int][]byte)}
	if path == "" {
		return s, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("takeover: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxSecretsSize {
		return nil, fmt.Errorf("takeover: %s is no file with settings", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("takeover: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(lines.Text()), "export "), "=")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		value = strings.TrimSpace(value)
		if len(value) >= 2 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
			value = value[1 : len(value)-1]
		}
		s.values[strings.TrimSpace(name)] = value
	}
	return s, lines.Err()
}
