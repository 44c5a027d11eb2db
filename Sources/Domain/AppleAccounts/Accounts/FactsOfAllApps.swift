/// The facts about a user that hold for all apps, also for apps that are first seen later. Stores keep them in
/// one row beside the credentials, so that a read of a state finds them there.
public struct FactsOfAllApps: Sendable, Hashable {
    public let revocation: Revocation?
    public let disabling: Disabling?
    public let sessionsEndedAt: Moment?

    public init(
        revocation: Revocation? = nil, disabling: Disabling? = nil, sessionsEndedAt: Moment? = nil
    ) {
        self.revocation = revocation
        self.disabling = disabling
        self.sessionsEndedAt = sessionsEndedAt
    }
}

extension SubjectRecord {
    /// The facts to write when the subject's row has changed. `nil` when there are none and no row has any.
    public var factsOfAllApps: FactsOfAllApps? {
        guard hasRowOfAllApps || hasFactsOfAllApps else { return nil }
        return FactsOfAllApps(
            revocation: revocationOfAllApps, disabling: disabling, sessionsEndedAt: sessionsEndedAt)
    }

    var hasFactsOfAllApps: Bool {
        revocationOfAllApps != nil || disabling != nil || sessionsEndedAt != nil
    }
}
