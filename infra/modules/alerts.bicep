// What a person must hear of. docs/deploy.md says what to do for each. Queries run over tables that exist
// only after the first line, so they are not validated on deployment. Each keeps TimeGenerated: rules put rows into
// their window by it.
param location string
param tags { *: string }
param token string
param logsName string
param storageName string
param email string

@description('What people call the application.')
param displayName string

@minLength(1)
@maxLength(12)
@description('The same where Azure takes 12 characters at most: in messages of the action group.')
param shortName string

@description('The timer function that compares index rows with the truth and logs how many differed. Empty: there is none.')
param drift string = ''

@description('A timer function that runs at least every 15 minutes, whose silence means that the application does not start. Empty: there is none.')
param heartbeat string = ''

@description('Queue functions whose messages are put long before they are due. Their age says nothing.')
param delayed string[] = []

@description('What the log says when a backup is complete, which happens each day. Empty: none is kept.')
param backupDone string = ''

@description('What the log says, as a warning, while a limit over all callers is reached. Empty: there is none.')
param limitReached string = ''

resource logs 'Microsoft.OperationalInsights/workspaces@2025-02-01' existing = {
  name: logsName
}

resource storage 'Microsoft.Storage/storageAccounts@2025-01-01' existing = {
  name: storageName
}

resource people 'Microsoft.Insights/actionGroups@2023-01-01' = if (!empty(email)) {
  name: 'ag-${token}'
  location: 'global'
  tags: tags
  properties: {
    groupShortName: shortName
    enabled: true
    emailReceivers: [
      { name: 'operator', emailAddress: email, useCommonAlertSchema: true }
    ]
  }
}

var told = empty(email) ? [] : [people.id]
var delayedFunctions = empty(delayed) ? '' : ' and OperationName !in ("${join(delayed, '", "')}")'

resource poison 'Microsoft.Insights/scheduledQueryRules@2022-06-15' = {
  name: 'poison-${token}'
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: '${displayName}: messages that failed five times'
    description: 'A message reached a poison queue: its work waits. See "Poison" in docs/deploy.md.'
    severity: 1
    enabled: true
    autoMitigate: true
    skipQueryValidation: true
    scopes: [logs.id]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    criteria: {
      allOf: [
        {
          query: 'StorageQueueLogs | where OperationName == "PutMessage" and Uri has "-poison" and toint(StatusCode) < 300'
          timeAggregation: 'Count'
          operator: 'GreaterThan'
          threshold: 0
          failingPeriods: { numberOfEvaluationPeriods: 1, minFailingPeriodsToAlert: 1 }
        }
      ]
    }
    actions: { actionGroups: told }
  }
}

resource serverErrors 'Microsoft.Insights/scheduledQueryRules@2022-06-15' = {
  name: 'errors-${token}'
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: '${displayName}: requests that failed here'
    description: 'More than 2 % of at least 20 requests in 15 minutes were answered 5xx. See "Errors" in docs/deploy.md.'
    severity: 1
    enabled: true
    autoMitigate: true
    skipQueryValidation: true
    scopes: [logs.id]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    criteria: {
      allOf: [
        {
          query: 'AppRequests | where isnotempty(Url) | summarize TimeGenerated = max(TimeGenerated), Failed = 100.0 * countif(toint(ResultCode) >= 500) / count(), Requests = count() | where Requests >= 20 | project TimeGenerated, Failed'
          timeAggregation: 'Maximum'
          metricMeasureColumn: 'Failed'
          operator: 'GreaterThan'
          threshold: 2
          failingPeriods: { numberOfEvaluationPeriods: 1, minFailingPeriodsToAlert: 1 }
        }
      ]
    }
    actions: { actionGroups: told }
  }
}

resource projectionAge 'Microsoft.Insights/scheduledQueryRules@2022-06-15' = {
  name: 'projection-${token}'
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: '${displayName}: lists lag behind'
    description: 'A projection ran more than 12 minutes after its message was put. See "Projection age" in docs/deploy.md.'
    severity: 2
    enabled: true
    autoMitigate: true
    skipQueryValidation: true
    scopes: [logs.id]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    criteria: {
      allOf: [
        {
          // The host tells when a message was put as it starts the function.
          query: 'AppTraces | where Message startswith "Trigger Details: "${delayedFunctions} | extend Put = todatetime(extract(@"Insert(?:edOn|ionTime): ([^,]+)", 1, Message)) | where isnotnull(Put) | project TimeGenerated, AgeInSeconds = datetime_diff("second", TimeGenerated, Put)'
          timeAggregation: 'Maximum'
          metricMeasureColumn: 'AgeInSeconds'
          operator: 'GreaterThan'
          threshold: 720
          failingPeriods: { numberOfEvaluationPeriods: 1, minFailingPeriodsToAlert: 1 }
        }
      ]
    }
    actions: { actionGroups: told }
  }
}

