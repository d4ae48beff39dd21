// A name of one's own by Azure Front Door: Flex Consumption takes no certificates itself.
param tags object
param token string
param hostName string
param originHostName string

resource profile 'Microsoft.Cdn/profiles@2025-06-01' = {
  name: 'afd-${token}'
  location: 'global'
  tags: tags
  sku: { name: 'Standard_AzureFrontDoor' }
}

resource endpoint 'Microsoft.Cdn/profiles/afdEndpoints@2025-06-01' = {
  parent: profile
  name: 'prompthub-${token}'
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

output endpointHostName string = endpoint.properties.hostName
// Not there any more once the name is validated.
output validationToken string = domain.properties.?validationProperties.?validationToken ?? ''
