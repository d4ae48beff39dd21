// Package library is the application: everything that a user may do, as Go methods. Doors (HTTP,
// queue, timer, command line) call it; it sees no protocol. The caller is an argument.
//
// A tour of the program:
//
//   - prompt: the nouns and their rules, pure;
//   - promptdb: the tables and queues; how index rows follow the truth;
//   - api: the HTTP routes; web: the pages; mcp: what assistants see, with skill; langfuse,
//     langsmith: the routes of Langfuse and of LangSmith's hub, for their clients; door: what the
//     doors for programs have in common; worker: the queue and timer functions;
//   - format: prompts as files of other programs; transfer: import and export of files by a door;
//     client: the same over the API, for commands; folder: a folder under git as the library;
//   - look: the colours of the pages and of what looks like them;
//   - e2e: tests of the built program; clients: tests with the clients of other programs; bench:
//     what requests cost, what that costs a month in Azure, and a load program; hook: what azd
//     runs around a deployment;
//   - below, free of PromptHub: table and queue (the contracts), transact (both at once), azure,
//     embedded and memory (their implementations), function (the protocol of the Functions host)
//     with queuetrigger (receiving as the host does), devhost (the host in one process), command
//     (what the programs of all applications share), auth, httpjson (what every HTTP door needs),
//     openapi (what JSON APIs made with huma share), telemetry, cursor, fault;
//   - for tests and developers: table/tabletest, queue/queuetest and transact/transacttest (the
//     suites of the contracts), openapi/openapitest (holds answers against the document),
//     prompt/prompttest (real prompts), functiontest (a host to test under), apptest (starts
//     programs), browsertest (a browser that looks at pages), chaos (schedules storage calls),
//     azurite, mutants (breaks the code on purpose), importtest (who may import whom), infra
//     (checks of infra/ and azure.yaml), stage (what a deployment contains).
//
// docs/design.md tells the protocol from top to bottom, and where to add things.
package library
