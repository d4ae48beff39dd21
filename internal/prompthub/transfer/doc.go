// Package transfer takes what a user has out of the library, and files into it, a bounded part with
// each request. It is between the doors and the service: it knows files, and the doors need not.
package transfer
