package update

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"svc/internal/disk"

	"golang.org/x/sys/unix"
)

// Names beside the binary.
const (
	newSuffix  = ".new"  // the new one before the swap
	oldSuffix  = ".old"  // the one before the last update
	backSuffix = ".back" // a copy of the old one that is put back
)

const packageTimeout = 20 * time.Second

// packageManagers ask who owns a file, and say how a package is upgraded.
var packageManagers = []struct {
	query   []string
	name    func(answer string) string
	upgrade string
}{
	{[]string{"dpkg", "-S"}, func(answer string) string { name, _, _ := strings.Cut(answer, ":"); return name }, "apt update && apt install --only-upgrade %s"},
	{[]string{"rpm", "-q", "--queryformat", "%{NAME}\n", "-f"}, func(answer string) string { return answer }, "dnf upgrade %s"},
}

// containers are the values of $container inside of containers that have an image.
var containers = []string{"docker", "podman", "oci", "kubernetes"}

// checkContainer returns an error inside of a container whose image has the program.
func checkContainer() error {
	in := slices.Contains(containers, os.Getenv("container"))
	for _, file := range []string{"/.dockerenv", "/run/.containerenv"} {
		_, err := os.Stat(file)
		in = in || err == nil
	}
	if in {
		return errors.New("this is a container: pull the new image and start a container from it; --in-container updates nevertheless, until the container is replaced")
	}
	return nil
}

// checkPackage returns an error if a package owns the file.
func checkPackage(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, packageTimeout)
	defer cancel()
	for _, m := range packageManagers {
		cmd := exec.CommandContext(ctx, m.query[0], append(slices.Clone(m.query[1:]), path)...)
		cmd.Env = append(os.Environ(), "LC_ALL=C")
		answer, err := cmd.Output()
		if err == nil {
			line, _, _ := strings.Cut(strings.TrimSpace(string(answer)), "\n")
			name := m.name(line)
			return fmt.Errorf("%s belongs to the package %s, which updates it: "+m.upgrade, path, name, name)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s did not say whether a package owns %s: %w", m.query[0], path, ctx.Err())
		}
	}
	return nil
}

// checkWritable returns an error if this user may not replace files in a folder.
func checkWritable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("%s may not write %s: run the command as %s", userName(os.Geteuid()), dir, ownerName(dir))
	}
	return nil
}

// TrustedFile returns an error if another user than this one and root can change a file, and so name another key.
func TrustedFile(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	for _, p := range []string{path, filepath.Dir(path)} {
		info, err := os.Stat(p)
		if err != nil {
			return err
		}
		sticky := info.IsDir() && info.Mode()&fs.ModeSticky != 0
		if uid := owner(info); uid != 0 && uid != os.Geteuid() || info.Mode().Perm()&0o022 != 0 && !sticky {
			return fmt.Errorf("%s can be changed by others than %s, so its updates.public_key proves nothing: name the key with --public-key", path, userName(os.Geteuid()))
		}
	}
	return nil
}

func owner(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}

func ownerName(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "its owner"
	}
	return userName(owner(info))
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return "the user " + strconv.Itoa(uid)
}

// likeOld gives a new binary the mode of the old one and, as root, its owner.
func likeOld(path, old string) error {
	info, err := os.Stat(old)
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		if err := os.Chown(path, int(stat.Uid), int(stat.Gid)); err != nil {
			return err
		}
	}
	return os.Chmod(path, info.Mode().Perm())
}

// swap puts the new binary in place. The old one stays beside it. Between any two steps there is one in place.
func swap(binary string) error {
	if err := link(binary, binary+oldSuffix); err != nil {
		return err
	}
	return replace(binary+newSuffix, binary)
}

// swapBack puts the old binary in place.
func swapBack(binary string) error {
	if err := link(binary+oldSuffix, binary+backSuffix); err != nil {
		return err
	}
	return replace(binary+backSuffix, binary)
}

// link gives a file another name, which is replaced if it exists.
func link(path, name string) error {
	if err := disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return disk.Link(path, name)
}

// replace renames a file and waits until the folder is on disk.
func replace(from, to string) error {
	if err := disk.Rename(from, to); err != nil {
		return err
	}
	return disk.SyncPath(filepath.Dir(to))
}

// lock keeps two updates of one binary apart.
func lock(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("another svc update is running in %s", dir)
		}
		return nil, err
	}
	return f, nil
}
