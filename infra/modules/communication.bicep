// A resource of Azure Communication Services, by which an application sends SMS. Its access key goes
// into a key vault. A number has to be bought in it by hand.
param tags object

@minLength(3)
@description('Ends the names of all resources.')
param token string

@description('Where it keeps its data, such as Europe or United States.')
param dataLocation string
param vaultName string

@description('The name of the secret that gets the access key.')
param secretName string

resource communication 'Microsoft.Communication/communicationServices@2023-04-01' = {
  name: 'acs-${token}'
  location: 'global'
  tags: tags
  properties: { dataLocation: dataLocation }
}

resource vault 'Microsoft.KeyVault/vaults@2023-07-01' existing = {
  name: vaultName
}

resource key 'Microsoft.KeyVault/vaults/secrets@2023-07-01' = {
  parent: vault
  name: secretName
  properties: { value: communication.listKeys().primaryKey }
}

output endpoint string = 'https://${communication.properties.hostName}'
