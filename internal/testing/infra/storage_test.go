package infra

import "testing"

func TestStorageIsClosed(t *testing.T) {
	t.Parallel()
	fs, file := infrastructure(t, ours), "modules/storage.bicep"
	fs.has(t, file, "resource storage '", "allowSharedKeyAccess: false", "allowBlobPublicAccess: false",
		"supportsHttpsTrafficOnly: true", "minimumTlsVersion: 'TLS1_2'")
	fs.has(t, file, "resource deployments '", "properties: { publicAccess: 'None' }")
	fs.has(t, file, "resource containers '", "name: '${containerPrefix}${name}'",
		"properties: { publicAccess: 'None' }")
	fs.has(t, file, "resource lifecycle '", "filters: { blobTypes: ['blockBlob'], prefixMatch: [backups] }",
		"baseBlob: { delete: { daysAfterModificationGreaterThan: 30 } }")
	fs.has(t, file, "resource blobService '", "isVersioningEnabled: !empty(backups)")
	fs.has(t, "main.bicep", "module storage '", "backups: '${containerPrefix}backups/'")
	fs.has(t, file, "resource tables '", "name: '${tablePrefix}${name}'")
	fs.has(t, file, "resource queues '", "name: '${queuePrefix}${name}'")
}
