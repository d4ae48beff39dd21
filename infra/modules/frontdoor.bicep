// Azure Front Door before the application, and who may pass it. Apart from domain.bicep, as the application must know its id
// before Front Door knows the application.
param tags { *: string }
param token string
param allowedIpRanges string[]

resource profile 'Microsoft.Cdn/profiles@2025-06-01' = {
  name: 'afd-${token}'
  location: 'global'
  tags: tags
  sku: { name: 'Standard_AzureFrontDoor' }
}

// The application sees the addresses of Front Door, so the ranges of its callers are kept here.
resource firewall 'Microsoft.Network/FrontDoorWebApplicationFirewallPolicies@2024-02-01' = if (!empty(allowedIpRanges)) {
  name: 'waf${token}'
  location: 'global'
  tags: tags
  sku: { name: 'Standard_AzureFrontDoor' }
  properties: {
    policySettings: { enabledState: 'Enabled', mode: 'Prevention' }
    customRules: {
      rules: [
        {
          name: 'OnlyAllowedRanges'
          priority: 100
          enabledState: 'Enabled'
          ruleType: 'MatchRule'
          action: 'Block'
          matchConditions: [
            { matchVariable: 'SocketAddr', operator: 'IPMatch', negateCondition: true, matchValue: allowedIpRanges }
          ]
        }
      ]
    }
  }
}

output id string = profile.properties.frontDoorId
output profileName string = profile.name
output firewallId string = empty(allowedIpRanges) ? '' : firewall.id
