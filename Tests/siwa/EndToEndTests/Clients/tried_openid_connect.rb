# Ruby's openid_connect, which knows PKCE only as arguments of the application. Reads an answer of the browser from standard
# input for each URL that it prints.
require "json"
require "net/http"
require "openid_connect"

given = JSON.parse(ARGV[0])
issuer, web = given["issuer"], given["client"]
# The library fetches metadata from https only, and a service that is tried has no certificate.
metadata = JSON.parse(Net::HTTP.get(URI("#{issuer}/.well-known/openid-configuration")))
keys = JSON::JWK::Set.new(JSON.parse(Net::HTTP.get(URI(metadata["jwks_uri"]))))
client = OpenIDConnect::Client.new(
  identifier: web["id"], secret: web["secret"], redirect_uri: web["redirect_uri"],
  authorization_endpoint: metadata["authorization_endpoint"], token_endpoint: metadata["token_endpoint"],
  userinfo_endpoint: metadata["userinfo_endpoint"]
)
nonce, state, verifier = SecureRandom.hex(16), SecureRandom.hex(16), SecureRandom.hex(32)
challenge = Base64.urlsafe_encode64(OpenSSL::Digest::SHA256.digest(verifier), padding: false)
puts client.authorization_uri(
  scope: %w[openid email], nonce: nonce, state: state, code_challenge: challenge, code_challenge_method: "S256"
)
STDOUT.flush
answer = URI.decode_www_form(URI(STDIN.gets.strip).query).to_h
abort "another state" unless answer["state"] == state
client.authorization_code = answer["code"]
tokens = client.access_token!(code_verifier: verifier)
identity = OpenIDConnect::ResponseObject::IdToken.decode(tokens.id_token, keys)
identity.verify!(issuer: issuer, client_id: web["id"], nonce: nonce)
abort "userinfo is about another person" unless tokens.userinfo!.sub == identity.sub
puts "signed in"
