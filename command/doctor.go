package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/internal/doctor"
)

// errDoctor is the error of a report with failures.
var errDoctor = errors.New("at least one check failed")

func (a *cli) doctorCommand() *cobra.Command {
	var o app.DoctorOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the server as its users and other servers see it",
		Long: `Check the server as its users and other servers see it: name, certificate, reverse proxy, WebSockets, size of uploads, clock, mail, disk,
database, keys, backups, open files, and a signed request to itself through the public address.

Run it while the server runs. A warning does not change the exit code, a failure makes it 1.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := app.LoadSettings(a.configFile)
			if err != nil {
				return err
			}
			report := app.Examine(cmd.Context(), c, a.options(), o)
			if asJSON {
				err = a.printJSON(report)
			} else {
				a.printChecks(report)
			}
			if err == nil && report.Failed {
				err = errDoctor
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&o.ClockURL, "clock-url", "", "compare the clock with the Date header of this `URL` instead of the public address")
	return cmd
}

// printChecks prints what each check saw, and below it what to do.
func (a *cli) printChecks(report *doctor.Report) {
	for _, r := range report.Results {
		fmt.Fprintf(a.out, "%-8s %-12s %s\n", r.Status, r.Name, printable(r.Seen))
		if r.Status != doctor.OK && r.Advice != "" {
			fmt.Fprintf(a.out, "%-8s %-12s %s\n", "", "", printable(r.Advice))
		}
	}
}
