package rest

import (
	"slices"
	"strings"
)

// Shapes describe the entities of the API: the shape of each member by name. A shape is a kind of value, an entity by its name, []SHAPE, or several joined
// by |. A member whose shape begins with ? may be absent.
//
// Kinds are string, text (not empty), id, digits, time, date, url, integer, number, boolean, null, object (any members) and empty ({}).
type Shapes map[string]map[string]string

// schema is a JSON schema (json-schema.org, draft 2020-12), which OpenAPI 3.1 uses.
type schema = map[string]any

// kindSchemas are the kinds of shapes.
var kindSchemas = map[string]schema{
	"string":  {"type": "string"},
	"text":    {"type": "string", "minLength": 1},
	"id":      {"type": "string", "pattern": `^[0-9A-Za-z]{1,30}$`},
	"digits":  {"type": "string", "pattern": `^[0-9]+$`},
	"time":    {"type": "string", "format": "date-time", "pattern": `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`},
	"date":    {"type": "string", "format": "date", "pattern": `^\d{4}-\d\d-\d\d$`},
	"url":     {"type": "string", "format": "uri", "pattern": `^https?://[^/]+`},
	"integer": {"type": "integer"},
	"number":  {"type": "number"},
	"boolean": {"type": "boolean"},
	"null":    {"type": "null"},
	"object":  {"type": "object"},
	"empty":   {"type": "object", "maxProperties": 0},
	"any":     {},
}

const schemaPrefix = "#/components/schemas/"

// shapeSchema returns the schema of a shape.
func shapeSchema(shape string) schema {
	if alternatives := strings.Split(shape, "|"); len(alternatives) > 1 {
		var list []any
		for _, one := range alternatives {
			list = append(list, shapeSchema(one))
		}
		return schema{"anyOf": list}
	}
	if of, ok := strings.CutPrefix(shape, "[]"); ok {
		return schema{"type": "array", "items": shapeSchema(of)}
	}
	if kind, ok := kindSchemas[shape]; ok {
		return kind
	}
	return schema{"$ref": schemaPrefix + shape}
}

// entitySchema returns the schema of an entity with these members.
func entitySchema(members map[string]string, name func(string) string) schema {
	properties, required := schema{}, []string{}
	for member, shape := range members {
		member = name(member)
		shape, optional := strings.CutPrefix(shape, "?")
		properties[member] = shapeSchema(shape)
		if !optional {
			required = append(required, member)
		}
	}
	s := schema{"type": "object", "properties": properties}
	if len(required) > 0 { // a list without elements would be null
		s["required"] = slices.Sorted(slices.Values(required))
	}
	return s
}
