package azure

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// The account that every Azurite has; its key is public.
const (
	devName = "devstoreaccount1"
	devKey  = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// parseConnection reads a connection string of an account with its key. Its errors never
// repeat the text, which holds the key.
func parseConnection(s string) (*account, error) {
	fields, err := connectionFields(s)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(fields["usedevelopmentstorage"], "true") {
		host := strings.TrimRight(fields["developmentstorageproxyuri"], "/")
		if host == "" {
			host = "http://127.0.0.1"
		}
		return &account{
			name: devName, key: devKey,
			tableEndpoint: host + ":10002/" + devName, queueEndpoint: host + ":10001/" + devName,
			blobEndpoint: host + ":10000/" + devName,
		}, nil
	}
	if fields["sharedaccesssignature"] != "" {
		return nil, errors.New("shared access signatures are not supported: give AccountKey, or use an identity")
	}
	acc := &account{name: fields["accountname"], key: fields["accountkey"]}
	if acc.name == "" || acc.key == "" {
		return nil, errors.New("AccountName or AccountKey is missing")
	}
	if _, err := base64.StdEncoding.DecodeString(acc.key); err != nil {
		return nil, errors.New("AccountKey is not base64")
	}
	acc.tableEndpoint = endpoint(fields, "table")
	acc.queueEndpoint = endpoint(fields, "queue")
	acc.blobEndpoint = endpoint(fields, "blob")
	return acc, nil
}

// endpoint returns the address of a service: the one given, or the account's usual one.
func endpoint(fields map[string]string, service string) string {
	if e := fields[service+"endpoint"]; e != "" {
		return strings.TrimRight(e, "/")
	}
	scheme, suffix := fields["defaultendpointsprotocol"], fields["endpointsuffix"]
	if scheme == "" {
		scheme = "https"
	}
	if suffix == "" {
		suffix = "core.windows.net"
	}
	return scheme + "://" + fields["accountname"] + "." + service + "." + suffix
}

// connectionFields splits a connection string; names are in lower case.
func connectionFields(s string) (map[string]string, error) {
	fields := make(map[string]string)
	for i, field := range strings.Split(s, ";") {
		if strings.TrimSpace(field) == "" {
			continue
		}
		name, value, ok := strings.Cut(field, "=")
		if !ok {
			return nil, fmt.Errorf("part %d is not of the form Name=Value", i+1)
		}
		fields[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
	}
	return fields, nil
}
