package remote

import (
	"context"
	"errors"
	"net"
)

// Tests reach nothing but this machine: names that it does not know by itself are not looked up.
func init() {
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("tests look up no names")
	}}
}
