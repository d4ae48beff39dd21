package azure

import (
	"context"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
)

// An Identity is the identity of the process in Microsoft Entra, by which it calls services of
// Azure.
type Identity struct {
	credential azcore.TokenCredential
}

// IdentityFromEnv returns the identity that the settings of FromEnv name, also where the storage is
// entered by a key. It asks for nothing: a wrong one shows with the first token.
func IdentityFromEnv(getenv func(string) string) (*Identity, error) {
	managed := strings.EqualFold(getenv(setting+"__credential"), "managedidentity")
	credential, err := newCredential(managed, getenv(setting+"__clientId"))
	if err != nil {
		return nil, err
	}
	return &Identity{credential}, nil
}

// Token returns an access token for a scope, such as https://communication.azure.com//.default. It
// is kept until shortly before it expires. It must be safe for concurrent use.
func (i *Identity) Token(ctx context.Context, scope string) (string, error) {
	token, err := i.credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{scope}})
	if err != nil {
		return "", fmt.Errorf("token of the identity: %w", err)
	}
	return token.Token, nil
}

// named is a credential whose error says that there was no token.
type named struct{ azcore.TokenCredential }

// GetToken returns a token.
func (n named) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	token, err := n.TokenCredential.GetToken(ctx, o)
	if err != nil {
		err = &NoTokenError{err}
	}
	return token, err
}

// newCredential returns the credential of the identity that Azure gives to the process or, unless
// managed, the first of the default chain that there is.
func newCredential(managed bool, clientID string) (azcore.TokenCredential, error) {
	if !managed {
		cred, err := azidentity.NewDefaultAzureCredential(nil)
		if err != nil {
			return nil, fmt.Errorf("default credential: %w", err)
		}
		return named{cred}, nil
	}
	var opts azidentity.ManagedIdentityCredentialOptions
	if clientID != "" {
		opts.ID = azidentity.ClientID(clientID)
	}
	cred, err := azidentity.NewManagedIdentityCredential(&opts)
	if err != nil {
		return nil, fmt.Errorf("managed identity: %w", err)
	}
	return named{cred}, nil
}
