package main

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestOutboundClient(t *testing.T) {
	target := httptest.NewServer(http.RedirectHandler("/elsewhere", http.StatusFound))
	defer target.Close()
	if resp, err := outboundClient(false).Get(target.URL); err == nil {
		resp.Body.Close()
		t.Error("it connects to this machine")
	}
	resp, err := outboundClient(true).Get(target.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusFound {
		t.Errorf("got %d: it follows redirects", resp.StatusCode)
	}
}

func TestIsPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"1.1.1.1": true, "93.184.216.34": true, "2606:4700::1111": true,
		"0.0.0.0": false, "10.1.2.3": false, "100.64.0.1": false, "127.0.0.2": false, "169.254.169.254": false, "172.31.0.1": false,
		"192.168.1.1": false, "198.19.0.1": false, "224.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "::7f00:1": false, "64:ff9b::7f00:1": false, "fc00::1": false, "fe80::1": false, "ff02::1": false,
		"2001::1": false, "2002:7f00:1::": false, "2001:db8::1": false,
	} {
		if got := isPublic(netip.MustParseAddr(address).Unmap()); got != want {
			t.Errorf("%s is public: %v, want %v", address, got, want)
		}
	}
}
