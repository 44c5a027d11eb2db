/// A primary App ID of a team, with all the client IDs that are grouped under it.
///
/// Consent is given and withdrawn for the app: for all of its client IDs, not only for the client ID that the
/// user used.
public struct App: Sendable, Hashable {
    public let team: TeamID
    /// The app's name in storage: its credentials are stored under this ID, so it must not change once it is
    /// in use.
    public let primaryClientID: ClientID
    /// Every client ID of the app, the primary one first, without duplicates.
    public let clientIDs: [ClientID]
    /// The client IDs that the configuration names as Services IDs: those of websites.
    public let servicesIDs: Set<ClientID>
    /// Sign-ins of native apps need a nonce that this service minted.
    public let requiresMintedNonce: Bool

    public init(
        team: TeamID, primaryClientID: ClientID, otherClientIDs: [ClientID] = [],
        servicesIDs: Set<ClientID> = [], requiresMintedNonce: Bool = false
    ) {
        self.team = team
        self.primaryClientID = primaryClientID
        var known: Set = [primaryClientID]
        clientIDs = [primaryClientID] + otherClientIDs.filter { known.insert($0).inserted }
        self.servicesIDs = servicesIDs
        self.requiresMintedNonce = requiresMintedNonce
    }

    /// The client IDs of programs on devices. A Services ID that the configuration does not name as one is
    /// among them.
    public var bundleIDs: [ClientID] { clientIDs.filter { !servicesIDs.contains($0) } }
}
