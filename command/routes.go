package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"svc/server"
	"svc/server/rest"
)

func (a *cli) routesCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "routes",
		Short: "List the endpoints of the server and who may call them",
		Long: `List the endpoints of the server: METHOD PATH ACCESS, one a line.

ACCESS is anyone, app, user, staff or admin, followed by the scopes, one of which the token must have.`,
		Example: "  svc routes | grep /statuses",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			list := server.Routes()
			slices.SortFunc(list, func(a, b rest.RouteInfo) int { return strings.Compare(routeLine(a), routeLine(b)) })
			if asJSON {
				return a.printJSON(list)
			}
			for _, r := range list {
				fmt.Fprintln(a.out, routeLine(r))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func routeLine(r rest.RouteInfo) string { return fmt.Sprintf("%s %s %s", r.Method, r.Path, r.Access) }
