import EmulatorServer

/// The app transfers, and the transfer identifiers of users.
struct TransferRegistry: Codable {
    /// A transfer identifier of one user for two teams.
    struct Handover: Equatable, Codable {
        let position: Int
        let sender: String
        let recipient: String
    }

    static let capacity = 64
    static let subjectCapacity = 100_000

    private(set) var transfers: [AppTransfer] = []
    private var handovers: [String: Handover] = [:]
    /// Users whose migration fails, for tests of transfer tools.
    var failing: Set<Int> = []

    /// Throws `.tooManyTransfers`.
    mutating func add(_ transfer: AppTransfer) throws(EmulatorError) {
        guard transfers.count < Self.capacity else {
            throw EmulatorError(.tooManyTransfers, detail: "at most \(Self.capacity)")
        }
        transfers.append(transfer)
    }

    /// The app's latest transfer, if its users can still be migrated.
    func open(for app: String, at now: Int64) -> AppTransfer? {
        transfers.last { $0.app == app }.flatMap { $0.isOpen(at: now) ? $0 : nil }
    }

    func handover(_ transferSubject: String) -> Handover? { handovers[transferSubject] }

    /// The user's transfer identifier, which is the same for every app that is transferred between these two
    /// teams.
    mutating func subject(of position: Int, known sender: TeamIdentity, to recipient: String) -> String {
        let subject = sender.transferSubject(to: recipient)
        if handovers.count < Self.subjectCapacity || handovers[subject] != nil {
            handovers[subject] = Handover(position: position, sender: sender.teamID, recipient: recipient)
        }
        return subject
    }
}

/// The transfer of an app from one team to another.
public struct AppTransfer: Sendable, Equatable, Codable {
    /// Milliseconds for which users can be migrated: 60 days.
    public static let openFor: Int64 = 60 * 86_400_000

    /// The app's primary client ID.
    public let app: String
    public let sender: String
    public let recipient: String
    /// Milliseconds since 1970 at which the recipient accepted.
    public let acceptedAt: Int64

    func isOpen(at now: Int64) -> Bool { now - acceptedAt <= Self.openFor }
}
