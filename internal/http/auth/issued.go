package auth

import (
	"net/url"
	"slices"
	"strings"
)

// microsoft are the hosts of the issuers of Microsoft Entra, with those of its national clouds.
var microsoft = []string{
	"login.microsoftonline.com", "sts.windows.net", "login.microsoftonline.us",
	"login.partner.microsoftonline.cn",
}

// Issued returns the signers of the tokens that count here, none if they are not known, and the
// scopes that a client asks them for.
func (c Config) Issued() (issuers, scopes []string) {
	switch c.mode() {
	case "oidc":
		return []string{c.Issuer}, []string{"openid", "profile"}
	case "easyauth":
		tenants, _ := c.tenants() // New has refused others
		for _, t := range tenants {
			issuers = append(issuers, "https://"+microsoft[0]+"/"+t+"/v2.0")
		}
	case "jwt":
		issuers = items(c.Issuers)
		if slices.ContainsFunc(issuers, entraIssuer) {
			for _, audience := range items(c.Audiences) {
				scopes = append(scopes, strings.TrimSuffix(audience, "/")+"/.default")
			}
		}
	}
	return issuers, scopes
}

func entraIssuer(s string) bool {
	u, err := url.Parse(s)
	return err == nil && slices.Contains(microsoft, u.Host)
}
