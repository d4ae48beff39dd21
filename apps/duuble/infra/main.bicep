// Duuble in a resource group of its own, of the modules that all applications share.
targetScope = 'subscription'

@minLength(1)
@maxLength(40)
@description('Name of the azd environment. Names and tags follow from it.')
param environmentName string

@metadata({ azd: { type: 'location' } })
@description('Region of everything.')
param location string

@description('Object id of who deploys, for the rights that the commands for operators need. azd sets it; empty: no one gets them.')
param principalId string = ''

@allowed(['User', 'Group', 'ServicePrincipal'])
@description('What principalId is.')
param principalType string = 'User'

@description('Goes before the name of every table.')
param tablePrefix string = 'Duuble'

@minLength(1)
@maxLength(30)
@description('Goes before the name of every queue.')
param queuePrefix string = 'duuble-'

@description('Goes before the name of every container of blobs.')
param containerPrefix string = 'duuble-'

@description('The keys that seal phone numbers and sign tokens: 32 random bytes in base64, several by commas.')
@secure()
param secretKeys string

@description('The keys that seal votes which are not counted yet, likewise. No copy of the data may be kept with them.')
@secure()
param voteKeys string

@description('Brings back the key vault that "azd down" deleted: it keeps its name for 90 days.')
param recoverVault bool = false

@allowed(['', 'Africa', 'Asia Pacific', 'Australia', 'Brazil', 'Canada', 'Europe', 'France', 'Germany', 'India', 'Japan', 'Korea', 'Norway', 'Switzerland', 'UAE', 'UK', 'United States', 'usgov'])
@description('Makes a Communication Services resource with its data there, such as Europe, to send codes. Empty: acsEndpoint names one that exists, whose owner gives the identity of the application the role Communication and Email Service Owner.')
param communicationDataLocation string = ''

@description('The address of the Communication Services resource that sends codes.')
param acsEndpoint string = ''

@description('A number of that resource.')
param acsFrom string

@description('Who hears of alerts; empty: they are only in the portal.')
param alertEmail string = ''

@description('The address by which browsers find the service, such as https://duuble.example, without a path. It goes before the links of invitations.')
param publicUrl string = ''

@description('Phone numbers of the people who manage the service, such as +34600000001, several by commas.')
param adminPhones string = ''

@allowed([512, 2048, 4096])
@description('Memory of an instance in MB. More memory is more CPU too.')
param instanceMemoryMB int = 512

@minValue(1)
@maxValue(1000)
@description('Most instances of each group of functions.')
param maximumInstanceCount int = 40

@minValue(0)
@description('Most gigabytes of logs a day, the brake on their bill; 0: no limit. What comes after it is lost until the next day.')
param logDailyGb int = 1

// The names are those of the code: a test holds the lists against each other.
var tableNames = [
  'Users'
  'Names'
  'Posts'
  'Lists'
  'Notifications'
  'Sessions'
  'Hubs'
  'Admin'
]

var containerNames = [
  'assets'
  'backups'
]

var queueNames = [
  'outbox'
  'post-changes'
  'ties'
  'fan-out'
]

// Besides the settings that every application has.
var settingsOfItsOwn = {
  SECRET_KEYS: '@Microsoft.KeyVault(VaultName=${vault.outputs.name};SecretName=secret-keys)'
  VOTE_KEYS: '@Microsoft.KeyVault(VaultName=${vault.outputs.name};SecretName=vote-keys)'
  SMS_SENDER: 'acs'
  ACS_ENDPOINT: !empty(communicationDataLocation) ? communication!.outputs.endpoint : !empty(acsEndpoint) ? acsEndpoint : fail('set COMMUNICATION_DATA_LOCATION or ACS_ENDPOINT: nothing sends codes')
  ACS_FROM: acsFrom
  OTP_LASTS: '5m'
  CONTAINER_PREFIX: containerPrefix
  EXPORT_EVERY: '24h'
  PUBLIC_URL: publicUrl
  ADMIN_PHONES: adminPhones
  POSTS_PER_DAY: '100'
  COMMENTS_PER_DAY: '1000'
  MESSAGES_PER_DAY: '1000'
  VOTES_PER_HOUR: '300'
  ASSETS_PER_DAY: '100'
  OTP_PER_PHONE: '5'
  OTP_PER_ADDRESS: '30'
  OTP_PER_NETWORK: '60'
  OTP_PER_COUNTRY: '500'
  OTP_PER_HOUR: '1000'
  VOTE_MIN: '3'
  NOTIFY_POLL: '5s'
  SETTLE_AFTER: '24h'
  KEEP_DELETED: '720h'
}

