package infra

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A role is one of Azure's, with what it grants of that which anything here does.
type role struct {
	name, id string
	grants   []string
}

// storageRoles are those that the application holds.
var storageRoles = []role{
	{"Storage Blob Data Owner", "b7e6dc6d-f1e8-4753-8033-0f276bb0955b", []string{"blobs"}},
	{"Storage Queue Data Contributor", "974c5e8b-45b9-4653-ba55-5f855dd0fb88", []string{
		"queues/read", "queues/write", "messages/read", "messages/write", "messages/process", "messages/delete",
	}},
	{"Storage Table Data Contributor", "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3", []string{
		"tables/write", "entities/read", "entities/add", "entities/write", "entities/delete",
	}},
}

// needs says which rights a call needs.
var needs = map[string][]string{
	"NewClient": nil, "NewQueueClient": nil, "NewContainerClient": nil, "NewBlockBlobClient": nil, // they send nothing
	"CreateTable": {"tables/write"}, "GetEntity": {"entities/read"}, "NewListEntitiesPager": {"entities/read"},
	"AddEntity": {"entities/add"}, "UpsertEntity": {"entities/write"}, "UpdateEntity": {"entities/write"},
	"DeleteEntity": {"entities/delete"}, "SubmitTransaction": {"entities/write", "entities/delete"},
	"CreateQueue": {"queues/write"}, "GetProperties": {"queues/read"}, "EnqueueMessage": {"messages/write"},
	"PeekMessages":    {"messages/read"},
	"DequeueMessages": {"messages/process"}, "UpdateMessage": {"messages/write"}, "DeleteMessage": {"messages/delete"},
	"CreateContainer": {"blobs"}, "Upload": {"blobs"}, "DownloadStream": {"blobs"}, "Delete": {"blobs"},
	"NewListBlobsFlatPager": {"blobs"},
}

// hostNeeds are the rights of the Functions host: its keys, its locks and the package, the queues
// that it reads and those for poison messages, and the table of its diagnostics.
var hostNeeds = []string{
	"blobs", "queues/read", "messages/process", "messages/delete", "messages/write",
	"tables/write", "entities/write",
}

// needed returns the rights that the program and the host need.
func needed(t *testing.T) []string {
	t.Helper()
	rights := make(map[string]bool)
	for _, n := range hostNeeds {
		rights[n] = true
	}
	calls := slices.Collect(maps.Keys(storageCalls(t)))
	require.Greater(t, len(calls), 10)
	for _, call := range calls {
		require.Contains(t, needs, call, "package azure calls it: say what it needs")
		for _, n := range needs[call] {
			rights[n] = true
		}
	}
	return slices.Sorted(maps.Keys(rights))
}

// roles compares the roles that are assigned with those that are needed, no more and no less.
func roles(t *testing.T, _ application, fs files) []string {
	var want []string
	for _, r := range storageRoles {
		if slices.ContainsFunc(r.grants, func(g string) bool { return slices.Contains(needed(t), g) }) {
			want = append(want, r.id)
		}
	}
	return differences("roles of the application", want, fs.list(t, "modules/access.bicep", "var storageRoles = {"))
}

// rights reports what is needed and no role that is assigned grants.
func rights(t *testing.T, _ application, fs files) []string {
	assigned := fs.list(t, "modules/access.bicep", "var storageRoles = {")
	var granted, missing []string
	for _, r := range storageRoles {
		if slices.Contains(assigned, r.id) {
			granted = append(granted, r.grants...)
		}
	}
	for _, n := range needed(t) {
		if !slices.Contains(granted, n) {
			missing = append(missing, n+" is granted by no role")
		}
	}
	return missing
}

func TestRolesAreAssigned(t *testing.T) {
	t.Parallel()
	fs, file := infrastructure(t, ours), "modules/access.bicep"
	const application = "principalId: identity.properties.principalId"
	fs.has(t, file, "resource storageAccess '", "scope: storage", application)
	fs.has(t, file, "resource insightsAccess '", "scope: insights", application)
	fs.has(t, file, "resource deployerAccess '", "scope: storage", "principalId: principalId")
	require.Contains(t, fs[file], "var metricsPublisher = '3913510d-42f4-4e42-8a64-420c390055eb'",
		"Monitoring Metrics Publisher")
	require.Contains(t, fs[file], "var dataRoles = [storageRoles.queues, storageRoles.tables]",
		"who deploys needs the blobs of the containers of backups alone")
}
