public import EmulatorServer
import Encodings

/// A developer team's primary App ID, with the client IDs that are grouped with it at Apple.
public struct EmulatedApp: Sendable, Equatable {
    /// The team. Each team gets its own `sub` and relay address for each user.
    public internal(set) var teamID: String
    /// A bundle ID, followed by Services IDs. The first is the primary App ID and the `aud` of notifications.
    public let clientIDs: [String]

    /// Redirect URIs of the app's Services IDs, for the web flow.
    public var redirectURIs: [String] = []

    /// Creates an app. Throws `.configurationInvalid` if the team or the client IDs are missing.
    public init(teamID: String, clientIDs: [String]) throws(EmulatorError) {
        guard !teamID.isEmpty, !clientIDs.isEmpty, !clientIDs.contains("") else {
            throw EmulatorError(.configurationInvalid, detail: "an app must have a team ID and client IDs")
        }
        (self.teamID, self.clientIDs) = (teamID, clientIDs)
    }

    public var primaryClientID: String { clientIDs[0] }

    /// Returns true if `/auth/authorize` accepts the client ID. Apple's endpoint accepts Services IDs and
    /// refuses bundle IDs.
    ///
    /// The first client ID is the primary App ID, a bundle ID; the other client IDs are Services IDs. If an
    /// app's only client ID has redirect URIs, it counts as a Services ID, because a bundle ID has none.
    public func isServicesID(_ clientID: String) -> Bool {
        guard let index = clientIDs.firstIndex(where: clientID.isByteEqual(to:)) else { return false }
        return index > 0 || (clientIDs.count == 1 && !redirectURIs.isEmpty)
    }
}

/// Checks the redirect URIs that a team registers.
///
/// Apple accepts only https with a domain name. The emulator also accepts http on this machine, because a
/// service in development has no certificate. Otherwise the rules are the same.
enum RedirectURI {
    /// Throws `.redirectURIRefused` for a redirect URI that breaks these rules.
    static func check(_ uri: String) throws(EmulatorError) {
        let isHTTPS = uri.hasPrefix("https://")
        guard uri.utf8.count <= 2048, isHTTPS || uri.hasPrefix("http://"),
            uri.utf8.allSatisfy({
                $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "\\")
            })
        else {
            throw EmulatorError(.redirectURIRefused, detail: "an http(s) URL without a fragment")
        }
        let authority = uri.dropFirst(isHTTPS ? 8 : 7).prefix { $0 != "/" && $0 != "?" }
        let host =
            authority.hasPrefix("[")
            ? String(authority.prefix { $0 != "]" }) + "]"
            : String(authority.prefix { $0 != ":" })
        guard !host.isEmpty, !authority.contains("@") else {
            throw EmulatorError(.redirectURIRefused, detail: "no host, or user information before it")
        }
        if ["localhost", "127.0.0.1", "[::1]"].contains(host) { return }
        let isAddress = host.hasPrefix("[") || host.allSatisfy { $0.isNumber || $0 == "." }
        guard isHTTPS, !isAddress else {
            throw EmulatorError(.redirectURIRefused, detail: "https with a domain name, or this machine")
        }
    }
}
