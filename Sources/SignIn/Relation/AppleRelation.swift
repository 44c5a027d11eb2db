public import AppleAccounts
public import Cryptography

/// What it takes to keep a standing relation with Apple, shared by the use cases, which begin its work, and
/// the workers, which carry it out.
public struct AppleRelation: Sendable {
    public let grants: any GrantStore
    /// `nil` when nothing can be sealed. Then no code and no token is kept.
    public let sealingKeys: SealingKeyRing?
    /// Whether there is a private key with which the team signs its calls to Apple.
    public let canSign: @Sendable (TeamID) -> Bool
    let clock: any Clock<Duration>
    let signals = WorkerSignals()

    /// - Parameter clock: To wait with.
    public init(
        grants: any GrantStore, sealingKeys: SealingKeyRing? = nil,
        canSign: @escaping @Sendable (TeamID) -> Bool = { _ in false },
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.grants = grants
        self.sealingKeys = sealingKeys
        self.canSign = canSign
        self.clock = clock
    }

    var sealer: GrantSealer? { sealingKeys.map { GrantSealer(keys: $0) } }
}
