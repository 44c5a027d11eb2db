public import AppleAccounts
public import Cryptography
import Logging

/// Context shared by the use cases, which begin work at Apple, and the workers, which carry it out.
public struct AppleTokenContext: Sendable {
    public let tokens: any AppleTokenStore
    /// `nil` when nothing can be sealed. No Apple code and no Apple token is kept then.
    public let sealingKeys: SealingKeyRing?
    /// Returns `true` if there is a private key to sign the team's calls to Apple.
    public let canSign: @Sendable (TeamID) -> Bool
    let clock: any Clock<Duration>
    let signals = WorkerSignals()

    /// - Parameter clock: The clock of pauses and retries.
    public init(
        tokens: any AppleTokenStore, sealingKeys: SealingKeyRing? = nil,
        canSign: @escaping @Sendable (TeamID) -> Bool = { _ in false },
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.tokens = tokens
        self.sealingKeys = sealingKeys
        self.canSign = canSign
        self.clock = clock
    }

    var sealer: AppleTokenSealer? { sealingKeys.map { AppleTokenSealer(keys: $0) } }

    func workerContext<W: Worker>(
        for worker: W.Type, now: @escaping @Sendable () -> Moment, logger: Logger
    ) -> WorkerContext<W.WorkResult> {
        WorkerContext(for: worker, signals: signals, clock: clock, now: now, logger: logger)
    }
}
