package httpjson

import "context"

// endingKey is the key under which a context has that of Ending.
type endingKey struct{}

// WithEnding returns a context for the requests of a server that must end when ending does.
func WithEnding(ctx, ending context.Context) context.Context {
	return context.WithValue(ctx, endingKey{}, ending)
}

// Ending returns a context that ends when the server of a request must end. The request itself may
// go on for some seconds. One that waits for news must not: it answers.
func Ending(ctx context.Context) context.Context {
	if ending, ok := ctx.Value(endingKey{}).(context.Context); ok {
		return ending
	}
	return context.Background()
}
