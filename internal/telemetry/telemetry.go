package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// Telemetry collects traces and metrics. Its methods may be called at once from many goroutines.
type Telemetry struct {
	tracer trace.Tracer
	meters
	scraped http.Handler // nil where Prometheus asks for nothing
	stop    []func(context.Context) error
}

// Options say what is collected besides what the environment asks for.
type Options struct {
	Prometheus bool // metrics, for Metrics to serve
}

// Start begins to collect and export what the standard variables of OpenTelemetry and the options
// ask for. Where they ask for nothing it returns nil. The names of metrics that no standard names
// begin with the service. Only the protocol http/protobuf is there.
func Start(ctx context.Context, service, version string, log *slog.Logger, o Options) (*Telemetry, error) {
	traces, metrics := wanted("TRACES"), wanted("METRICS")
	if !traces && !metrics && !o.Prometheus {
		return nil, nil
	}
	if err := checkProtocol(); err != nil {
		return nil, err
	}
	// The SDK has this one place for errors of its export.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.WarnContext(ctx, "telemetry", slog.String("error", reason(err)))
	}))
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", service),
			attribute.String("service.version", version)),
		resource.WithFromEnv()) // the last word
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	t := &Telemetry{tracer: tracenoop.NewTracerProvider().Tracer(service)}
	var meters metric.MeterProvider = metricnoop.NewMeterProvider()
	if traces {
		exporter, err := otlptracehttp.New(ctx)
		if err != nil {
			return nil, fmt.Errorf("export traces: %w", err)
		}
		p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
		t.tracer, t.stop = p.Tracer(service), append(t.stop, p.Shutdown)
	}
	readers := []sdkmetric.Option{sdkmetric.WithResource(about)}
	if metrics {
		exporter, err := otlpmetrichttp.New(ctx)
		if err != nil {
			return nil, fmt.Errorf("export metrics: %w", err)
		}
		readers = append(readers, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)))
	}
	if o.Prometheus {
		registry := prometheus.NewRegistry()
		registry.MustRegister(collectors.NewGoCollector(),
			collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo())
		if err != nil {
			return nil, fmt.Errorf("metrics for Prometheus: %w", err)
		}
		readers = append(readers, sdkmetric.WithReader(exporter))
		t.scraped = promhttp.HandlerFor(registry,
			promhttp.HandlerOpts{MaxRequestsInFlight: scrapesAtOnce, Timeout: scrapeWithin})
	}
	if metrics || o.Prometheus {
		p := sdkmetric.NewMeterProvider(readers...)
		meters, t.stop = p, append(t.stop, p.Shutdown)
	}
	t.meters, err = newMeters(meters.Meter(service), service)
	return t, err
}

const (
	scrapesAtOnce = 4
	scrapeWithin  = 10 * time.Second // as Prometheus waits unless it is told otherwise
)

// Metrics serves what is measured to Prometheus. Without the option for that it finds nothing.
func (t *Telemetry) Metrics() http.Handler {
	if t == nil || t.scraped == nil {
		return http.NotFoundHandler()
	}
	return t.scraped
}

// wanted reports whether the environment says where to send a kind of signal, and nothing against
// it.
func wanted(signal string) bool {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_"+signal+"_EXPORTER") == "none" {
		return false
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != ""
}

func checkProtocol() error {
	for _, name := range []string{
		"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
		"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
	} {
		if p := os.Getenv(name); p != "" && p != "http/protobuf" {
			return fmt.Errorf("%s is %q: only http/protobuf is there", name, p)
		}
	}
	return nil
}

const stopWithin = 5 * time.Second

// Stop sends what has been collected, for a few seconds at most, and ends.
func (t *Telemetry) Stop(ctx context.Context) error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	var errs []error
	for _, stop := range t.stop {
		errs = append(errs, stop(ctx))
	}
	return errors.Join(errs...)
}
