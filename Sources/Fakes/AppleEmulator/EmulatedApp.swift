public import EmulatorServer
import Encodings

/// A primary App ID of a developer team, with the client IDs that are grouped with it at Apple.
public struct EmulatedApp: Sendable, Equatable {
    /// The team. Each team gets its own `sub` and relay address for a user.
    public internal(set) var teamID: String
    /// A bundle ID, then Services IDs. The first is the primary App ID and the `aud` of notifications.
    public let clientIDs: [String]

    /// The redirect URIs for the web flow of the app's Services IDs.
    public var redirectURIs: [String] = []

    /// Throws `.configurationInvalid` without a team or a client ID.
    public init(teamID: String, clientIDs: [String]) throws(EmulatorError) {
        guard !teamID.isEmpty, !clientIDs.isEmpty, !clientIDs.contains("") else {
            throw EmulatorError(.configurationInvalid, detail: "an app must have a team ID and client IDs")
        }
        (self.teamID, self.clientIDs) = (teamID, clientIDs)
    }

    public var primaryClientID: String { clientIDs[0] }

    /// True if `/auth/authorize` accepts the client ID. Apple's endpoint accepts Services IDs and refuses
    /// bundle IDs.
    ///
    /// The first client ID is the primary App ID, which is a bundle ID; the others are Services IDs. A single
    /// client ID counts as a Services ID when redirect URIs are registered for it, because a bundle ID has no
    /// redirect URIs.
    public func isServicesID(_ clientID: String) -> Bool {
        guard let index = clientIDs.firstIndex(where: clientID.isByteEqual(to:)) else { return false }
        return index > 0 || (clientIDs.count == 1 && !redirectURIs.isEmpty)
    }
}
