// Package unixsocket creates Unix sockets that other users of the machine cannot open, not even in the moment between their creation and
// the change of their mode.
package unixsocket

import (
	"context"
	"io/fs"
	"net"
	"os"
	"syscall"
)

// Listen creates a socket whose permissions are mode. It belongs to the user and the group of the process, or to the group of a directory
// with the setgid bit. The socket is removed when the listener is closed, unless SetUnlinkOnClose says otherwise.
func Listen(path string, mode fs.FileMode) (*net.UnixListener, error) {
	private := func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			// On Linux a socket gets the mode that it has before bind, less the umask. Other systems refuse this; there the umask that
			// command.Execute sets has the same effect.
			_ = syscall.Fchmod(int(fd), uint32(mode.Perm()))
		})
	}
	ln, err := (&net.ListenConfig{Control: private}).Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, mode.Perm()); err != nil { // what the umask has taken away
		ln.Close()
		return nil, err
	}
	return ln.(*net.UnixListener), nil
}
