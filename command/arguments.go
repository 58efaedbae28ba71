package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage("unexpected argument %q: svc %s takes none", args[0], strings.TrimPrefix(cmd.CommandPath(), "svc "))
}

// oneArg requires exactly one argument.
func oneArg(what string) cobra.PositionalArgs { return exactArgs(what) }

// exactArgs requires an argument for each name.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usage("%s is missing", strings.Join(names[len(args):], " "))
		}
		return noMore(args, names)
	}
}

// optionalArg permits one argument.
func optionalArg(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error { return noMore(args, []string{what}) }
}

func noMore(args, names []string) error {
	if len(args) <= len(names) {
		return nil
	}
	if len(names) == 1 {
		return usage("unexpected argument %q: the command takes one %s", args[1], names[0])
	}
	return usage("unexpected argument %q: the command takes %s", args[len(names)], strings.Join(names, " "))
}

// flagError returns a plain message for a wrong flag.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &invalid):
		flag := invalid.GetFlag()
		return usage("--%s: %s, not %q", flag.Name, validValues(flag, invalid.Unwrap()), invalid.GetValue())
	case errors.As(err, &missing):
		return usage("--%s needs a value", missing.GetFlag().Name)
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if near := nearestFlag(cmd, name); near != "" {
			return usage("unknown flag --%s, did you mean --%s?", name, near)
		}
		return usage("%v", err)
	}
	return usage("%v", err)
}

// validValues returns which values a flag takes. err is why the type of the flag has refused one.
func validValues(flag *pflag.Flag, err error) string {
	switch flag.Value.Type() {
	case "bool":
		return "must be true or false"
	case "int", "int64":
		return "must be a whole number"
	case "float64":
		return "must be a number"
	case "duration":
		return `must be a duration such as "30s", "5m" or "2h"`
	}
	return fmt.Sprintf("%v", err)
}

// nearestFlag returns the flag whose name begins like name, or that name begins with, "" if there is none.
func nearestFlag(cmd *cobra.Command, name string) (near string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if near == "" && !f.Hidden && len(name) > 1 && (strings.HasPrefix(f.Name, name) || strings.HasPrefix(name, f.Name)) {
			near = f.Name
		}
	})
	return near
}
