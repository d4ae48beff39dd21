// The identity of the application and what it may do; the same on the data for who deploys.
param location string
param tags { *: string }
param token string
param storageName string
param insightsName string
param principalId string
param principalType string

@description('The containers of blobs that commands for operators read and write, with their prefix.')
param containerNames string[] = []

// Which call needs which role is in the test that compares this list with the code.
var storageRoles = {
  blobs: 'b7e6dc6d-f1e8-4753-8033-0f276bb0955b' // Storage Blob Data Owner: host keys, timer locks, the package
  queues: '974c5e8b-45b9-4653-ba55-5f855dd0fb88' // Storage Queue Data Contributor: triggers, repair messages, poison queues
  tables: '0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3' // Storage Table Data Contributor: all rows, host diagnostics
}
var metricsPublisher = '3913510d-42f4-4e42-8a64-420c390055eb' // Monitoring Metrics Publisher: telemetry without a key

// An operator reads and mends data by commands such as verify, redrive, backup and restore. Of the blobs an operator may
// only change the application's: the others are the host's.
var containerRole = 'ba92f5b4-2d11-453d-a403-e96b0029c9fe' // Storage Blob Data Contributor
var dataRoles = [storageRoles.queues, storageRoles.tables]

resource storage 'Microsoft.Storage/storageAccounts@2025-01-01' existing = {
  name: storageName
}

resource insights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: insightsName
}

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: 'id-${token}'
  location: location
  tags: tags
}

resource storageAccess 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for role in items(storageRoles): {
  name: guid(storage.id, identity.id, role.value)
  scope: storage
  properties: {
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', role.value)
  }
}]

resource insightsAccess 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(insights.id, identity.id, metricsPublisher)
  scope: insights
  properties: {
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', metricsPublisher)
  }
}

resource deployerAccess 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for role in dataRoles: if (!empty(principalId)) {
  name: guid(storage.id, principalId, role)
  scope: storage
  properties: {
    principalId: principalId
    principalType: principalType
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', role)
  }
}]

resource blobService 'Microsoft.Storage/storageAccounts/blobServices@2025-01-01' existing = {
  parent: storage
  name: 'default'
}

resource containers 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' existing = [for name in containerNames: {
  parent: blobService
  name: name
}]

resource containerAccess 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for (name, i) in containerNames: if (!empty(principalId)) {
  name: guid(storage.id, name, principalId, containerRole)
  scope: containers[i]
  properties: {
    principalId: principalId
    principalType: principalType
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', containerRole)
  }
}]

output identityName string = identity.name
