// Package command is the command line: one file a command, with its flags, output and exit codes.
//
// A command parses flags, calls package app, and prints the result. Operations on data are calls of app (app/calls.go): the running
// server does them, or this process if none runs. Output goes to stdout, questions, progress and errors to stderr.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"svc/app"
)

// Exit codes.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitDamaged = 3 // data or a backup are damaged or incomplete
)

// Execute runs the command line of this process and returns its exit code. schema is the text of schema.sql.
func Execute(schema string) int {
	syscall.Umask(0o077) // files are for their owner only
	return run(schema, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// run runs a command and returns its exit code. It prints an error in one line. The first SIGTERM or SIGINT cancels the command's
// context, a second one ends the process.
func run(schema string, args []string, in io.Reader, out, errOut io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	a := &cli{terminal: newTerminal(in, out, errOut), schema: schema}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	if isUsage := new(usageError); !a.parsed || errors.As(err, &isUsage) {
		fmt.Fprintf(errOut, "svc: %s (see %s --help)\n", oneLine(err), cmd.CommandPath())
		return exitUsage
	}
	fmt.Fprintf(errOut, "svc: %s\n", oneLine(err))
	if isDamage := new(damageError); errors.As(err, &isDamage) {
		return exitDamaged
	}
	return exitFailed
}

// oneLine returns the text of an error without line breaks.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// usageError is a wrong use of a command.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usage(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// cli has the terminal and the flags that all commands share.
type cli struct {
	terminal
	schema     string // text of schema.sql
	configFile string // --config
	parsed     bool   // the command line was parsed without an error
}

// Tree returns all commands for the manual and the completions. Their output is discarded.
func Tree() *cobra.Command {
	return (&cli{terminal: newTerminal(strings.NewReader(""), io.Discard, io.Discard)}).root()
}

func (a *cli) root() *cobra.Command {
	root := group(&cobra.Command{
		Use:   "svc",
		Short: "Federated microblogging server in one binary",
		Long: `svc is a federated microblogging server: one binary, one database file, one data directory.

To try it, run "svc serve" and open the link in its log. To set up a permanent server, run "svc setup" first. All other
commands except restore work while the server runs.`,
		Version: app.Version,
		PersistentPreRun: func(*cobra.Command, []string) {
			a.parsed = true
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	})
	root.PersistentFlags().StringVar(&a.configFile, "config", "", "settings `FILE` (default: $SVC_CONFIG, else config.toml in the current folder if it exists)")
	root.SetVersionTemplate(versionText())
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(helpCommand(root))
	root.AddCommand(a.serveCommand(), a.standbyCommand(), a.leaseCommand(), a.setupCommand(), a.userCommand(), a.announcementCommand(), a.ruleCommand(), a.reportCommand(), a.statusCommand(), a.chatCommand(), a.appCommand(), a.emojiCommand(), a.relayCommand(), a.frontendCommand(), a.instanceCommand(), a.federationCommand(), a.accessCommand(), a.jobCommand(), a.mediaCommand(), a.logCommand(), a.mailCommand(),
		a.configCommand(), a.doctorCommand(), a.dbCommand(), a.verifyCommand(), a.backupCommand(), a.restoreCommand(), a.exportCommand(), a.takeoverCommand(), a.routesCommand(), a.healthCommand(), a.licensesCommand(), a.versionCommand(), a.updateCommand())
	addCompletions(root, a.completers())
	return root
}

// group makes cmd a command that only has subcommands. Without one it prints its help.
func group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return unknownCommand(cmd, args[0])
	}
	return cmd
}

// unknownCommand is the error for a name that is none of the subcommands of cmd.
func unknownCommand(cmd *cobra.Command, name string) error {
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		return usage("unknown command %q for %q, did you mean %q?", name, cmd.CommandPath(), near[0])
	}
	return usage("unknown command %q for %q", name, cmd.CommandPath())
}

// helpCommand prints the help of a command. Unlike the command that cobra adds, it fails for a command that does not exist.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show what a command does, and its flags",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil {
				return usage("%v", err)
			}
			if len(rest) > 0 {
				return unknownCommand(cmd, rest[0])
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []cobra.Completion
			if cmd, rest, err := root.Find(args); err == nil && len(rest) == 0 {
				for _, c := range cmd.Commands() {
					if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), typed) {
						names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}
