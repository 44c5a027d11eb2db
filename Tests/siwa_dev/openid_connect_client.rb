# Ruby's openid_connect with Apple as its provider. Prints the URL for the browser, reads Apple's form from standard input, and
# prints the user ID.
require "json"
require "openid_connect"

given = JSON.parse(ARGV[0])
apple = OpenIDConnect::Discovery::Provider::Config.discover!(given["issuer"])
client = OpenIDConnect::Client.new(
  identifier: given["client_id"], secret: given["secret"], redirect_uri: given["redirect_uri"],
  authorization_endpoint: apple.authorization_endpoint, token_endpoint: apple.token_endpoint
)
nonce, state = SecureRandom.hex(16), SecureRandom.hex(16)
puts client.authorization_uri(scope: %w[openid email name], response_mode: "form_post", nonce: nonce, state: state)
STDOUT.flush
form = JSON.parse(STDIN.gets)
abort "another state" unless form["state"] == state
client.authorization_code = form["code"]
tokens = client.access_token!(client_auth_method: :body)
identity = OpenIDConnect::ResponseObject::IdToken.decode(tokens.id_token, apple.jwks)
identity.verify!(issuer: given["issuer"], client_id: given["client_id"], nonce: nonce)
puts identity.sub
