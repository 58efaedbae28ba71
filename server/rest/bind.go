package rest

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"svc/internal/enum"
	"svc/internal/errs"
)

// Bind fills the struct that dst points to with the parameters of the query and of the body: an urlencoded form, a multipart form or
// JSON. A field names its parameter in a tag, `param:"in_reply_to_id"`, and may require it, `param:"password,required"`. Parameters
// without a field are ignored.
//
// A parameter that is absent or null leaves its field unchanged. So does an empty text, unless the field is a string, a list or an
// Upload. So does the text "undefined" in a query or a form, which JavaScript makes of a missing value, unless the field is a string or a
// list of strings; a string that is no free text is tagged `param:"visibility,word"` to have the same. So a pointer stays nil if nothing was sent; a slice stays nil if nothing was sent, and is empty if an empty list was. Texts are
// converted to numbers and booleans and vice versa, and a single value to a list of one. Invalid values give a 400 that lists all of
// them; only an invalid limit counts as absent.
//
// A value of a fixed set (an UnmarshalText that returns an enum.Error) that is none of the set gives a 422, also in a list. So does a boolean that is
// neither true nor false, except in a GET, which only selects what is read: there it is true. So no default takes the place of what was meant.
// A struct that is tagged `param:"interaction_policy,closed"` may have no other members than its fields.
//
// Fields may be strings, booleans, integers, floats, structs, encoding.TextUnmarshalers, *Upload, json.RawMessage (any JSON),
// map[string]any (any object), and pointers to and slices of those.
func (r *Request) Bind(dst any) error {
	p, err := r.parameters()
	if err != nil {
		return err
	}
	target := reflect.ValueOf(dst).Elem()
	r.observe(Observation{Form: target.Type()})
	plan := planFor(target.Type())
	if len(p.fields) == 0 && !plan.required {
		return nil
	}
	b := binding{params: p, reads: r.reads()}
	b.fill(target, plan, p.fields, "")
	return b.error()
}

// binding is one call of Bind.
type binding struct {
	params *params
	reads  bool // the request changes nothing
	errors []bindError
	err    error // of an UnmarshalText, or a limit that was exceeded
}

// bindError is a parameter that is invalid. unknown: its value is none of a fixed set.
type bindError struct {
	pointer, message string
	unknown          bool
}

const maxBindErrors = 20

func (b *binding) addError(pointer, format string, args ...any) bool {
	if len(b.errors) < maxBindErrors {
		b.errors = append(b.errors, bindError{pointer: pointer, message: fmt.Sprintf(format, args...)})
	}
	return false
}

// addUnknown records that a value is none of a fixed set.
func (b *binding) addUnknown(pointer string, e *enum.Error) bool {
	b.addError(pointer, "%s - Invalid value %s", paramName(pointer), e.Reason())
	b.errors[len(b.errors)-1].unknown = true
	return false
}

// paramName returns the parameter of a pointer as forms write it, such as source[privacy]. It leaves out the positions in lists.
func paramName(pointer string) string {
	var name strings.Builder
	for i, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		switch _, err := strconv.Atoi(part); {
		case i == 0:
			name.WriteString(part)
		case err != nil:
			name.WriteString("[" + part + "]")
		}
	}
	return name.String()
}

// addTypeError records that a value has another type than required.
func (b *binding) addTypeError(pointer, want string, v *value) bool {
	name := pointer[strings.LastIndexByte(pointer, '/')+1:]
	return b.addError(pointer, "%s - Invalid %s. Got: %s", name, want, v.kind)
}

func (b *binding) error() error {
	if b.err != nil || len(b.errors) == 0 {
		return b.err
	}
	type source struct {
		Pointer string `json:"pointer"`
	}
	type entry struct {
		Title   string `json:"title"`
		Source  source `json:"source"`
		Message string `json:"message"`
	}
	var texts []string
	var list []entry
	status := http.StatusBadRequest
	for _, f := range b.errors {
		texts = append(texts, f.message+".")
		list = append(list, entry{"Invalid value", source{f.pointer}, f.message})
		if f.unknown {
			status = http.StatusUnprocessableEntity
		}
	}
	return errs.New(status, "%s", strings.Join(texts, " ")).With("errors", list)
}

// setter sets a field to a value. It returns false if there is no value to set.
type setter func(b *binding, dst reflect.Value, v *value, pointer string) bool

// plan is how a struct type is filled.
type plan struct {
	fields   []fieldPlan
	required bool // some field is required
}

type fieldPlan struct {
	name     string
	index    []int
	required bool
	set      setter
}

var plans sync.Map // reflect.Type → *plan

func planFor(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := new(plan)
	for _, f := range reflect.VisibleFields(t) { // also those of embedded structs
		name, option, ok := ParamTag(f)
		if !ok {
			continue
		}
		required, set := option == "required", setterFor(f.Type)
		switch option {
		case "word":
			set = defined(set)
		case "closed":
			set = closed(set, f.Type.Elem())
		}
		p.fields = append(p.fields, fieldPlan{name: name, index: f.Index, required: required, set: set})
		p.required = p.required || required
	}
	plans.Store(t, p)
	return p
}

