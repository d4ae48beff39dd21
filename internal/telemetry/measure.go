package telemetry

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"prompthub/internal/storage/queue"
)

// meters are the instruments.
type meters struct {
	service   string // goes before the names of metrics
	meter     metric.Meter
	requests  metric.Float64Histogram
	storage   metric.Float64Histogram
	functions metric.Float64Histogram
	age       metric.Float64Histogram
	events    metric.Int64Counter
}

func newMeters(m metric.Meter, service string) (meters, error) {
	var errs [5]error
	all := meters{service: service, meter: m}
	all.requests, errs[0] = m.Float64Histogram("http.server.request.duration", metric.WithUnit("s"),
		metric.WithDescription("How long requests took"))
	all.storage, errs[1] = m.Float64Histogram(service+".storage.duration", metric.WithUnit("s"),
		metric.WithDescription("How long calls of tables and queues took"))
	all.functions, errs[2] = m.Float64Histogram(service+".function.duration", metric.WithUnit("s"),
		metric.WithDescription("How long invocations of queue and timer functions took"))
	all.age, errs[3] = m.Float64Histogram(service+".queue.age", metric.WithUnit("s"),
		metric.WithDescription("How old messages were when a function got them, delays on purpose included"),
		metric.WithExplicitBucketBoundaries(1, 2, 5, 10, 30, 60, 120, 180, 300, 720, 3600, 86400))
	all.events, errs[4] = m.Int64Counter(service+".events",
		metric.WithDescription("What the application counts: projections, repairs, differences found"))
	return all, errors.Join(errs[:]...)
}

// call makes one storage call.
func (t *Telemetry) call(ctx context.Context, op, store string, do func(context.Context) error) error {
	defer count(ctx)()
	if t == nil {
		return failed(op, store, do(ctx))
	}
	start := time.Now()
	ctx, span := t.tracer.Start(ctx, op+" "+store, trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	err := failed(op, store, do(ctx))
	how := outcome(err)
	attrs := []attribute.KeyValue{
		attribute.String("operation", op), attribute.String("store", store), attribute.String("outcome", how),
	}
	span.SetAttributes(attrs...)
	if !expected(how) {
		span.SetStatus(codes.Error, how)
	}
	t.storage.Record(ctx, time.Since(start).Seconds(), metric.WithAttributes(attrs...))
	return err
}

func failed(op, store string, err error) error {
	if err == nil {
		return nil
	}
	return &failure{call: op + " " + store, cause: err}
}

// Function runs one invocation of a queue or timer function.
func (t *Telemetry) Function(ctx context.Context, name string, run func(context.Context) error) error {
	if t == nil {
		return run(ctx)
	}
	start := time.Now()
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindConsumer))
	defer span.End()
	status := "panicked" // unless run returns
	defer func() {
		if status != "ok" {
			span.SetStatus(codes.Error, status)
		}
		t.functions.Record(ctx, time.Since(start).Seconds(),
			metric.WithAttributes(attribute.String("function", name), attribute.String("status", status)))
	}()
	err := run(ctx)
	status = "ok"
	if err != nil {
		status = "failed"
	}
	return err
}

// QueueAge takes note of how old a message was when a function got it.
func (t *Telemetry) QueueAge(ctx context.Context, name string, age time.Duration) {
	if t != nil && age >= 0 {
		t.age.Record(ctx, age.Seconds(), metric.WithAttributes(attribute.String("queue", name)))
	}
}

// Count counts events of a kind.
func (t *Telemetry) Count(ctx context.Context, kind string, n int) {
	if t != nil && n > 0 {
		t.events.Add(ctx, int64(n), metric.WithAttributes(attribute.String("kind", kind)))
	}
}

// WatchQueues measures, with each export, how many messages queues hold. It is how messages that
// were set aside show: the Functions host moves them, and no call of ours sees it.
func (t *Telemetry) WatchQueues(q queue.Queues, names ...string) error {
	if t == nil {
		return nil
	}
	_, err := t.meter.Int64ObservableGauge(t.service+".queue.length",
		metric.WithDescription("How many messages queues hold, visible or not"),
		metric.WithInt64Callback(func(ctx context.Context, o metric.Int64Observer) error {
			var errs []error
			for _, name := range names {
				n, err := q.Len(ctx, name)
				if err != nil {
					errs = append(errs, failed("len", name, err))
					continue
				}
				o.Observe(int64(n), metric.WithAttributes(attribute.String("queue", name)))
			}
			return errors.Join(errs...)
		}))
	return err
}

// A Gauge is a number that is read with each export. Read returns false while there is none.
type Gauge struct {
	Name, Unit, About string
	Read              func(ctx context.Context) (n float64, ok bool, err error)
}

// Watch measures gauges, whose names begin with that of the service.
func (t *Telemetry) Watch(gauges ...Gauge) error {
	if t == nil {
		return nil
	}
	var errs []error
	for _, g := range gauges {
		_, err := t.meter.Float64ObservableGauge(t.service+"."+g.Name, metric.WithUnit(g.Unit),
			metric.WithDescription(g.About),
			metric.WithFloat64Callback(func(ctx context.Context, o metric.Float64Observer) error {
				n, ok, err := g.Read(ctx)
				if ok && err == nil {
					o.Observe(n)
				}
				return err
			}))
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
