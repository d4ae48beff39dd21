// Package library is the application: everything that a user may do, as Go methods. Doors (HTTP,
// queue, timer, command line) call it; it sees no protocol. The caller is an argument.
//
// A tour of the program:
//
//   - prompt: the nouns and their rules, pure;
//   - promptdb: the tables and queues, and how index rows follow the truth; its rooms are named in
//     the comment of the package;
//   - doors: the packages that callers speak to. api (HTTP with its OpenAPI document), web (the
//     pages, with theme), mcp (assistants), langfuse and langsmith (the routes of those services,
//     for their clients), worker (queue and timer functions); package doors itself is what the
//     doors for programs have in common;
//   - files: format (prompts as files of other programs) and skill; transfer: import and export;
//   - cli: client (the API, for commands) and folder (a folder under git as the library);
//   - e2e: tests of the built program; bench: the load programs, and the cost of requests;
//   - below, free of PromptHub: storage (table, queue and blob are the contracts, transact is the
//     first two at once; azure, embedded and memory keep them; rowstore reads and writes rows with
//     deadlines), http (auth, httpjson, openapi, pages), host (command, function and devhost),
//     telemetry, cursor and fault;
//   - testing: functiontest (a host to test under), apptest (starts programs), browsertest (looks
//     at pages), chaos (schedules storage calls), azurite, mutants (breaks the code on purpose),
//     importtest (which package may import which), infra (checks of infra/ and azure.yaml).
//
// docs/design.md tells the protocol from top to bottom, and where to add things.
package library
