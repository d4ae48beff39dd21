// Logs and Application Insights. Nothing sends with a key: DisableLocalAuth, and the role is in access.bicep.
param location string
param tags { *: string }
param token string

@minValue(0)
@description('Most gigabytes of logs a day; 0: no limit. What comes after it is lost until the next day.')
param dailyGb int

resource logs 'Microsoft.OperationalInsights/workspaces@2025-02-01' = {
  name: 'log-${token}'
  location: location
  tags: tags
  properties: {
    sku: { name: 'PerGB2018' }
    retentionInDays: 30
    workspaceCapping: { dailyQuotaGb: dailyGb == 0 ? -1 : dailyGb }
    features: { disableLocalAuth: true }
  }
}

resource insights 'Microsoft.Insights/components@2020-02-02' = {
  name: 'appi-${token}'
  location: location
  tags: tags
  kind: 'web'
  properties: {
    Application_Type: 'web'
    WorkspaceResourceId: logs.id
    DisableLocalAuth: true
  }
}

output logsName string = logs.name
output insightsName string = insights.name
