package web

import (
	"strings"

	"svc/store"
)

// Scopes describes scopes in plain words. Scopes that another one includes are left out.
func (m *Messages) Scopes(scopes store.Scopes) []string {
	var texts []string
	seen := make(map[string]bool)
	for i, scope := range scopes {
		others := make(store.Scopes, 0, len(scopes))
		others = append(append(others, scopes[:i]...), scopes[i+1:]...)
		text := m.scope(scope)
		if text == "" || seen[text] || others.Allow(scope) {
			continue
		}
		seen[text] = true
		texts = append(texts, text)
	}
	return texts
}

// scope describes a scope, "" if it is unknown. Those of parts of the admin API are described by the part.
func (m *Messages) scope(scope string) string {
	key := "scopes." + scope
	if text := m.Text(key); text != key {
		return text
	}
	for _, verb := range []string{"admin:read", "admin:write"} {
		if part, ok := strings.CutPrefix(scope, verb+":"); ok {
			return m.Text("scopes."+verb+":part", strings.ReplaceAll(part, "_", " "))
		}
	}
	return ""
}
