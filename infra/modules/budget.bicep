// A budget of the resource group. It tells, it stops nothing: the limits of the application do.
param token string
param amount int

@description('First day of a month. A changed start is a new budget, so it is a parameter and no utcNow().')
param start string
param email string

resource budget 'Microsoft.Consumption/budgets@2024-08-01' = {
  name: 'budget-${token}'
  properties: {
    category: 'Cost'
    amount: amount
    timeGrain: 'Monthly'
    timePeriod: { startDate: start }
    notifications: {
      half: {
        enabled: true
        operator: 'GreaterThan'
        threshold: 50
        contactEmails: empty(email) ? [] : [email]
        contactRoles: ['Owner']
      }
      spent: {
        enabled: true
        operator: 'GreaterThan'
        threshold: 100
        contactEmails: empty(email) ? [] : [email]
        contactRoles: ['Owner']
      }
      forecast: {
        enabled: true
        operator: 'GreaterThan'
        threshold: 100
        thresholdType: 'Forecasted'
        contactEmails: empty(email) ? [] : [email]
        contactRoles: ['Owner']
      }
    }
  }
}
