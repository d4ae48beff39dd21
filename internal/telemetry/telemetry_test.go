package telemetry_test

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/blobtest"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
	"prompthub/internal/telemetry"
)

// A collector takes what is exported.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	raw     strings.Builder
	service map[string]bool
	spans   map[string]*traces.Span
	metrics map[string]*metrics.Metric
}

func newCollector(t *testing.T) *collector {
	c := &collector{service: map[string]bool{}, spans: map[string]*traces.Span{}, metrics: map[string]*metrics.Metric{}}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(b)
	switch {
	case err != nil:
		panic(err)
	case r.URL.Path == "/v1/traces":
		c.keepSpans(b)
	case r.URL.Path == "/v1/metrics":
		c.keepMetrics(b)
	}
}

func (c *collector) keepSpans(b []byte) {
	var in tracepb.ExportTraceServiceRequest
	if err := proto.Unmarshal(b, &in); err != nil {
		panic(err)
	}
	for _, of := range in.ResourceSpans {
		for _, a := range of.Resource.Attributes {
			c.service[a.Key+"="+a.Value.GetStringValue()] = true
		}
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans[s.Name] = s
			}
		}
	}
}

func (c *collector) keepMetrics(b []byte) {
	var in metricspb.ExportMetricsServiceRequest
	if err := proto.Unmarshal(b, &in); err != nil {
		panic(err)
	}
	for _, of := range in.ResourceMetrics {
		for _, scope := range of.ScopeMetrics {
			for _, m := range scope.Metrics {
				c.metrics[m.Name] = m
			}
		}
	}
}

// points returns how often a histogram was told something, by the values of its attributes.
func (c *collector) points(name string) map[string]uint64 {
	all := map[string]uint64{}
	for _, p := range c.metrics[name].GetHistogram().GetDataPoints() {
		var values []string
		for _, a := range p.Attributes { // sorted by key
			values = append(values, a.Value.GetStringValue())
		}
		all[strings.Join(values, " ")] += p.Count
	}
	return all
}

var discard = slog.New(slog.DiscardHandler)

// unset keeps the environment of the machine out.
func unset(t *testing.T) {
	for _, name := range []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
		"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_SDK_DISABLED",
		"OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_EXPORTER_OTLP_PROTOCOL",
		"OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES",
	} {
		t.Setenv(name, "")
	}
}

func TestExport(t *testing.T) {
	unset(t)
	c := newCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_SERVICE_NAME", "hub-of-tests")
	tel, err := telemetry.Start(t.Context(), "other", "1.2.3", discard, telemetry.Options{})
	require.NoError(t, err)
	tables, messages := memory.NewTables(), memory.NewQueues(time.Now)
	db, q, together := tel.Tables(tables), tel.Queues(messages), tel.Transact(memory.Together(tables, messages))
	require.NoError(t, db.Create(t.Context(), "Prompts"))
	require.NoError(t, q.Create(t.Context(), "moves", "moves-poison"))
	require.NoError(t, tel.WatchQueues(q, "moves", "moves-poison"))

	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	ctx := telemetry.Join(t.Context(), http.Header{"Traceparent": {"00-" + trace + "-00f067aa0ba902b7-01"}})
	ctx, request := tel.Request(ctx, http.MethodGet)
	require.Equal(t, trace, telemetry.TraceID(ctx))
	_, err = db.Get(ctx, "Prompts", table.Key{Partition: "u|secret", Row: "secret"})
	require.ErrorIs(t, err, table.ErrNotFound)
	_, err = q.Send(ctx, "moves", "secret", 0)
	require.NoError(t, err)
	request.End(ctx, "GET /api/v1/prompts/{id}", 503)

	require.Error(t, tel.Function(t.Context(), "score-bucket-moves", func(ctx context.Context) error {
		tel.QueueAge(ctx, "moves", 90*time.Second)
		tel.Count(ctx, "projections", 3)
		tel.Count(ctx, "repairs", 0) // nothing to tell
		gone := table.Op{Kind: table.Delete, Row: table.Row{Key: table.Key{Partition: "p", Row: "r"}, ETag: table.Any}}
		_, _ = together(ctx, transact.Transaction{Table: "Prompts", Ops: []table.Op{gone}})
		_, _ = together(ctx, transact.Transaction{Table: "Nowhere", Ops: []table.Op{gone}})
		_, err := db.Write(ctx, "Prompts", gone)
		return err
	}))
	require.Panics(t, func() { _ = tel.Function(t.Context(), "purge", func(context.Context) error { panic("no") }) })
	require.NoError(t, tel.Stop(t.Context()))

	require.True(t, c.service["service.name=hub-of-tests"])
	require.True(t, c.service["service.version=1.2.3"])
	served := c.spans["GET /api/v1/prompts/{id}"]
	require.NotNil(t, served)
	require.Equal(t, trace, hex.EncodeToString(served.TraceId))
	require.Equal(t, "00f067aa0ba902b7", hex.EncodeToString(served.ParentSpanId))
	require.Equal(t, traces.Status_STATUS_CODE_ERROR, served.Status.Code)
	for _, call := range []string{"get Prompts", "send moves"} {
		require.Equal(t, served.SpanId, c.spans[call].ParentSpanId, call)
		require.Equal(t, traces.Status_STATUS_CODE_UNSET, c.spans[call].Status.Code, "what is expected is no error")
	}
	require.Equal(t, c.spans["score-bucket-moves"].SpanId, c.spans["delete Prompts"].ParentSpanId)

	require.Equal(t, map[string]uint64{
		"get not_found Prompts": 1, "delete not_found Prompts": 1, "create ok tables": 1,
		"create ok queues": 1, "send ok moves": 1,
		"transact not_found Prompts": 1, "transact error Nowhere": 1,
	},
		without(c.points("other.storage.duration"), "len"))
	require.Equal(t, map[string]uint64{"score-bucket-moves failed": 1, "purge panicked": 1},
		c.points("other.function.duration"))
	require.Equal(t, map[string]uint64{"moves": 1}, c.points("other.queue.age"))
	require.InDelta(t, 90, c.metrics["other.queue.age"].GetHistogram().DataPoints[0].GetSum(), 0)
	require.Equal(t, int64(3), c.metrics["other.events"].GetSum().DataPoints[0].GetAsInt())
	require.Len(t, c.points("http.server.request.duration"), 1)
	require.Len(t, c.metrics["other.queue.length"].GetGauge().DataPoints, 2)
	require.NotContains(t, c.raw.String(), "secret")
}

