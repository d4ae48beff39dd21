// PromptHub in a resource group of its own: storage, the function app, who may enter, and what is watched.
// docs/deploy.md tells how to use it; every parameter can be set by an azd variable, see main.parameters.json.
targetScope = 'subscription'

@minLength(1)
@maxLength(40)
@description('Name of the azd environment. Names and tags follow from it.')
param environmentName string

@metadata({ azd: { type: 'location' } })
@description('Region of everything.')
param location string

@description('Object id of who deploys. Gets the data roles that handler verify, backup and the like need; empty: nobody.')
param principalId string = ''

@allowed(['User', 'ServicePrincipal', 'Group'])
@description('What principalId is.')
param principalType string = 'User'

@description('Client id of the app registration that callers sign in with. Set: App Service authentication, AUTH_MODE=easyauth.')
param entraClientId string = ''

@description('Issuer of bearer tokens that the application checks itself, AUTH_MODE=jwt. Has no effect beside entraClientId.')
param jwtIssuer string = ''

@description('Audiences of these tokens, separated by commas.')
param jwtAudience string = ''

@description('Ids of the tenants whose users are let in, separated by commas. Empty: all that the sign-in lets in.')
param authTenants string = ''

@description('Lets callers without identity read what is public.')
param publicRead bool = false

@minValue(1)
@maxValue(131072)
@description('Longest text of a prompt, in characters.')
param maxText int = 32768

@description('What an empty tag catalog is filled with, tag:Display name, separated by commas. Empty: the built-in list.')
param tags string = ''

@allowed(['debug', 'info', 'warn', 'error'])
@description('Least level of the application log.')
param logLevel string = 'info'

@description('Goes before the name of every table. Changing it shows an empty library; the old tables stay.')
param tablePrefix string = ''

@minLength(1)
@maxLength(30)
@description('Goes before the name of every queue. Changing it leaves the messages of the old queues; anti-entropy does their work.')
param queuePrefix string = 'prompthub-'

@description('Goes before the name of the container of backups.')
param containerPrefix string = 'prompthub-'

@description('Further settings of the application, strings by their names; they win over all others. None of the platform.')
param moreSettings { *: string } = {}

@allowed(['Standard_LRS', 'Standard_ZRS', 'Standard_GRS', 'Standard_GZRS', 'Standard_RAGRS', 'Standard_RAGZRS'])
@description('Copies of the data. Zone-redundant survives the loss of a datacenter, and is not offered in every region.')
param storageSku string = 'Standard_LRS'

@allowed([512, 2048, 4096])
@description('Memory of an instance in MB. The handler needs a tenth of the smallest; more memory is more CPU too.')
param instanceMemoryMB int = 512

@minValue(1)
@maxValue(1000)
@description('Most instances of each group of functions, the brake on cost.')
param maximumInstanceCount int = 40

@minValue(0)
@maxValue(20)
@description('Instances that always wait for HTTP requests. 0 costs nothing while idle and makes the first request wait.')
param alwaysReadyInstances int = 0

@description('Who gets the alerts by e-mail. Empty: alerts show in the portal only.')
param alertEmail string = ''

@minValue(0)
@description('Monthly budget of the resource group in the currency of the subscription; 0: none. Only tells, stops nothing.')
param budgetAmount int = 0

@description('First day of a month, from which the budget counts: 2026-12-01. Needed with budgetAmount.')
param budgetStart string = ''

@minValue(0)
@description('Most gigabytes of logs a day, the brake on their bill; 0: no limit. What comes after it is lost until the next day.')
param logDailyGb int = 1

@description('Puts storage behind private endpoints, out of reach of every other network, the one of the developer included.')
param privateNetwork bool = false

@description('Address ranges that may call the application, such as 203.0.113.0/24, separated by commas. Empty: every one.')
param allowedIpRanges string = ''

@description('Origins whose pages may use the API from a browser, such as https://app.example.com, separated by commas. Empty: none.')
param corsOrigins string = ''

@description('Own name of the application, such as prompts.example.org, by Azure Front Door, which has a monthly price. Empty: none.')
param customDomain string = ''

// With WEBSITE_AUTH_ENABLED set by hand, forged headers would be believed.
var platformSettings = filter(objectKeys(moreSettings), name => startsWith(toLower(name), 'website_'))

// The names are those of the code: a test holds the lists against each other.
var tableNames = [
  'Prompts'
  'Files'
  'Fetches'
  'PromptVotes'
  'PromptVotesByVoter'
  'TagIndex'
  'TitleSearchIndex'
  'SearchLog'
  'PublicPromptsNewestIndex'
  'PublicPromptsMostLikedIndex'
  'PublicPromptsHotIndex'
  'PublicPromptsBestIndex'
  'PublicPromptsTrendingIndex'
  'DeletedPromptsIndex'
  'HiddenPromptsIndex'
  'TagCatalog'
  'SystemState'
  'AccessTokens'
  'Users'
  'PromptFavorites'
  'Git'
]

var containerNames = [
  'backups'
]

var queueNames = [
  'score-bucket-moves'
  'index-repairs'
]

// Beside the settings that every application has.
var settingsOfItsOwn = union({
  CONTAINER_PREFIX: containerPrefix
  PUBLIC_READ: string(publicRead)
  MAX_TEXT: string(maxText)
}, empty(tags) ? {} : {
  TAGS: tags
})

