// The storage account: the tables, queues and blobs of an application, what the Functions host keeps, and the deployed package.
param location string
param tags { *: string }

@minLength(3)
@description('Ends the names of all resources. A storage account needs three characters.')
param token string
param sku string
param tablePrefix string
param queuePrefix string
param privateNetwork bool
param logsName string

@description('Names of the tables, without their prefix.')
param tableNames string[]

@description('Names of the queues, without their prefix.')
param queueNames string[]

@description('Names of the containers of blobs, without their prefix. None: the application keeps no blobs.')
param containerNames string[] = []
param containerPrefix string = ''

@description('How the names of blobs of backups begin, with that of their container. They are removed after 30 days. Empty: there are none.')
param backups string = ''

// What fails five times goes to the queue with -poison after its name.
var allQueueNames = flatten(map(queueNames, name => [name, '${name}-poison']))

var deploymentContainerName = 'deployments'

resource storage 'Microsoft.Storage/storageAccounts@2025-01-01' = {
  name: 'st${token}'
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: { name: sku }
  properties: {
    allowBlobPublicAccess: false
    allowSharedKeyAccess: false // no account keys and no SAS made from them: identities only
    allowCrossTenantReplication: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    publicNetworkAccess: privateNetwork ? 'Disabled' : 'Enabled'
    networkAcls: {
      bypass: privateNetwork ? 'None' : 'AzureServices'
      defaultAction: privateNetwork ? 'Deny' : 'Allow'
    }
  }
}

resource tableService 'Microsoft.Storage/storageAccounts/tableServices@2025-01-01' = {
  parent: storage
  name: 'default'
}

resource tables 'Microsoft.Storage/storageAccounts/tableServices/tables@2025-01-01' = [for name in tableNames: {
  parent: tableService
  name: '${tablePrefix}${name}'
}]

resource queueService 'Microsoft.Storage/storageAccounts/queueServices@2025-01-01' = {
  parent: storage
  name: 'default'
}

resource queues 'Microsoft.Storage/storageAccounts/queueServices/queues@2025-01-01' = [for name in allQueueNames: {
  parent: queueService
  name: '${queuePrefix}${name}'
}]

resource blobService 'Microsoft.Storage/storageAccounts/blobServices@2025-01-01' = {
  parent: storage
  name: 'default'
  properties: {
    // what overwrites or deletes a backup leaves the version before
    isVersioningEnabled: !empty(backups)
    deleteRetentionPolicy: { enabled: true, days: 7 }
    containerDeleteRetentionPolicy: { enabled: true, days: 7 }
  }
}

resource deployments 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' = {
  parent: blobService
  name: deploymentContainerName
  properties: { publicAccess: 'None' }
}

resource containers 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' = [for name in containerNames: {
  parent: blobService
  name: '${containerPrefix}${name}'
  properties: { publicAccess: 'None' }
}]

// A backup holds whoever was erased since, so none is kept for longer than docs/deploy.md says.
resource lifecycle 'Microsoft.Storage/storageAccounts/managementPolicies@2025-01-01' = if (!empty(backups)) {
  parent: storage
  name: 'default'
  dependsOn: [blobService] // versions need versioning
  properties: {
    policy: {
      rules: [
        {
          name: 'backups'
          type: 'Lifecycle'
          enabled: true
          definition: {
            filters: { blobTypes: ['blockBlob'], prefixMatch: [backups] }
            actions: {
              baseBlob: { delete: { daysAfterModificationGreaterThan: 30 } }
              version: { delete: { daysAfterCreationGreaterThan: 7 } }
            }
          }
        }
        {
          name: 'versions' // of the package, and what the host keeps
          type: 'Lifecycle'
          enabled: true
          definition: {
            filters: { blobTypes: ['blockBlob'] }
            actions: { version: { delete: { daysAfterCreationGreaterThan: 7 } } }
          }
        }
      ]
    }
  }
}

resource logs 'Microsoft.OperationalInsights/workspaces@2025-02-01' existing = {
  name: logsName
}

// Writes to the queues only, which the alert on poison messages reads: a line for every table operation
// would cost many times the operation.
resource queueDiagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'queue-writes'
  scope: queueService
  properties: {
    workspaceId: logs.id
    logs: [
      { category: 'StorageWrite', enabled: true }
    ]
  }
}

output name string = storage.name
output deploymentContainer string = deployments.name
