import Encodings

/// A primary App ID of a developer team, with the client IDs that are grouped under it at Apple.
public struct EmulatedApp: Sendable, Equatable {
    /// Issues its own `sub` and relay address for each person.
    public internal(set) var teamID: String
    /// A bundle ID, then Services IDs. The first is the primary App ID, and the `aud` of notifications.
    public let clientIDs: [String]

    /// Where the web flow of its Services IDs may end.
    public var redirectURIs: [String] = []

    /// Throws `.configurationInvalid` without a team or a client ID.
    public init(teamID: String, clientIDs: [String]) throws(EmulatorError) {
        guard !teamID.isEmpty, !clientIDs.isEmpty, !clientIDs.contains("") else {
            throw EmulatorError(.configurationInvalid, detail: "an app needs a team ID and client IDs")
        }
        (self.teamID, self.clientIDs) = (teamID, clientIDs)
    }

    public var primaryClientID: String { clientIDs[0] }

    /// Whether `/auth/authorize` knows the client ID. At Apple that endpoint takes Services IDs and refuses bundle IDs.
    ///
    /// The first client ID is the primary App ID, which is a bundle ID; the others are Services IDs. An only client ID is
    /// one as soon as redirect URIs are registered for it, because a bundle ID cannot have any.
    public func isServicesID(_ clientID: String) -> Bool {
        guard let index = clientIDs.firstIndex(where: clientID.isByteEqual(to:)) else { return false }
        return index > 0 || (clientIDs.count == 1 && !redirectURIs.isEmpty)
    }
}
