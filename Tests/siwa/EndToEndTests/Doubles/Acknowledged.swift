import Synchronization

/// The changes that the service has acknowledged: the service must have all of them after a crash.
final class Acknowledged: Sendable {
    struct Promise: Sendable {
        let subject: String
        let accountID: String
        var isRevoked = false
    }

    private let promises = Mutex<[String: Promise]>([:])

    func signedIn(_ subject: String, _ accountID: String) {
        promises.withLock { $0[subject] = Promise(subject: subject, accountID: accountID) }
    }

    func revoked(_ subject: String) {
        promises.withLock { $0[subject]?.isRevoked = true }
    }

    var all: [Promise] { promises.withLock { Array($0.values) } }
}
