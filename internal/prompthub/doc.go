// Package prompthub is the application: what a user may do, in Go methods. Doors (HTTP, queue,
// timer, command line) call it; it sees no protocol. Who is calling is an argument.
//
// A tour of the program:
//
//   - prompt: the nouns and their rules, pure;
//   - promptdb: the tables and queues; how index rows follow the truth;
//   - api: the HTTP routes; worker: the queue and timer functions; client: import and export;
//   - below, free of PromptHub: table and queue (the contracts), azure, embedded and memory
//     (their implementations), function (the protocol of the Functions host), devhost (the same
//     in one process), auth, cursor, fault.
package prompthub