// With the name of the application: another one may have an environment of the same name.
var token = toLower(uniqueString(subscription().id, environmentName, location, 'duuble'))
var resourceTags = { 'azd-env-name': environmentName }

resource group 'Microsoft.Resources/resourceGroups@2025-04-01' = {
  name: 'rg-duuble-${environmentName}'
  location: location
  tags: resourceTags
}

module monitoring '../../../infra/modules/monitoring.bicep' = {
  name: 'monitoring'
  scope: group
  params: {
    location: location
    tags: resourceTags
    token: token
    dailyGb: logDailyGb
  }
}

module storage '../../../infra/modules/storage.bicep' = {
  name: 'storage'
  scope: group
  params: {
    location: location
    tags: resourceTags
    token: token
    sku: 'Standard_LRS'
    tablePrefix: tablePrefix
    queuePrefix: queuePrefix
    privateNetwork: false
    logsName: monitoring.outputs.logsName
    tableNames: tableNames
    queueNames: queueNames
    containerNames: containerNames
    containerPrefix: containerPrefix
    backups: '${containerPrefix}backups/'
  }
}

module access '../../../infra/modules/access.bicep' = {
  name: 'access'
  scope: group
  params: {
    location: location
    tags: resourceTags
    token: token
    storageName: storage.outputs.name
    insightsName: monitoring.outputs.insightsName
    principalId: principalId
    principalType: principalType
    containerNames: map(containerNames, name => '${containerPrefix}${name}')
  }
}

module vault '../../../infra/modules/vault.bicep' = {
  name: 'vault'
  scope: group
  params: {
    location: location
    tags: resourceTags
    token: token
    identityName: access.outputs.identityName
    logsName: monitoring.outputs.logsName
    recover: recoverVault
    secretNames: ['secret-keys', 'vote-keys']
    secrets: {
      'secret-keys': secretKeys
      'vote-keys': voteKeys
    }
  }
}

module communication '../../../infra/modules/communication.bicep' = if (!empty(communicationDataLocation)) {
  name: 'communication'
  scope: group
  params: {
    tags: resourceTags
    token: token
    identityName: access.outputs.identityName
    dataLocation: communicationDataLocation
  }
}

module app '../../../infra/modules/app.bicep' = {
  name: 'app'
  scope: group
  params: {
    location: location
    tags: resourceTags
    token: token
    identityName: access.outputs.identityName
    storageName: storage.outputs.name
    deploymentContainer: storage.outputs.deploymentContainer
    insightsName: monitoring.outputs.insightsName
    logsName: monitoring.outputs.logsName
    subnetId: ''
    instanceMemoryMB: instanceMemoryMB
    maximumInstanceCount: maximumInstanceCount
    alwaysReadyInstances: 0
    entraClientId: ''
    jwtIssuer: ''
    jwtAudience: ''
    authTenants: ''
    logLevel: 'info'
    tablePrefix: tablePrefix
    queuePrefix: queuePrefix
    settingsOfItsOwn: settingsOfItsOwn
    readsVault: true
    moreSettings: {}
    allowedIpRanges: []
    corsOrigins: []
  }
}

module alerts '../../../infra/modules/alerts.bicep' = {
  name: 'alerts'
  scope: group
  params: {
    location: location
    tags: resourceTags
    token: token
    logsName: monitoring.outputs.logsName
    storageName: storage.outputs.name
    email: alertEmail
    displayName: 'Duuble'
    shortName: 'Duuble'
    heartbeat: 'expire'
    backupDone: 'backup is complete' // what the log of the function "export" says
    limitReached: 'no more codes go to new devices' // what the log says when a limit over all numbers is reached
  }
}

output AZURE_RESOURCE_GROUP string = group.name
output FUNCTION_APP_NAME string = app.outputs.name
output STORAGE_ACCOUNT_NAME string = storage.outputs.name
output LOG_ANALYTICS_WORKSPACE string = monitoring.outputs.logsName
output KEY_VAULT_NAME string = vault.outputs.name
output FUNCTION_APP_URL string = app.outputs.url
// For commands that work on the storage.
output TABLE_PREFIX string = tablePrefix
output QUEUE_PREFIX string = queuePrefix
output CONTAINER_PREFIX string = containerPrefix
