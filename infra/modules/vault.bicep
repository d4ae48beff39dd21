// A key vault with secrets that the application reads by its identity, so that they are in no setting
// and no log of a deployment. Whoever may read the data need not be allowed to read these.
param location string
param tags { *: string }

@minLength(3)
@description('Ends the names of all resources.')
param token string
param identityName string
param logsName string

@description('Brings back the vault of this name that was deleted with its resource group.')
param recover bool = false

@description('The names of the secrets. How many there are must be known before the deployment, and of a secure parameter nothing is.')
param secretNames string[]

@secure()
@description('The secrets by their names.')
param secrets { *: string }

// Key Vault Secrets User
var reader = '4633458b-17de-408a-b874-0445c86b69e6'

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' existing = {
  name: identityName
}

resource vault 'Microsoft.KeyVault/vaults@2023-07-01' = {
  name: 'kv-${token}'
  location: location
  tags: tags
  properties: {
    tenantId: tenant().tenantId
    createMode: recover ? 'recover' : 'default'
    sku: { family: 'A', name: 'standard' }
    enableRbacAuthorization: true
    // A key that is lost cannot be made again, so neither a mistake nor a thief may remove one for good.
    enableSoftDelete: true
    softDeleteRetentionInDays: 90
    enablePurgeProtection: true
  }
}

resource values 'Microsoft.KeyVault/vaults/secrets@2023-07-01' = [for name in secretNames: {
  parent: vault
  name: name
  properties: { value: secrets[name] }
}]

resource access 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(vault.id, identity.id, reader)
  scope: vault
  properties: {
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', reader)
  }
}

resource logs 'Microsoft.OperationalInsights/workspaces@2025-02-01' existing = {
  name: logsName
}

// Who read which secret, and when.
resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'audit'
  scope: vault
  properties: {
    workspaceId: logs.id
    logs: [
      { category: 'AuditEvent', enabled: true }
    ]
  }
}

output name string = vault.name
