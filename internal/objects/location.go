package objects

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kind is the kind of a place.
type Kind int

// The kinds of places.
const (
	Folder Kind = iota + 1
	S3
	SFTP
)

// Location says where a place is. It has no secrets.
type Location struct {
	Kind Kind
	// Path is that of the folder; on S3 the prefix of all names, without slashes at its ends; on SFTP absolute, or relative to the home folder.
	Path string

	Bucket    string // the rest is of S3
	Endpoint  string // https://HOST[:PORT] or http://HOST[:PORT]
	Region    string
	PathStyle bool // the bucket is in the path, not in the name of the host

	User        string // the rest is of SFTP
	Host        string // HOST:PORT
	Fingerprint string // SHA256:… of the host key; empty: known_hosts decides
}

const (
	defaultEndpoint = "https://s3.amazonaws.com"
	defaultRegion   = "us-east-1"
	maxLocation     = 2048 // bytes
	maxPrefix       = 400  // bytes of the prefix in a bucket, so that with a name it fits into 1024
)

var (
	validBucket      = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	validRegion      = regexp.MustCompile(`^[a-z0-9-]{1,40}$`) // of Amazon, where it is a part of the host
	validFingerprint = regexp.MustCompile(`^SHA256:[A-Za-z0-9+/]{43}$`)
)

// ParseLocation parses a location. Its forms:
//
//	s3://BUCKET[/PREFIX][?endpoint=https://HOST[:PORT]&region=REGION&path_style=BOOL]
//	sftp://USER@HOST[:PORT]/PATH[?fingerprint=SHA256:…]   with /~/PATH relative to the home folder
//	file:///PATH or the path of a folder
//
// Without an endpoint it is Amazon's, otherwise the bucket is in the path if path_style does not say otherwise. A password or key in a location is
// an error, because locations are shown in logs. Errors have nothing of the text that could be secret.
func ParseLocation(text string) (Location, error) {
	if text == "" || len(text) > maxLocation || strings.ContainsAny(text, "\x00\r\n") {
		return Location{}, fmt.Errorf("location is empty, has more than one line or is longer than %d bytes", maxLocation)
	}
	scheme, _, ok := strings.Cut(text, "://")
	if !ok {
		return Location{Kind: Folder, Path: filepath.Clean(text)}, nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return Location{}, errors.New("location is not a valid URL") // url.Error has the whole text
	}
	if _, ok := u.User.Password(); ok || scheme != "sftp" && u.User != nil {
		return Location{}, errors.New("location has a user name or password: credentials belong into settings, files or the environment")
	}
	if u.Fragment != "" {
		return Location{}, errors.New("location has a fragment (#)")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Location{}, errors.New("location has an invalid query")
	}
	var l Location
	allowed := []string{}
	switch scheme {
	case "s3":
		allowed = []string{"endpoint", "region", "path_style"}
		l, err = parseS3(u, query)
	case "sftp":
		allowed = []string{"fingerprint"}
		l, err = parseSFTP(u, query)
	case "file":
		l = Location{Kind: Folder, Path: filepath.Clean(u.Path)}
		if u.Host != "" || u.Path == "" {
			err = errors.New("a location file:// has a path and no host")
		}
	default:
		err = fmt.Errorf("locations are s3://, sftp:// or a folder, not %q", scheme)
	}
	if err != nil {
		return Location{}, err
	}
	return l, checkQuery(query, allowed)
}

// checkQuery returns an error for a parameter that is not known or there twice.
func checkQuery(query url.Values, allowed []string) error {
	for key, values := range query {
		if !slices.Contains(allowed, key) {
			return fmt.Errorf("location has the unknown parameter %.30q", key)
		}
		if len(values) > 1 {
			return fmt.Errorf("location has the parameter %s twice", key)
		}
	}
	return nil
}

func parseS3(u *url.URL, query url.Values) (Location, error) {
	l := Location{Kind: S3, Bucket: u.Host, Path: strings.Trim(u.Path, "/"), Endpoint: query.Get("endpoint"), Region: query.Get("region")}
	if !validBucket.MatchString(l.Bucket) {
		return l, errors.New("location has no valid name of a bucket")
	}
	if len(l.Path) > maxPrefix {
		return l, fmt.Errorf("prefix in the bucket is longer than %d bytes", maxPrefix)
	}
	if err := checkPrefix(l.Path); err != nil {
		return l, fmt.Errorf("prefix in the bucket: %w", err)
	}
	l.PathStyle = l.Endpoint != ""
	if l.Endpoint == "" {
		l.Endpoint = defaultEndpoint
	}
	if l.Region == "" {
		l.Region = defaultRegion
	}
	if l.Endpoint == defaultEndpoint && !validRegion.MatchString(l.Region) {
		return l, errors.New("region has only the characters a–z, 0–9 and -")
	}
	if s := query.Get("path_style"); s != "" {
		b, err := strconv.ParseBool(s)
		if err != nil {
			return l, errors.New("path_style is true or false")
		}
		l.PathStyle = b
	}
	e, err := url.Parse(l.Endpoint)
	if err != nil || e.Scheme != "https" && e.Scheme != "http" || e.Host == "" || e.User != nil || strings.Trim(e.Path, "/") != "" || e.RawQuery != "" || e.Fragment != "" {
		return l, errors.New("endpoint is https://HOST[:PORT] or http://HOST[:PORT], without a path")
	}
	l.Endpoint = e.Scheme + "://" + e.Host
	return l, nil
}

func parseSFTP(u *url.URL, query url.Values) (Location, error) {
	l := Location{Kind: SFTP, User: u.User.Username(), Fingerprint: query.Get("fingerprint")}
	if l.User == "" || u.Hostname() == "" {
		return l, errors.New("a location of SFTP is sftp://USER@HOST[:PORT]/PATH")
	}
	port := u.Port()
	if port == "" {
		port = "22"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return l, errors.New("location has an invalid port")
	}
	l.Host = net.JoinHostPort(u.Hostname(), port)
	l.Path = path.Clean("/" + u.Path)
	if home, ok := strings.CutPrefix(l.Path+"/", "/~/"); ok {
		l.Path = path.Clean(home)
	}
	if l.Path == "/" {
		return l, errors.New("location has no path of a folder")
	}
	if l.Fingerprint != "" && !validFingerprint.MatchString(l.Fingerprint) {
		return l, errors.New("fingerprint is SHA256: and 43 characters, as ssh-keygen -l prints it")
	}
	return l, nil
}

// String returns the location in the form that ParseLocation reads.
func (l Location) String() string {
	switch l.Kind {
	case S3:
		u := url.URL{Scheme: "s3", Host: l.Bucket, Path: "/" + l.Path}
		if l.Path == "" {
			u.Path = ""
		}
		q := url.Values{}
		if l.Endpoint != defaultEndpoint {
			q.Set("endpoint", l.Endpoint)
		}
		if l.Region != defaultRegion {
			q.Set("region", l.Region)
		}
		if l.PathStyle != (l.Endpoint != defaultEndpoint) {
			q.Set("path_style", strconv.FormatBool(l.PathStyle))
		}
		u.RawQuery = q.Encode()
		return u.String()
	case SFTP:
		u := url.URL{Scheme: "sftp", User: url.User(l.User), Host: l.Host, Path: l.Path}
		if !path.IsAbs(l.Path) {
			u.Path = "/~/" + l.Path
		}
		if l.Fingerprint != "" {
			u.RawQuery = url.Values{"fingerprint": {l.Fingerprint}}.Encode()
		}
		return u.String()
	}
	return l.Path
}
