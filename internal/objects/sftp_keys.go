//go:build !nosftp

package objects

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// keyTypes are the algorithms of host keys by the type of the key, in the order in which the key of a fingerprint is looked for.
var keyTypes = [][]string{
	{ssh.KeyAlgoED25519},
	{ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521},
	{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256},
}

// sshConfigs returns how to sign in and how to verify the host. If there are several, one for each type of key, the first that the host has the
// expected key for is right: a server with several keys shows one only, and nobody knows which of them a fingerprint is of.
func sshConfigs(l Location, o Options) ([]*ssh.ClientConfig, error) {
	config := ssh.ClientConfig{User: l.User, ClientVersion: "SSH-2.0-svc"}
	if o.KeyFile != "" {
		signer, err := privateKey(o)
		if err != nil {
			return nil, err
		}
		config.Auth = append(config.Auth, ssh.PublicKeys(signer))
	}
	password, err := orFile(o.Password, o.PasswordFile)
	if err != nil {
		return nil, fmt.Errorf("password file: %w", err)
	}
	if password != "" {
		config.Auth = append(config.Auth, ssh.Password(password), ssh.KeyboardInteractive(answerWith(password)))
	}
	if len(config.Auth) == 0 {
		return nil, as(ErrRefused, errors.New("no credentials for SFTP: set a key file or a password"))
	}
	if l.Fingerprint == "" {
		return []*ssh.ClientConfig{&config}, useKnownHosts(&config, l.Host, o.KnownHosts)
	}
	config.HostKeyCallback = wantFingerprint(l.Fingerprint)
	var configs []*ssh.ClientConfig
	for _, algorithms := range keyTypes {
		c := config
		c.HostKeyAlgorithms = algorithms
		configs = append(configs, &c)
	}
	return configs, nil
}

// answerWith answers each question that is not echoed. Others are not for a password.
func answerWith(password string) ssh.KeyboardInteractiveChallenge {
	return func(_, _ string, questions []string, echos []bool) ([]string, error) {
		answers := make([]string, len(questions))
		for i := range questions {
			if !echos[i] {
				answers[i] = password
			}
		}
		return answers, nil
	}
}

func privateKey(o Options) (ssh.Signer, error) {
	b, err := readSecret(o.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	password, err := orFile(o.KeyPassword, o.KeyPasswordFile)
	if err != nil {
		return nil, fmt.Errorf("file with the password of the key: %w", err)
	}
	pem := []byte(b + "\n")
	signer, err := ssh.ParsePrivateKey(pem)
	var missing *ssh.PassphraseMissingError
	if errors.As(err, &missing) {
		if password == "" {
			return nil, as(ErrRefused, fmt.Errorf("key file %s is encrypted, and no password is set for it", o.KeyFile))
		}
		signer, err = ssh.ParsePrivateKeyWithPassphrase(pem, []byte(password))
	}
	if errors.Is(err, x509.IncorrectPasswordError) {
		return nil, as(ErrRefused, fmt.Errorf("the password of the key file %s is wrong", o.KeyFile))
	}
	if err != nil {
		return nil, fmt.Errorf("key file %s: %w", o.KeyFile, err)
	}
	return signer, nil
}

// wantFingerprint accepts a host key that has the fingerprint.
func wantFingerprint(fingerprint string) ssh.HostKeyCallback {
	return func(host string, _ net.Addr, key ssh.PublicKey) error {
		if got := ssh.FingerprintSHA256(key); got != fingerprint {
			return fmt.Errorf("%w: %s has the %s key %s, expected is %s", ErrIdentity, host, key.Type(), got, fingerprint)
		}
		return nil
	}
}

// useKnownHosts accepts host keys that a file lists, and asks the server for keys of those types only: otherwise it may choose another one.
func useKnownHosts(config *ssh.ClientConfig, host, file string) error {
	if file == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return as(ErrIdentity, errors.New("neither a fingerprint nor a file of known hosts is set"))
		}
		file = filepath.Join(home, ".ssh", "known_hosts")
	}
	check, err := knownhosts.New(file)
	if errors.Is(err, os.ErrNotExist) {
		return as(ErrIdentity, fmt.Errorf("neither a fingerprint is set nor is there a file of known hosts: %s", file))
	}
	if err != nil {
		return fmt.Errorf("known hosts: %w", err)
	}
	config.HostKeyAlgorithms = knownAlgorithms(check, host)
	config.HostKeyCallback = func(host string, address net.Addr, key ssh.PublicKey) error {
		err := check(host, address, key)
		var unknown *knownhosts.KeyError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &unknown) && len(unknown.Want) == 0:
			return fmt.Errorf("%w: %s is not in %s. Its %s key is %s: if it is right, set it as fingerprint", ErrIdentity, host, file, key.Type(), ssh.FingerprintSHA256(key))
		default:
			return fmt.Errorf("%w: %s has the %s key %s: %w", ErrIdentity, host, key.Type(), ssh.FingerprintSHA256(key), err)
		}
	}
	return nil
}

// knownAlgorithms returns the algorithms of the known keys of a host; nil if there are none, so that the refusal can name the key.
func knownAlgorithms(check ssh.HostKeyCallback, host string) []string {
	var wrong *knownhosts.KeyError
	if !errors.As(check(host, &net.TCPAddr{}, noKey{}), &wrong) {
		return nil
	}
	var algorithms []string
	for _, k := range wrong.Want {
		switch t := k.Key.Type(); t {
		case ssh.KeyAlgoRSA:
			algorithms = append(algorithms, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		default:
			algorithms = append(algorithms, t)
		}
	}
	slices.Sort(algorithms)
	return slices.Compact(algorithms)
}

// noKey is a key that no host has.
type noKey struct{}

func (noKey) Type() string                        { return "none" }
func (noKey) Marshal() []byte                     { return nil }
func (noKey) Verify([]byte, *ssh.Signature) error { return errors.New("no key") }
