package command

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"svc/server"
)

func (a *cli) routesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "routes",
		Short: "List the endpoints of the server and who may call them",
		Long: `List the endpoints of the server: METHOD PATH ACCESS, one a line.

ACCESS is anyone, app, user, staff or admin, followed by the scopes, one of which the token must have.`,
		Example: "  svc routes | grep /statuses",
		Args:    noArgs,
		Run: func(*cobra.Command, []string) {
			var lines []string
			for _, r := range server.Routes() {
				lines = append(lines, fmt.Sprintf("%s %s %s", r.Method, r.Path, r.Access))
			}
			slices.Sort(lines)
			for _, line := range lines {
				fmt.Fprintln(a.out, line)
			}
		},
	}
}
