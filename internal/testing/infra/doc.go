// Package infra owns the checks that tie what is deployed to the code: infra/, host.json and
// functions/ of every application name the same tables, queues, settings, routes and rights as the
// program. It has nothing but tests, and the reader of the parameters of Bicep that they share with
// the hooks of azd.
package infra
