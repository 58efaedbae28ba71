package fetch

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
)

// specialIPv4 are the networks of IPv4 that are no part of the public internet, by the registry of special-purpose addresses
// (RFC 6890) and federation 5.4.
var specialIPv4 = prefixes(
	"0.0.0.0/8",       // this network
	"10.0.0.0/8",      // private
	"100.64.0.0/10",   // shared behind carriers' NAT
	"127.0.0.0/8",     // loopback
	"169.254.0.0/16",  // link-local, metadata of cloud machines
	"172.16.0.0/12",   // private
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.31.196.0/24", // AS112
	"192.52.193.0/24", // AMT
	"192.88.99.0/24",  // 6to4 relays
	"192.168.0.0/16",  // private
	"192.175.48.0/24", // AS112
	"198.18.0.0/15",   // benchmarking
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, broadcast
)

// Of IPv6 only global unicast is reached, but for what in it embeds an address of IPv4 or is no host's. Outside of it are among
// others the unspecified, loopback, mapped, compatible, translated (NAT64), unique local, link-local and multicast addresses.
var (
	globalUnicastIPv6 = netip.MustParsePrefix("2000::/3")
	specialIPv6       = prefixes(
		"2001::/23",         // protocol assignments, Teredo
		"2001:db8::/32",     // documentation
		"2002::/16",         // 6to4
		"2620:4f:8000::/48", // AS112
		"3fff::/20",         // documentation
	)
)

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, 0, len(texts))
	for _, s := range texts {
		list = append(list, netip.MustParsePrefix(s))
	}
	return list
}

// isPublic tells whether an address is one of the public internet.
func isPublic(a netip.Addr) bool {
	if a.Zone() != "" || a.Is4In6() {
		return false
	}
	in := func(p netip.Prefix) bool { return p.Contains(a) }
	if a.Is4() {
		return !slices.ContainsFunc(specialIPv4, in)
	}
	return globalUnicastIPv6.Contains(a) && !slices.ContainsFunc(specialIPv6, in)
}

// otherServicePorts are ports above the privileged ones on which something else than a web server listens.
var otherServicePorts = []uint16{
	1080, 1433, 1521, 1723, 2049, 2181, 2375, 2376, 2379, 2380, 3128, 3306, 3389, 4369, 5060, 5061, 5432, 5672, 5900, 5984, 6379, 6443,
	6660, 6661, 6662, 6663, 6664, 6665, 6666, 6667, 6668, 6669, 6697, 8086, 9042, 9090, 9092, 9100, 9200, 9300, 10250, 11211, 27017, 27018,
}

// isWebPort tells whether a web server may be listening on a port. Other servers of the network use odd ones, so only those are
// left out on which something else is known to listen (federation 5.4), and the privileged ones but for the two of the web.
func isWebPort(port uint16) bool {
	if port < 1024 {
		return port == 80 || port == 443
	}
	return !slices.Contains(otherServicePorts, port)
}

// checkDial looks at the address that is about to be dialled. No look-up of the name comes after it, so a name cannot lead elsewhere
// the second time.
func (c *Client) checkDial(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %q is no address", ErrRefused, address)
	}
	if c.allowLoopback && to.Addr().Unmap().IsLoopback() {
		return nil
	}
	if !isPublic(to.Addr()) || !isWebPort(to.Port()) {
		return fmt.Errorf("%w: %s is not on the public internet", ErrRefused, address)
	}
	if to.Port() != 80 && to.Port() != 443 && isOwnAddress(to.Addr()) {
		return fmt.Errorf("%w: %s is on this machine", ErrRefused, address)
	}
	return nil
}

// isOwnAddress tells whether an address is one of this machine. What listens on it might be kept from the world by a firewall, which
// does not stand between the machine and itself. The ports of the web are open to all, and there may be a neighbour on them.
func isOwnAddress(a netip.Addr) bool {
	own, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	return slices.ContainsFunc(own, func(n net.Addr) bool {
		p, err := netip.ParsePrefix(n.String())
		return err == nil && p.Addr().Unmap() == a.Unmap()
	})
}

// portOf returns the port of an address as a number, that of the scheme if it has none, and 0 if it is no port.
func portOf(scheme, port string) uint16 {
	switch {
	case port != "":
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return 0
		}
		return uint16(n)
	case scheme == "http":
		return 80
	}
	return 443
}
