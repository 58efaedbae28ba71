package command

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/control"
)

func (a *cli) frontendCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "frontend",
		Short: "Install, choose and remove web front ends",
		Long: `Install, choose and remove web front ends, which are shown at the address of the server beside the API.

Several front ends, and several versions of one, can be installed side by side. "svc frontend use" chooses the one that is shown.`,
	})
	cmd.AddCommand(a.frontendInstallCommand(), a.frontendListCommand(), a.frontendUseCommand(), a.frontendRemoveCommand())
	return cmd
}

func (a *cli) frontendInstallCommand() *cobra.Command {
	var (
		i       admin.FrontendInstall
		archive string
	)
	cmd := &cobra.Command{
		Use:   "install NAME [--ref REF] [--file ZIP | --build-url URL] [--build-dir FOLDER]",
		Short: "Install a front end, or another version of it",
		Long: `Install a front end, or another version of it.

The archive is downloaded from the address that is known for NAME, unless --build-url or --file is given. Visitors get the old
version until the new one is complete. "svc frontend list" shows the names that are known.`,
		Example: "  svc frontend install pleroma-fe\n  svc frontend install pleroma-fe --ref v2.7.1\n  svc frontend install my-fe --ref 1.0 --file my-fe.zip",
		Args:    oneArg("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			i.Name = args[0]
			if archive != "" && i.BuildURL != "" {
				return usage("use either --file or --build-url")
			}
			ctx := cmd.Context()
			if archive != "" {
				file, err := os.Open(archive)
				if err != nil {
					return err
				}
				defer file.Close()
				ctx = control.WithFile(ctx, file) // a server in a sandbox sees neither /home nor /tmp
			}
			installed, err := perform(ctx, a, app.InstallFrontend, i)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Installed %s. Installed versions: %s.\n", i.Name, strings.Join(installed.InstalledRefs, ", "))
			return nil
		},
	}
	cmd.Flags().StringVar(&i.Ref, "ref", "", "the `VERSION`: a branch or tag of the front end")
	cmd.Flags().StringVar(&archive, "file", "", "install from a `ZIP` archive on this machine")
	cmd.Flags().StringVar(&i.BuildURL, "build-url", "", "download the archive from this `URL`, in which ${ref} stands for the version")
	cmd.Flags().StringVar(&i.BuildDir, "build-dir", "", "the `FOLDER` of the archive that has the index.html")
	return cmd
}

func (a *cli) frontendListCommand() *cobra.Command {
	return showCommand(a, &cobra.Command{
		Use:   "list",
		Short: "List the front ends that are installed or can be",
		Args:  noArgs,
	}, app.ListFrontends, func() struct{} { return struct{}{} }, func(list []*admin.Frontend) {
		table := a.table("NAME", "INSTALLED", "SHOWN", "SOURCE")
		for _, f := range list {
			source := ""
			if f.Git != nil {
				source = *f.Git
			}
			var shown []string
			if f.PrimaryRef != "" {
				shown = append(shown, f.PrimaryRef)
			}
			if f.AdminRef != "" {
				shown = append(shown, f.AdminRef+" (administrators)")
			}
			row(table, f.Name, strings.Join(f.InstalledRefs, ", "), strings.Join(shown, ", "), source)
		}
		table.Flush()
	})
}

func (a *cli) frontendRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME/REF",
		Short:   "Remove an installed version of a front end",
		Example: "  svc frontend remove pleroma-fe/v2.7.0",
		Args:    oneArg("NAME/REF"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := perform(cmd.Context(), a, app.RemoveFrontend, args[0]); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Removed %s.\n", args[0])
			return nil
		},
	}
}

func (a *cli) frontendUseCommand() *cobra.Command {
	var use admin.FrontendUse
	cmd := &cobra.Command{
		Use:   "use NAME/REF|none [--admin]",
		Short: "Show an installed version of a front end",
		Long: `Show an installed version of a front end at the address of the server from now on, or with --admin at /svc/admin/. "none" shows the
pages of this program again. To roll an update back, use the former version; the command prints it.

The choice is kept in the database and counts more than frontends.primary and frontends.admin of the settings file.`,
		Example: "  svc frontend use pleroma-fe/v2.7.1\n  svc frontend use admin-fe/develop --admin\n  svc frontend use none",
		Args:    oneArg("NAME/REF"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if use.Version = args[0]; use.Version == "none" {
				use.Version = ""
			}
			choice, err := perform(cmd.Context(), a, app.UseFrontend, use)
			if err != nil {
				return err
			}
			shown := func(version string) string { return cmp.Or(version, "none") }
			if choice.Former == choice.Version {
				fmt.Fprintf(a.out, "Already in use: %s.\n", shown(choice.Version))
				return nil
			}
			fmt.Fprintf(a.out, "In use: %s. Before: %s.\n", shown(choice.Version), shown(choice.Former))
			return nil
		},
	}
	cmd.Flags().BoolVar(&use.Admin, "admin", false, "the front end for administrators")
	return cmd
}