// ParamTag returns the name of a field's parameter and the option in its tag. ok is false if the field has no parameter.
func ParamTag(f reflect.StructField) (name, option string, ok bool) {
	name, option, _ = strings.Cut(f.Tag.Get("param"), ",")
	return name, option, name != ""
}

func (b *binding) fill(dst reflect.Value, p *plan, fields map[string]*value, pointer string) {
	for _, f := range p.fields {
		at := pointer + "/" + f.name
		before := len(b.errors)
		v := fields[f.name]
		ok := v != nil && f.set(b, dst.FieldByIndex(f.index), v, at)
		if f.required && !ok && len(b.errors) == before {
			b.addError(at, "Missing field: %s", f.name)
		}
	}
}

var (
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	uploadPointer   = reflect.TypeFor[*Upload]()
	rawMessage      = reflect.TypeFor[json.RawMessage]()
	anyObject       = reflect.TypeFor[map[string]any]()
)

// setterFor panics for a type that no parameter can have, which is a mistake in the handler.
func setterFor(t reflect.Type) setter {
	switch {
	case t == uploadPointer:
		return setUpload
	case t == rawMessage:
		return setRaw
	case t == anyObject:
		return defined(setObject)
	case reflect.PointerTo(t).Implements(textUnmarshaler):
		return defined(setText)
	}
	switch t.Kind() {
	case reflect.String:
		return setString
	case reflect.Bool:
		return defined(setBool)
	case reflect.Int, reflect.Int64:
		return defined(setInt)
	case reflect.Float64:
		return defined(setFloat)
	case reflect.Pointer:
		return pointerSetter(t.Elem())
	case reflect.Slice:
		return sliceSetter(t)
	case reflect.Struct:
		return defined(setStruct)
	}
	panic(fmt.Sprintf("bind: no parameter can be a %v", t))
}

// defined returns a setter that takes the text "undefined" of a query or a form for an absent parameter.
func defined(set setter) setter {
	return func(b *binding, dst reflect.Value, v *value, pointer string) bool {
		return !v.single().isUndefined() && set(b, dst, v, pointer)
	}
}

// isUndefined returns true for the text that JavaScript makes of a missing value when it builds a form.
func (v *value) isUndefined() bool {
	return v.kind == textValue && v.raw == nil && v.text == "undefined"
}

// scalar returns the text of a single value. ok is false if it is empty, or, with an error, if v is an object or a list.
func (b *binding) scalar(v *value, want, pointer string) (text string, ok bool) {
	v = v.single()
	switch v.kind {
	case textValue, numberValue, boolValue:
		return v.text, v.text != ""
	case nullValue, fileValue:
		return "", false
	}
	return "", b.addTypeError(pointer, want, v)
}

func setString(b *binding, dst reflect.Value, v *value, pointer string) bool {
	text, ok := b.scalar(v, "string", pointer)
	if ok || v.single().kind == textValue {
		dst.SetString(text)
		return true
	}
	return false
}

var (
	trueWords  = []string{"true", "1", "t", "on", "yes", "y"}
	falseWords = []string{"false", "0", "f", "off", "no", "n"}
)

func setBool(b *binding, dst reflect.Value, v *value, pointer string) bool {
	text, ok := b.scalar(v, "boolean", pointer)
	if !ok {
		return false
	}
	is, unknown := ReadBool(text)
	if unknown != nil && !b.reads {
		return b.addUnknown(pointer, unknown)
	}
	dst.SetBool(is)
	return true
}

// ReadBool reads a boolean as clients send it. Another text is true, with an error.
func ReadBool(text string) (bool, *enum.Error) {
	word := strings.ToLower(text)
	switch {
	case slices.Contains(falseWords, word):
		return false, nil
	case slices.Contains(trueWords, word):
		return true, nil
	}
	return true, &enum.Error{Text: text, Permitted: []string{trueWords[0], falseWords[0]}}
}

// ParseBool reads a boolean that selects what is read. "" is false, and any text that is neither true nor false is true.
func ParseBool(text string) bool {
	is, _ := ReadBool(text)
	return is && text != ""
}

func setInt(b *binding, dst reflect.Value, v *value, pointer string) bool {
	text, ok := b.scalar(v, "integer", pointer)
	if !ok {
		return false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil { // some clients send 3.0
		var f float64
		if f, err = strconv.ParseFloat(text, 64); f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
			err = strconv.ErrSyntax
		}
		n = int64(f)
	}
	switch {
	case err == nil && !dst.OverflowInt(n):
		dst.SetInt(n)
		return true
	case pointer == "/limit":
		return false
	}
	return b.addTypeError(pointer, "integer", v.single())
}

func setFloat(b *binding, dst reflect.Value, v *value, pointer string) bool {
	text, ok := b.scalar(v, "number", pointer)
	if !ok {
		return false
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return b.addTypeError(pointer, "number", v.single())
	}
	dst.SetFloat(f)
	return true
}

