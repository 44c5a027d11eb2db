import Encodings
import StrictJSON
import WebOrigins

/// A response of the device authorization endpoint (RFC 8628 §3.2).
struct DeviceAuthorization: Sendable, Equatable {
    /// A secret until the user has decided.
    let deviceCode: String
    /// The code and the addresses for the user, with escapes for a terminal.
    let userCode: String
    let verificationURI: String
    /// The address with the code in it; `nil` when the server sends none.
    let completeURI: String?
    /// Seconds until the codes expire.
    let lifetime: Int64
    /// Seconds between two polls.
    let interval: Int64

    /// Seconds. A longer wait would be a mistake of the server.
    static let longestLifetime: Int64 = 3600
    static let longestInterval: Int64 = 300

    /// Throws the error of the server, or `.tokenResponseUnusable`.
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
        // Without the member a client polls every five seconds (RFC 8628 §3.2).
        interval = min(max(json["interval"]?.integer ?? 5, 1), Self.longestInterval)
    }

    /// Returns `nil` for an address that a user should not open.
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
