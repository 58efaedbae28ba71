package app

import "reflect"

// CgroupMemory is for the external test package.
var CgroupMemory = cgroupMemory

// CallTypes returns the types of the argument and the result of each call.
func CallTypes() map[string][2]reflect.Type {
	types := make(map[string][2]reflect.Type)
	for name, c := range calls {
		types[name] = [2]reflect.Type{c.args, c.result}
	}
	return types
}
