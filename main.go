// Command svc is a federated microblogging server: one program, one database file, one folder. `svc serve` runs it; the other commands
// manage it, whether it runs or not.
package main

import (
	_ "embed"
	"os"

	"svc/command"
)

//go:embed schema.sql
var schema string

func main() { os.Exit(command.Execute(schema)) }
