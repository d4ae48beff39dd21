// A name of one's own at Azure Front Door, and the way from there to the application.
param tags { *: string }
param token string
param profileName string
param firewallId string
param hostName string
param originHostName string

@description('Begins the name of the endpoint.')
param name string

resource profile 'Microsoft.Cdn/profiles@2025-06-01' existing = {
  name: profileName
}

resource endpoint 'Microsoft.Cdn/profiles/afdEndpoints@2025-06-01' = {
  parent: profile
  name: '${name}-${token}'
  location: 'global'
  tags: tags
  properties: { enabledState: 'Enabled' }
}

resource origins 'Microsoft.Cdn/profiles/originGroups@2025-06-01' = {
  parent: profile
  name: 'app'
  properties: {
    loadBalancingSettings: { sampleSize: 4, successfulSamplesRequired: 3 }
  }
}

resource origin 'Microsoft.Cdn/profiles/originGroups/origins@2025-06-01' = {
  parent: origins
  name: 'app'
  properties: {
    hostName: originHostName
    originHostHeader: originHostName
    enforceCertificateNameCheck: true
  }
}

resource domain 'Microsoft.Cdn/profiles/customDomains@2025-06-01' = {
  parent: profile
  name: replace(hostName, '.', '-')
  properties: {
    hostName: hostName
    tlsSettings: { certificateType: 'ManagedCertificate', minimumTlsVersion: 'TLS12' }
  }
}

resource route 'Microsoft.Cdn/profiles/afdEndpoints/routes@2025-06-01' = {
  parent: endpoint
  name: 'all'
  properties: {
    originGroup: { id: origins.id }
    customDomains: [{ id: domain.id }]
    patternsToMatch: ['/*']
    supportedProtocols: ['Http', 'Https']
    httpsRedirect: 'Enabled'
    forwardingProtocol: 'HttpsOnly'
    linkToDefaultDomain: 'Disabled'
  }
  dependsOn: [origin]
}

resource security 'Microsoft.Cdn/profiles/securityPolicies@2025-06-01' = if (!empty(firewallId)) {
  parent: profile
  name: 'ranges'
  properties: {
    parameters: {
      type: 'WebApplicationFirewall'
      wafPolicy: { id: firewallId }
      associations: [
        { domains: [{ id: domain.id }], patternsToMatch: ['/*'] }
      ]
    }
  }
}

output endpointHostName string = endpoint.properties.hostName
// Not there any more once the name is validated.
output validationToken string = domain.properties.?validationProperties.?validationToken ?? ''
