// Package e2e holds tests only: the built program, used as its users do, in the three ways it runs:
// alone on its embedded store, alone on Azurite, and under a host that speaks the protocol of Azure
// Functions.
package e2e
