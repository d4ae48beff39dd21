// The plan and the function app with its settings and sign-in. It is deployed after access.bicep, so that
// the identity has its roles when the host starts.
param location string
param tags { *: string }
param token string
param identityName string
param storageName string
param deploymentContainer string
param insightsName string
param logsName string
param subnetId string
param instanceMemoryMB int
param maximumInstanceCount int
param alwaysReadyInstances int
param entraClientId string
param jwtIssuer string
param jwtAudience string
param authTenants string
param logLevel string
param tablePrefix string
param queuePrefix string

@description('What the application has of settings of its own, by their names.')
param settingsOfItsOwn { *: string }

@description('Settings of its own are references to secrets in a key vault.')
param readsVault bool = false

@description('Settings that win over all others.')
param moreSettings { *: string }
param allowedIpRanges string[]
param corsOrigins string[]

@description('Callers come by Front Door. It must be known before the deployment, as the id is not.')
param behindFrontDoor bool = false
param frontDoorId string = ''

// Without sign-in and without an issuer the mode is not set, and the application answers every request
// but health with 503 and the name of this setting.
var authMode = !empty(entraClientId) ? 'easyauth' : (!empty(jwtIssuer) || !empty(jwtAudience)) ? 'jwt' : ''

var entraIssuer = '${environment().authentication.loginEndpoint}${tenant().tenantId}/v2.0'

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' existing = {
  name: identityName
}

resource storage 'Microsoft.Storage/storageAccounts@2025-01-01' existing = {
  name: storageName
}

resource insights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: insightsName
}

resource logs 'Microsoft.OperationalInsights/workspaces@2025-02-01' existing = {
  name: logsName
}

resource plan 'Microsoft.Web/serverfarms@2024-11-01' = {
  name: 'plan-${token}'
  location: location
  tags: tags
  kind: 'functionapp'
  sku: { name: 'FC1', tier: 'FlexConsumption' }
  properties: { reserved: true }
}

// What Front Door lets through comes from its own addresses. The header tells our profile from those of others.
// Without address ranges the address of the function app stays open, so there is no rule at all.
var frontDoorRules = !behindFrontDoor || empty(allowedIpRanges) ? [] : [
  {
    name: 'front-door'
    action: 'Allow'
    priority: 99
    tag: 'ServiceTag'
    ipAddress: 'AzureFrontDoor.Backend'
    headers: { 'x-azure-fdid': [frontDoorId] }
  }
]
var rangeRules = [for (range, i) in allowedIpRanges: {
  name: 'allowed-${i}'
  action: 'Allow'
  priority: 100 + i
  ipAddress: range
}]

