package command

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
)

func (a *cli) appCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "app",
		Short: "Manage OAuth apps",
		Long: `Manage OAuth apps, with which users sign in. Apps register themselves, and are removed if nobody uses them, except trusted ones.
Registrations of accounts through a trusted app need no captcha.`,
	})
	cmd.AddCommand(a.appCreateCommand(), a.appListCommand(), a.appSetCommand(), a.appDeleteCommand())
	return cmd
}

// appFlags are the flags for the members of an app.
type appFlags struct {
	name, redirects, website string
	scopes                   []string
	trusted                  bool
}

func (f *appFlags) add(cmd *cobra.Command, scopes []string, trusted bool) {
	cmd.Flags().StringVar(&f.name, "name", "", "`NAME` that users see")
	cmd.Flags().StringVar(&f.redirects, "redirect-uri", "", "`URI` to which users return after signing in; spaces separate several")
	cmd.Flags().StringSliceVar(&f.scopes, "scopes", scopes, "`SCOPES` that the app may ask for")
	cmd.Flags().StringVar(&f.website, "website", "", "`URL` of a page about the app")
	cmd.Flags().BoolVar(&f.trusted, "trusted", trusted, "registrations through the app need no captcha")
}

func (a *cli) appCreateCommand() *cobra.Command {
	var f appFlags
	cmd := &cobra.Command{
		Use:     "create --name NAME --redirect-uri URI",
		Short:   "Create an app, and print its client id and secret",
		Example: "  svc app create --name \"Our app\" --redirect-uri https://app.example.org/signed-in",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.name == "" || f.redirects == "" {
				return usage("an app needs a name and an address to return to: --name NAME --redirect-uri URI")
			}
			created, err := perform(cmd.Context(), a, app.CreateApp, admin.AppChange{
				Name: &f.name, RedirectURIs: &f.redirects, Scopes: f.scopes, Website: &f.website, Trusted: &f.trusted,
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Created app %d.\nClient id:     %s\nClient secret: %s\n", created.ID, created.ClientID, created.ClientSecret)
			return nil
		},
	}
	f.add(cmd, []string{"read", "write", "follow", "push"}, true)
	return cmd
}

func (a *cli) appListCommand() *cobra.Command {
	q := admin.AppQuery{}
	var onlyTrusted bool
	cmd := listCommand(a, &cobra.Command{
		Use:   "list",
		Short: "List apps, newest first",
		Args:  noArgs,
	}, app.ListApps, func() admin.AppQuery {
		if onlyTrusted {
			q.Trusted = &onlyTrusted
		}
		return q
	}, withoutSecrets, func(list *admin.AppList) {
		table := a.table("ID", "NAME", "TRUSTED", "SCOPES", "REDIRECTS TO")
		for _, listed := range list.Apps {
			row(table, listed.ID, listed.Name, yesNo(listed.Trusted), listed.Scopes, strings.ReplaceAll(listed.RedirectURI, "\n", " "))
		}
		table.Flush()
	})
	cmd.Flags().StringVar(&q.Name, "name", "", "only those with this `NAME`")
	cmd.Flags().StringVar(&q.ClientID, "client-id", "", "only the one with this client `ID`")
	cmd.Flags().BoolVar(&onlyTrusted, "trusted", false, "only trusted ones")
	cmd.Flags().IntVar(&q.Limit, "limit", 50, "how many, at most 500")
	cmd.Flags().IntVar(&q.Offset, "offset", 0, "leave out so many")
	return cmd
}

// listedApp is an app without its secret, which only svc app create prints.
type listedApp struct {
	*admin.App
	ClientSecret string `json:"client_secret,omitempty"` // always empty
}

func withoutSecrets(list *admin.AppList) []listedApp {
	apps := make([]listedApp, len(list.Apps))
	for i, listed := range list.Apps {
		apps[i].App = listed
	}
	return apps
}

func (a *cli) appSetCommand() *cobra.Command {
	var f appFlags
	cmd := &cobra.Command{
		Use:     "set ID",
		Short:   "Change an app",
		Long:    "Change an app. Flags that are not given change nothing. Existing sign-ins keep their scopes.",
		Example: "  svc app set 12 --trusted",
		Args:    oneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			var c admin.AppChange
			if c.ID, err = numberArg(args[0]); err != nil {
				return err
			}
			for flag, set := range map[string]func(){
				"name": func() { c.Name = &f.name }, "redirect-uri": func() { c.RedirectURIs = &f.redirects }, "website": func() { c.Website = &f.website },
				"scopes": func() { c.Scopes = f.scopes }, "trusted": func() { c.Trusted = &f.trusted },
			} {
				if cmd.Flags().Changed(flag) {
					set()
				}
			}
			changed, err := perform(cmd.Context(), a, app.UpdateApp, c)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Changed app %d.\n", changed.ID)
			return nil
		},
	}
	f.add(cmd, nil, false)
	return cmd
}

func (a *cli) appDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete ID",
		Short: "Delete an app, and sign out everybody who uses it",
		Args:  oneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := numberArg(args[0])
			if err != nil {
				return err
			}
			deleted, err := perform(cmd.Context(), a, app.DeleteApp, id)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Deleted app %d, %s.\n", deleted.ID, printable(deleted.Name))
			return nil
		},
	}
}

// numberArg parses the number that names a row.
func numberArg(arg string) (int64, error) {
	id, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || id < 1 {
		return 0, usage("%q is not the number of an entry in the list", arg)
	}
	return id, nil
}
