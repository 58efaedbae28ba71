package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/text"
)

func (a *cli) goodbyeCommand() *cobra.Command {
	var domain string
	var yes, wait, status, cancel, asJSON bool
	cmd := &cobra.Command{
		Use:   "goodbye",
		Short: "Close this server permanently, and send the Deletes of its accounts to other servers",
		Long: `Close this server permanently. At once nobody can sign in, register, post or read: pages, the API and WebFinger answer that the server is
closed (410). The running server sends the Deletes of its accounts to all servers that it knows, so that they delete their copies. That takes
minutes to days; servers that do not answer are tried for two days. It continues after a restart. Make a backup before: this cannot be undone
once the first Delete is queued.

The command asks for the domain of this server, and shows the progress. It can be interrupted and called again. With --yes it asks nothing: the
domain is that of --domain, or a line on standard input.`,
		Example: "  svc federation goodbye\n  svc federation goodbye --yes --domain example.org\n  svc federation goodbye --status",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if status && cancel || (status || cancel) && (yes || wait || domain != "") {
				return usage("--status and --cancel go with no other flag but --json")
			}
			state, err := perform(cmd.Context(), a, app.ShowClosure, struct{}{})
			if err != nil {
				return err
			}
			switch {
			case cancel:
				if state, err = perform(cmd.Context(), a, app.CancelClosure, struct{}{}); err != nil {
					return err
				}
			case !status && state.BeganAt == nil:
				if state, err = a.beginClosure(cmd, state, domain, yes); err != nil {
					return err
				}
			}
			if _, is := isTerminal(a.errOut); !status && !cancel && (wait || is) {
				if state, err = a.watchClosure(cmd, state); err != nil {
					return err
				}
			}
			if asJSON {
				return a.printJSON(state)
			}
			a.printClosure(state, cancel)
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "confirm that this server is closed permanently")
	cmd.Flags().StringVar(&domain, "domain", "", "the `DOMAIN` of this server, instead of typing it")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the end; on a terminal it does")
	cmd.Flags().BoolVar(&status, "status", false, "only show how far it is")
	cmd.Flags().BoolVar(&cancel, "cancel", false, "open this server again, as long as no Delete is queued")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// beginClosure closes this server, after the operator has typed its domain.
func (a *cli) beginClosure(cmd *cobra.Command, state *admin.ServerClosure, domain string, yes bool) (*admin.ServerClosure, error) {
	if _, is := isTerminal(a.in); !is && !yes {
		return nil, usage("this cannot be undone: add --yes --domain DOMAIN to close this server permanently")
	}
	if domain == "" {
		var err error
		question := "This closes the server permanently, and other servers delete its accounts and posts. Type its domain to go on"
		if domain, err = a.ask(cmd.Context(), question, ""); err != nil && cmd.Context().Err() == nil {
			return nil, usage("this cannot be undone: the domain is missing; add --domain DOMAIN")
		} else if err != nil {
			return nil, err
		}
	}
	if !strings.EqualFold(strings.TrimSpace(domain), state.Domain) {
		return nil, usage("the domain of this server is %s, not %q: nothing was changed", state.Domain, domain)
	}
	return perform(cmd.Context(), a, app.CloseServer, domain)
}

// watchClosure shows the progress until the end, or until it finds that no server runs.
func (a *cli) watchClosure(cmd *cobra.Command, state *admin.ServerClosure) (*admin.ServerClosure, error) {
	s := a.steps()
	defer s.end()
	for !state.Finished() {
		s.report("Deletes", int64(state.Answered), int64(max(state.Deletes, 1)))
		now, err := perform(cmd.Context(), a, app.WaitForClosure, struct{}{})
		if err != nil {
			return nil, err
		}
		if state = now.ServerClosure; !now.Running {
			return state, nil
		}
	}
	return state, nil
}

func (a *cli) printClosure(c *admin.ServerClosure, canceled bool) {
	switch {
	case canceled:
		fmt.Fprintf(a.out, "%s is open again. Users have to sign in again if they were signed out already.\n", c.Domain)
	case c.BeganAt == nil:
		fmt.Fprintf(a.out, "%s is not being closed.\n", c.Domain)
	case c.Finished():
		fmt.Fprintf(a.out, "%s is closed: %s were reached, %d could not be reached. You may stop the server now.\n", c.Domain, text.Count(c.Reached, "server"), c.Unreached)
	case c.Servers == 0:
		fmt.Fprintf(a.out, "%s is being closed. The running server sends the Deletes of its accounts; start it with \"svc serve\" if it does not run.\n", c.Domain)
	default:
		fmt.Fprintf(a.out, "%s is being closed: %d of %s were reached, %d could not be reached, %d are left (%d of %d Deletes).\n",
			c.Domain, c.Reached, text.Count(c.Servers, "server"), c.Unreached, c.Waiting, c.Answered, c.Deletes)
		fmt.Fprintln(a.out, "Leave the server running. \"svc federation goodbye --status\" shows the progress.")
	}
}
