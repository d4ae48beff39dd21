// Package infra checks what is deployed by means that the program itself does not need: azure.yaml
// and the workflows as YAML, files against their JSON schemas, and what azd makes of variables. It
// is a module of its own, so that these stay out of the program's. "make infra-check" runs it.
package infra
