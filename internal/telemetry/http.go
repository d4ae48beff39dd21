package telemetry

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Join returns a context that belongs to the trace that the header traceparent of a request names,
// if it names one as W3C Trace Context asks for.
func Join(ctx context.Context, h http.Header) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(h))
}

// TraceID returns the trace that ctx belongs to, or "".
func TraceID(ctx context.Context) string {
	if c := trace.SpanContextFromContext(ctx); c.HasTraceID() {
		return c.TraceID().String()
	}
	return ""
}

// A Request is one that is being served.
type Request struct {
	t      *Telemetry
	method string
	span   trace.Span
	start  time.Time
}

// Request begins a request. Its method must be one of a known set, as metrics keep each value.
func (t *Telemetry) Request(ctx context.Context, method string) (context.Context, *Request) {
	if t == nil {
		return ctx, nil
	}
	ctx, span := t.tracer.Start(ctx, method, trace.WithSpanKind(trace.SpanKindServer))
	return ctx, &Request{t: t, method: method, span: span, start: time.Now()}
}

// End ends a request whose pattern is known by now, "" where no route serves it.
func (r *Request) End(ctx context.Context, pattern string, status int) {
	if r == nil {
		return
	}
	_, route, _ := strings.Cut(pattern, " ")
	attrs := []attribute.KeyValue{
		attribute.String("http.request.method", r.method),
		attribute.String("http.route", route),
		attribute.Int("http.response.status_code", status),
	}
	if pattern != "" {
		r.span.SetName(pattern)
	}
	if status >= http.StatusInternalServerError {
		r.span.SetStatus(codes.Error, strconv.Itoa(status))
	}
	r.span.SetAttributes(attrs...)
	r.span.End()
	r.t.requests.Record(ctx, time.Since(r.start).Seconds(), metric.WithAttributes(attrs...))
}
