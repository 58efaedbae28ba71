package server_test

import (
	"encoding/json"
	"testing"

	"svc/app/apptest"
	"svc/server/entity"
)

// WantEntity fails the test if a response has another shape.
func WantEntity(t *testing.T, who string, a *apptest.Response, shape string) {
	t.Helper()
	var v any
	if err := json.Unmarshal(a.Want(200).Body, &v); err != nil {
		t.Errorf("%s: %s: %v: %s", who, a.Request, err, a.Body)
		return
	}
	for _, fault := range apptest.ShapeFaults(entity.Shapes, "the entity", v, shape) {
		t.Errorf("%s: %s: %s", who, a.Request, fault)
	}
}
