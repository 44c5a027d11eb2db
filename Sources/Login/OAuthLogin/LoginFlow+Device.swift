import Encodings
import StrictJSON

/// Signs a user in on a machine without a browser (RFC 8628): the user enters a code in a browser on another
/// device, while this program polls.
extension LoginFlow {
    func signInByDevice(at server: ServerMetadata) async throws(LoginError) {
        guard let endpoint = server.deviceAuthorizationEndpoint else {
            throw LoginError(
                .serverUnsuitable,
                "\(issuer.text) has no device_authorization_endpoint; sign in without --device")
        }
        let fields = scope.text.map { [(name: "scope", value: $0)] } ?? []
        let received = try await transport.post(client.authenticate(fields, at: endpoint, of: server))
        let device = try DeviceAuthorization(received, of: issuer)
        invite(to: device)
        let response = try await poll(device, at: server)
        say("The server has sent the tokens.")
        try await keep(response, nonce: nil, at: server)
    }

    private func invite(to device: DeviceAuthorization) {
        say("Open this address in a browser on any device:\n\n  \(device.verificationURI)\n")
        say("Enter this code there:\n\n  \(device.userCode)\n")
        if let complete = device.completeURI {
            say("Or open this address, and compare the code:\n\n  \(complete)\n")
        }
        say("Waiting for the browser, at most \((device.lifetime + 59) / 60) min.")
    }

    private enum Answer {
        case tokens(TokenResponse)
        /// The user has not decided yet.
        case pending
        case slowDown
    }

    private func poll(
        _ device: DeviceAuthorization, at server: ServerMetadata
    ) async throws(LoginError) -> TokenResponse {
        var (interval, waited) = (device.interval, Int64(0))
        while waited + interval < device.lifetime {
            await pause(interval)
            waited += interval
            do throws(LoginError) {
                switch try await answer(device, at: server) {
                case .tokens(let response): return response
                case .pending: break
                // The longer interval applies to this request and all later requests (RFC 8628 §3.5).
                case .slowDown: interval = min(interval + 5, DeviceAuthorization.longestInterval)
                }
            } catch  where error.code == .serverUnreachable {
                // Doubles the interval, as RFC 8628 §3.5 advises, because the server may be overloaded.
                interval = min(interval * 2, DeviceAuthorization.longestInterval)
                say("\(error.message). Trying again in \(interval) s.")
            }
        }
        throw LoginError(.responseMissing, "the code was not entered in time; run the command again")
    }

    /// Waits. If the task is cancelled, the wait ends early, and the next request fails.
    private func pause(_ seconds: Int64) async { try? await clock.sleep(for: .seconds(seconds)) }

    private func answer(
        _ device: DeviceAuthorization, at server: ServerMetadata
    ) async throws(LoginError) -> Answer {
        let form = client.authenticate(
            [
                ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
                ("device_code", device.deviceCode),
            ], at: server.tokenEndpoint, of: server)
        let received = try await transport.post(form)
        if received.status == 400 {
            switch (try? JSONValue(parsing: received.body))?["error"]?.string {
            case "authorization_pending": return .pending
            case "slow_down": return .slowDown
            default: break
            }
        }
        return .tokens(try TokenResponse(status: received.status, body: received.body))
    }
}

/// A device authorization endpoint response (RFC 8628 §3.2).
struct DeviceAuthorization: Sendable, Equatable {
    /// The device code. It is secret until the user has decided.
    let deviceCode: String
    /// The code and the URL for the user, escaped for a terminal.
    let userCode: String
    let verificationURI: String
    /// The URL that contains the code; `nil` if the server sends none.
    let completeURI: String?
    /// Number of seconds until the codes expire.
    let lifetime: Int64
    /// Number of seconds between two polls.
    let interval: Int64

    /// Maximum accepted lifetime in seconds. A longer lifetime would be a mistake by the server.
    static let longestLifetime: Int64 = 3600
    static let longestInterval: Int64 = 300

    /// Reads the response. Throws the server's error, or `.tokenResponseUnusable`.
    init(_ response: LoginResponse, of issuer: IssuerURL) throws(LoginError) {
        let json = try? JSONValue(parsing: response.body)
        guard response.status == 200 else {
            throw TokenResponse.failure(status: response.status, json)
        }
        guard let json, let code = json["device_code"]?.string,
            (1...TokenResponse.longestToken).contains(code.utf8.count),
            code.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
            let userCode = json["user_code"]?.string, (1...64).contains(userCode.utf8.count),
            let address = Self.address("verification_uri", of: json, issuer),
            let lifetime = json["expires_in"]?.integer, lifetime > 0
        else {
            throw LoginError(
                .tokenResponseUnusable,
                "the device authorization endpoint must answer with device_code, user_code, expires_in and an https verification_uri; try again"
            )
        }
        deviceCode = code
        self.userCode = userCode.forTerminal(limit: 64)
        verificationURI = address
        completeURI = Self.address("verification_uri_complete", of: json, issuer)
        self.lifetime = min(lifetime, Self.longestLifetime)
        // Without `interval`, a client polls every five seconds (RFC 8628 §3.2).
        interval = min(max(json["interval"]?.integer ?? 5, 1), Self.longestInterval)
    }

    /// Reads a URL. Returns `nil` for a URL that is not safe for a user to open.
    private static func address(_ name: String, of json: JSONValue, _ issuer: IssuerURL) -> String? {
        guard let text = json[name]?.string, text.utf8.count <= 2048, let address = WebAddress(text),
            address.isSecure || (issuer.isLocal && address.isLoopback)
        else { return nil }
        return text.forTerminal(limit: 2048)
    }
}

extension DeviceAuthorization: CustomStringConvertible, CustomReflectable {
    var description: String { "device authorization" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
