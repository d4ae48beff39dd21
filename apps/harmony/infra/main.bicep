// AloeVera Harmony Meet in a resource group of its own, of the modules that all applications share.
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
param tablePrefix string = 'Harmony'

@minLength(1)
@maxLength(30)
@description('Goes before the name of every queue.')
param queuePrefix string = 'harmony-'

@description('Goes before the name of every container of blobs.')
param containerPrefix string = 'harmony-'

@allowed(['', 'Africa', 'Asia Pacific', 'Australia', 'Brazil', 'Canada', 'Europe', 'France', 'Germany', 'India', 'Japan', 'Korea', 'Norway', 'Switzerland', 'UAE', 'UK', 'United States', 'usgov'])
@description('Makes a Communication Services resource with its data there, such as Europe, and a domain of Azure from which mail is sent. Empty: acsEndpoint names a resource that exists, or no mail is sent.')
param communicationDataLocation string = ''

@description('The address of the Communication Services resource that sends mail, whose owner gives the identity of the application the role Communication and Email Service Owner.')
param acsEndpoint string = ''

@description('An address of a domain that is linked to that resource, from which mail comes.')
param mailFrom string = ''

@description('The address by which browsers find the service, such as https://harmony.example, without a path: links in mails begin with it. Empty: that which Azure gives the application.')
param publicUrl string = ''

@description('Who hears of alerts; empty: they are only in the portal.')
param alertEmail string = ''

@allowed([2048, 4096])
@description('Memory of an instance in MB: two pictures that are decoded take up to 400 MB, eight hashes of passwords 152 MB.')
param instanceMemoryMB int = 2048

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
  'UserEmails'
  'Sessions'
  'UserImages'
  'UserPreferences'
  'UserSettings'
  'Likes'
  'LikesReceived'
  'Matches'
  'Blocks'
  'Pairs'
  'Events'
  'EventAttendees'
  'UserEvents'
  'EventInvites'
  'ForumSections'
  'ForumTopics'
  'ForumReplies'
  'Deck'
  'Chats'
  'UserChats'
  'Messages'
  'State'
  'Mails'
  'Reports'
  'StoreItems'
  'BlogPosts'
]

var containerNames = [
  'profile-images'
  'chat-images'
  'blog-images'
  'event-images'
  'store-images'
  'removed-images'
  'backups'
]

var queueNames = [
  'list-changes'
  'pair-changes'
  'mails'
]

// Beside the settings that every application has.
var settingsOfItsOwn = {
  CONTAINER_PREFIX: containerPrefix
  LIKES_A_DAY: '200'
  EXPORT_EVERY: '24h'
  ERASE_AFTER_DAYS: '30'
  SIGN_UPS_AN_HOUR: '5'
  MAIL_SENDER: empty(communicationDataLocation) && empty(acsEndpoint) ? '' : 'acs'
  ACS_ENDPOINT: !empty(communicationDataLocation) ? communication!.outputs.endpoint : acsEndpoint
  MAIL_FROM: !empty(communicationDataLocation) ? communication!.outputs.mailFrom : mailFrom
  PUBLIC_URL: publicUrl
  MAILS_A_DAY: '2000'
}

// With the name of the application: another one may have an environment of the same name.
var token = toLower(uniqueString(subscription().id, environmentName, location, 'harmony'))
var resourceTags = { 'azd-env-name': environmentName }

resource group 'Microsoft.Resources/resourceGroups@2025-04-01' = {
  name: 'rg-harmony-${environmentName}'
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

module communication '../../../infra/modules/communication.bicep' = if (!empty(communicationDataLocation)) {
  name: 'communication'
  scope: group
  params: {
    tags: resourceTags
    token: token
    identityName: access.outputs.identityName
    dataLocation: communicationDataLocation
    mail: true
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
    displayName: 'AloeVera Harmony Meet'
    shortName: 'Harmony'
    heartbeat: 'tidy'
    backupDone: 'backup is complete' // what the log of the function "export" says
  }
}

output AZURE_RESOURCE_GROUP string = group.name
output FUNCTION_APP_NAME string = app.outputs.name
output STORAGE_ACCOUNT_NAME string = storage.outputs.name
output LOG_ANALYTICS_WORKSPACE string = monitoring.outputs.logsName
output FUNCTION_APP_URL string = app.outputs.url
// For commands that work on the storage.
output TABLE_PREFIX string = tablePrefix
output QUEUE_PREFIX string = queuePrefix
output CONTAINER_PREFIX string = containerPrefix
