# Ruby's omniauth_openid_connect with Apple as its provider. Prints the URL for the browser, reads Apple's form from standard
# input, and prints the user ID.
require "json"
require "rack"
require "rack/mock"
require "omniauth_openid_connect"

given = JSON.parse(ARGV[0])
site = URI(given["redirect_uri"])
signed_in = lambda { |env| [200, {}, [env["omniauth.auth"] ? env["omniauth.auth"].uid : env["PATH_INFO"]]] }
app = Rack::Builder.new do
  use Rack::Session::Cookie, secret: "for this run only " * 4
  use OmniAuth::Builder do
    provider :openid_connect, name: :apple, issuer: given["issuer"], discovery: true, response_type: :code,
             response_mode: "form_post", scope: %i[openid email], client_auth_method: :body,
             client_options: { identifier: given["client_id"], secret: given["secret"], redirect_uri: site.to_s,
                               host: URI(given["issuer"]).host, scheme: "https", port: 443 }
  end
  run signed_in
end
OmniAuth.config.allowed_request_methods = %i[get]
OmniAuth.config.silence_get_warning = true
OmniAuth.config.logger = Logger.new($stderr)

browser = Rack::MockRequest.new(app)
origin = "https://#{site.host}"
departure = browser.get("#{origin}/auth/apple")
abort departure.body unless departure.status == 302
puts departure["Location"]
STDOUT.flush
form = JSON.parse(STDIN.gets)
arrival = browser.post(site.to_s, params: form, "HTTP_COOKIE" => departure["Set-Cookie"].split(";").first)
abort "#{arrival.status} #{arrival["Location"]}" unless arrival.status == 200
puts arrival.body
