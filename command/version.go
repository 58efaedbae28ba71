package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/internal/build"
	"svc/internal/toolchain"
	"svc/store"
)

// versionInfo is the answer of svc version --json.
type versionInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Schema  int    `json:"schema"` // version of the database that this program reads and writes
	build.Info
	Warning string `json:"warning,omitempty"`
}

func (a *cli) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit, its date, the version of the database and that of Go",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.printJSON(versionInfo{"svc", app.Version, store.SchemaVersion(), build.Read(), toolchainWarning()})
			}
			fmt.Fprint(a.out, versionText())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// versionText returns the version and the build information, and a second line if an older Go than that of go.mod has built the program.
func versionText() string {
	b := build.Read()
	var built []string
	if b.Commit != "" {
		built = append(built, "revision "+b.Commit[:min(12, len(b.Commit))])
	}
	if b.Date != "" {
		built = append(built, b.Date)
	}
	if b.Modified {
		built = append(built, "modified")
	}
	built = append(built, fmt.Sprintf("schema %d", store.SchemaVersion()), b.Go, b.OS+"/"+b.Arch)
	text := fmt.Sprintf("svc %s (%s)\n", app.Version, strings.Join(built, ", "))
	if warning := toolchainWarning(); warning != "" {
		text += "warning: " + warning + "\n"
	}
	return text
}

// toolchainWarning returns a warning with advice if an older Go than that of go.mod has built the program, else "".
func toolchainWarning() string {
	old := toolchain.Warning(build.Read().Go)
	if old == "" {
		return ""
	}
	return old + ". " + toolchain.Advice
}