resource site 'Microsoft.Web/sites@2024-11-01' = {
  name: 'func-${token}'
  location: location
  tags: union(tags, { 'azd-service-name': 'api' })
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: { '${identity.id}': {} }
  }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    keyVaultReferenceIdentity: readsVault ? identity.id : null
    // For a name of one's own without Front Door. It counts at creation only. The types of this version may lack it.
    #disable-next-line BCP037
    siteScopedCertificatesEnabled: true
    virtualNetworkSubnetId: empty(subnetId) ? null : subnetId
    // Only what Flex Consumption is known to take: it refuses whole deployments over other fields.
    siteConfig: {
      minTlsVersion: '1.2'
      scmMinTlsVersion: '1.2'
      http20Enabled: true
      // The host answers preflights itself, by these, and the handler never sees one.
      cors: { allowedOrigins: corsOrigins, supportCredentials: false }
      // Always sent: what is left out of a site stays as it was, so ranges that are taken back would go on counting.
      ipSecurityRestrictions: concat(frontDoorRules, rangeRules)
      ipSecurityRestrictionsDefaultAction: empty(allowedIpRanges) ? 'Allow' : 'Deny'
      scmIpSecurityRestrictionsUseMain: true
    }
    functionAppConfig: {
      deployment: {
        storage: {
          type: 'blobContainer'
          value: '${storage.properties.primaryEndpoints.blob}${deploymentContainer}'
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: identity.id
          }
        }
      }
      scaleAndConcurrency: {
        instanceMemoryMB: instanceMemoryMB
        maximumInstanceCount: maximumInstanceCount
        alwaysReady: alwaysReadyInstances == 0 ? [] : [
          { name: 'http', instanceCount: alwaysReadyInstances }
        ]
        // A request waits for storage nearly all its time, so an instance takes many at once.
        triggers: { http: { perInstanceConcurrency: 64 } }
      }
      // Exactly '1.0': Azure accepts any other string and the application then never starts.
      runtime: { name: 'custom', version: '1.0' }
    }
  }

  resource settings 'config' = {
    name: 'appsettings'
    properties: union({
      AzureWebJobsStorage__blobServiceUri: storage.properties.primaryEndpoints.blob
      AzureWebJobsStorage__queueServiceUri: storage.properties.primaryEndpoints.queue
      AzureWebJobsStorage__tableServiceUri: storage.properties.primaryEndpoints.table
      AzureWebJobsStorage__credential: 'managedidentity'
      AzureWebJobsStorage__clientId: identity.properties.clientId
      APPLICATIONINSIGHTS_CONNECTION_STRING: insights.properties.ConnectionString
      APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'Authorization=AAD;ClientId=${identity.properties.clientId}'
      AzureWebJobsDisableHomepage: 'true' // "/" is the application's
      LOG_LEVEL: logLevel
      QUEUE_PREFIX: queuePrefix // function.json names the queues with it
    }, empty(corsOrigins) ? {} : {
      CORS_ORIGINS: join(corsOrigins, ',') // the program refuses an empty one
    }, !behindFrontDoor ? {} : {
      FRONT_DOOR_ID: frontDoorId
    }, authMode == 'easyauth' ? {
      OVERRIDE_USE_MI_FIC_ASSERTION_CLIENTID: identity.properties.clientId
    } : {}, empty(authMode) ? {} : {
      AUTH_MODE: authMode
    }, authMode == 'jwt' ? {
      JWT_ISSUER: jwtIssuer
      JWT_AUDIENCE: jwtAudience
    } : {}, empty(authTenants) ? {} : {
      AUTH_TENANTS: authTenants
    }, empty(tablePrefix) ? {} : {
      TABLE_PREFIX: tablePrefix
    }, settingsOfItsOwn, moreSettings)
  }

  resource auth 'config' = {
    name: 'authsettingsV2'
    properties: {
      platform: { enabled: !empty(entraClientId) }
      globalValidation: {
        // The platform says who is calling and lets everybody through: the application answers 401 to those who are not
        // signed in, and shows a browser its sign-in page.
        requireAuthentication: false
        unauthenticatedClientAction: 'AllowAnonymous'
      }
      httpSettings: {
        requireHttps: true
        forwardProxy: { convention: behindFrontDoor ? 'Standard' : 'NoProxy' }
      }
      identityProviders: empty(entraClientId) ? {} : {
        azureActiveDirectory: {
          enabled: true
          registration: {
            clientId: entraClientId
            openIdIssuer: entraIssuer
            // No secret: the managed identity proves who the application is, by a federated credential of the registration.
            clientSecretSettingName: 'OVERRIDE_USE_MI_FIC_ASSERTION_CLIENTID'
          }
          // A token of version 2 names the bare id, one of version 1 the address.
          validation: { allowedAudiences: [entraClientId, 'api://${entraClientId}'] }
        }
      }
      login: { tokenStore: { enabled: false } }
    }
    dependsOn: [settings]
  }

  // Deployment is by identity; passwords for it are off. One child of the site after the other: App Service answers
  // changes of one site at the same time with 409.
  resource scm 'basicPublishingCredentialsPolicies' = {
    name: 'scm'
    properties: { allow: false }
    dependsOn: [auth]
  }

  resource ftp 'basicPublishingCredentialsPolicies' = {
    name: 'ftp'
    properties: { allow: false }
    dependsOn: [scm]
  }
}

// Whom the platform's sign-in refuses before the application sees them. A category that function apps do not have, such
// as the one of address rules, would end the deployment.
resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = if (!empty(entraClientId)) {
  name: 'platform'
  scope: site
  properties: {
    workspaceId: logs.id
    logs: [
      { category: 'AppServiceAuthenticationLogs', enabled: true }
    ]
  }
}

output name string = site.name
output hostName string = site.properties.defaultHostName
output url string = 'https://${site.properties.defaultHostName}'
output authMode string = authMode
output entraIssuer string = entraIssuer
output identityPrincipalId string = identity.properties.principalId
