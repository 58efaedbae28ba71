package fetch

import (
	"errors"
	"net"
	"net/netip"
	"testing"
)

// First and last address of each special-purpose network, and their neighbours.
func TestPublic(t *testing.T) {
	for _, tt := range []struct {
		want      bool
		addresses []string
	}{
		{true, []string{
			"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
			"169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.167.255.255", "192.169.0.0",
			"198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255",
			"2606:4700:4700::1111", "2001:200::", "2001:db7:ffff::", "2001:db9::", "2003::1", "2a00:1450::1", "3ffe::1",
		}},
		{false, []string{
			"0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.255.255",
			"169.254.0.0", "169.254.169.254", "169.254.255.255", "172.16.0.0", "172.31.255.255", "192.0.0.0", "192.0.0.255", "192.0.2.0",
			"192.0.2.255", "192.31.196.0", "192.52.193.0", "192.88.99.0", "192.88.99.255", "192.168.0.0", "192.168.255.255", "192.175.48.0",
			"198.18.0.0", "198.19.255.255", "198.51.100.0", "198.51.100.255", "203.0.113.0", "203.0.113.255", "224.0.0.0",
			"239.255.255.255", "240.0.0.0", "255.255.255.254", "255.255.255.255",
		}},
		{false, []string{
			"::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1",
			"64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "1fff:ffff::1", "2001::1", "2001:0:7f00:1::", "2001:1ff:ffff::1",
			"2001:db8::1", "2002:7f00:1::1", "2002:808:808::1", "2620:4f:8000::1", "3fff::1", "3fff:fff::1", "4000::1", "5f00::1",
			"fc00::1", "fd00::1", "fdff:ffff::1", "fe80::1", "fe80::1%eth0", "fec0::1", "febf::1", "ff02::1", "ffff::1",
		}},
	} {
		for _, text := range tt.addresses {
			if got := isPublic(netip.MustParseAddr(text)); got != tt.want {
				t.Errorf("%s is public: %v, want %v", text, got, tt.want)
			}
		}
	}
}

func TestCheckDial(t *testing.T) {
	for _, tt := range []struct {
		address  string
		guarded  bool // refused
		loopback bool // refused where loopback is allowed
	}{
		{"1.1.1.1:443", false, false},
		{"1.1.1.1:80", false, false},
		{"1.1.1.1:8443", false, false},
		{"[2606:4700:4700::1111]:443", false, false},
		{"1.1.1.1:22", true, true},
		{"1.1.1.1:25", true, true},
		{"1.1.1.1:6379", true, true},
		{"127.0.0.1:443", true, false},
		{"127.0.0.1:22", true, false},
		{"[::1]:6379", true, false},
		{"[::ffff:127.0.0.1]:80", true, false},
		{"[::ffff:1.1.1.1]:80", true, true},
		{"10.0.0.1:443", true, true},
		{"0.0.0.0:80", true, true},
		{"[64:ff9b::7f00:1]:443", true, true},
		{"nonsense", true, true},
	} {
		for _, loopback := range []bool{false, true} {
			want := tt.guarded
			if loopback {
				want = tt.loopback
			}
			err := (&Client{allowLoopback: loopback}).checkDial("tcp", tt.address, nil)
			if (err != nil) != want || err != nil && !errors.Is(err, ErrRefused) {
				t.Errorf("%s, loopback allowed %v: got %v, want refused %v", tt.address, loopback, err, want)
			}
		}
	}
}

func TestOwnAddress(t *testing.T) {
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Skip(err)
	}
	for _, a := range own {
		p := netip.MustParsePrefix(a.String())
		if !isOwnAddress(p.Addr()) {
			t.Errorf("%s is not recognised as this machine's", p.Addr())
		}
	}
	if isOwnAddress(netip.MustParseAddr("1.1.1.1")) {
		t.Error("1.1.1.1 is recognised as this machine's")
	}
}