resource driftRule 'Microsoft.Insights/scheduledQueryRules@2022-06-15' = if (!empty(drift)) {
  name: 'drift-${token}'
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: '${displayName}: index rows differed from the truth'
    description: 'Anti-entropy found and mended rows that no queued repair had mended. See "Drift" in docs/deploy.md.'
    severity: 2
    enabled: true
    autoMitigate: true
    skipQueryValidation: true
    scopes: [logs.id]
    evaluationFrequency: 'PT15M'
    windowSize: 'PT1H'
    criteria: {
      allOf: [
        {
          query: 'AppTraces | where Message has "${drift}" | extend Line = parse_json(Message) | where tostring(Line.msg) == "${drift}" | project TimeGenerated, Differences = toint(Line.differences)'
          timeAggregation: 'Total'
          metricMeasureColumn: 'Differences'
          operator: 'GreaterThan'
          threshold: 0
          failingPeriods: { numberOfEvaluationPeriods: 1, minFailingPeriodsToAlert: 1 }
        }
      ]
    }
    actions: { actionGroups: told }
  }
}

resource silence 'Microsoft.Insights/scheduledQueryRules@2022-06-15' = if (!empty(heartbeat)) {
  name: 'silence-${token}'
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: '${displayName}: the timer is silent'
    description: 'The timer ${heartbeat} did not run for an hour: the application does not start. See "Silence" in docs/deploy.md.'
    severity: 1
    enabled: true
    autoMitigate: true
    skipQueryValidation: true
    scopes: [logs.id]
    evaluationFrequency: 'PT15M'
    windowSize: 'PT1H'
    criteria: {
      allOf: [
        {
          query: 'AppRequests | where OperationName == "${heartbeat}" and Success == true'
          timeAggregation: 'Count'
          operator: 'LessThan'
          threshold: 1
          failingPeriods: { numberOfEvaluationPeriods: 1, minFailingPeriodsToAlert: 1 }
        }
      ]
    }
    actions: { actionGroups: told }
  }
}

// From the metrics of the account, which cost nothing to keep.
resource throttling 'Microsoft.Insights/metricAlerts@2018-03-01' = {
  name: 'throttling-${token}'
  location: 'global'
  tags: tags
  properties: {
    description: 'The storage turned requests away. See "Throttling" in docs/deploy.md.'
    severity: 2
    enabled: true
    autoMitigate: true
    scopes: [storage.id]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          criterionType: 'StaticThresholdCriterion'
          name: 'throttled'
          metricNamespace: 'Microsoft.Storage/storageAccounts'
          metricName: 'Transactions'
          timeAggregation: 'Total'
          operator: 'GreaterThan'
          threshold: 50
          dimensions: [
            {
              name: 'ResponseType'
              operator: 'Include'
              values: [
                'ServerBusyError'
                'ServerTimeoutError'
                'ClientThrottlingError'
                'ClientAccountRequestThrottlingError'
                'ClientAccountBandwidthThrottlingError'
                'SuccessWithThrottling'
              ]
            }
          ]
        }
      ]
    }
    actions: [for id in told: { actionGroupId: id }]
  }
}

// A backup takes a day at most, over as many runs as it takes; two days without one are too many.
resource backupAge 'Microsoft.Insights/scheduledQueryRules@2022-06-15' = if (!empty(backupDone)) {
  name: 'backup-${token}'
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: '${displayName}: no backup for two days'
    description: 'No backup was completed in two days. See "Backup age" in docs/deploy.md.'
    severity: 1
    enabled: true
    autoMitigate: true
    skipQueryValidation: true
    scopes: [logs.id]
    evaluationFrequency: 'PT1H'
    windowSize: 'P2D'
    criteria: {
      allOf: [
        {
          query: 'AppTraces | where Message has "${backupDone}" | where tostring(parse_json(Message).msg) == "${backupDone}"'
          timeAggregation: 'Count'
          operator: 'LessThan'
          threshold: 1
          failingPeriods: { numberOfEvaluationPeriods: 1, minFailingPeriodsToAlert: 1 }
        }
      ]
    }
    actions: { actionGroups: told }
  }
}

// A process says it once a minute.
resource limit 'Microsoft.Insights/scheduledQueryRules@2022-06-15' = if (!empty(limitReached)) {
  name: 'limit-${token}'
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: '${displayName}: a limit over all callers is reached'
    description: 'Somebody sends more than all callers together may. See "Limit reached" in docs/deploy.md.'
    severity: 1
    enabled: true
    autoMitigate: true
    skipQueryValidation: true
    scopes: [logs.id]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    criteria: {
      allOf: [
        {
          query: 'AppTraces | where Message has "${limitReached}"'
          timeAggregation: 'Count'
          operator: 'GreaterThan'
          threshold: 0
          failingPeriods: { numberOfEvaluationPeriods: 1, minFailingPeriodsToAlert: 1 }
        }
      ]
    }
    actions: { actionGroups: told }
  }
}
