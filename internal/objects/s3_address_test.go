package objects

import (
	"net/url"
	"testing"
)

// TestBucketAddress has both styles of addresses, which only the resolver of a real domain could tell apart from outside.
func TestBucketAddress(t *testing.T) {
	for location, want := range map[string]string{
		"s3://bucket":                        "https://bucket.s3.dualstack.us-east-1.amazonaws.com/a/b",
		"s3://bucket?region=eu-west-1":       "https://bucket.s3.dualstack.eu-west-1.amazonaws.com/a/b",
		"s3://bucket?region=cn-north-1":      "https://bucket.s3.dualstack.cn-north-1.amazonaws.com.cn/a/b",
		"s3://my.bucket?path_style=true":     "https://s3.dualstack.us-east-1.amazonaws.com/my.bucket/a/b",
		"s3://bucket?endpoint=https://x.org": "https://x.org/bucket/a/b",
		"s3://bucket?endpoint=https://s3.eu-west-1.amazonaws.com&path_style=false": "https://bucket.s3.eu-west-1.amazonaws.com/a/b",
		"s3://bucket?endpoint=https://x.org:443":                                   "https://x.org/bucket/a/b",
		"s3://bucket?endpoint=http://x.org:80&path_style=false":                    "http://bucket.x.org/a/b",
		"s3://bucket?endpoint=http://x.org:443":                                    "http://x.org:443/bucket/a/b",
		"s3://bucket?endpoint=http://[::1]:80":                                     "http://[::1]/bucket/a/b",
		"s3://bucket?endpoint=http://[::1]:9000":                                   "http://[::1]:9000/bucket/a/b",
	} {
		l, err := ParseLocation(location)
		if err != nil {
			t.Fatal(err)
		}
		c, err := newS3Client(l, Options{AccessKey: "a", SecretKey: "b"})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.address("a/b", nil).String(); got != want {
			t.Errorf("%s: %s, want %s", location, got, want)
		}
		if got := c.address("a b/+%41&é", url.Values{"c": {"d e"}}); got.EscapedPath() != c.bucket.Path+"a%20b/%2B%2541%26%C3%A9" {
			t.Errorf("%s: %s", location, got)
		}
	}
}
