// Package httpjson owns what every JSON API over HTTP needs and its router does not bring: problem
// documents for errors, one log line for each request, request ids, entity tags, and answers that
// are the same whether a client or the Functions host sends the request.
//
// The handlers around an API go from the outside in: Observe, Secure, JoinQuery, ETags, Routes.
package httpjson
