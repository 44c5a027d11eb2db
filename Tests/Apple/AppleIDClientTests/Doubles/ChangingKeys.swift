import AppleIDClient
import Synchronization

/// The keys of one team, which a test can change.
final class ChangingKeys: SigningKeySource {
    private let held: Mutex<[ClientSigningKey]>

    init(_ keys: [ClientSigningKey]) { held = Mutex(keys) }

    var keys: [ClientSigningKey] {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }

    func keys(ofTeam team: String) -> [ClientSigningKey] { team == "A1B2C3D4E5" ? keys : [] }
}
