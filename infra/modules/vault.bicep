// A key vault with secrets that the application reads by its identity, so that they are in no setting
// and no log of a deployment. Whoever may read the data need not be allowed to read these.
param location string
param tags object

@minLength(3)
@description('Ends the names of all resources.')
param token string
param identityName string

@secure()
@description('The secrets by their names.')
param secrets object

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
    sku: { family: 'A', name: 'standard' }
    enableRbacAuthorization: true
    // A key that is lost cannot be made again, so neither a mistake nor a thief may remove one for good.
    enableSoftDelete: true
    softDeleteRetentionInDays: 90
    enablePurgeProtection: true
  }
}

resource values 'Microsoft.KeyVault/vaults/secrets@2023-07-01' = [for secret in items(secrets): {
  parent: vault
  name: secret.key
  properties: { value: secret.value }
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

output name string = vault.name
