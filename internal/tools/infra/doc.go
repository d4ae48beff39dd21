// Package infra checks what is deployed by means that the program itself does not need: azure.yaml and the
// workflows as YAML, and resources against the Azure SDK for Go where there is no type data. It
// is a module of its own, so that these stay out of the program's. "make infra-check" runs it.
package infra