func setText(b *binding, dst reflect.Value, v *value, pointer string) bool {
	if f := v.single(); f.kind == fileValue && f.file.Size > 0 {
		return b.addTypeError(pointer, "string", f)
	}
	text, ok := b.scalar(v, "string", pointer)
	if !ok {
		return false
	}
	err := dst.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
	var e *errs.Error
	var unknown *enum.Error
	switch {
	case err == nil:
		return true
	case errors.As(err, &unknown):
		return b.addUnknown(pointer, unknown)
	case errors.As(err, &e):
		b.err = err
		return false
	}
	return b.addError(pointer, "%s - Invalid value", pointer[strings.LastIndexByte(pointer, '/')+1:])
}

// setUpload sets a file. An empty file part means that no file was chosen, an empty text that the present file is to be removed.
func setUpload(b *binding, dst reflect.Value, v *value, pointer string) bool {
	v = v.single()
	switch {
	case v.kind == fileValue && v.file.Size > 0:
		dst.Set(reflect.ValueOf(v.file))
	case v.kind == textValue && v.text == "":
		dst.Set(reflect.ValueOf(&Upload{Empty: true}))
	default:
		return false
	}
	return true
}

func setRaw(b *binding, dst reflect.Value, v *value, pointer string) bool {
	if v.kind == nullValue || v.kind == fileValue {
		return false
	}
	dst.SetBytes(v.appendJSON(nil))
	return true
}

func setObject(b *binding, dst reflect.Value, v *value, pointer string) bool {
	switch {
	case v.kind == nullValue || v.kind == fileValue || v.kind == textValue && v.text == "":
		return false
	case v.kind != objectValue:
		return b.addTypeError(pointer, "object", v)
	}
	var object map[string]any
	if err := json.Unmarshal(v.appendJSON(nil), &object); err != nil {
		b.err = fmt.Errorf("parameter %s: %w", pointer, err)
		return false
	}
	dst.Set(reflect.ValueOf(object))
	return true
}

func setStruct(b *binding, dst reflect.Value, v *value, pointer string) bool {
	switch {
	case v.kind == nullValue || v.kind == fileValue || v.kind == textValue && v.text == "":
		return false
	case v.kind != objectValue:
		return b.addTypeError(pointer, "object", v)
	}
	if err := b.params.expand(v); err != nil {
		b.err = err
		return false
	}
	b.fill(dst, planFor(dst.Type()), v.object, pointer)
	return true
}

// closed returns a setter of a struct or a pointer to one that refuses members that the type t of the struct does not have.
func closed(set setter, t reflect.Type) setter {
	var names []string
	for _, f := range planFor(t).fields {
		names = append(names, f.name)
	}
	return func(b *binding, dst reflect.Value, v *value, pointer string) bool {
		if !set(b, dst, v, pointer) {
			return false
		}
		for name := range v.object {
			if !slices.Contains(names, name) {
				return b.addUnknown(pointer, &enum.Error{Text: name, Permitted: names})
			}
		}
		return true
	}
}

func pointerSetter(t reflect.Type) setter {
	set := setterFor(t)
	return func(b *binding, dst reflect.Value, v *value, pointer string) bool {
		target := reflect.New(t)
		ok := set(b, target.Elem(), v, pointer)
		if ok {
			dst.Set(target)
		}
		return ok
	}
}

// hasUnknown returns true if one of the errors from n on is about a value that is none of a fixed set.
func (b *binding) hasUnknown(n int) bool {
	return slices.ContainsFunc(b.errors[n:], func(e bindError) bool { return e.unknown })
}

// sliceSetter sets lists. It leaves out null elements, and texts that cannot be ids.
func sliceSetter(t reflect.Type) setter {
	set := setterFor(t.Elem())
	ids := reflect.PointerTo(t.Elem()).Implements(textUnmarshaler)
	return func(b *binding, dst reflect.Value, v *value, pointer string) bool {
		if v.kind == fileValue && v.file.Size == 0 {
			return false
		}
		if err := b.params.expand(v); err != nil {
			b.err = err
			return false
		}
		list := v.elements()
		if t.Elem().Kind() != reflect.String && len(list) == 1 && list[0].isUndefined() {
			return false
		}
		if v.isEmpty() || len(list) == 1 && v.raw == nil && list[0].isEmpty() { // forms send k[]=
			list = nil
		}
		slice := reflect.MakeSlice(t, 0, len(list))
		element := reflect.New(t.Elem()).Elem()
		for i, e := range list {
			element.SetZero()
			before := *b
			if set(b, element, e, pointer+"/"+strconv.Itoa(i)) {
				slice = reflect.Append(slice, element)
			} else if kind := e.single().kind; ids && kind != listValue && kind != objectValue && !b.hasUnknown(len(before.errors)) {
				*b = before
			}
		}
		dst.Set(slice)
		return true
	}
}

// isEmpty returns true if v, sent for a list, means that the list is empty.
func (v *value) isEmpty() bool {
	return v.kind == nullValue || v.kind == textValue && v.text == ""
}
