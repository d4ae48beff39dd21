// An OpenID provider for tests: node provider.mjs '{"redirects": [...], "logouts": [...], "tokenSeconds": 3600}'.
// It prints its issuer. Its page takes any name with any password. PUT /test with {"admins": [...], "gone": [...], "ahead": seconds}
// says who is in the group prompt-admins, who is no user any more, and how far its clock is ahead. It ends when its standard input does.
import { createServer } from 'node:http'
import Provider from 'oidc-provider'

const options = JSON.parse(process.argv[2])
let state = { admins: [], gone: [], ahead: 0 }
const clock = Date.now
Date.now = () => clock() + state.ahead * 1000
let handle = (_, res) => { res.writeHead(503); res.end() }

const server = createServer((req, res) => {
  if (req.method !== 'PUT' || req.url !== '/test') return handle(req, res)
  let body = ''
  req.on('data', part => { body += part })
  req.on('end', () => { state = JSON.parse(body); res.end() })
})
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`
  handle = new Provider(issuer, {
    clients: [{
      client_id: 'notes', client_secret: 'a secret of the test', redirect_uris: options.redirects,
      post_logout_redirect_uris: options.logouts, grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
    }],
    cookies: { keys: ['a key of the test'] },
    pkce: { required: () => true },
    claims: { openid: ['sub'], profile: ['name'], groups: ['groups'] },
    findAccount: (_, id) => state.gone.includes(id) ? undefined : {
      accountId: id,
      claims: () => ({ sub: id, name: id[0].toUpperCase() + id.slice(1), groups: state.admins.includes(id) ? ['prompt-admins'] : [] }),
    },
    issueRefreshToken: () => true,
    rotateRefreshToken: true, // a token that comes twice ends the grant
    ttl: { AuthorizationCode: 60, IdToken: options.tokenSeconds, AccessToken: 3600, RefreshToken: 86400, Session: 3600, Grant: 86400, Interaction: 3600 },
  }).callback()
  console.log(issuer)
})
process.stdin.on('end', () => process.exit()).resume()
