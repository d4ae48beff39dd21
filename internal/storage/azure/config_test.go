package azure

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func env(settings map[string]string) func(string) string {
	return func(name string) string { return settings[name] }
}

func TestFromEnv(t *testing.T) {
	t.Parallel()
	const table, queue, blob = "https://acct.table.core.windows.net", "https://acct.queue.core.windows.net",
		"https://acct.blob.core.windows.net"
	tests := []struct {
		name     string
		settings map[string]string
		want     account
	}{
		{
			"development storage",
			map[string]string{setting: "UseDevelopmentStorage=true"},
			account{
				name: devName, key: devKey, tableEndpoint: "http://127.0.0.1:10002/devstoreaccount1",
				queueEndpoint: "http://127.0.0.1:10001/devstoreaccount1",
				blobEndpoint:  "http://127.0.0.1:10000/devstoreaccount1", emulated: true,
			},
		},
		{
			"emulator elsewhere",
			map[string]string{setting: "UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://azurite"},
			account{
				name: devName, key: devKey, tableEndpoint: "http://azurite:10002/devstoreaccount1",
				queueEndpoint: "http://azurite:10001/devstoreaccount1",
				blobEndpoint:  "http://azurite:10000/devstoreaccount1", emulated: true,
			},
		},
		{
			"emulator on other ports",
			map[string]string{setting: "DefaultEndpointsProtocol=http;AccountName=a;AccountKey=a2V5;QueueEndpoint=http://localhost:1/a;TableEndpoint=http://localhost:2/a/;BlobEndpoint=http://localhost:3/a/;"},
			account{
				name: "a", key: "a2V5", tableEndpoint: "http://localhost:2/a",
				queueEndpoint: "http://localhost:1/a", blobEndpoint: "http://localhost:3/a", emulated: true,
			},
		},
		{
			"key of an account",
			map[string]string{setting: "DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=a2V5==;EndpointSuffix=core.chinacloudapi.cn"},
			account{},
		},
		{
			"connection string wins",
			map[string]string{setting: "accountname=acct;accountkey=a2V5", setting + "__accountName": "other"},
			account{name: "acct", key: "a2V5", tableEndpoint: table, queueEndpoint: queue, blobEndpoint: blob},
		},
		{
			"account name",
			map[string]string{setting + "__accountName": "acct"},
			account{tableEndpoint: table, queueEndpoint: queue, blobEndpoint: blob},
		},
		{
			"endpoints and user-assigned identity",
			map[string]string{
				setting + "__tableServiceUri": table + "/", setting + "__queueServiceUri": queue + "/",
				setting + "__blobServiceUri": blob + "/",
				setting + "__credential":     "managedidentity", setting + "__clientId": "id",
			},
			account{
				tableEndpoint: table, queueEndpoint: queue, blobEndpoint: blob,
				managedIdentity: true, clientID: "id",
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cfg, err := FromEnv(env(test.settings))
			if test.want == (account{}) {
				require.ErrorContains(t, err, "AccountKey is not base64")
				return
			}
			require.NoError(t, err)
			got, err := cfg.account()
			require.NoError(t, err)
			require.Equal(t, test.want, *got)
			without, err := New(cfg)
			require.NoError(t, err)
			require.Nil(t, without.Blobs)
			cfg.Blobs = true
			with, err := New(cfg)
			require.NoError(t, err)
			require.NotNil(t, with.Blobs)
		})
	}
}

// TestNoBlobEndpoint: only an application with blobs needs the blob service.
func TestNoBlobEndpoint(t *testing.T) {
	t.Parallel()
	cfg, err := FromEnv(env(map[string]string{
		setting + "__tableServiceUri": "https://a",
		setting + "__queueServiceUri": "https://a",
	}))
	require.NoError(t, err)
	_, err = New(cfg)
	require.NoError(t, err)
	cfg.Blobs = true
	_, err = New(cfg)
	require.ErrorContains(t, err, "AzureWebJobsStorage__blobServiceUri")
}

func TestSovereignCloud(t *testing.T) {
	t.Parallel()
	acc, err := parseConnection("AccountName=acct;AccountKey=a2V5;EndpointSuffix=core.chinacloudapi.cn")
	require.NoError(t, err)
	require.Equal(t, "https://acct.table.core.chinacloudapi.cn", acc.tableEndpoint)
	require.Equal(t, "https://acct.queue.core.chinacloudapi.cn", acc.queueEndpoint)
}

func TestFromEnvRefuses(t *testing.T) {
	t.Parallel()
	const table, queue = setting + "__tableServiceUri", setting + "__queueServiceUri"
	tests := []struct {
		name     string
		settings map[string]string
		want     string
	}{
		{"nothing", nil, "no table storage: set AzureWebJobsStorage to a connection string"},
		{
			"no queues",
			map[string]string{table: "https://a.table.core.windows.net"},
			"AzureWebJobsStorage__queueServiceUri",
		},
		{
			"no address",
			map[string]string{table: "a.table", queue: "https://a"},
			`table endpoint "a.table" is not an http or https address`,
		},
		{"identity in the clear", map[string]string{table: "http://a", queue: "https://a"}, "over https only"},
		{"signature in the address", map[string]string{table: "https://a/?sig=x", queue: "https://a"}, "not supported"},
		{
			"Cosmos DB",
			map[string]string{table: "https://a.Table.Cosmos.azure.com:443", queue: "https://a"},
			"is Cosmos DB",
		},
		{"Cosmos DB by a connection string", map[string]string{setting: "AccountName=a;AccountKey=a2V5;TableEndpoint=https://a.table.cosmosdb.azure.com/;QueueEndpoint=https://a/"}, "take a storage account"},
		{
			"unknown credential",
			map[string]string{setting + "__accountName": "a", setting + "__credential": "secret"},
			"want managedidentity",
		},
		{
			"client id alone",
			map[string]string{setting + "__accountName": "a", setting + "__clientId": "x"},
			"has no effect without",
		},
		{"not a connection string", map[string]string{setting: "hunter2"}, "part 1 is not of the form Name=Value"},
		{"no key", map[string]string{setting: "AccountName=a"}, "AccountKey is missing"},
		{"signature", map[string]string{setting: "AccountName=a;SharedAccessSignature=x"}, "not supported"},
	}
	for _, test := range tests {
		_, err := FromEnv(env(test.settings))
		require.ErrorContains(t, err, test.want, test.name)
		require.NotContains(t, err.Error(), "hunter2")
	}
}