// without leaves out the calls that the export itself makes.
func without(points map[string]uint64, op string) map[string]uint64 {
	for name := range points {
		if strings.HasPrefix(name, op+" ") {
			delete(points, name)
		}
	}
	return points
}

func TestWanted(t *testing.T) {
	tests := []struct {
		name            string
		env             []string
		traces, metrics bool
	}{
		{"nothing", nil, false, false},
		{"all", []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "URL"}, true, true},
		{"traces", []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "URL/v1/traces"}, true, false},
		{"metrics", []string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "URL/v1/metrics"}, false, true},
		{"no traces", []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "URL", "OTEL_TRACES_EXPORTER", "none"}, false, true},
		{"disabled", []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "URL", "OTEL_SDK_DISABLED", "TRUE"}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			unset(t)
			c := newCollector(t)
			for i := 0; i < len(tt.env); i += 2 {
				t.Setenv(tt.env[i], strings.Replace(tt.env[i+1], "URL", c.URL, 1))
			}
			tel, err := telemetry.Start(t.Context(), "x", "1", discard, telemetry.Options{})
			require.NoError(t, err)
			require.Equal(t, tt.traces || tt.metrics, tel != nil)
			ctx, r := tel.Request(t.Context(), http.MethodGet)
			r.End(ctx, "GET /x", 200)
			require.NoError(t, tel.Stop(t.Context()))
			require.Equal(t, tt.traces, len(c.spans) > 0)
			require.Equal(t, tt.metrics, len(c.metrics) > 0)
		})
	}
}