var token = toLower(uniqueString(subscription().id, environmentName, location))
var ipRanges = empty(allowedIpRanges) ? [] : map(split(allowedIpRanges, ','), range => trim(range))
var resourceTags = { 'azd-env-name': environmentName }

resource group 'Microsoft.Resources/resourceGroups@2025-04-01' = {
  name: 'rg-${environmentName}'
  location: location
  tags: resourceTags
}

module monitoring 'modules/monitoring.bicep' = {
  name: 'monitoring'
  scope: group
  params: {
    location: location
    tags: resourceTags
    token: token
    dailyGb: logDailyGb
  }
}

module storage 'modules/storage.bicep' = {
  name: 'storage'
  scope: group
  params: {
    location: location
    tags: resourceTags
    token: token
    sku: storageSku
    tablePrefix: tablePrefix
    queuePrefix: queuePrefix
    privateNetwork: privateNetwork
    logsName: monitoring.outputs.logsName
    tableNames: tableNames
    queueNames: queueNames
    containerNames: containerNames
    containerPrefix: containerPrefix
    backups: '${containerPrefix}backups/'
  }
}

module access 'modules/access.bicep' = {
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

module network 'modules/network.bicep' = if (privateNetwork) {
  name: 'network'
  scope: group
  params: {
    location: location
    tags: resourceTags
    token: token
    storageName: storage.outputs.name
  }
}

module frontDoor 'modules/frontdoor.bicep' = if (!empty(customDomain)) {
  name: 'frontdoor'
  scope: group
  params: {
    tags: resourceTags
    token: token
    allowedIpRanges: ipRanges
  }
}

module app 'modules/app.bicep' = {
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
    subnetId: privateNetwork ? network!.outputs.appSubnetId : ''
    instanceMemoryMB: instanceMemoryMB
    maximumInstanceCount: maximumInstanceCount
    alwaysReadyInstances: alwaysReadyInstances
    entraClientId: entraClientId
    jwtIssuer: jwtIssuer
    jwtAudience: jwtAudience
    authTenants: authTenants
    logLevel: logLevel
    tablePrefix: tablePrefix
    queuePrefix: queuePrefix
    settingsOfItsOwn: settingsOfItsOwn
    moreSettings: empty(platformSettings) ? moreSettings : fail('MORE_SETTINGS may not set ${join(platformSettings, ', ')}')
    allowedIpRanges: ipRanges
    corsOrigins: empty(corsOrigins) ? [] : map(split(corsOrigins, ','), origin => trim(origin))
    behindFrontDoor: !empty(customDomain)
    frontDoorId: empty(customDomain) ? '' : frontDoor!.outputs.id
  }
}

module domain 'modules/domain.bicep' = if (!empty(customDomain)) {
  name: 'domain'
  scope: group
  params: {
    tags: resourceTags
    token: token
    profileName: frontDoor!.outputs.profileName
    firewallId: frontDoor!.outputs.firewallId
    hostName: customDomain
    originHostName: app.outputs.hostName
    name: 'prompthub'
  }
}

module alerts 'modules/alerts.bicep' = {
  name: 'alerts'
  scope: group
  params: {
    location: location
    tags: resourceTags
    token: token
    logsName: monitoring.outputs.logsName
    storageName: storage.outputs.name
    email: alertEmail
    displayName: 'PromptHub'
    shortName: 'PromptHub'
    drift: 'anti-entropy'
    heartbeat: 'anti-entropy'
    backupDone: 'backup is complete'
  }
}

module budget 'modules/budget.bicep' = if (budgetAmount > 0) {
  name: 'budget'
  scope: group
  params: {
    token: token
    amount: budgetAmount
    start: budgetStart
    email: alertEmail
  }
}

output AZURE_RESOURCE_GROUP string = group.name
output AZURE_TENANT_ID string = tenant().tenantId
output FUNCTION_APP_NAME string = app.outputs.name
output FUNCTION_APP_URL string = app.outputs.url
output API_URL string = empty(customDomain) ? '${app.outputs.url}/api/v1' : 'https://${customDomain}/api/v1'
output STORAGE_ACCOUNT_NAME string = storage.outputs.name
output LOG_ANALYTICS_WORKSPACE string = monitoring.outputs.logsName
output APPLICATION_INSIGHTS_NAME string = monitoring.outputs.insightsName
output ENTRA_ISSUER string = app.outputs.entraIssuer
output IDENTITY_PRINCIPAL_ID string = app.outputs.identityPrincipalId
output AUTH_MODE string = app.outputs.authMode
output CUSTOM_DOMAIN_CNAME string = empty(customDomain) ? '' : domain!.outputs.endpointHostName
output CUSTOM_DOMAIN_TXT string = empty(customDomain) ? '' : domain!.outputs.validationToken
// With it the hook knows that a budget of a past month is there already, as a new one may not begin in the past.
output BUDGET_MADE_FROM string = budgetAmount > 0 ? budgetStart : ''
// For commands that work on the storage: docs/deploy.md, Backup.
output TABLE_PREFIX string = tablePrefix
output QUEUE_PREFIX string = queuePrefix
output CONTAINER_PREFIX string = containerPrefix
