// Package telemetry owns what an operator sees of a running program besides its log: how many
// storage operations a request or an invocation made, and traces and metrics in the form of
// OpenTelemetry.
//
// Traces and metrics are exported by OTLP over HTTP where the standard variables say where to
// (OTEL_EXPORTER_OTLP_ENDPOINT and its kind), and metrics are served to Prometheus where an option
// says so; else nothing is collected. A nil *Telemetry collects
// nothing and is ready for use.
//
// No attribute and no error text that leaves this package holds a key, a title or a user.
package telemetry
