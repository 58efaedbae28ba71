package social

import (
	"encoding/csv"
	"slices"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// Lists of imports: text with an entry a line, or the CSV of Mastodon and its kin, in which the first column is the account and a header
// names the others (extension API 9).

const (
	maxImportBytes   = 1 << 20
	maxImportEntries = 10_000
	maxImportTarget  = 2048 // bytes of a handle, URI or domain
	maxImportColumns = 16
)

// importColumns are the names of columns in the first line of a file, in lower case.
var importColumns = map[string]column{
	"account address": targetColumn, "account": targetColumn, "uri": targetColumn, "#uri": targetColumn, "domain": targetColumn, "#domain": targetColumn,
	"list name": listColumn, "show boosts": reblogsColumn, "notify on new posts": notifyColumn, "languages": languagesColumn,
	"hide notifications": hideColumn,
}

type column int

const (
	ignoredColumn column = iota
	targetColumn
	listColumn
	reblogsColumn
	notifyColumn
	languagesColumn
	hideColumn
)

// columnsWithoutHeader are the columns of each kind of file that has no header.
var columnsWithoutHeader = map[store.ImportKind][]column{
	store.ImportFollows:      {targetColumn, reblogsColumn, notifyColumn, languagesColumn},
	store.ImportBlocks:       {targetColumn},
	store.ImportMutes:        {targetColumn, hideColumn},
	store.ImportDomainBlocks: {targetColumn},
	store.ImportLists:        {listColumn, targetColumn},
	store.ImportBookmarks:    {targetColumn},
	store.ImportLikes:        {targetColumn},
}

// parseImport returns the entries of a list, without repeated ones. Whether an entry names something is found out by the import.
func parseImport(kind store.ImportKind, list string) ([]store.ImportEntry, error) {
	switch {
	case len(list) > maxImportBytes:
		return nil, errs.TooLarge("The list is larger than %d bytes", maxImportBytes)
	case strings.ContainsRune(list, 0):
		return nil, errs.BadRequest("The list is not a text")
	}
	list = strings.TrimPrefix(strings.ToValidUTF8(list, "\uFFFD"), "\uFEFF")
	columns := columnsWithoutHeader[kind]
	var entries []store.ImportEntry
	seen := make(map[string]bool)
	first := true
	for line := range strings.FieldsFuncSeq(list, func(c rune) bool { return c == '\n' || c == '\r' }) {
		fields := splitColumns(line)
		if fields == nil {
			continue
		}
		if header := headerColumns(fields); first && header != nil {
			columns, first = header, false
			continue
		}
		first = false
		for _, e := range newImportEntries(kind, columns, fields) {
			key := e.Options.V.List + "\n" + strings.ToLower(e.Target)
			if seen[key] {
				continue
			}
			if seen[key] = true; len(seen) > maxImportEntries {
				return nil, errs.Invalid("Validation failed: List has more than %d entries", maxImportEntries)
			}
			entries = append(entries, e)
		}
	}
	if len(entries) == 0 {
		return nil, errs.BadRequest("The list is empty")
	}
	return entries, nil
}

// splitColumns returns the columns of a line of CSV, nil if it is blank. Quotes that are not closed end with the line.
func splitColumns(line string) []string {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	if !strings.Contains(line, `"`) {
		return strings.SplitN(line, ",", maxImportColumns)
	}
	r := csv.NewReader(strings.NewReader(line))
	r.LazyQuotes, r.TrimLeadingSpace = true, true
	fields, err := r.Read()
	if err != nil {
		return []string{line}
	}
	return fields
}

// headerColumns returns the columns that a header names, nil if the line is none.
func headerColumns(fields []string) []column {
	columns := make([]column, len(fields))
	for i, name := range fields {
		columns[i] = importColumns[strings.ToLower(strings.TrimSpace(name))]
	}
	if !slices.Contains(columns, targetColumn) {
		return nil
	}
	return columns
}

// newImportEntries returns the entries of a line. A column of accounts may have several, separated by spaces.
func newImportEntries(kind store.ImportKind, columns []column, fields []string) []store.ImportEntry {
	var o store.ImportOptions
	var targets []string
	for i, field := range fields[:min(len(fields), len(columns))] {
		switch field = strings.TrimSpace(field); columns[i] {
		case targetColumn:
			targets = strings.Fields(field)
		case listColumn:
			o.List = text.OneLine(field)
		case reblogsColumn:
			o.ShowReblogs = parseColumnBool(field)
		case notifyColumn:
			o.Notify = parseColumnBool(field)
		case languagesColumn:
			o.Languages = parseColumnLanguages(field)
		case hideColumn:
			o.HideNotifications = parseColumnBool(field)
		}
	}
	if kind == store.ImportLists && o.List == "" {
		return nil
	}
	var entries []store.ImportEntry
	for _, target := range targets {
		if kind != store.ImportBookmarks && kind != store.ImportLikes {
			target = strings.TrimPrefix(target, "@")
		}
		if target != "" {
			entries = append(entries, store.ImportEntry{Target: target[:min(len(target), maxImportTarget)], Options: store.JSON[store.ImportOptions]{V: o}})
		}
	}
	return entries
}

// parseColumnBool returns nil for other text than true and false.
func parseColumnBool(field string) *bool {
	value := false
	switch strings.ToLower(field) {
	case "true", "1", "yes":
		value = true
	case "false", "0", "no":
	default:
		return nil
	}
	return &value
}

// parseColumnLanguages returns the known languages of a column, nil if it has none.
func parseColumnLanguages(field string) []string {
	var codes []string
	for part := range strings.FieldsFuncSeq(field, func(c rune) bool { return c == ',' || c == ' ' || c == ';' }) {
		if code := text.Language(part); code != "" {
			codes = append(codes, code)
		}
	}
	return codes
}
