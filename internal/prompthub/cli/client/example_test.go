package client_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"prompthub/internal/prompthub/cli/client"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

// Creating the same draft again creates nothing: the Idempotency-Key follows from the content.
func ExampleClient_Create() {
	seen := make(map[string]bool)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		w.Header().Set("Content-Type", "application/json")
		if !seen[key] {
			w.WriteHeader(http.StatusCreated)
		}
		seen[key] = true
		fmt.Fprint(w, `{"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}`)
	}))
	defer service.Close()

	c, err := client.New(client.Config{URL: service.URL, User: "ann"})
	if err != nil {
		panic(err)
	}
	draft := format.Document{Title: "Linux terminal", Text: "Act as a terminal.", Visibility: string(prompt.Private)}
	for range 2 {
		isNew, err := c.Create(context.Background(), "ann", draft)
		fmt.Println(isNew, err)
	}
	fmt.Println(len(seen), "key")
	// Output:
	// true <nil>
	// false <nil>
	// 1 key
}
