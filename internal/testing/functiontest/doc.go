// Package functiontest is a host for custom handlers in tests. It starts a built handler as the
// Azure Functions host v4 does and speaks to it as that does, with the losses and oddities on the
// way: a program that works here can be expected to work there. Beyond that it does on purpose what
// the real one does now and then: kill the handler, deliver twice, deliver out of order.
//
// It models what an application of HTTP, queue and timer triggers without output bindings
// needs, and refuses to start an application that needs more. Keys (authLevel) are not
// enforced, as under func start.
//
// # Where its behaviour comes from
//
// A host 4.1037 with the queue extension 5.3.10 on Linux was watched in November 2026 while it ran
// a handler that echoes and then this repository's program. No such host is at hand where these
// tests run: they hold this package to the notes of then, and the program to this
// package. The platform's front end, the Flex plan, Core Tools, newer hosts and Windows were not
// watched.
//
// # Imitated
//
//   - A request without a body, and POST and DELETE are no exception, is sent up to 4 times with
//     one invocation id, each time on a new connection, if the handler ends the connection before
//     the first byte of the answer. One with a body, and every invocation of a queue or a timer, is
//     sent once. For an answer that was cut the client gets 500 without a body.
//   - A client that goes away is not seen by the handler.
//   - Header lines of one name become one line, joined by ", ", those of Cookie by "; " and those
//     of User-Agent by a space. An id of an invocation that a client sends stands before the
//     host's, in the same line.
//   - A query is read into a dictionary whose names are compared without case, and written anew:
//     the values of a name are joined by commas without the empty ones, the name is spelled as it
//     was last, the order is that of the first use. An escape that is no UTF-8 stays as text, so
//     that its percent sign is escaped.
//   - Invocations of queues and timers come in chunks, without a Content-Length.
//   - The status of a timer tells of the last run, which before the first one was in the year 1,
//     and of the time for which this run was planned. It is null for schedules below a minute and
//     without useMonitor.
//   - Properties of a message that is a JSON object are merged into the metadata: null is left out,
//     numbers are written without exponent and without needless zeros, dates in the American way.
//     A message that is no UTF-8 fails before it reaches the handler, and becomes poison after
//     the last try. With dataType binary it arrives, as the base64 of its bytes and without the
//     merging.
//   - An empty segment right after the literal part of a route is 404, under a catch-all too.
//   - White space at the end of a path is cut, square brackets arrive unescaped, and the rest is
//     decoded twice as path_test.go shows.
//   - Cache-Control is parsed and written in the order of the host, Allow becomes a line for each
//     method, headers without value are dropped, "Server: Kestrel" is added. An answer with a byte
//     beyond ASCII in a header, or with more than 64 KiB of headers, is 500. The length is always
//     told. The order of Cache-Control was seen for private, no-cache, max-age, must-revalidate and
//     no-transform; that of the other directives is assumed from .NET's type.
//   - These never reach the handler: a body in chunks (500), a Content-Type that is none or is
//     there twice (500), a header beyond ASCII (500 if it is UTF-8, else 400), a Host that is none
//     (500 or 400), an absolute address or a byte beyond ASCII in the request line, and %00 in a
//     path (400), a request line of more than 8 KiB (414), more than 100 headers or 32 KiB of them
//     (431), and a body of more than 100 MiB (500).
//   - An answer that comes before the handler has read a body of known length is a bare 500 here.
//     On the host that depends on how much of the body is still to be sent: 9 MiB were enough.
//   - The third failure of the handler ends the host: its port is closed. Code 0 is no failure, and
//     the handler is never started again: each request is 500. Code 200 is a restart that does
//     not count.
//   - An answer to an invocation that holds only white space leaves the host waiting until
//     functionTimeout, which is an error of the test here. A byte order mark before the object, and
//     anything after it, do no harm.
//   - The host itself marks no request as forwarded. Only Options.FrontEnd does.
//   - A run that the portal starts (Host.TestRun) has no Id and no PopReceipt, DequeueCount 0, and
//     the input as a further property of the metadata.
//
// # Two modes
//
// Where host.json has enableProxyingHttpRequest, a host from 4.1041 on proxies requests and does
// not forward them; Options.Older makes one from before. That mode was watched too, in a copy of
// the same host with newer public files. Its differences: the Host is the handler's and the
// client's is in X-Forwarded-Host; X-Forwarded-For, -Host and -Proto are replaced, as are both ids
// of the invocation; path and query are as they were sent, but a slash that was escaped is escaped
// twice; bodies in chunks pass; answers come as they are written, and as they are; the end of a
// client ends the request; a request without a body is sent up to 40 times (10 with a
// Content-Length), also to a handler that was started anew.
//
// # Not imitated
//
//   - Of the proxying mode: the pauses between tries, the end after 240 s without a byte,
//     WebSockets, the end of a client that sent a body, and that a request which took too long is
//     sent once more.
//
//   - An older host leaves a client whose WebSocket was taken (101) without an answer.
//
//   - functionTimeout has 2 s of grace there, in which the old process still takes requests.
//
//   - With Application Insights the real host adds a traceparent, and Request-Context to answers.
//
//   - /admin and /runtime answer 404 here, and 401 or their own pages there.
//
//   - The real host waits for a handler that is slow to start for up to 130 s, logs its queues that
//     are missing, and lets running requests finish when it is told to stop.
//
//   - It closes idle connections to the handler after about a minute and gives each process an id
//     of its own.
//
//   - Timers fire by Host.Timer only. There they fire up to half a millisecond early, once for any
//     number of times that passed during a run, which they do not tell; IsPastDue is true only
//     after the host was down.
//
//   - A body that is slower than 240 bytes a second is 500 there, and headers that do not end are
//     408.
//
//   - Some odd cases of .NET's Uri with white space after characters beyond the basic plane.
package functiontest
