package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// proxyUsers are the users as which packages of reverse proxies run them. The root of haproxy and nginx is not meant: workers connect.
var proxyUsers = []string{"www-data", "nginx", "caddy", "haproxy", "traefik", "apache", "http", "www"}

// SocketUser is a user who may want to connect to the socket of the server.
type SocketUser struct {
	Name   string
	UID    uint32
	Groups []uint32
}

// may returns true if the user has the permission bit (1: enter, 2: connect) on a file.
func (u SocketUser) may(info fs.FileInfo, bit fs.FileMode) bool {
	owner := info.Sys().(*syscall.Stat_t)
	perm := info.Mode().Perm()
	switch {
	case u.UID == 0:
		return true
	case owner.Uid == u.UID:
		perm >>= 6
	case slices.Contains(u.Groups, owner.Gid):
		perm >>= 3
	}
	return perm&bit != 0
}

// barrier returns the first directory that the user cannot enter, or the socket itself; "": the user can connect.
func (u SocketUser) barrier(socket string) (string, error) {
	socket, err := filepath.Abs(socket)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(socket))
	if err != nil {
		return "", err
	}
	socket = filepath.Join(dir, filepath.Base(socket))
	dirs := []string{dir}
	for dir != "/" {
		dir = filepath.Dir(dir)
		dirs = append(dirs, dir)
	}
	for _, dir := range slices.Backward(dirs) {
		if info, err := os.Stat(dir); err != nil || !u.may(info, 1) {
			return dir, err
		}
	}
	if info, err := os.Stat(socket); err != nil || !u.may(info, 2) {
		return socket, err
	}
	return "", nil
}

// checkSocket looks whether the reverse proxy can connect to the Unix socket of the server, and nobody else.
func checkSocket(_ context.Context, d *doctor) Result {
	network, path := d.Settings.ListenAddress()
	if network != "unix" {
		return ok("the server listens on %s, which is no Unix socket", path)
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return failure("Start the server.", "there is no socket %s", path)
	case err != nil:
		return failure("Check server.listen and the owner of the directory.", "the socket: %v", err)
	case info.Mode().Type() != fs.ModeSocket:
		return failure("Check server.listen.", "%s is not a socket", path)
	case info.Mode().Perm()&0o007 != 0:
		return warning("Run chmod 660 "+path+".", "every user of this machine can connect to %s and name any client address", path)
	case info.Mode().Perm()&0o020 == 0:
		return failure("Run chmod 660 "+path+".", "the group of %s cannot connect", path)
	}
	gid := info.Sys().(*syscall.Stat_t).Gid
	return reachableByProxy(path, gid, groupName(gid), d.ProxyUsers())
}

// reachableByProxy checks the users of proxies that this machine has. One of them is enough: a machine can have users of proxies that it does not use.
func reachableByProxy(path string, gid uint32, group string, users []SocketUser) Result {
	if len(users) == 0 {
		return ok("the group %s can connect to %s; the user of the proxy must be in it (usermod -aG %s USER)", group, path, group)
	}
	var barred []string
	for _, u := range users {
		at, err := u.barrier(path)
		if err != nil {
			return warning("", "not checked: %v", err)
		}
		if at == "" {
			return ok("the group %s and the proxy's user %s can connect to %s", group, u.Name, path)
		}
		barred = append(barred, fmt.Sprintf("%s (at %s)", u.Name, at))
	}
	seen := fmt.Sprintf("no user of a reverse proxy that this machine has can connect to %s: %s", path, strings.Join(barred, ", "))
	if gid == 0 { // nobody joins the group of root
		return warning("Run the server as a user of its own, as README.md shows, and put the user of the proxy into its group.", "%s", seen)
	}
	u := users[0]
	advice := fmt.Sprintf("Run usermod -aG %s %s as root, with the user of your proxy, and restart the proxy.", group, u.Name)
	u.Groups = append(slices.Clone(u.Groups), gid)
	if at, err := u.barrier(path); err == nil && at != "" {
		advice += fmt.Sprintf(" Let the group enter %s, too, or put the socket into /run/svc (RuntimeDirectory=svc and RuntimeDirectoryMode=0750 in the systemd unit).", at)
	}
	return warning(advice, "%s", seen)
}

// groupName returns the name of a group, or its number.
func groupName(gid uint32) string {
	id := strconv.FormatUint(uint64(gid), 10)
	if g, err := user.LookupGroupId(id); err == nil {
		return g.Name
	}
	return id
}

// systemProxyUsers returns those proxyUsers that this machine has.
func systemProxyUsers() []SocketUser {
	var list []SocketUser
	for _, name := range proxyUsers {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			continue
		}
		found := SocketUser{Name: name, UID: uint32(uid)}
		ids, _ := u.GroupIds()
		for _, id := range append(ids, u.Gid) {
			if gid, err := strconv.ParseUint(id, 10, 32); err == nil {
				found.Groups = append(found.Groups, uint32(gid))
			}
		}
		list = append(list, found)
	}
	return list
}
