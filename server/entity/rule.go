package entity

import (
	"context"
	"strconv"

	"svc/store"
)

// Rule is a rule of the server.
type Rule struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	Hint string `json:"hint"`
}

func newRule(row *store.Rule) Rule {
	return Rule{ID: strconv.FormatInt(int64(row.ID), 10), Text: row.Text, Hint: row.Hint}
}

// Rules returns the rules of the server in their order.
func (i *Instance) Rules(ctx context.Context) ([]Rule, error) {
	d, err := i.load(ctx)
	return d.rules, err
}
