package apptest

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

var kindPatterns = map[string]*regexp.Regexp{
	"time":   regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`),
	"date":   regexp.MustCompile(`^\d{4}-\d\d-\d\d$`),
	"id":     regexp.MustCompile(`^[0-9A-Za-z]{1,30}$`),
	"digits": regexp.MustCompile(`^\d+$`),
	"url":    regexp.MustCompile(`^https?://[^/]+`),
	"text":   regexp.MustCompile(`(?s).`), // not empty
	"string": regexp.MustCompile(``),
}

// ShapeFaults returns the differences between a value and its shape; where is the name of the value in them.
func ShapeFaults(shapes map[string]map[string]string, where string, v any, shape string) []string {
	var faults []string
	likely := false // the faults are those of an entity, which an object is rather than something else
	for _, one := range strings.Split(shape, "|") {
		found := singleShapeFaults(shapes, where, v, one)
		if len(found) == 0 {
			return nil
		}
		isEntity := JSONKind(v) == "object" && shapes[one] != nil
		if faults == nil || isEntity && !likely || isEntity == likely && len(found) < len(faults) {
			faults, likely = found, isEntity
		}
	}
	return faults
}

func singleShapeFaults(shapes map[string]map[string]string, where string, v any, shape string) []string {
	fault := []string{fmt.Sprintf("%s is %.200v, want %s", where, v, shape)}
	if of, ok := strings.CutPrefix(shape, "[]"); ok {
		list, ok := v.([]any)
		if !ok {
			return fault
		}
		var faults []string
		for i, e := range list {
			faults = append(faults, ShapeFaults(shapes, fmt.Sprintf("%s[%d]", where, i), e, of)...)
		}
		return faults
	}
	if pattern := kindPatterns[shape]; pattern != nil {
		if s, ok := v.(string); ok && pattern.MatchString(s) {
			return nil
		}
		return fault
	}
	members, ok := v.(map[string]any)
	switch shape {
	case "any":
		return nil
	case "integer":
		if n, ok := v.(float64); ok && n == math.Trunc(n) {
			return nil
		}
		return fault
	case "null", "number", "boolean", "object":
		if JSONKind(v) == shape {
			return nil
		}
		return fault
	case "empty":
		if ok && len(members) == 0 {
			return nil
		}
		return fault
	}
	if !ok {
		return fault
	}
	return memberFaults(shapes, where, members, shapes[shape])
}

func memberFaults(shapes map[string]map[string]string, where string, members map[string]any, of map[string]string) []string {
	var faults []string
	for key, shape := range of {
		shape, optional := strings.CutPrefix(shape, "?")
		switch v, exists := members[key]; {
		case exists:
			faults = append(faults, ShapeFaults(shapes, where+"."+key, v, shape)...)
		case !optional:
			faults = append(faults, fmt.Sprintf("%s has no %q", where, key))
		}
	}
	for key := range members {
		if _, known := of[key]; !known {
			faults = append(faults, fmt.Sprintf("%s has a member %q", where, key))
		}
	}
	slices.Sort(faults)
	return faults
}

// JSONKind returns the kind of a value that was read from JSON.
func JSONKind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case map[string]any:
		return "object"
	}
	return "list"
}
