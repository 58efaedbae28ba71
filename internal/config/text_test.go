package config

import (
	"flag"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

const exampleFile = "../../config.example.toml"

var update = flag.Bool("update", false, "rewrite config.example.toml")

func TestExampleFile(t *testing.T) {
	if *update {
		if err := os.WriteFile(exampleFile, []byte(Example()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(file) != Example() {
		t.Error("config.example.toml differs from the registry; run go test ./internal/config -update")
	}
}

// TestExampleIsTheDefaults parses the example as it is and with every setting uncommented.
func TestExampleIsTheDefaults(t *testing.T) {
	setting := regexp.MustCompile(`(?m)^# ([a-z_]+ = )`)
	if got, want := len(setting.FindAllString(Example(), -1)), len(Settings()); got != want {
		t.Errorf("the example has %d settings, want %d", got, want)
	}
	for name, text := range map[string]string{
		"as it is":    Example(),
		"uncommented": setting.ReplaceAllString(Example(), "$1"),
	} {
		c, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(c, Default()) {
			t.Errorf("%s: got %+v\nwant %+v", name, c, Default())
		}
	}
	for line := range strings.Lines(Example()) {
		if len(line) > lineWidth+1 && !setting.MatchString(line) {
			t.Errorf("line too long: %s", line)
		}
	}
}

func TestFileHoldsWhatIsSet(t *testing.T) {
	c := Default()
	c.Server.URL = "https://social.example.org"
	c.Instance.Name = `the "quoted" \ server`
	c.Instance.Description = "two\nlines"
	c.Server.TrustedProxies = []string{"127.0.0.1", "::1"}
	c.Mail.Password = "secret"
	c.RateLimit.Search = Rate{}
	text := File(c)
	if !strings.Contains(text, "\nurl = \"https://social.example.org\"\n") || !strings.Contains(text, "\n# dir = ") {
		t.Errorf("got %s", text)
	}
	got, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, c) {
		t.Errorf("got %+v\nwant %+v", got, c)
	}
}

func TestShow(t *testing.T) {
	c := Default()
	if text := Show(c); !strings.Contains(text, "\npassword = \"\"\n") {
		t.Error("Show masks a secret that is not set")
	}
	const secret = "https://correct.example/horse" // valid for all
	for _, s := range Settings() {
		if s.Secret {
			if err := c.Set(s.Group, s.Key, secret); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.Media.UploadLimit = 40_000_000
	text := Show(c)
	if strings.Contains(text, secret) {
		t.Error("a secret is shown")
	}
	for _, want := range []string{"[server.tls]\n", "\npassword = \"***\"\n", "\nupload_limit = 40_000_000\n", "\nall = \"1500/5m\"\n", "\nlanguages = [\"en\"]\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %s", want, text)
		}
	}
	shown, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	c.Mail.Password, c.Translation.APIKey, c.Doctor.Webhook, c.S3.SecretKey = SecretMask, SecretMask, SecretMask, SecretMask
	if !reflect.DeepEqual(shown, c) {
		t.Errorf("got %+v\nwant %+v", shown, c)
	}
}

func TestPasswordIsSecret(t *testing.T) {
	for _, s := range Settings() {
		if looksSecret := (strings.Contains(s.Key, "password") || strings.Contains(s.Key, "secret")) && !strings.HasSuffix(s.Key, "_file") && s.Kind == Text; looksSecret && !s.Secret {
			t.Errorf("%s is shown", s.Name())
		}
	}
}
