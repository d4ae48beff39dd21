// A resource of Azure Communication Services, by which an application sends SMS and mail. It knows the application by its
// identity: there is no key. A number for SMS has to be bought in it by hand.
param tags { *: string }

@minLength(3)
@description('Ends the names of all resources.')
param token string
param identityName string

@description('Where it keeps its data, such as Europe or United States.')
param dataLocation string

@description('Adds a domain of Azure, from which mail is sent.')
param mail bool = false

// Communication and Email Service Owner: no role that comes with Azure only sends
var sender = '09976791-48a7-449e-bb21-39d1a415f350'

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' existing = {
  name: identityName
}

resource mails 'Microsoft.Communication/emailServices@2025-05-01' = if (mail) {
  name: 'mail-${token}'
  location: 'global'
  tags: tags
  properties: { dataLocation: dataLocation }
}

resource domain 'Microsoft.Communication/emailServices/domains@2025-05-01' = if (mail) {
  parent: mails
  name: 'AzureManagedDomain'
  location: 'global'
  tags: tags
  properties: { domainManagement: 'AzureManaged' }
}

resource communication 'Microsoft.Communication/communicationServices@2025-05-01' = {
  name: 'acs-${token}'
  location: 'global'
  tags: tags
  properties: {
    dataLocation: dataLocation
    disableLocalAuth: true
    linkedDomains: mail ? [domain.id] : []
  }
}

resource access 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(communication.id, identity.id, sender)
  scope: communication
  properties: {
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', sender)
  }
}

output endpoint string = 'https://${communication.properties.hostName}'

@description('The setting MAIL_FROM.')
output mailFrom string = mail ? 'DoNotReply@${domain!.properties.mailFromSenderDomain}' : ''
