package infra

import (
	"testing"
)

func TestStorageIsClosed(t *testing.T) {
	t.Parallel()
	f := file(t, "modules/storage.bicep")
	account := f.Resource("storage").Body.Get("properties")
	is(t, account, "false", "allowSharedKeyAccess")
	is(t, account, "false", "allowBlobPublicAccess")
	is(t, account, "true", "supportsHttpsTrafficOnly")
	is(t, account, "'TLS1_2'", "minimumTlsVersion")
	is(t, f.Resource("deployments").Body, "'None'", "properties", "publicAccess")
	is(t, f.Resource("tables").Body, "'${tablePrefix}${name}'", "name")
}
