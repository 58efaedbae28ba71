package objects

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Secret is a text that is masked wherever it is printed.
type Secret string

const masked = "***"

// String returns a mask, or nothing for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return masked
}

// GoString returns what String returns.
func (s Secret) GoString() string { return s.String() }

// MarshalText returns the mask, for JSON and logs.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Options are credentials and bounds. Empty ones come from the environment or have a default.
type Options struct {
	// AccessKey and SecretKey are those of S3; otherwise AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the files that AWS_ACCESS_KEY_ID_FILE
	// and AWS_SECRET_ACCESS_KEY_FILE name. The same holds for SessionToken (AWS_SESSION_TOKEN), which is optional.
	AccessKey    string
	SecretKey    Secret
	SessionToken Secret
	// SecretKeyFile has the secret key if SecretKey is empty.
	SecretKeyFile string

	// Password is that of the SFTP user; or PasswordFile has it. With KeyFile, a private key in the form of OpenSSH or PEM, it is tried second.
	Password     Secret
	PasswordFile string
	// KeyFile is opened with KeyPassword, or the content of KeyPasswordFile, if it is encrypted.
	KeyFile         string
	KeyPassword     Secret
	KeyPasswordFile string
	// KnownHosts is a file in the form of OpenSSH; empty: ~/.ssh/known_hosts. It is not read if the location has a fingerprint.
	KnownHosts string

	// NoCreate is for reading: Open fails with fs.ErrNotExist if the folder is missing, and makes none. A Put may fail then.
	NoCreate bool

	// Unchecked opens a bucket without a request, so that a server starts while the bucket cannot be reached.
	Unchecked bool

	// RootCAs verify the certificate of an S3 server; nil: those of the system.
	RootCAs *x509.CertPool
	// Stall is after which time without a byte of an answer an operation ends; 0: 30 seconds.
	Stall time.Duration
	// Timeout is what a single request may take, and in addition one second for 16 KiB of what it transfers; 0: 1 minute.
	Timeout time.Duration
}

const (
	defaultStall   = 30 * time.Second
	defaultTimeout = time.Minute
	// slowest is the rate, in bytes per second, below which a transfer is ended.
	slowest = 16 << 10
	// maxSecretFile is the size, in bytes, of the largest file with a secret.
	maxSecretFile = 64 << 10
)

func (o Options) withDefaults() Options {
	o.Stall = cmp.Or(o.Stall, defaultStall)
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	return o
}

// limit returns how long a request may take that transfers so many bytes.
func (o Options) limit(size int64) time.Duration {
	return o.Timeout + time.Duration(size/slowest)*time.Second
}

// cleanUp returns a context for removing what a failed Put wrote, which is tried for at most 5 seconds.
func (o Options) cleanUp(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), min(o.Stall, 5*time.Second))
}

// fromEnv returns a variable of the environment, or the content of the file that NAME_FILE names.
func fromEnv(name string) (string, error) {
	if s := os.Getenv(name); s != "" {
		return s, nil
	}
	file := os.Getenv(name + "_FILE")
	if file == "" {
		return "", nil
	}
	s, err := readSecret(file)
	if err != nil {
		return "", fmt.Errorf("%s_FILE: %w", name, err)
	}
	return s, nil
}

// s3Keys returns the credentials of S3.
func (o Options) s3Keys() (access, secret, session string, err error) {
	for _, v := range []struct {
		to    *string
		value string
		env   string
	}{
		{&access, o.AccessKey, "AWS_ACCESS_KEY_ID"},
		{&secret, string(o.SecretKey), "AWS_SECRET_ACCESS_KEY"},
		{&session, string(o.SessionToken), "AWS_SESSION_TOKEN"},
	} {
		if v.to == &secret {
			if v.value, err = orFile(o.SecretKey, o.SecretKeyFile); err != nil {
				return "", "", "", err
			}
		}
		*v.to = v.value
		// A session token of the environment belongs to the keys of the environment.
		if v.value == "" && (v.to != &session || o.AccessKey == "") {
			if *v.to, err = fromEnv(v.env); err != nil {
				return "", "", "", err
			}
		}
	}
	if access == "" || secret == "" {
		return "", "", "", as(ErrRefused, errors.New("no credentials for S3: set the access key and the secret key, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"))
	}
	return access, secret, session, nil
}

// orFile returns the secret, or the content of the file if there is none.
func orFile(s Secret, file string) (string, error) {
	if s != "" || file == "" {
		return string(s), nil
	}
	return readSecret(file)
}

// readSecret returns the content of a file without line ends at its end.
func readSecret(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxSecretFile {
		return "", fmt.Errorf("%s is larger than %d bytes", file, maxSecretFile)
	}
	return string(bytes.TrimRight(b, "\r\n")), nil
}
