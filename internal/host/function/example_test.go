package function_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"

	"prompthub/internal/host/function"
)

// The host posts a message to the path of its function; everybody else gets what the application
// answers.
func ExampleHandler() {
	triggers := []function.Trigger{{
		Name: "send-mail", Queue: "mails",
		Run: func(_ context.Context, in function.Invocation) error {
			fmt.Println("message:", in.Text)
			return nil
		},
	}}
	h := function.Handler(triggers, "127.0.0.1:4711", slog.New(slog.DiscardHandler), http.NotFoundHandler())

	post := func(from string) int {
		r := httptest.NewRequest(http.MethodPost, "/send-mail",
			strings.NewReader(`{"Data":{"msg":"\"hello\""},"Metadata":{}}`))
		r.Host, r.ContentLength = "127.0.0.1:4711", -1 // the host sends chunks
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("User-Agent", "Azure-Functions-Host/4.1037.0.0")
		r.Header.Set("X-Azure-Functions-HostVersion", "4.1037.0.0")
		r.Header.Set("X-Azure-Functions-InvocationId", "8b1f")
		if from != "" {
			r.Header.Set("X-Forwarded-For", from) // the platform's front end says so of every request
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	fmt.Println("host:", post(""))
	fmt.Println("from outside:", post("203.0.113.7"))
	// Output:
	// message: hello
	// host: 200
	// from outside: 404
}
