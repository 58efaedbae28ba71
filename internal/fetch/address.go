package fetch

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
)

// specialIPv4 are the IPv4 networks that are not on the public internet, by the registry of special-purpose addresses (RFC 6890) and
// federation 5.4.
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

// Only global unicast addresses of IPv6 are allowed, without those that embed an IPv4 address or are reserved. This excludes unspecified,
// loopback, mapped, compatible, translated (NAT64), unique local, link-local and multicast addresses, among others.
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

// isPublic returns whether an address is on the public internet.
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

// otherServicePorts are the ports from 1024 on that belong to services other than web servers.
var otherServicePorts = []uint16{
	1080, 1433, 1521, 1723, 2049, 2181, 2375, 2376, 2379, 2380, 3128, 3306, 3389, 4369, 5060, 5061, 5432, 5672, 5900, 5984, 6379, 6443,
	6660, 6661, 6662, 6663, 6664, 6665, 6666, 6667, 6668, 6669, 6697, 8086, 9042, 9090, 9092, 9100, 9200, 9300, 10250, 11211, 27017, 27018,
}

// isWebPort returns whether a port may belong to a web server. Other instances use unusual ports, so only ports of other services are excluded
// (federation 5.4), and the privileged ports except 80 and 443.
func isWebPort(port uint16) bool {
	if port < 1024 {
		return port == 80 || port == 443
	}
	return !slices.Contains(otherServicePorts, port)
}

// checkDial checks the network address before the dialer connects. It runs after DNS resolution, so that DNS rebinding has no effect.
func (c *Client) checkDial(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %q is not an address", ErrRefused, address)
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

// isOwnAddress returns whether an address belongs to this machine. A firewall does not protect the machine from itself. Ports 80 and 443 are
// not checked, because they are public anyway and may serve other instances.
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

// portOf returns the port of a URL, the default port of the scheme if it has none, and 0 if it is invalid.
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
