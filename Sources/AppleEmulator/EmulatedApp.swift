/// A primary App ID of a developer team, with the client IDs that are grouped under it at Apple.
public struct EmulatedApp: Sendable, Equatable {
    /// Issues its own `sub` and relay address for each person.
    public internal(set) var teamID: String
    /// Bundle IDs and Services IDs. The first is the primary App ID, and the `aud` of notifications.
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
}