func TestUnknownProtocolIsRefused(t *testing.T) {
	unset(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	_, err := telemetry.Start(t.Context(), "x", "1", discard, telemetry.Options{})
	require.ErrorContains(t, err, "OTEL_EXPORTER_OTLP_PROTOCOL")
}

// TestOff holds that without telemetry storage calls cost next to nothing more, and still are
// counted.
func TestOff(t *testing.T) {
	var off *telemetry.Telemetry
	bare := memory.NewTables()
	db := off.Tables(bare)
	require.NoError(t, db.Create(t.Context(), "Things"))
	ctx, operations := telemetry.WithOperations(t.Context())
	key := table.Key{Partition: "p", Row: "r"}
	get := func(db table.DB) float64 {
		return testing.AllocsPerRun(100, func() {
			_, _ = db.List(ctx, "Things", table.Range{Partition: key.Partition}, 1, "")
		})
	}
	require.LessOrEqual(t, get(db), get(bare)+4)
	require.EqualValues(t, 101, operations.Count())
	q := off.Queues(memory.NewQueues(time.Now))
	require.NoError(t, q.Create(ctx, "work"))
	_, err := q.Send(ctx, "work", "x", 0)
	require.NoError(t, err)
	ms, err := q.Receive(ctx, "work", 1, time.Minute)
	require.NoError(t, err)
	r, err := q.Hide(ctx, "work", ms[0].Receipt, 0)
	require.NoError(t, err)
	_, err = q.Len(ctx, "work")
	require.NoError(t, err)
	require.NoError(t, q.Delete(ctx, "work", r))
	require.EqualValues(t, 107, operations.Count())
	_, err = db.Get(context.Background(), "Things", key)
	require.ErrorIs(t, err, table.ErrNotFound, "nobody counts")
	require.NoError(t, off.Function(ctx, "f", func(context.Context) error { return nil }))
	require.NoError(t, off.WatchQueues(q, "work"))
	require.NoError(t, off.Stop(ctx))
}

// A broken store fails all calls with one error.
type broken struct {
	table.DB
	err error
}

func (b broken) Get(context.Context, string, table.Key) (table.Row, error) { return table.Row{}, b.err }

// A transaction is one call, whose error holds no key. A store without has none with telemetry
// either.
func TestTransact(t *testing.T) {
	t.Parallel()
	var off *telemetry.Telemetry
	require.Nil(t, off.Transact(nil))
	store := memory.NewTables()
	require.NoError(t, store.Create(t.Context(), "Things", "Others"))
	together := off.Transact(memory.Together(store, memory.NewQueues(time.Now)))
	secret := table.Row{Key: table.Key{Partition: "u|secret", Row: "secret"}}
	c := transact.Transaction{
		Table: "Things", Ops: []table.Op{{Kind: table.Insert, Row: secret}},
		Put: []transact.Row{{Table: "Others", Row: secret}},
	}
	ctx, operations := telemetry.WithOperations(t.Context())
	_, err := together(ctx, c)
	require.NoError(t, err)
	require.EqualValues(t, 1, operations.Count())
	_, err = together(ctx, c)
	require.ErrorIs(t, err, table.ErrExists)
	require.EqualError(t, err, "transact Things: row exists")
	var failed *table.OpError
	require.ErrorAs(t, err, &failed)
	_, err = store.Get(ctx, "Others", secret.Key)
	require.NoError(t, err)
}

// Blobs pass unchanged, each call is counted, and errors hold no names.
func TestBlobs(t *testing.T) {
	t.Parallel()
	var off *telemetry.Telemetry
	store := off.Blobs(memory.NewBlobs(time.Now))
	blobtest.TestStore(t, func(testing.TB) blob.Store { return store })
	ctx, operations := telemetry.WithOperations(t.Context())
	require.NoError(t, store.Create(ctx, "pictures"))
	require.NoError(t, store.Put(ctx, "pictures", "secret/a.jpg", nil))
	require.EqualError(t, store.Put(ctx, "pictures", "secret/a.jpg", nil), "put pictures: blob exists")
	_, err := store.Get(ctx, "pictures", "secret/b.jpg")
	require.EqualError(t, err, "get pictures: blob not found")
	_, err = store.List(ctx, "pictures", "secret/", 1, "")
	require.NoError(t, err)
	require.NoError(t, store.Delete(ctx, "pictures", "secret/a.jpg"))
	require.EqualValues(t, 6, operations.Count())
}

func TestErrorsHoldNoKeys(t *testing.T) {
	t.Parallel()
	secret := table.Key{Partition: "u|secret", Row: "secret"}
	tests := []struct {
		err  error
		want string
	}{
		{&table.OpError{Index: 1, Key: secret, Err: table.ErrConflict}, "get Prompts: row was changed"},
		{
			errors.Join(errors.New("x"),
				&url.Error{Op: "Get", URL: "http://h/Prompts(PartitionKey='secret')", Err: io.EOF}),
			"get Prompts: Get: EOF",
		},
		{table.ErrBusy, "get Prompts: storage is throttling"},
	}
	for _, tt := range tests {
		var off *telemetry.Telemetry
		_, err := off.Tables(broken{err: tt.err}).Get(t.Context(), "Prompts", secret)
		require.EqualError(t, err, tt.want)
		require.ErrorIs(t, err, tt.err)
	}
}
